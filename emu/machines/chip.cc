#include "emu/machines/chip.h"

namespace palladion::machines {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

constexpr std::int64_t kGB = 1'000'000'000;

constexpr Chip Tpu(Chip chip) {
  chip.is_tpu = true;
  chip.smem_bytes = 1 * kMiB;
  chip.lanes = 128;
  chip.sublanes = 8;
  return chip;
}

constexpr Chip Gpu(Chip chip) {
  chip.smem_bytes = 227 * kKiB;
  return chip;
}

constexpr Chip kChips[] = {
    // Two cores act as one device (megacore) on v4 and v5p; v7x has two cores that are devices of their own.
    Tpu({.name = "v4",
         .device_kind = "TPU v4",
         .generation = 4,
         .cores = 2,
         .vmem_bytes = 16 * kMiB,
         .hbm_bytes = 344 * kGB / 10,
         .matrix_units = 4}),
    Tpu({.name = "v5e",
         .device_kind = "TPU v5 lite",
         .generation = 5,
         .vmem_bytes = 128 * kMiB,
         .hbm_bytes = 172 * kGB / 10,
         .matrix_units = 4}),
    Tpu({.name = "v5p",
         .device_kind = "TPU v5",
         .generation = 5,
         .cores = 2,
         .vmem_bytes = 64 * kMiB,
         .hbm_bytes = 103 * kGB,
         .matrix_units = 4}),
    Tpu({.name = "v6e",
         .device_kind = "TPU v6 lite",
         .generation = 6,
         .vmem_bytes = 128 * kMiB,
         .hbm_bytes = 344 * kGB / 10,
         .matrix_units = 2}),
    Tpu({.name = "v7x",
         .device_kind = "TPU7x",
         .generation = 7,
         .vmem_bytes = 64 * kMiB,
         .hbm_bytes = 103 * kGB,
         .matrix_units = 2,
         .accumulators = 128}),
    // SMs of the SXM boards.
    Gpu({.name = "h100",
         .device_kind = "NVIDIA H100 80GB HBM3",
         .generation = 9,
         .cores = 132,
         .hbm_bytes = 81559 * kMiB}),
    Gpu({.name = "h200", .device_kind = "NVIDIA H200", .generation = 9, .cores = 132, .hbm_bytes = 143771 * kMiB}),
    Gpu({.name = "b200", .device_kind = "NVIDIA B200", .generation = 10, .cores = 148, .hbm_bytes = 183359 * kMiB}),
};

}  // namespace

absl::Span<const Chip> AllChips() { return kChips; }

const Chip* FindChip(std::string_view name) {
  for (const Chip& chip : kChips) {
    if (chip.name == name) return &chip;
  }
  return nullptr;
}

}  // namespace palladion::machines
