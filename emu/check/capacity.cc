#include "emu/check/capacity.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/legality/sparsecore/subcore_memory.h"
#include "emu/check/legality/tpu/vmem.h"
#include "emu/check/legality/tpu/vmem_capacity.h"
#include "emu/chip/layouts/shared_memory.h"
#include "emu/chip/layouts/tensor_memory.h"
#include "emu/chip/layouts/tiles.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"

namespace palladion::check {
namespace {

constexpr std::int64_t kKiB = 1024;

// One thing that is held, in bytes or columns.
struct Holding {
  std::string what;
  std::int64_t amount = 0;
};

// What a kernel may hold.
struct Limit {
  std::int64_t amount = 0;
  std::string_view memory;  // "vmem"
  std::string whose;        // "that of one core of v5e"
  bool needed = false;      // the compiler needs some of it itself, so a kernel may not fill it
};

class Holdings {
 public:
  // In columns of tensor memory, or in bytes.
  enum class Unit : std::uint8_t { kBytes, kColumns };

  explicit Holdings(legality::Legality& legality, Unit unit = Unit::kBytes) : legality_(legality), unit_(unit) {}

  void Add(std::string what, std::int64_t amount) {
    if (amount == 0) return;
    ++legality_.memories;
    total_ = SaturatingAdd(total_, amount);
    Holding& part = parts_.emplace_back();  // a temporary here makes g++ 12 warn of its own string (-Warray-bounds)
    part.what = std::move(what);
    part.amount = amount;
  }

  // What does not fit is CAPACITY.
  void ExpectIn(const Limit& limit) {
    if (total_ < limit.amount || (total_ == limit.amount && !limit.needed)) return;
    constexpr std::size_t kMaxParts = 12;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Holding& a, const Holding& b) { return a.amount > b.amount; });
    const auto [held, may] = unit_ == Unit::kBytes ? legality::BytesTexts(total_, limit.amount)
                                                   : std::pair(Amount(total_), Amount(limit.amount));
    std::string message = Cat("at once it holds at least ", held, " of ", limit.memory, ", and ", limit.whose, " is ",
                              may, limit.needed ? ", of which the compiler needs some itself:" : ":");
    for (std::size_t i = 0; i < std::min(parts_.size(), kMaxParts); ++i)
      Append(&message, i == 0 ? " " : ", ", Amount(parts_[i].amount), " for ", parts_[i].what);
    if (parts_.size() > kMaxParts) Append(&message, ", ", parts_.size() - kMaxParts, " smaller ones");
    const std::int64_t over = total_ - limit.amount + (limit.needed ? 1 : 0);
    legality_.Exceeds(std::move(message),
                      Cat("hold at least ", Less(over), " less, with smaller blocks or less scratch"));
  }

 private:
  std::string Amount(std::int64_t n) const {
    return unit_ == Unit::kBytes ? legality::BytesText(n) : Cat(n, " columns");
  }

  std::string Less(std::int64_t over) const {
    return unit_ == Unit::kBytes ? legality::BytesText(RoundUp(over, kKiB)) : Cat(over, " columns");
  }

  legality::Legality& legality_;
  const Unit unit_;
  std::int64_t total_ = 0;
  std::vector<Holding> parts_;
};

void CheckTpuMemories(legality::Legality& legality) {
  legality::CheckTpuVmem(legality);
  const machines::Chip& chip = *legality.chip();
  const std::vector<legality::VmemPart> parts = legality::SmemOf(legality);
  Holdings smem(legality);
  std::int64_t tiled = 0, dense = 0;
  for (const legality::VmemPart& part : parts) {
    smem.Add(Cat(part.kind == legality::VmemPart::Kind::kOperand ? "" : Cat(Name(part.kind), " "), "'", part.name,
                 "' (", part.buffers > 1 ? Cat(part.buffers, " buffers of ") : "", part.array, ")"),
             part.buffers * part.unpadded);
    tiled = SaturatingAdd(tiled, part.bytes());
    dense = SaturatingAdd(dense, part.buffers * part.unpadded);
  }
  smem.ExpectIn({chip.smem_bytes, "smem", Cat("that of one core of ", chip.name)});
  if (dense > chip.smem_bytes || tiled <= chip.smem_bytes) return;
  const auto [held, may] = legality::BytesTexts(tiled, chip.smem_bytes);
  legality.MayExceed(
      Cat("it may not fit: in whole tiles of 128 words its operands hold ", held, " of smem, and that of one core of ",
          chip.name, " is ", may),
      Cat("hold at least ", legality::BytesText(RoundUp(tiled - chip.smem_bytes, kKiB)), " less in smem"));
}

void CheckGpuSharedMemory(legality::Legality& legality) {
  Holdings smem(legality);
  for (layouts::SharedMemoryPart& part : layouts::SharedMemoryHeld(legality.kernel(), legality.program_or_null()))
    smem.Add(std::move(part.what), part.bytes.value());
  smem.ExpectIn({legality.chip()->smem_bytes, "shared memory",
                 Cat("what one block of ", legality.chip()->name, " may have"), /*needed=*/true});
}

void CheckGpuTensorMemory(legality::Legality& legality) {
  Holdings tmem(legality, Holdings::Unit::kColumns);
  for (layouts::TensorMemoryPart& part : layouts::TensorMemoryOfScopes(legality.kernel()))
    tmem.Add(std::move(part.what), part.columns);
  tmem.ExpectIn(
      {layouts::kTensorMemoryColumns, "tensor memory", Cat("what one block of ", legality.chip()->name, " may have")});
}

}  // namespace

void CheckCapacity(legality::Legality& legality) {
  if (legality.chip() == nullptr) return;
  if (legality::IsOfVectorSubcores(legality.kernel())) return legality::CheckSubcoreVmem(legality);
  if (legality.backend() == TargetBackend::kMosaicTpu) CheckTpuMemories(legality);
  if (legality.backend() != TargetBackend::kMosaicGpu) return;
  CheckGpuSharedMemory(legality);
  CheckGpuTensorMemory(legality);
}

}  // namespace palladion::check
