#include "emu/timing/timeline/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "semantics/base/cat.h"

namespace palladion::timing::timeline {

std::int32_t TimelineRecorder::NewLane(Lane lane) {
  timeline_.lanes.push_back(std::move(lane));
  return static_cast<std::int32_t>(timeline_.lanes.size()) - 1;
}

std::int32_t TimelineRecorder::LaneNamed(const Lane& lane) {
  const auto [at, added] = lane_named_.try_emplace({lane.group, lane.name}, -1);
  if (added) at->second = NewLane(lane);
  return at->second;
}

std::int32_t TimelineRecorder::LastOf(std::int32_t lane) const {
  const auto last = last_of_lane_.find(lane);
  return last == last_of_lane_.end() ? kNoSpan : last->second;
}

void TimelineRecorder::IssuedBy(std::int32_t span, std::int32_t issuer) {
  if (span != kNoSpan) timeline_.spans[static_cast<std::size_t>(span)].ended_by = issuer;
}

std::int32_t TimelineRecorder::Add(Span span, std::int32_t instruction) {
  constexpr std::size_t kRecent = 16;
  if (timeline_.spans.size() >= options_.spans) {
    ++timeline_.dropped;
    return kNoSpan;
  }
  const auto number = static_cast<std::int32_t>(timeline_.spans.size());
  timeline_.spans.push_back(std::move(span));
  last_of_lane_[timeline_.spans.back().lane] = number;
  std::deque<std::int32_t>& recent = recent_[instruction];
  recent.push_back(number);
  if (recent.size() > kRecent) recent.pop_front();
  return number;
}

// What one instruction does at a time without a gap is one span.
void TimelineRecorder::Worked(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line, SpanKind kind) {
  if (end <= begin) return;
  if (const auto last = last_of_lane_.find(lane); last != last_of_lane_.end()) {
    Span& before = timeline_.spans[static_cast<std::size_t>(last->second)];
    if (before.kind == kind && before.text_line == line.text_line && before.what == line.op &&
        before.slot == line.slot && before.end == CyclesOf(begin)) {
      before.end = CyclesOf(end);
      return;
    }
  }
  Add({.lane = lane,
       .begin = CyclesOf(begin),
       .end = CyclesOf(end),
       .kind = kind,
       .loc = line.loc,
       .text_line = line.text_line,
       .what = line.op,
       .slot = line.slot},
      line.instruction);
}

std::int32_t TimelineRecorder::EndedBy(std::int32_t instruction, machines::Cycles at) const {
  const auto found = recent_.find(instruction);
  if (instruction < 0 || found == recent_.end()) return kNoSpan;
  std::int32_t nearest = kNoSpan;
  double least = 0;
  for (const std::int32_t number : found->second) {
    const Span& span = timeline_.spans[static_cast<std::size_t>(number)];
    const double distance = std::min(std::abs((span.end - at).value()), std::abs((span.begin - at).value()));
    if (nearest != kNoSpan && distance > least) continue;
    nearest = number;
    least = distance;
  }
  return nearest;
}

void TimelineRecorder::Waited(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line,
                              std::int32_t ended_by) {
  WaitedFor(lane, begin, end, line, EndedBy(ended_by, CyclesOf(end)));
}

void TimelineRecorder::WaitedFor(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line, std::int32_t by) {
  if (end <= begin) return;
  Add({.lane = lane,
       .begin = CyclesOf(begin),
       .end = CyclesOf(end),
       .kind = SpanKind::kWait,
       .loc = line.loc,
       .text_line = line.text_line,
       .what = line.op,
       .slot = line.slot,
       .ended_by = by},
      line.instruction);
}

std::int32_t TimelineRecorder::Put(const Placed& placed, Ticks begin, Ticks end, const TimelineLine& line) {
  if (end <= begin) return kNoSpan;
  return Add({.lane = placed.lane,
              .begin = CyclesOf(begin),
              .end = CyclesOf(end),
              .kind = placed.kind,
              .loc = line.loc,
              .text_line = line.text_line,
              .what = placed.what,
              .slot = placed.slot,
              .ended_by = placed.by},
             /*instruction=*/-1);
}

TimelineLine TimelineRecorder::LineOf(std::int32_t span) const {
  if (span == kNoSpan) return {};
  const Span& of = timeline_.spans[static_cast<std::size_t>(span)];
  return {.loc = of.loc, .text_line = of.text_line, .op = of.what};
}

std::int32_t TimelineRecorder::RanBeside(const Beside& beside, Ticks begin, Ticks end, const TimelineLine& line) {
  std::vector<Free>& lanes = beside_[beside.name];
  auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Free& one) { return one.from <= begin; });
  if (lane == lanes.end()) {
    const std::string number = lanes.empty() ? "" : Cat(" ", lanes.size() + 1);
    const Lane added{.group = "engines", .name = beside.name + number, .kind = LaneKind::kEngine};
    lane = lanes.insert(lanes.end(), {.lane = NewLane(added), .from = {}});
  }
  lane->from = end;
  return Add({.lane = lane->lane,
              .begin = CyclesOf(begin),
              .end = CyclesOf(end),
              .kind = beside.kind,
              .loc = line.loc,
              .text_line = line.text_line,
              .what = beside.what,
              .slot = beside.slot,
              .ended_by = beside.issuer_span != kNoSpan ? beside.issuer_span : LastOf(beside.issuer)},
             line.instruction);
}

