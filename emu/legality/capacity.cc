// What a kernel holds at once, against the memories of the named chip. A lower bound: compilers add scratch of their
// own and cannot always reuse a buffer. Based on: JAX 0.10.2, jax/_src/pallas/mosaic/{lowering,tpu_info}.py (two
// buffers for a block that moves, one for one that does not, tiles of memory) and mosaic_gpu/lowering.py (blocks in
// shared memory). The limit of a TPU kernel that gives no vmem_limit_bytes: XLA's messages in public reports (16 MiB:
// keras-io#2284, pytorch/xla#9524; 32 MiB on v6e and v7x: tpu-inference#3407), and JAX's own
// test_automatic_single_buffering. Not counted: what Triton's compiler puts into shared memory, registers.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/legality/gpu_shared_memory.h"
#include "emu/legality/gpu_tensor_memory.h"
#include "emu/legality/legality.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

// One thing that is held, in bytes or columns.
struct Holding {
  std::string what;
  std::int64_t amount = 0;
  std::string name = {};   // of a block with several buffers
  std::int64_t saved = 0;  // with one buffer less than all but one
};

// What a kernel may hold.
struct Limit {
  std::int64_t amount = 0;
  std::string_view memory;  // "vmem"
  std::string whose;        // "that of one core of v5e"
  bool needed = false;      // the compiler needs some of it itself, so a kernel may not fill it
};

// "16384 KiB", "0.5 KiB": never two numbers that differ as one.
std::string KiB(std::int64_t bytes) {
  if (bytes % kKiB == 0) return Cat(bytes / kKiB, " KiB");
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4f", static_cast<double>(bytes) / static_cast<double>(kKiB));
  std::string text = digits;
  text.erase(text.find_last_not_of('0') + 1);
  return text + " KiB";
}

std::int64_t RoundUp(std::int64_t n, std::int64_t multiple) {
  return SaturatingAdd(n, multiple - 1) / multiple * multiple;
}

// In VMEM an array is stored in tiles: the last dimension in lanes, the one before in packed sublanes.
std::int64_t TiledBytes(const Type& type, Shape shape, const machines::Chip& chip) {
  const std::int64_t bits = IsBool(type.dtype) ? 32 : Info(type.dtype).bits;
  const std::int64_t packing = std::max<std::int64_t>(1, 32 / bits);
  if (shape.empty()) return 4;
  if (shape.size() == 1) {
    shape[0] = RoundUp(shape[0], packing * chip.lanes);
  } else {
    std::int64_t rows = packing;
    while (rows < std::min<std::int64_t>(shape[shape.size() - 2], chip.sublanes)) rows *= 2;
    shape[shape.size() - 2] = RoundUp(shape[shape.size() - 2], rows);
    shape.back() = RoundUp(shape.back(), chip.lanes);
  }
  return NumElements(shape) * bits / 8;
}

std::int64_t DenseBytes(const Type& type, const Shape& shape) {
  return static_cast<std::int64_t>(BytesPerElement(type)) * NumElements(shape);
}

bool IsSmem(Space space) {
  return space == Space::kSmem || space == Space::kIndex || space == Space::kKey || space == Space::kError;
}
bool IsVmem(Space space) { return space == Space::kVmem || space == Space::kDefault; }

// No program moves the block: JAX gives it one buffer, or the compiler does, which sees that its index is that of
// dimensions of size 1 alone.
bool NeverMoves(const Kernel& kernel, const Operand& operand, const Type& array) {
  if (IsTrivialWindow(operand, array)) return true;
  const Region& map = operand.block->map;
  const std::vector<GridDim>& grid = kernel.launch.grid;
  const auto still = [&](std::size_t d) { return d < grid.size() && !grid[d].bound.valid() && grid[d].size == 1; };
  std::size_t stills = 0;
  while (stills < grid.size() && still(stills)) ++stills;
  if (stills == grid.size()) return true;
  if (!map.body.empty()) return false;
  return std::all_of(map.results.begin(), map.results.end(), [&](const Arg& result) {
    if (result.kind != Arg::Kind::kValue) return true;
    for (std::size_t d = 0; d < map.params.size(); ++d) {
      if (map.params[d].value == result.value) return still(d);
    }
    return false;
  });
}

