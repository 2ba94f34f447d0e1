#include "emu/timing/gpu/machine_costs.h"

#include <bit>
#include <cstdint>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing::gpu {

using machines::Bytes;
using machines::BytesPerCycle;
using machines::BytesPerSecond;
using machines::Count;
using machines::Cycles;
using machines::Hertz;
using machines::Key;
using machines::Nanoseconds;
using machines::PerCycle;

namespace {

template <class Unit>
absl::Status Read(const machines::Machine& machine, Key<Unit> key, Unit* number) {
  PALLADION_ASSIGN_OR_RETURN(*number, machine.Get(key));
  return absl::OkStatus();
}

absl::Status ReadWgmma(const machines::Machine& machine, HopperCosts* costs) {
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("wgmma.floor"), &costs->wgmma_floor));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("wgmma.smem_per_n"), &costs->wgmma_smem_per_n));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("wgmma.per_n"), &costs->wgmma_per_n));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("wgmma.rs_floor"), &costs->wgmma_rs_floor));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("wgmma.tail"), &costs->wgmma_tail));
  return absl::OkStatus();
}

absl::Status ReadSm(const machines::Machine& machine, GpuCosts* costs) {
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerCycle>("smem.port"), &costs->smem_port));
  costs->smem_landing = machine.Find(Key<BytesPerCycle>("smem.landing"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("smem.latency"), &costs->smem_latency));
  Bytes registers;
  Count of_thread;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Bytes>("register.bytes"), &registers));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Count>("register.of_thread"), &of_thread));
  constexpr double kRegisterBytes = 4;
  costs->registers = {.of_sm = static_cast<std::int64_t>(registers.value() / kRegisterBytes),
                      .of_thread = static_cast<std::int64_t>(of_thread.value())};
  Count banks;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Count>("smem.banks"), &banks));
  costs->smem_banks = static_cast<std::int64_t>(banks.value());
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("fp32.interval"), &costs->fp32_interval));
  Count division;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Count>("fp32.division"), &division));
  costs->division = static_cast<std::int64_t>(division.value());
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("fp32.latency"), &costs->fp32_latency));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("alu.interval"), &costs->alu_interval));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("alu.latency"), &costs->alu_latency));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("cvt.interval"), &costs->cvt_interval));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("cvt.latency"), &costs->cvt_latency));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("mufu.interval"), &costs->mufu_interval));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("mufu.latency"), &costs->mufu_latency));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("shfl.interval"), &costs->shfl_interval));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("shfl.latency"), &costs->shfl_latency));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("barrier.base"), &costs->barrier_base));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("barrier.per_warp"), &costs->barrier_per_warp));
  costs->dsmem_latency = machine.Get(Key<Cycles>("dsmem.latency"));
  costs->dsmem_store = machine.Get(Key<BytesPerCycle>("dsmem.store"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("mbarrier.arrive"), &costs->arrive));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("mbarrier.wait"), &costs->wait));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("fence.proxy"), &costs->fence));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("launch.replace"), &costs->replace));
  Count slots;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Count>("issue.slots"), &slots));
  costs->issue_slots = static_cast<std::int64_t>(slots.value());
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<PerCycle>("issue.rate"), &costs->issue_rate));
  return absl::OkStatus();
}

// l2_cache.h has a bit for each.
absl::Status CheckSectors(const machines::Machine& machine, const GpuCosts& costs) {
  const double sectors = costs.l2_line / costs.l2_sector;
  const auto bytes = static_cast<std::uint64_t>(costs.l2_line.value());
  if (std::has_single_bit(bytes) && (sectors == 1 || sectors == 2 || sectors == 4 || sectors == 8))
    return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(machine.name(), " has an l2.line of ", costs.l2_line.value(),
                                        " bytes and an l2.sector of ", costs.l2_sector.value(),
                                        "; a line must be a power of two of 1, 2, 4 or 8 sectors: set both"));
}

absl::Status ReadMemory(const machines::Machine& machine, GpuCosts* costs) {
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tma.issue"), &costs->tma_issue));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<PerCycle>("tma.row_rate"), &costs->tma_rows));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Bytes>("tma.row_bytes"), &costs->tma_row_bytes));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Bytes>("l2.line"), &costs->l2_line));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Bytes>("l2.sector"), &costs->l2_sector));
  PALLADION_RETURN_IF_ERROR(CheckSectors(machine, *costs));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Bytes>("l2.size"), &costs->l2_size));
  if (const auto effective = machine.Find(Key<Bytes>("l2.effective"))) costs->l2_size = *effective;
  Cycles near, far;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("l2.near_latency"), &near));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("l2.far_latency"), &far));
  costs->l2_latency = (near + far) / 2;
  Nanoseconds hit, miss, launch, device_fence;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Nanoseconds>("fence.device"), &device_fence));
  costs->device_fence = device_fence * costs->clock;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Nanoseconds>("tma.l2_latency"), &hit));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Nanoseconds>("tma.dram_latency"), &miss));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Nanoseconds>("launch.empty"), &launch));
  costs->tma_l2_latency = hit * costs->clock;
  costs->tma_dram_latency = miss * costs->clock;
  // Where it was not measured, DRAM is as much farther than L2 as it is for copies.
  const auto measured = machine.Find(Key<Nanoseconds>("dram.latency"));
  costs->dram_latency = measured.has_value() ? *measured * costs->clock
                                             : costs->l2_latency + (costs->tma_dram_latency - costs->tma_l2_latency);
  costs->launch = launch * costs->clock;
  BytesPerSecond l2, dram;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerSecond>("l2.bandwidth"), &l2));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerSecond>("dram.achieved"), &dram));
  costs->l2 = l2 / costs->clock;
  costs->dram = dram / costs->clock;
  return absl::OkStatus();
}

