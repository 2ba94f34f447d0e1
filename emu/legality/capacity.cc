// What a kernel holds at once, against the memories of the named chip. A lower bound: compilers add scratch of their
// own and cannot always reuse a buffer. Based on: JAX 0.10.2, jax/_src/pallas/mosaic/{lowering,tpu_info}.py (two
// buffers for a block that moves, one for one that does not, tiles of memory) and mosaic_gpu/lowering.py (blocks in
// shared memory). Not counted: what Triton's compiler puts into shared memory, registers.
#include <algorithm>

#include "emu/legality/gpu_shared_memory.h"
#include "emu/legality/gpu_tensor_memory.h"
#include "emu/legality/legality.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

// One thing that is held, in bytes or columns.
struct Holding {
  std::string what;
  std::int64_t amount = 0;
};

std::int64_t RoundUp(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

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

std::int64_t Buffers(const Operand& operand, bool trivial) {
  if (trivial) return 1;
  if (!operand.block->buffered.has_value()) return 2;
  const Attr* attr = Find(*operand.block->buffered, "buffer_count");
  const auto* count = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return count == nullptr ? 2 : *count;
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
  explicit Holdings(Legality& legality) : legality_(legality) {}

  void Add(std::string what, std::int64_t amount) {
    if (amount == 0) return;
    ++legality_.memories;
    total_ += amount;
    Holding& part = parts_.emplace_back();  // a temporary here makes g++ 12 warn of its own string (-Warray-bounds)
    part.what = std::move(what);
    part.amount = amount;
  }

  // Largest first. `memory`: "bytes of vmem". `needed`: the compiler needs some of it itself, so a kernel may not fill
  // it.
  void CompareWith(std::int64_t limit, std::string_view memory, std::string_view whose, bool needed = false) {
    if (total_ < limit || (total_ == limit && !needed)) return;
    constexpr std::size_t kMaxParts = 12;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Holding& a, const Holding& b) { return a.amount > b.amount; });
    std::string message = Cat("at once it holds at least ", total_, " ", memory, ", and ", whose, " is ", limit,
                              needed ? ", of which the compiler needs some itself:" : ":");
    for (std::size_t i = 0; i < std::min(parts_.size(), kMaxParts); ++i)
      Append(&message, i == 0 ? " " : ", ", parts_[i].amount, " for ", parts_[i].what);
    if (parts_.size() > kMaxParts) Append(&message, ", ", parts_.size() - kMaxParts, " smaller ones");
    legality_.Exceeds(std::move(message), "use smaller blocks or less scratch");
  }

 private:
  Legality& legality_;
  std::int64_t total_ = 0;
  std::vector<Holding> parts_;
};

Shape BlockShape(const Operand& operand, const Type& array) {
  if (!operand.block.has_value()) return array.shape;
  Shape shape;
  for (const BlockDim& dim : operand.block->dims) shape.push_back(dim.size);
  return shape;
}

void CheckTpuMemories(Legality& legality) {
  const Kernel& kernel = legality.kernel();
  const machines::Chip& chip = *legality.chip();
  Holdings vmem(legality), smem(legality);
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (operand.role == Role::kBound) continue;
    const Type& type = kernel.values[operand.value.index()].type;
    if (type.element != ElementKind::kData) continue;
    const Space space = legality.SpaceOf(i);
    const Shape shape = BlockShape(operand, type);
    const std::int64_t buffers = Buffers(operand, IsTrivialWindow(operand, type));
    const std::string what =
        Cat(operand.role == Role::kScratch ? "scratch '" : "'", legality.NameOf(operand), "' (",
            buffers > 1 ? Cat(buffers, " buffers of ") : "", Name(type.dtype), ToString(shape), ")");
    if (IsSmem(space)) smem.Add(what, buffers * DenseBytes(type, shape));
    if (IsVmem(space)) vmem.Add(what, buffers * TiledBytes(type, shape, chip));
  }
  const Region& body = kernel.bodies[0].region;
  vmem.Add("scopes", Scoped(body, kernel, [&](const Type& type) {
             const bool held = type.element == ElementKind::kData && IsVmem(type.space);
             return held ? TiledBytes(type, type.shape, chip) : 0;
           }));
  smem.Add("scopes", Scoped(body, kernel, [&](const Type& type) {
             const bool held = type.element == ElementKind::kData && IsSmem(type.space);
             return held ? DenseBytes(type, type.shape) : 0;
           }));
  const auto integer = [&](std::string_view name) -> std::optional<std::int64_t> {
    const Attr* attr = Find(kernel.params, name);
    const auto* value = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  vmem.Add("internal_scratch_in_bytes", std::max<std::int64_t>(0, integer("internal_scratch_in_bytes").value_or(0)));
  vmem.CompareWith(chip.vmem_bytes, "bytes of vmem", Cat("that of one core of ", chip.name), /*needed=*/true);
  smem.CompareWith(chip.smem_bytes, "bytes of smem", Cat("that of one core of ", chip.name));
  const std::optional<std::int64_t> limit = integer("vmem_limit_bytes");
  if (limit.value_or(chip.vmem_bytes) < chip.vmem_bytes)
    vmem.CompareWith(*limit, "bytes of vmem", "the kernel's vmem_limit_bytes");
}

// Blocks of pallas_call on Mosaic GPU are copied into shared memory, max_concurrent_steps of them (1 unless said). Each
// block and each array of a scope begins at a multiple of 1024 bytes.
void CheckGpuBlocks(Legality& legality, Holdings& smem) {
  const Kernel& kernel = legality.kernel();
  const Attr* attr = Find(kernel.params, "max_concurrent_steps");
  const auto* steps = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  const std::int64_t buffers = steps == nullptr ? 1 : std::max<std::int64_t>(1, *steps);
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const OperandInfo& info = legality.program().operand_infos[i];
    if (info.mode == BlockMode::kResident) {
      smem.Add(
          Cat("'", info.name, "' (", buffers, " x ", Name(info.type.dtype),
              ToString(BlockShape(kernel.operands[i], info.type)), ")"),
          RoundUp(buffers * DenseBytes(info.type, BlockShape(kernel.operands[i], info.type)), kSharedMemoryAlignment));
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
  smem.CompareWith(legality.chip()->smem_bytes, "bytes of shared memory",
                   Cat("what one block of ", legality.chip()->name, " may have"), /*needed=*/true);
}

void CheckGpuTensorMemory(Legality& legality) {
  Holdings tmem(legality);
  for (TensorMemoryPart& part : TensorMemoryOfScopes(legality.kernel())) tmem.Add(std::move(part.what), part.columns);
  tmem.CompareWith(kTensorMemoryColumns, "columns of tensor memory",
                   Cat("what one block of ", legality.chip()->name, " may have"));
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
