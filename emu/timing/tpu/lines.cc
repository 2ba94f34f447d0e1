#include "emu/timing/tpu/lines.h"

#include <algorithm>
#include <cstddef>

#include "emu/timing/base/ticks.h"

namespace palladion::timing::tpu {

using base::CriticalPath;
using base::CyclesOf;
using machines::Cycles;
using report::LineTime;
using report::PathPart;
using report::StallTime;
using scheduler::Ticks;

namespace {

constexpr std::uint8_t kWorks = 0, kInFlight = 1;  // on the critical path

void AddStall(std::vector<StallTime>& stalls, std::string_view reason, Cycles waited) {
  const auto found =
      std::find_if(stalls.begin(), stalls.end(), [&](const StallTime& stall) { return stall.reason == reason; });
  if (found != stalls.end()) {
    found->waited += waited;
  } else {
    stalls.push_back({std::string(reason), waited});
  }
}

}  // namespace

LineTime& TpuLines::Of(const std::string& op, const Place& at) {
  LineTime& line = lines_[{at.text_line, op}];
  if (line.op.empty()) line = {.loc = at.loc, .text_line = at.text_line, .op = op, .waited_for = {}};
  return line;
}

std::int32_t TpuLines::NumberOf(const LineTime& line) {
  const auto [found, added] = number_of_.emplace(&line, static_cast<std::int32_t>(on_path_.size()));
  if (added) on_path_.push_back(&line);
  return found->second;
}

void TpuLines::Worked(CriticalPath::Agent core, const LineTime& line, Ticks time) {
  path_.Spent(core, time, {.what = NumberOf(line), .how = kWorks});
}

void TpuLines::Waited(CriticalPath::Agent core, LineTime& line, const Wait& wait) {
  const Cycles waited = CyclesOf(wait.landed - wait.from);
  ++line.runs;
  line.waited += waited;
  AddStall(line.stalls, wait.stall, waited);
  path_.StartFrom(core, wait.held);
  path_.Spent(core, wait.landed - wait.start, {.what = NumberOf(line), .how = kInFlight});
}

std::vector<LineTime> TpuLines::InOrder() const {
  std::vector<LineTime> lines;
  for (const auto& [key, line] : lines_) {
    if (line.busy.value() > 0 || line.waited.value() > 0) lines.push_back(line);
  }
  return lines;
}

std::vector<PathPart> TpuLines::CriticalParts() const {
  std::vector<PathPart> parts;
  for (const CriticalPath::Stretch& stretch : path_.Longest()) {
    const LineTime& line = *on_path_[static_cast<std::size_t>(stretch.at.what)];
    parts.push_back({.loc = line.loc,
                     .text_line = line.text_line,
                     .op = line.op,
                     .doing = stretch.at.how == kInFlight ? "under way" : "",
                     .time = CyclesOf(stretch.time)});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return parts;
}

std::vector<StallTime> TpuLines::Stalls() const {
  std::vector<StallTime> stalls;
  for (const auto& [key, line] : lines_) {
    for (const StallTime& stall : line.stalls) AddStall(stalls, stall.reason, stall.waited);
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const StallTime& a, const StallTime& b) { return a.waited > b.waited; });
  return stalls;
}

}  // namespace palladion::timing::tpu
