#include "semantics/registry/attrs.h"

#include <cstdio>
#include <cstdlib>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"

namespace palladion {
namespace {

absl::Status WrongAttr(const Instr& op, std::string_view name, std::string_view expected) {
  const Attr* attr = Find(op.attrs, name);
  return absl::InvalidArgumentError(
      Cat("attribute '", name, "' must be ", expected, "; found ", attr == nullptr ? "nothing" : ToString(*attr)));
}

std::optional<std::vector<std::int64_t>> AsInts(const Attr& attr) {
  const auto* list = std::get_if<AttrList>(&attr.value);
  if (list == nullptr) return std::nullopt;
  std::vector<std::int64_t> ints;
  for (const Attr& item : *list) {
    const auto* value = std::get_if<std::int64_t>(&item.value);
    if (value == nullptr) return std::nullopt;
    ints.push_back(*value);
  }
  return ints;
}

// Keys of two implementations differ in size, so the implementation is part of the type; weakness is not.
bool SameType(const Type& a, const Type& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape && a.key_impl == b.key_impl;
}

// The verifier has run: an error here is ours.
template <class T>
T OrDie(absl::StatusOr<T> value, const Instr& op) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "internal error: cannot happen: '%s' was verified, yet %s\n", op.name.c_str(),
               std::string(value.status().message()).c_str());
  std::abort();
}

}  // namespace

absl::StatusOr<std::int64_t> IntAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  if (attr != nullptr) {
    if (const auto* value = std::get_if<std::int64_t>(&attr->value)) return *value;
  }
  return WrongAttr(op, name, "an integer");
}

absl::StatusOr<bool> BoolAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  if (attr != nullptr) {
    if (const auto* value = std::get_if<bool>(&attr->value)) return *value;
  }
  return WrongAttr(op, name, "true or false");
}

absl::StatusOr<std::string> StringAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  if (attr != nullptr) {
    if (const auto* text = std::get_if<std::string>(&attr->value)) return *text;
    if (const auto* word = std::get_if<AttrIdent>(&attr->value)) return word->name;
  }
  return WrongAttr(op, name, "a string or a word");
}

absl::StatusOr<DType> DTypeAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  if (attr != nullptr) {
    if (const auto* word = std::get_if<AttrIdent>(&attr->value)) {
      if (std::optional<DType> dtype = DTypeFromName(word->name)) return *dtype;
    }
  }
  return WrongAttr(op, name, "an element type");
}

absl::StatusOr<std::vector<std::int64_t>> IntsAttr(const Instr& op, std::string_view name) {
  if (const Attr* attr = Find(op.attrs, name); attr != nullptr) {
    if (auto ints = AsInts(*attr)) return *ints;
  }
  return WrongAttr(op, name, "a list of integers");
}

absl::StatusOr<std::vector<std::vector<std::int64_t>>> IntListsAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (list == nullptr) return WrongAttr(op, name, "a list of lists of integers");
  std::vector<std::vector<std::int64_t>> lists;
  for (const Attr& item : *list) {
    std::optional<std::vector<std::int64_t>> ints = AsInts(item);
    if (!ints) return WrongAttr(op, name, "a list of lists of integers");
    lists.push_back(*std::move(ints));
  }
  return lists;
}

bool HasAttr(const Instr& op, std::string_view name) {
  const Attr* attr = Find(op.attrs, name);
  return attr != nullptr && !std::holds_alternative<AttrNone>(attr->value);
}

bool BoolAttrOr(const Instr& op, std::string_view name, bool fallback) {
  absl::StatusOr<bool> value = BoolAttr(op, name);
  return value.ok() ? *value : fallback;
}

std::int64_t IntAttrOr(const Instr& op, std::string_view name, std::int64_t fallback) {
  absl::StatusOr<std::int64_t> value = IntAttr(op, name);
  return value.ok() ? *value : fallback;
}

std::int64_t Int(const Instr& op, std::string_view name) { return OrDie(IntAttr(op, name), op); }

std::vector<std::int64_t> Ints(const Instr& op, std::string_view name) { return OrDie(IntsAttr(op, name), op); }

absl::Status ExpectOperands(const VerifyContext& context, std::size_t count) {
  if (context.in.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected ", count, " operands; found ", context.in.size()));
}

absl::Status ExpectResults(const Instr& op, std::size_t count) {
  if (op.types.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected ", count, " results; found ", op.types.size()));
}

absl::Status ExpectType(const Instr& op, std::size_t result, const Type& expected) {
  if (result >= op.types.size()) {
    return absl::InvalidArgumentError(Cat("expected a result of type ", ToString(expected), "; found none"));
  }
  const Type& found = op.types[result];
  if (SameType(found, expected)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("result ", result, " must have type ", ToString(expected), "; found ", ToString(found)));
}

absl::Status ExpectSameType(const Type& found, const Type& expected, std::string_view what) {
  if (SameType(found, expected)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(what, " must have type ", ToString(expected), "; found ", ToString(found)));
}

absl::Status ExpectReturns(const Region& region, const Kernel& kernel, absl::Span<const Type> types,
                           std::string_view what) {
  if (region.results.size() != types.size()) {
    return absl::InvalidArgumentError(
        Cat(what, " must return ", types.size(), " values; found ", region.results.size()));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Type found = TypeOfArg(kernel, region.results[i]);
    PALLADION_RETURN_IF_ERROR(ExpectSameType(found, types[i], Cat(what, ", returned value ", i)));
  }
  return absl::OkStatus();
}

absl::Status ExpectAxis(std::int64_t axis, int rank, std::string_view what) {
  if (axis >= 0 && axis < rank) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(what, " must be in [0, ", rank, "); found ", axis));
}

absl::Status ExpectParams(const Region& region, const Kernel& kernel, absl::Span<const Type> types,
                          std::string_view what) {
  if (region.params.size() != types.size()) {
    return absl::InvalidArgumentError(
        Cat(what, " must have ", types.size(), " parameters; found ", region.params.size()));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(
        ExpectSameType(kernel.values[region.params[i].value.index()].type, types[i], Cat(what, ", parameter ", i)));
  }
  return absl::OkStatus();
}

absl::Status ExpectRegions(const Instr& op, std::size_t count) {
  if (op.regions.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected ", count, " regions; found ", op.regions.size()));
}

}  // namespace palladion
