#include "semantics/program/value_slots.h"

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

// Folding trades the program's memory for its time; no kernel may be made large by it.
constexpr std::size_t kMaxFoldedBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxFoldedBytesTogether = std::size_t{16} << 20;

}  // namespace

Type TypeOf(const Kernel& kernel, const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kLiteral:
      return Type{.dtype = arg.literal.dtype, .weak = arg.literal.weak};
    case Arg::Kind::kDense:
      return Type{.dtype = arg.dense->dtype(), .shape = arg.dense->shape()};
    default:
      return kernel.values[arg.value.index()].type;
  }
}

ValueSlots::ValueSlots(const Kernel& kernel, Program& program) : kernel_(kernel), program_(program) {
  slot_of_.resize(kernel.values.size());
  borrowed_.resize(kernel.values.size());
}

absl::StatusOr<SlotId> ValueSlots::In(const Arg& arg) {
  const std::byte* constant = nullptr;
  if (arg.kind == Arg::Kind::kValue) {
    const SlotId slot = Of(arg.value);
    if (slot.valid()) return slot;
    return absl::InternalError(Cat("cannot happen: '%", kernel_.values[arg.value.index()].name, "' has no memory"));
  }
  if (arg.kind == Arg::Kind::kLiteral) {
    auto bytes = std::make_shared<const std::array<std::byte, 8>>(arg.literal.bytes);
    constant = bytes->data();
    program_.owned.push_back(std::move(bytes));
  } else if (arg.kind == Arg::Kind::kDense) {
    constant = arg.dense->bytes();
    program_.owned.push_back(arg.dense);
  } else {
    return absl::InternalError("cannot happen: an operand that is no value was verified");
  }
  program_.slots.push_back({.bytes = ByteSize(palladion::TypeOf(kernel_, arg)), .constant = constant});
  return last();
}

SlotId ValueSlots::New(const Type& type) {
  const std::size_t bytes = ByteSize(type);
  program_.slots.push_back({.offset = memory_.Allocate(bytes),
                            .bytes = bytes,
                            .elements = static_cast<std::size_t>(NumElements(type.shape))});
  return last();
}

SlotId ValueSlots::Define(ValueId value) {
  SlotId& slot = slot_of_[value.index()];
  if (!slot.valid() || !Borrowed(value)) slot = New(TypeOf(value));
  return slot;
}

void ValueSlots::DefineAs(ValueId value, SlotId slot) {
  slot_of_[value.index()] = slot;
  borrowed_[value.index()] = true;
}

void ValueSlots::Own(ValueId value, absl::Span<const SlotId> owned) {
  owned_by_[value.value].assign(owned.begin(), owned.end());
}

SlotId ValueSlots::DefineUnplaced(ValueId value) {
  const Type& type = TypeOf(value);
  program_.slots.push_back({.bytes = ByteSize(type), .elements = static_cast<std::size_t>(NumElements(type.shape))});
  return slot_of_[value.index()] = last();
}

void ValueSlots::Place(SlotId slot) {
  SlotInfo& info = program_.slots[slot.index()];
  info.offset = memory_.Allocate(info.bytes);
}

std::size_t ValueSlots::Borrow(std::size_t bytes) {
  const std::size_t offset = memory_.Allocate(bytes);
  held_.push_back({offset, bytes});
  return offset;
}

void ValueSlots::Free(SlotId slot) {
  const SlotInfo& info = program_.slots[slot.index()];
  if (info.constant != nullptr) return;
  if (holds_) {
    held_.push_back({info.offset, info.bytes});
  } else {
    memory_.Free(info.offset, info.bytes);
  }
}

std::vector<SlotId> ValueSlots::SlotsOf(ValueId value) {
  if (auto owned = owned_by_.extract(value.value)) return std::move(owned.mapped());
  if (Borrowed(value)) return {};
  return {Of(value)};
}

void ValueSlots::LetFreesGo() {
  for (const Range& range : held_) memory_.Free(range.offset, range.bytes);
  held_.clear();
  holds_ = false;
}

std::byte* ValueSlots::NewConstant(std::size_t bytes) {
  if (bytes > kMaxFoldedBytes || folded_bytes_ + bytes > kMaxFoldedBytesTogether) return nullptr;
  folded_bytes_ += bytes;
  auto* data = static_cast<std::byte*>(::operator new[](bytes + 1, std::align_val_t{64}));
  program_.owned.push_back(std::shared_ptr<const void>(
      data, [](const void* p) { ::operator delete[](const_cast<void*>(p), std::align_val_t{64}); }));
  program_.slots.push_back({.bytes = bytes, .constant = data});
  return data;
}

}  // namespace palladion