std::int32_t TimelineRecorder::SlotOf(std::int32_t buffer, std::int64_t place) {
  std::map<std::int64_t, std::int32_t>& slots = slots_[buffer];
  return slots.try_emplace(place, static_cast<std::int32_t>(slots.size())).first->second;
}

// Where there are too many intervals, pairs of them become one.
void TimelineRecorder::Used(std::size_t strip, const std::string& name, Ticks now, Ticks busy, std::int64_t units) {
  constexpr Ticks kShortest{16 * 1024};
  if (strips_.size() <= strip) strips_.resize(strip + 1, {.interval = kShortest});
  Sampled& sampled = strips_[strip];
  sampled.name = name;
  if (now < sampled.until + sampled.interval) return;
  const std::int64_t intervals = (now - sampled.until).value / sampled.interval.value;
  // What is over of the next interval has had its part of it.
  const double rate =
      static_cast<double>((busy - sampled.busy_then).value) / static_cast<double>((now - sampled.until).value);
  const double share = std::clamp(rate / static_cast<double>(units), 0.0, 1.0);
  const auto until_then = static_cast<std::int64_t>(rate * static_cast<double>(intervals * sampled.interval.value));
  sampled.share.insert(sampled.share.end(), static_cast<std::size_t>(intervals), share);
  sampled.until = {sampled.until.value + intervals * sampled.interval.value};
  sampled.busy_then.value += until_then;
  while (sampled.share.size() > options_.intervals && sampled.share.size() % 2 == 0) {
    for (std::size_t i = 0; i < sampled.share.size() / 2; ++i)
      sampled.share[i] = (sampled.share[2 * i] + sampled.share[2 * i + 1]) / 2;
    sampled.share.resize(sampled.share.size() / 2);
    sampled.interval = {2 * sampled.interval.value};
  }
}

void TimelineRecorder::Found(const Finding& finding, Ticks at, std::int32_t span) {
  const auto line = [](const std::optional<FindingAccess>& side) { return side.has_value() ? side->text_line : 0; };
  timeline_.found.push_back({.code = finding.code,
                             .text_line = finding.text_line,
                             .first = line(finding.first),
                             .second = line(finding.second),
                             .at = CyclesOf(at),
                             .span = span});
}

void TimelineRecorder::DropIdleBarriers() {
  std::vector<bool> used(timeline_.lanes.size());
  for (const Span& span : timeline_.spans) used[static_cast<std::size_t>(span.lane)] = true;
  std::vector<std::int32_t> now_at(timeline_.lanes.size());
  std::vector<Lane> kept;
  for (std::size_t l = 0; l < used.size(); ++l) {
    now_at[l] = static_cast<std::int32_t>(kept.size());
    if (used[l] || timeline_.lanes[l].kind != LaneKind::kBarrier) kept.push_back(timeline_.lanes[l]);
  }
  timeline_.lanes = std::move(kept);
  for (Span& span : timeline_.spans) span.lane = now_at[static_cast<std::size_t>(span.lane)];
}

void TimelineRecorder::OrderLanes() {
  std::vector<Lane>& lanes = timeline_.lanes;
  std::map<std::string, std::size_t> first_of_group;
  for (std::size_t i = 0; i < lanes.size(); ++i) first_of_group.emplace(lanes[i].group, i);
  const auto group_of = [&](std::int32_t lane) {
    const std::size_t first = first_of_group.at(lanes[static_cast<std::size_t>(lane)].group);
    return std::pair(lanes[first].kind, first);
  };
  std::vector<std::int32_t> order(lanes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return group_of(a) < group_of(b); });
  std::vector<std::int32_t> now_at(lanes.size());
  std::vector<Lane> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    now_at[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    sorted.push_back(lanes[static_cast<std::size_t>(order[i])]);
  }
  lanes = std::move(sorted);
  for (Span& span : timeline_.spans) span.lane = now_at[static_cast<std::size_t>(span.lane)];
}

Timeline TimelineRecorder::Take(const std::string& of, Ticks length) {
  DropIdleBarriers();
  OrderLanes();
  timeline_.of = of;
  timeline_.length = CyclesOf(length);
  for (Sampled& sampled : strips_) timeline_.strips.push_back({.name = sampled.name, .share = sampled.share});
  // Spans of several lanes are recorded when they are known, which is not the order in which they begin.
  std::vector<std::int32_t> order(timeline_.spans.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Span>& spans = timeline_.spans;
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Span &first = spans[static_cast<std::size_t>(a)], &second = spans[static_cast<std::size_t>(b)];
    const bool holds = first.kind == SpanKind::kPhase && second.kind == SpanKind::kPending;
    return first.begin < second.begin || (first.begin == second.begin && holds);
  });
  std::vector<std::int32_t> now_at(order.size());
  std::vector<Span> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    now_at[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    sorted.push_back(spans[static_cast<std::size_t>(order[i])]);
  }
  for (Span& span : sorted) {
    if (span.ended_by != kNoSpan) span.ended_by = now_at[static_cast<std::size_t>(span.ended_by)];
  }
  for (FoundAt& found : timeline_.found) {
    if (found.span != kNoSpan) found.span = now_at[static_cast<std::size_t>(found.span)];
  }
  timeline_.spans = std::move(sorted);
  return std::move(timeline_);
}

}  // namespace palladion::timing::timeline
