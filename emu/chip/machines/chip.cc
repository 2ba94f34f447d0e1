#include "emu/chip/machines/chip.h"

#include <cmath>
#include <vector>

#include "emu/chip/machines/description.h"

namespace palladion::machines {
namespace {

template <class Unit>
std::int64_t Whole(const Machine& machine, Key<Unit> key) {
  return std::llround(machine.Find(key).value_or(Unit(0)).value());
}

Chip ChipOf(const Machine& machine) {
  const auto count = [&](Key<Count> key) { return static_cast<int>(Whole(machine, key)); };
  const bool is_tpu = machine.family() == Family::kTpu;
  return {.name = machine.name(),
          .device_kind = machine.device_kind(),
          .is_tpu = is_tpu,
          .generation = count(Key<Count>("chip.generation")),
          .cores = count(Key<Count>("chip.cores")),
          .vmem_bytes = Whole(machine, Key<Bytes>("vmem.size")),
          .vmem_scoped = Whole(machine, Key<Bytes>("vmem.scoped")),
          .vmem_reserved = Whole(machine, Key<Bytes>("vmem.reserved")),
          .vmem_subcore = Whole(machine, Key<Bytes>("sparsecore.vmem")),
          .smem_bytes = Whole(machine, is_tpu ? Key<Bytes>("smem.size") : Key<Bytes>("smem.of_block")),
          .cmem_bytes = Whole(machine, Key<Bytes>("cmem.size")),
          .hbm_bytes = Whole(machine, Key<Bytes>("dram.size")),
          .lanes = count(Key<Count>("register.lanes")),
          .sublanes = count(Key<Count>("register.sublanes")),
          .vector_registers = count(Key<Count>("register.vectors")),
          .matrix_units = count(Key<Count>("mxu.count")),
          .accumulators = count(Key<Count>("mxu.accumulators"))};
}

std::vector<Chip> ReadChips() {
  std::vector<Chip> chips;
  for (const Machine& machine : AllMachines()) chips.push_back(ChipOf(machine));
  return chips;
}

}  // namespace

absl::Span<const Chip> AllChips() {
  static const std::vector<Chip>* const chips = new std::vector<Chip>(ReadChips());
  return *chips;
}

const Chip* FindChip(std::string_view name) {
  for (const Chip& chip : AllChips()) {
    if (chip.name == name) return &chip;
  }
  return nullptr;
}

}  // namespace palladion::machines
