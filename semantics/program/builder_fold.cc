// Builder: operations on constants only, done once.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "semantics/program/builder.h"

namespace palladion {
namespace {

// Folding trades the program's memory for its time; no kernel may be made large by it.
constexpr std::size_t kMaxFoldedBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxFoldedBytesTogether = std::size_t{16} << 20;

}  // namespace

std::byte* Builder::NewConstant(std::size_t bytes) {
  if (bytes > kMaxFoldedBytes || folded_bytes_ + bytes > kMaxFoldedBytesTogether) return nullptr;
  folded_bytes_ += bytes;
  auto* data = static_cast<std::byte*>(::operator new[](bytes + 1, std::align_val_t{64}));
  program_.owned.push_back(std::shared_ptr<const void>(
      data, [](const void* p) { ::operator delete[](const_cast<void*>(p), std::align_val_t{64}); }));
  program_.slots.push_back({.bytes = bytes, .constant = data});
  return data;
}

void Builder::RunNow(const ValueKernel& kernel, const std::vector<SlotId>& in, std::byte* out) const {
  std::vector<const std::byte*> constants;
  for (SlotId slot : in) constants.push_back(program_.slots[slot.index()].constant);
  std::vector<std::max_align_t> scratch(kernel.scratch_bytes / sizeof(std::max_align_t) +
                                        64 / sizeof(std::max_align_t) + 1);
  void* aligned = scratch.data();
  std::size_t space = scratch.size() * sizeof(std::max_align_t);
  std::align(64, kernel.scratch_bytes, aligned, space);
  kernel.run(kernel.params.get(), {constants.data(), &out, static_cast<std::byte*>(aligned)});
}

bool Builder::FoldConstant(const Instr& op, const ValueKernel& kernel, const std::vector<SlotId>& in) {
  if (op.results.size() != 1 || !op.results[0].valid() || borrowed_slot_[op.results[0].index()]) return false;
  if (!std::all_of(in.begin(), in.end(), [&](SlotId slot) { return program_.slots[slot.index()].constant != nullptr; }))
    return false;
  std::byte* out = NewConstant(ByteSize(op.types[0]));
  if (out == nullptr) return false;
  slot_of_[op.results[0].index()] = SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)};
  RunNow(kernel, in, out);
  return true;
}

}  // namespace palladion
