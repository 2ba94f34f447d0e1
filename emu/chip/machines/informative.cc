#include "emu/chip/machines/informative.h"

#include <algorithm>
#include <iterator>

#include "emu/chip/machines/keys.h"
#include "semantics/base/cat.h"

namespace palladion::machines {
namespace {

constexpr std::string_view kInformative[] = {"barrier.named_arrive",
                                             "barrier.named_wait",
                                             "clock.loaded",
                                             "clock.max",
                                             "cluster.barrier",
                                             "dsmem.load",
                                             "dsmem.put",
                                             "fence.system",
                                             "fp32.lanes",
                                             "grid.barrier",
                                             "ici.chip",
                                             "ici.hop",
                                             "ici.link",
                                             "ici.links",
                                             "l2.partitions",
                                             "l2.slice_rate",
                                             "l2.slices",
                                             "l2.to_sm",
                                             "launch.block",
                                             "launch.graph",
                                             "mbarrier.interval",
                                             "mufu.exp2_latency",
                                             "mufu.lanes",
                                             "peak.fp4",
                                             "peak.tf32",
                                             "smem.stmatrix",
                                             "tcgen05.depth",
                                             "tensor.fp4",
                                             "tma.box_rows",
                                             "tma.dram_rate",
                                             "tma.in_flight",
                                             "tma.l2_rate",
                                             "tma.slowdown",
                                             "tmem.bytes",
                                             "tmem.columns",
                                             "tmem.lanes",
                                             "vmem.bandwidth",
                                             "wgmma.depth",
                                             "wgmma.rs_depth",
                                             "wgmma.rs_tail",
                                             "wgmma.slowdown"};

constexpr std::string_view kForTriton[] = {"l1.latency",        "l1.size",          "l2.atomic",
                                           "mma_sync.interval", "mma_sync.latency", "tensor.fp8",
                                           "tensor.int8",       "tensor.mma_sync",  "tensor.tf32"};

}  // namespace

absl::Span<const std::string_view> InformativeKeys() { return kInformative; }

bool IsInformative(std::string_view key) {
  return std::find(std::begin(kInformative), std::end(kInformative), key) != std::end(kInformative);
}

bool IsForTriton(std::string_view key) {
  return std::find(std::begin(kForTriton), std::end(kForTriton), key) != std::end(kForTriton);
}

std::string InformativeText(const Machine& machine) {
  std::string text;
  for (std::size_t row = 0; row < key_table::kCount; ++row) {
    const std::string_view name = key_table::kRows[row].name;
    if (machine.At(row).has_value() && IsInformative(name)) Append(&text, "# informative: ", name, "\n");
  }
  return text.empty() ? "" : Cat("\n# For information: no timing law and no check reads these.\n", text);
}

}  // namespace palladion::machines
