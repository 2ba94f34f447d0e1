#include "semantics/program/constant_fold.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace palladion {
namespace {

void RunNow(const ValueKernel& kernel, const std::vector<const std::byte*>& in, std::byte* out) {
  std::vector<std::max_align_t> scratch(kernel.scratch_bytes / sizeof(std::max_align_t) +
                                        64 / sizeof(std::max_align_t) + 1);
  void* aligned = scratch.data();
  std::size_t space = scratch.size() * sizeof(std::max_align_t);
  std::align(64, kernel.scratch_bytes, aligned, space);
  kernel.run(kernel.params.get(), {in.data(), &out, static_cast<std::byte*>(aligned)});
}

}  // namespace

std::optional<SlotId> FoldConstant(const ValueKernel& kernel, const std::vector<SlotId>& in, const Type& type,
                                   Program& program, ValueSlots& slots) {
  std::vector<const std::byte*> constants;
  for (SlotId slot : in) {
    if (!slots.IsConstant(slot)) return std::nullopt;
    constants.push_back(program.slots[slot.index()].constant);
  }
  std::byte* out = slots.NewConstant(ByteSize(type));
  if (out == nullptr) return std::nullopt;
  RunNow(kernel, constants, out);
  return slots.last();
}

}  // namespace palladion