std::int64_t Buffers(const Kernel& kernel, const Operand& operand, const Type& array) {
  if (NeverMoves(kernel, operand, array)) return 1;
  if (!operand.block->buffered.has_value()) return 2;
  const Attr* attr = Find(*operand.block->buffered, "buffer_count");
  const auto* count = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return count == nullptr ? 2 : std::max<std::int64_t>(1, *count);
}

// The most that nested scopes hold at once.
template <class BytesOf>
std::int64_t Scoped(const Region& region, const Kernel& kernel, const BytesOf& bytes_of) {
  std::int64_t most = 0, here = 0;
  for (const Instr& op : region.body) {
    std::int64_t own = 0;
    if (HasScope(RowOf(op))) {
      for (const Param& param : op.regions[0].params) own += bytes_of(kernel.values[param.value.index()].type);
    }
    if (RowOf(op).allocates == Allocates::kRef) here += bytes_of(op.types[0]);
    for (const Region& inner : op.regions) most = std::max(most, here + own + Scoped(inner, kernel, bytes_of));
    most = std::max(most, here + own);
  }
  return most;
}

class Holdings {
 public:
  // In columns of tensor memory, or in bytes.
  enum class Unit : std::uint8_t { kBytes, kColumns };

  explicit Holdings(Legality& legality, Unit unit = Unit::kBytes) : legality_(legality), unit_(unit) {}

  void Add(std::string what, std::int64_t amount) {
    if (amount == 0) return;
    ++legality_.memories;
    total_ = SaturatingAdd(total_, amount);
    Holding& part = parts_.emplace_back();  // a temporary here makes g++ 12 warn of its own string (-Warray-bounds)
    part.what = std::move(what);
    part.amount = amount;
  }

  // A block, of which there are several.
  void AddBuffers(const std::string& name, std::string what, std::int64_t one, std::int64_t buffers) {
    Add(std::move(what), SaturatingMultiply(one, buffers));
    if (one == 0 || buffers < 2) return;
    parts_.back().name = name;
    parts_.back().saved = SaturatingMultiply(one, buffers - 1);
  }

  std::int64_t total() const { return total_; }

  // False: it does not fit, which is CAPACITY. `instead`: what else than to hold less would mend it.
  bool FitsIn(const Limit& limit, const std::string& instead = "") {
    if (total_ < limit.amount || (total_ == limit.amount && !limit.needed)) return true;
    constexpr std::size_t kMaxParts = 12;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Holding& a, const Holding& b) { return a.amount > b.amount; });
    std::string message =
        Cat("at once it holds at least ", Amount(total_), " of ", limit.memory, ", and ", limit.whose, " is ",
            Amount(limit.amount), limit.needed ? ", of which the compiler needs some itself:" : ":");
    for (std::size_t i = 0; i < std::min(parts_.size(), kMaxParts); ++i)
      Append(&message, i == 0 ? " " : ", ", Amount(parts_[i].amount), " for ", parts_[i].what);
    if (parts_.size() > kMaxParts) Append(&message, ", ", parts_.size() - kMaxParts, " smaller ones");
    const std::int64_t over = total_ - limit.amount + (limit.needed ? 1 : 0);
    legality_.Exceeds(std::move(message), Cat(instead, instead.empty() ? "" : ", or ", "hold at least ", Less(over),
                                              " less, with smaller blocks or less scratch", OneBuffer(over)));
    return false;
  }

 private:
  std::string Amount(std::int64_t n) const { return unit_ == Unit::kBytes ? KiB(n) : Cat(n, " columns"); }

  std::string Less(std::int64_t over) const {
    return unit_ == Unit::kBytes ? KiB(RoundUp(over, kKiB)) : Cat(over, " columns");
  }

  // Blocks that are fetched ahead: what one buffer for the largest, or for all of them, would save, where it suffices.
  std::string OneBuffer(std::int64_t over) const {
    std::int64_t all = 0;
    const Holding* most = nullptr;
    for (const Holding& part : parts_) {
      all = SaturatingAdd(all, part.saved);
      if (part.saved > 0 && (most == nullptr || part.saved > most->saved)) most = &part;
    }
    if (most == nullptr || all < over) return "";
    if (most->saved >= over)
      return Cat("; one buffer for '", most->name, "' (pipeline_mode=pl.Buffered(1)) saves ", Amount(most->saved));
    return Cat("; one buffer for each block (pipeline_mode=pl.Buffered(1)) saves ", Amount(all));
  }

  Legality& legality_;
  const Unit unit_;
  std::int64_t total_ = 0;
  std::vector<Holding> parts_;
};

