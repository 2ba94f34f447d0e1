#include "emu/tools/advice/slot_uses.h"

#include <algorithm>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "semantics/registry/op_row.h"

namespace palladion::advice {
namespace {

bool MayHaveSlots(const Type& type) {
  return type.is_ref() && type.space == Space::kSmem && type.rank() > 0 &&
         (type.element == ElementKind::kData || type.element == ElementKind::kBarrier);
}

// Through the transforms that leave the leading dimension where it is.
const Arg* SlotOf(const Arg& arg) {
  for (const Transform& transform : arg.transforms) {
    if (transform.kind == Transform::Kind::kUnswizzle || transform.kind == Transform::Kind::kUntile) continue;
    if (transform.kind != Transform::Kind::kAt || transform.indices.empty()) return nullptr;
    const Index& first = transform.indices[0];
    return first.kind == Index::Kind::kPoint ? &first.start : nullptr;
  }
  return nullptr;
}

class Collector {
 public:
  explicit Collector(Kernel& kernel) : kernel_(kernel) {}

  std::vector<SlotArray> Collect() {
    for (Body& body : kernel_.bodies) {
      OfScratch(body);
      Allocations(body.region);
    }
    edit::ForEachInstr(kernel_, [&](Instr& instr) {
      for (Arg& arg : instr.args) edit::ForEachArg(arg, [&](Arg& one) { Use(instr, one); });
      // What a region gives back, or begins with a view of, is used whole.
      for (Region& region : instr.regions) {
        for (Arg& arg : region.results) edit::ForEachArg(arg, [&](Arg& one) { Use(instr, one); });
      }
    });
    return std::move(arrays_);
  }

 private:
  void Add(ValueId value, std::vector<ValueId> aliases, int line, LocId loc) {
    if (!value.valid() || !MayHaveSlots(kernel_.values[value.index()].type)) return;
    arrays_.push_back({.value = value, .aliases = std::move(aliases), .text_line = line, .loc = loc, .uses = {}});
  }

  void OfScratch(Body& body) {
    std::size_t param = 0;
    for (const Operand& operand : kernel_.operands) {
      if (operand.role == Role::kBound || param >= body.region.params.size()) continue;
      const ValueId id = body.region.params[param++].value;
      if (operand.role != Role::kScratch) continue;
      std::vector<ValueId> aliases;
      if (operand.value.valid() && operand.value != id) aliases.push_back(operand.value);
      Add(id, std::move(aliases), operand.text_line, operand.loc);
    }
  }

  void Allocations(Region& region) {
    for (Instr& instr : region.body) {
      for (Region& inner : instr.regions) {
        if (RowOf(instr).allocates == Allocates::kScope) {
          for (const Param& param : inner.params) {
            if (param.view.empty()) Add(param.value, {}, instr.text_line, instr.loc);
          }
        }
        Allocations(inner);
      }
    }
  }

  void Use(const Instr& instr, const Arg& arg) {
    if (arg.kind != Arg::Kind::kValue) return;
    const auto found =
        std::find_if(arrays_.begin(), arrays_.end(), [&](const SlotArray& array) { return array.value == arg.value; });
    if (found != arrays_.end()) found->uses.push_back({.instr = &instr, .slot = SlotOf(arg)});
  }

  Kernel& kernel_;
  std::vector<SlotArray> arrays_;
};

}  // namespace

std::vector<SlotArray> SlotArraysOf(Kernel& kernel) { return Collector(kernel).Collect(); }

std::vector<std::pair<const Instr*, const Arg*>> UsesOf(Kernel& kernel, ValueId id) {
  std::vector<std::pair<const Instr*, const Arg*>> uses;
  edit::ForEachInstr(kernel, [&](Instr& instr) {
    const auto take = [&](Arg& arg) {
      if (arg.kind == Arg::Kind::kValue && arg.value == id) uses.emplace_back(&instr, &arg);
    };
    for (Arg& arg : instr.args) edit::ForEachArg(arg, take);
    for (Region& region : instr.regions) {
      for (Arg& arg : region.results) edit::ForEachArg(arg, take);
    }
  });
  return uses;
}

}  // namespace palladion::advice
