#include "emu/chip/layouts/shared_memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/tiles.h"
#include "emu/chip/layouts/windows.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::layouts {
namespace {

constexpr ByteCount kBarrierBytes(8), kReductionBytes(2048);
constexpr std::int64_t kFarTooMuch = std::int64_t{1} << 40;  // a text may give any number; sums with it stay sums

ByteCount Aligned(ByteCount bytes) { return ByteCount(RoundUp(bytes.value(), kSharedMemoryAlignment)); }

struct Held {
  ByteCount bytes;
  std::vector<SharedMemoryPart> parts;
  std::map<std::string, std::int64_t> barriers;    // groups, by what they are
  std::map<std::string, ByteCount> barrier_bytes;  // of one such group

  void Add(std::string what, ByteCount more) {
    bytes += Aligned(more);
    parts.push_back({std::move(what), Aligned(more)});
  }
  void Nest(Held inner) {
    bytes += inner.bytes;
    parts.insert(parts.end(), inner.parts.begin(), inner.parts.end());
    for (const auto& [kind, groups] : inner.barriers) barriers[kind] += groups;
    barrier_bytes.merge(inner.barrier_bytes);
  }
  void Or(Held other) {
    for (const auto& [kind, groups] : other.barriers) barriers[kind] = std::max(barriers[kind], groups);
    barrier_bytes.merge(other.barrier_bytes);
    if (other.bytes <= bytes) return;
    bytes = other.bytes;
    parts = std::move(other.parts);
  }
};

class Estimate {
 public:
  explicit Estimate(const Kernel& kernel)
      : kernel_(kernel),
        reduction_(std::clamp<std::int64_t>(
            IntOf(kernel.params, "reduction_scratch_bytes").value_or(kReductionBytes.value()), 0, kFarTooMuch)) {}

  Held Of(const Region& region) const {
    static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
    Held most;
    for (const Instr& op : region.body) {
      Held here;
      for (const Region& inner : op.regions) here.Or(Of(inner));
      if (RowOf(op).allocates == Allocates::kScope && !op.regions.empty()) here.Nest(Allocated(op.regions[0]));
      if (kReductions.Has(op)) here.Add("scratch of reductions", reduction_);
      most.Or(std::move(here));
    }
    return most;
  }

 private:
  Held Allocated(const Region& region) const {
    Held held;
    for (const Param& param : region.params) {
      const ValueInfo& value = kernel_.values[param.value.index()];
      const Type& type = value.type;
      if (!type.is_ref() || type.space != Space::kSmem) continue;
      if (type.element == ElementKind::kData) {
        const std::string& name = value.label.empty() ? value.name : value.label;
        held.Add(Cat("'", name, "' (", ToString(type), ")"),
                 ByteCount((NumElements(type.shape) * Info(type.dtype).bits + 7) / 8));
      } else {
        const std::int64_t count = NumElements(type.shape);
        const std::string kind = Cat(Name(type.element), type.attrs, "[", count, "]");
        held.barriers[kind] += 1;
        held.barrier_bytes[kind] = count * kBarrierBytes;
      }
    }
    return held;
  }

  const Kernel& kernel_;
  const ByteCount reduction_;
};

// Blocks of pallas_call on Mosaic GPU are copied into shared memory, max_concurrent_steps of them (1 unless said). Each
// block and each array of a scope begins at a multiple of 1024 bytes.
std::vector<SharedMemoryPart> BlocksInSharedMemory(const Kernel& kernel, const Program& program) {
  const std::int64_t buffers = std::max<std::int64_t>(1, IntOf(kernel.params, "max_concurrent_steps").value_or(1));
  std::vector<SharedMemoryPart> parts;
  const auto add = [&](std::string what, std::int64_t bytes) {
    if (bytes > 0) parts.push_back({std::move(what), ByteCount(RoundUp(bytes, kSharedMemoryAlignment))});
  };
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (info.mode == BlockMode::kResident) {
      const Shape block = BlockShape(kernel.operands[i], info.type);
      add(Cat("'", info.name, "' (", buffers, " x ", Name(info.type.dtype), ToString(block), ")"),
          SaturatingMultiply(buffers, DenseBytes(info.type, block)));
    } else if (info.role == Role::kScratch && SpaceOf(kernel, i) == Space::kSmem) {
      add(Cat("scratch '", info.name, "' (", ToString(info.type), ")"), DenseBytes(info.type, info.type.shape));
    }
  }
  return parts;
}

}  // namespace

std::vector<SharedMemoryPart> SharedMemoryOfScopes(const Kernel& kernel) {
  Held held = Estimate(kernel).Of(kernel.bodies[0].region);
  ByteCount barriers;
  for (const auto& [kind, groups] : held.barriers) barriers += groups * held.barrier_bytes[kind];
  if (barriers > ByteCount(0)) held.parts.push_back({"barriers", barriers});
  return std::move(held.parts);
}

std::vector<SharedMemoryPart> SharedMemoryHeld(const Kernel& kernel, const Program* program) {
  std::vector<SharedMemoryPart> parts;
  if (kernel.launch.mesh.empty()) parts = BlocksInSharedMemory(kernel, *program);
  for (SharedMemoryPart& part : SharedMemoryOfScopes(kernel)) parts.push_back(std::move(part));
  return parts;
}

}  // namespace palladion::layouts