Shape BlockShape(const Operand& operand, const Type& array) {
  if (!operand.block.has_value()) return array.shape;
  Shape shape;
  for (const BlockDim& dim : operand.block->dims) shape.push_back(dim.size);
  return shape;
}

std::optional<std::int64_t> IntegerParam(const Kernel& kernel, std::string_view name) {
  const Attr* attr = Find(kernel.params, name);
  const auto* value = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// What XLA gives one kernel that asks for nothing.
std::int64_t DefaultVmemLimit(const machines::Chip& chip) {
  return chip.name == "v6e" || chip.name == "v7x" ? 32 * kMiB : 16 * kMiB;
}

// Against the whole of a core, then against what this kernel may have of it.
void CompareVmem(Legality& legality, Holdings& vmem) {
  const machines::Chip& chip = *legality.chip();
  constexpr std::int64_t kNotForKernels = 64 * kKiB;  // 67043328 bytes is the largest limit of v5p (marin#3431)
  constexpr std::int64_t kSpills = 2 * kMiB;          // 1.3 to 1.7 MiB for plain data movement
  if (!vmem.FitsIn({chip.vmem_bytes, "vmem", Cat("that of one core of ", chip.name), /*needed=*/true})) return;
  const std::optional<std::int64_t> given = IntegerParam(legality.kernel(), "vmem_limit_bytes");
  const std::int64_t limit = std::max<std::int64_t>(0, given.value_or(DefaultVmemLimit(chip)));
  const std::int64_t most = chip.vmem_bytes - kNotForKernels;
  std::string instead;
  if (vmem.total() <= most) {
    const std::int64_t asked = std::min(RoundUp(vmem.total() + kSpills, kMiB), most);
    instead = Cat("give pltpu.CompilerParams(vmem_limit_bytes=", asked, "), ", KiB(asked), " of the ",
                  KiB(chip.vmem_bytes), " of a core");
    if (!given.has_value())
      Append(&instead, " (XLA's --xla_tpu_scoped_vmem_limit_kib=", asked / kKiB, " gives them to a whole program)");
  }
  const std::string whose = given.has_value()
                                ? "the kernel's vmem_limit_bytes"
                                : Cat("what one kernel may have on ", chip.name, " without vmem_limit_bytes");
  vmem.FitsIn({limit, "vmem", whose}, instead);
}

void AddTpuOperands(Legality& legality, Holdings& vmem, Holdings& smem) {
  const Kernel& kernel = legality.kernel();
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (operand.role == Role::kBound) continue;
    const Type& type = kernel.values[operand.value.index()].type;
    if (type.element != ElementKind::kData) continue;
    const Space space = legality.SpaceOf(i);
    const Shape shape = BlockShape(operand, type);
    const std::int64_t buffers = Buffers(kernel, operand, type);
    const std::string name = legality.NameOf(operand);
    const std::string what =
        Cat(operand.role == Role::kScratch ? "scratch '" : "'", name, "' (",
            buffers > 1 ? Cat(buffers, " buffers of ") : "", Name(type.dtype), ToString(shape), ")");
    if (IsSmem(space)) smem.AddBuffers(name, what, DenseBytes(type, shape), buffers);
    if (IsVmem(space)) vmem.AddBuffers(name, what, TiledBytes(type, shape, *legality.chip()), buffers);
  }
}

