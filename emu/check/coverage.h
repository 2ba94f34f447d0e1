// Which parts of a kernel no program reached, so that a clean report does not claim too much: branches, loop bodies,
// masks without a lane. Observes one launch. Based on: line coverage of the kernel text. What it does not catch:
// regions whose instructions share their lines with others, or were all computed beforehand (constants): these are not
// reported.
#ifndef PALLADION_EMU_CHECK_COVERAGE_H_
#define PALLADION_EMU_CHECK_COVERAGE_H_

#include <cstdint>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/run/agents/launch_options.h"
#include "memory_model/bytes/events.h"

namespace palladion::check {

class Coverage final : public run::Watcher {
 public:
  explicit Coverage(const kernel::PreparedKernelState& kernel);

  // Records what runs in this launch.
  void Attach(agents::LaunchOptions& launch);

  // `programs`: how many ran. In the order of the text; what lies inside a part that never ran is not listed again.
  std::vector<NeverRan> Missing(std::int64_t programs) const;

  memory_model::EventSet wants() const override { return {memory_model::EventKind::kMasked}; }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  struct MaskedLine {
    AccessKind kind = AccessKind::kRead;
    LocId loc;
    bool masked = false, active = false;
  };

  void LookAt(AccessKind kind, const Mask& mask, std::size_t lanes, const Site& site);

  const kernel::PreparedKernelState& kernel_;
  std::vector<std::uint8_t> ran_;   // by step
  std::vector<MaskedLine> masked_;  // by line of the text
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_COVERAGE_H_
