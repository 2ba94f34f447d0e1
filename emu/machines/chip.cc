#include "emu/machines/chip.h"

namespace palladion {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

constexpr Chip Tpu(std::string_view name, std::string_view device_kind, int generation, int cores,
                   std::int64_t vmem_bytes) {
  return {.name = name,
          .device_kind = device_kind,
          .is_tpu = true,
          .generation = generation,
          .cores = cores,
          .vmem_bytes = vmem_bytes,
          .smem_bytes = 1 * kMiB,
          .lanes = 128,
          .sublanes = 8};
}

constexpr Chip Gpu(std::string_view name, std::string_view device_kind, int major, int sms) {
  return {.name = name, .device_kind = device_kind, .generation = major, .cores = sms, .smem_bytes = 227 * kKiB};
}

constexpr Chip kChips[] = {
    // Two cores act as one device (megacore) on v4 and v5p; v7x has two cores that are devices of their own.
    Tpu("v4", "TPU v4", 4, 2, 16 * kMiB),
    Tpu("v5e", "TPU v5 lite", 5, 1, 128 * kMiB),
    Tpu("v5p", "TPU v5", 5, 2, 64 * kMiB),
    Tpu("v6e", "TPU v6 lite", 6, 1, 128 * kMiB),
    Tpu("v7x", "TPU7x", 7, 1, 64 * kMiB),
    // SMs of the SXM boards.
    Gpu("h100", "NVIDIA H100 80GB HBM3", 9, 132),
    Gpu("h200", "NVIDIA H200", 9, 132),
    Gpu("b200", "NVIDIA B200", 10, 148),
};

}  // namespace

absl::Span<const Chip> AllChips() { return kChips; }

const Chip* FindChip(std::string_view name) {
  for (const Chip& chip : kChips) {
    if (chip.name == name) return &chip;
  }
  return nullptr;
}

}  // namespace palladion
