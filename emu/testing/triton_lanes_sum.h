// What a Triton kernel's timelines of all its SMs add up to, against its report: for the conformance suite, as
// for_tests.h, and for tests of the timeline. Nothing may be lost on the way from the timer to the picture: busy and
// waited time of each line, stalls of each class, launches of blocks, and, of each place for a block, all of the time.
// Limits: kernels whose spans are fewer than a timeline keeps.
#ifndef PALLADION_EMU_TESTING_TRITON_LANES_SUM_H_
#define PALLADION_EMU_TESTING_TRITON_LANES_SUM_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/timing/report/format.h"
#include "emu/timing/time_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing {

class TritonLanesSum {
 public:
  // Adds a timeline of one SM.
  void Add(const timeline::Timeline& timeline) {
    for (std::size_t l = 0; l < timeline.lanes.size(); ++l) {
      const timeline::Lane& lane = timeline.lanes[l];
      std::vector<timeline::Span> spans;
      for (const timeline::Span& span : timeline.spans) {
        if (span.lane == static_cast<std::int32_t>(l)) spans.push_back(span);
      }
      if (lane.kind == timeline::LaneKind::kThread) AddWarps(timeline, spans);
      if (lane.name == "block") AddBlocks(timeline, spans);
      if (lane.kind == timeline::LaneKind::kSlot && Covered(spans) < 0)
        Wrong(timeline, Cat("a stage is used twice: ", lane.name));
    }
  }

  // What differs from the report, a line each; "": nothing.
  std::string Against(const report::Timing& timing) {
    for (const report::LineTime& line : timing.lines) {
      Compare(Cat("busy at line ", line.text_line, " ", line.op), busy_[{line.text_line, line.op}], line.busy.value());
      Compare(Cat("waited at line ", line.text_line, " ", line.op), waited_[{line.text_line, line.op}],
              line.waited.value());
    }
    double busy = 0, stalls = 0, busy_of_report = 0, stalls_of_report = 0;
    for (const report::LineTime& line : timing.lines) busy_of_report += line.busy.value();
    for (const auto& [line, cycles] : busy_) busy += cycles;
    Compare("busy", busy, busy_of_report);
    for (const report::StallTime& stall : timing.stalls) {
      Compare(stall.reason, stalls_[stall.reason], stall.waited.value());
      stalls_of_report += stall.waited.value();
    }
    for (const auto& [reason, cycles] : stalls_) stalls += cycles;
    Compare("all stalls", stalls, stalls_of_report);
    Compare("in blocks", busy + stalls - stalls_[kLaunch], in_blocks_);
    if (timing.whole.has_value()) {
      for (const report::Whole::Part& part : timing.whole->rest) {
        if (part.name.starts_with("tail")) Compare(part.name, tail_, part.time.value());
      }
    }
    return wrong_;
  }

 private:
  static constexpr const char* kLaunch = "the launch of its block";
  static constexpr double kLeast = 1e-6;  // cycles: sums of doubles

  static double Cycles(const timeline::Span& span) { return (span.end - span.begin).value(); }

  void Wrong(const timeline::Timeline& timeline, std::string_view what) {
    Append(&wrong_, timeline.of, ": ", what, "\n");
  }

  void Compare(std::string_view what, double here, double there) {
    if (std::abs(here - there) > kLeast * std::max(1.0, there))
      Append(&wrong_, what, ": lanes have ", here, " cycles, the report ", there, "\n");
  }

  // Of spans in the order in which they begin; -1: two of them overlap.
  static double Covered(const std::vector<timeline::Span>& spans) {
    double covered = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (i > 0 && spans[i].begin.value() < spans[i - 1].end.value() - kLeast) return -1;
      covered += Cycles(spans[i]);
    }
    return covered;
  }

  void AddWarps(const timeline::Timeline& timeline, const std::vector<timeline::Span>& spans) {
    constexpr std::string_view kWaits = " waits for ";
    if (Covered(spans) < 0) Wrong(timeline, "warps do two things at once");
    for (const timeline::Span& span : spans) {
      const std::size_t at = span.what.rfind(kWaits);
      const bool waits = span.kind == timeline::SpanKind::kWait;
      if (waits != (at != std::string::npos)) Wrong(timeline, Cat("a wait without a class: ", span.what));
      (waits ? waited_ : busy_)[{span.text_line, span.what.substr(0, at)}] += Cycles(span);
      if (waits) stalls_[span.what.substr(at + kWaits.size())] += Cycles(span);
    }
  }

  void AddBlocks(const timeline::Timeline& timeline, const std::vector<timeline::Span>& spans) {
    if (std::abs(Covered(spans) - timeline.length.value()) > kLeast * timeline.length.value())
      Wrong(timeline, Cat("a place has ", Covered(spans), " cycles of ", timeline.length.value()));
    for (const timeline::Span& span : spans) {
      if (span.kind == timeline::SpanKind::kWork) in_blocks_ += Cycles(span);
      if (span.what.starts_with("launch of ")) stalls_[kLaunch] += Cycles(span);
      if (span.what.starts_with("tail") || span.what == "free") tail_ += Cycles(span);
    }
  }

  using Line = std::pair<int, std::string>;  // and its operation
  std::map<Line, double> busy_, waited_;
  std::map<std::string, double> stalls_;
  double in_blocks_ = 0, tail_ = 0;
  std::string wrong_;
};

// "": all is there. An error: the kernel has no time.
inline absl::StatusOr<std::string> LostOnTheLanes(std::string_view text, std::string_view target,
                                                  absl::Span<const Tensor> inputs) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel,
                             PrepareText(text, {.target = std::string(target), .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, MachineOf(kernel, {}));
  const auto timed = [&](std::optional<timeline::TimelineOptions> timeline) {
    return TimeKernel({.kernel = kernel, .inputs = inputs, .machine = machine, .run = {}, .timeline = timeline});
  };
  PALLADION_ASSIGN_OR_RETURN(const base::Timed plain, timed(std::nullopt));
  TritonLanesSum lanes;
  for (std::int64_t sm = 0; sm < plain.timing.placement.units; ++sm) {
    PALLADION_ASSIGN_OR_RETURN(const base::Timed drawn, timed(timeline::TimelineOptions{.unit = sm}));
    if (drawn.timeline->dropped > 0) return absl::OutOfRangeError("more spans than a timeline keeps");
    lanes.Add(*drawn.timeline);
    const Module& module = kernel.state().module();
    if (report::TimingJson(drawn.timing, module) != report::TimingJson(plain.timing, module) ||
        ToJson(drawn.report) != ToJson(plain.report))
      return Cat("SM ", sm, ": another time, or report, with a timeline\n");
  }
  return lanes.Against(plain.timing);
}

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TESTING_TRITON_LANES_SUM_H_