absl::Status ReadCommon(const machines::Machine& machine, GpuCosts* costs) {
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Hertz>("clock.short"), &costs->clock));
  Count sms;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Count>("chip.cores"), &sms));
  costs->sms = static_cast<std::int64_t>(sms.value());
  PALLADION_RETURN_IF_ERROR(ReadSm(machine, costs));
  return ReadMemory(machine, costs);
}

absl::Status ReadSingle(const machines::Machine& machine, BlackwellCosts* costs) {
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss128_least"), &costs->ss128.least));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss128_floor"), &costs->ss128.floor));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss128_smem_per_n"), &costs->ss128.smem_per_n));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss128_per_n"), &costs->ss128.per_n));
  costs->ss128.commit = machine.Get(Key<Cycles>("tcgen05.ss128_commit"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ts128_per_n"), &costs->ts128.per_n));
  costs->ts128.commit = machine.Get(Key<Cycles>("tcgen05.ts128_commit"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss64_least"), &costs->ss64.least));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.ss64_per_n"), &costs->ss64.per_n));
  costs->ss64.commit = machine.Get(Key<Cycles>("tcgen05.ss64_commit"));
  return absl::OkStatus();
}

absl::Status ReadPair(const machines::Machine& machine, BlackwellCosts* costs) {
  BlackwellCosts::Form &half = costs->pair_ss128, &whole = costs->pair_ss256, &tensor = costs->pair_ts256;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss128_floor"), &half.floor));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss128_smem_per_n"), &half.smem_per_n));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss128_per_n"), &half.per_n));
  half.commit = machine.Get(Key<Cycles>("tcgen05.pair_ss128_commit"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss256_floor"), &whole.floor));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss256_smem_per_n"), &whole.smem_per_n));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ss256_per_n"), &whole.per_n));
  whole.commit = machine.Get(Key<Cycles>("tcgen05.pair_ss256_commit"));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.pair_ts256_per_n"), &tensor.per_n));
  tensor.commit = absl::NotFoundError(
      Cat("no source says how long the commit of a pair's product takes whose A is in tensor memory, for ",
          machine.name()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HopperCosts> HopperCostsOf(const machines::Machine& machine) {
  if (machine.family() != machines::Family::kHopper)
    return absl::InvalidArgumentError(Cat("machine ", machine.name(), " has no wgmma; take h100 or h200"));
  HopperCosts costs;
  PALLADION_RETURN_IF_ERROR(ReadCommon(machine, &costs));
  PALLADION_RETURN_IF_ERROR(ReadWgmma(machine, &costs));
  return costs;
}

absl::StatusOr<BlackwellCosts> BlackwellCostsOf(const machines::Machine& machine) {
  if (machine.family() != machines::Family::kBlackwell)
    return absl::InvalidArgumentError(Cat("machine ", machine.name(), " has no tcgen05; take b200"));
  BlackwellCosts costs;
  PALLADION_RETURN_IF_ERROR(ReadCommon(machine, &costs));
  PALLADION_RETURN_IF_ERROR(ReadSingle(machine, &costs));
  PALLADION_RETURN_IF_ERROR(ReadPair(machine, &costs));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("tcgen05.alloc"), &costs.tmem_alloc));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerCycle>("tmem.read"), &costs.tmem_read));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerCycle>("tmem.write"), &costs.tmem_write));
  return costs;
}

absl::StatusOr<ChipCosts> CostsOf(const machines::Machine& machine) {
  switch (machine.family()) {
    case machines::Family::kHopper: {
      PALLADION_ASSIGN_OR_RETURN(const HopperCosts costs, HopperCostsOf(machine));
      return ChipCosts(costs);
    }
    case machines::Family::kBlackwell: {
      PALLADION_ASSIGN_OR_RETURN(const BlackwellCosts costs, BlackwellCostsOf(machine));
      return ChipCosts(costs);
    }
    case machines::Family::kTpu:
      break;
  }
  return absl::InvalidArgumentError(Cat("machine ", machine.name(), " is no GPU; take h100, h200 or b200"));
}

absl::StatusOr<LinkCosts> LinkCostsOf(const machines::Machine& machine) {
  Hertz clock;
  BytesPerSecond read, write;
  Nanoseconds latency;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Hertz>("clock.short"), &clock));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerSecond>("link.read"), &read));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerSecond>("link.write"), &write));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Nanoseconds>("link.atomic"), &latency));
  return LinkCosts{.read = read / clock, .write = write / clock, .latency = latency * clock};
}

const GpuCosts& Common(const ChipCosts& costs) {
  return std::visit([](const auto& of_family) -> const GpuCosts& { return of_family; }, costs);
}

}  // namespace palladion::timing::gpu