void CheckTpuMemories(Legality& legality) {
  const Kernel& kernel = legality.kernel();
  const machines::Chip& chip = *legality.chip();
  Holdings vmem(legality), smem(legality);
  AddTpuOperands(legality, vmem, smem);
  const Region& body = kernel.bodies[0].region;
  vmem.Add("scopes", Scoped(body, kernel, [&](const Type& type) {
             const bool held = type.element == ElementKind::kData && IsVmem(type.space);
             return held ? TiledBytes(type, type.shape, chip) : 0;
           }));
  smem.Add("scopes", Scoped(body, kernel, [&](const Type& type) {
             const bool held = type.element == ElementKind::kData && IsSmem(type.space);
             return held ? DenseBytes(type, type.shape) : 0;
           }));
  vmem.Add("internal_scratch_in_bytes",
           std::max<std::int64_t>(0, IntegerParam(kernel, "internal_scratch_in_bytes").value_or(0)));
  CompareVmem(legality, vmem);
  smem.FitsIn({chip.smem_bytes, "smem", Cat("that of one core of ", chip.name)});
}

// Blocks of pallas_call on Mosaic GPU are copied into shared memory, max_concurrent_steps of them (1 unless said). Each
// block and each array of a scope begins at a multiple of 1024 bytes.
void CheckGpuBlocks(Legality& legality, Holdings& smem) {
  const Kernel& kernel = legality.kernel();
  const std::int64_t buffers = std::max<std::int64_t>(1, IntegerParam(kernel, "max_concurrent_steps").value_or(1));
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const OperandInfo& info = legality.program().operand_infos[i];
    if (info.mode == BlockMode::kResident) {
      smem.Add(Cat("'", info.name, "' (", buffers, " x ", Name(info.type.dtype),
                   ToString(BlockShape(kernel.operands[i], info.type)), ")"),
               RoundUp(SaturatingMultiply(buffers, DenseBytes(info.type, BlockShape(kernel.operands[i], info.type))),
                       kSharedMemoryAlignment));
    } else if (info.role == Role::kScratch && legality.SpaceOf(i) == Space::kSmem) {
      smem.Add(Cat("scratch '", info.name, "' (", ToString(info.type), ")"),
               RoundUp(DenseBytes(info.type, info.type.shape), kSharedMemoryAlignment));
    }
  }
}

void CheckGpuSharedMemory(Legality& legality) {
  Holdings smem(legality);
  if (legality.kernel().launch.mesh.empty()) CheckGpuBlocks(legality, smem);
  for (SharedMemoryPart& part : SharedMemoryOfScopes(legality.kernel()))
    smem.Add(std::move(part.what), part.bytes.value());
  smem.FitsIn({legality.chip()->smem_bytes, "shared memory",
               Cat("what one block of ", legality.chip()->name, " may have"), /*needed=*/true});
}

void CheckGpuTensorMemory(Legality& legality) {
  Holdings tmem(legality, Holdings::Unit::kColumns);
  for (TensorMemoryPart& part : TensorMemoryOfScopes(legality.kernel())) tmem.Add(std::move(part.what), part.columns);
  tmem.FitsIn({kTensorMemoryColumns, "tensor memory", Cat("what one block of ", legality.chip()->name, " may have")});
}

}  // namespace

void CheckCapacity(Legality& legality) {
  if (legality.chip() == nullptr) return;
  if (legality.backend() == TargetBackend::kMosaicTpu) CheckTpuMemories(legality);
  if (legality.backend() != TargetBackend::kMosaicGpu) return;
  CheckGpuSharedMemory(legality);
  CheckGpuTensorMemory(legality);
}

}  // namespace palladion::legality
