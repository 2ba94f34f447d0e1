#include "emu/timing/timeline/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "emu/timing/timeline/trace_tracks.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::timing::timeline {
namespace {

std::string_view Category(SpanKind kind) {
  switch (kind) {
    case SpanKind::kWork:
      return "work";
    case SpanKind::kWait:
      return "wait";
    case SpanKind::kCopyIn:
      return "copy in";
    case SpanKind::kCopyOut:
      return "copy out";
    case SpanKind::kMultiply:
      return "multiply";
    case SpanKind::kPhase:
      return "phase";
    case SpanKind::kPending:
      return "pending";
  }
  return "";
}

// Nanoseconds as the format's microseconds.
std::string Microseconds(std::int64_t nanoseconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(nanoseconds) / 1000);
  return text.data();
}

class Writer {
 public:
  explicit Writer(const TimelineShown& shown) : shown_(shown), timeline_(shown.timeline) {}

  std::string Write() {
    out_ = Cat("{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": ", JsonString(shown_.report.kernel),
               ", \"target\": ", JsonString(shown_.report.target), ", \"of\": ", JsonString(timeline_.of),
               ", \"clock_hz\": ", JsonReal(shown_.timing.clock.value()), ", \"dropped\": ", timeline_.dropped,
               "}, \"traceEvents\": [\n");
    MakeTracks();
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) Slice(i);
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) Flow(i);
    for (const Strip& strip : timeline_.strips) Counter(strip);
    for (const FoundAt& found : timeline_.found) Instant(found);
    return out_ + "\n]}\n";
  }

 private:
  struct Track {
    int process = 0, thread = 0;
  };

  static std::string JsonReal(double number) { return JsonWriter().Real(number).Take(); }

  std::int64_t NanosecondsAt(machines::Cycles cycles) const {
    return std::llround((cycles / shown_.timing.clock).value());
  }

  // Groups in the order of their first lanes. A lane whose spans overlap has as many tracks as spans at one time.
  void MakeTracks() {
    std::map<std::string, int> processes;
    std::vector<std::vector<std::size_t>> of_lane(timeline_.lanes.size());
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i)
      of_lane[static_cast<std::size_t>(timeline_.spans[i].lane)].push_back(i);
    tracks_.resize(timeline_.spans.size());
    int thread = 0;
    for (std::size_t l = 0; l < timeline_.lanes.size(); ++l) {
      const Lane& lane = timeline_.lanes[l];
      const auto [process, is_new] = processes.emplace(lane.group, static_cast<int>(processes.size()) + 1);
      if (is_new) Metadata("process", {process->second, 0}, lane.group, process->second);
      std::vector<TraceSlice> slices;
      for (const std::size_t i : of_lane[l]) {
        const std::int64_t begin = NanosecondsAt(timeline_.spans[i].begin);
        slices.push_back({begin, NanosecondsAt(timeline_.spans[i].end) - begin});
      }
      // Parts of a phase lie in it.
      const bool nests = lane.kind == LaneKind::kBarrier;
      const TraceRows rows = nests ? NestedRows(slices) : SeparateRows(slices);
      for (std::size_t s = 0; s < slices.size(); ++s)
        tracks_[of_lane[l][s]] = {process->second, thread + 1 + rows.row[s]};
      for (int row = 0; row < std::max(rows.count, 1); ++row) {
        ++thread;
        Metadata("thread", {process->second, thread}, row == 0 ? lane.name : Cat(lane.name, ", ", row + 1), thread);
      }
    }
    strips_process_ = static_cast<int>(processes.size()) + 1;
    if (!timeline_.strips.empty()) Metadata("process", {strips_process_, 0}, "use of the chip", strips_process_);
  }

  void Begin(std::string_view phase, const Track& track) {
    Append(&out_, first_ ? "" : ",\n", "{\"ph\": \"", phase, "\", \"pid\": ", track.process,
           ", \"tid\": ", track.thread);
    first_ = false;
  }

  void Metadata(std::string_view of, const Track& track, const std::string& name, int order) {
    Begin("M", track);
    Append(&out_, ", \"name\": \"", of, "_name\", \"args\": {\"name\": ", JsonString(name), "}}");
    Begin("M", track);
    Append(&out_, ", \"name\": \"", of, "_sort_index\", \"args\": {\"sort_index\": ", order, "}}");
  }

  void Slice(std::size_t i) {
    const Span& span = timeline_.spans[i];
    const std::int64_t begin = NanosecondsAt(span.begin);
    Begin("X", tracks_[i]);
    Append(&out_, ", \"ts\": ", Microseconds(begin), ", \"dur\": ", Microseconds(NanosecondsAt(span.end) - begin),
           ", \"cat\": \"", Category(span.kind), "\", \"name\": ", JsonString(span.what),
           ", \"args\": {\"cycles\": ", JsonReal((span.end - span.begin).value()),
           ", \"from_cycle\": ", JsonReal(span.begin.value()));
    if (span.text_line != 0) Append(&out_, ", \"text_line\": ", span.text_line);
    if (span.loc.valid()) Append(&out_, ", \"source\": ", JsonString(Describe(shown_.module, span.loc)));
    if (span.slot >= 0) Append(&out_, ", \"slot\": ", span.slot);
    out_ += "}}";
  }

  // To a wait: from the end of what ended it, or from its begin where it was not at its end yet. To an operation: from
  // its issuer. A flow lies at a time within its slice.
  void Flow(std::size_t i) {
    const Span& to = timeline_.spans[i];
    if (to.ended_by < 0 || static_cast<std::size_t>(to.ended_by) >= timeline_.spans.size()) return;
    const Span& from = timeline_.spans[static_cast<std::size_t>(to.ended_by)];
    const bool waits = IsEnded(to.kind);
    const auto end = [&](std::string_view phase, std::size_t of, machines::Cycles at) {
      Begin(phase, tracks_[of]);
      Append(&out_, ", \"cat\": \"", waits ? "ended by" : "issued by", "\", \"name\": \"",
             waits ? "ended by" : "issued by", "\", \"id\": ", i, ", \"ts\": ", Microseconds(NanosecondsAt(at)),
             phase == "f" ? ", \"bp\": \"e\"}" : "}");
    };
    end("s", static_cast<std::size_t>(to.ended_by), waits && from.end <= to.end ? from.end : from.begin);
    end("f", i, waits ? to.end : to.begin);
  }

  void Counter(const Strip& strip) {
    for (std::size_t k = 0; k < strip.share.size(); ++k) {
      const double part = static_cast<double>(k) / static_cast<double>(strip.share.size());
      Begin("C", {strips_process_, 0});
      Append(&out_, ", \"ts\": ", Microseconds(NanosecondsAt(part * timeline_.length)),
             ", \"name\": ", JsonString(strip.name),
             ", \"args\": {\"percent\": ", JsonReal(std::round(strip.share[k] * 1e4) / 1e2), "}}");
    }
  }

  // A finding, on the track of the agent that caused it, or over all tracks.
  void Instant(const FoundAt& found) {
    const bool placed = found.span >= 0 && static_cast<std::size_t>(found.span) < tracks_.size();
    Begin("i", placed ? tracks_[static_cast<std::size_t>(found.span)] : Track{});
    Append(&out_, ", \"ts\": ", Microseconds(NanosecondsAt(found.at)), ", \"s\": \"", placed ? "t" : "g",
           "\", \"cat\": \"finding\", \"name\": ", JsonString(Code(found.code)),
           ", \"args\": {\"text_line\": ", found.text_line, "}}");
  }

  const TimelineShown& shown_;
  const Timeline& timeline_;
  std::vector<Track> tracks_;  // of each span
  int strips_process_ = 0;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string TimelineTrace(const TimelineShown& shown) { return Writer(shown).Write(); }

}  // namespace palladion::timing::timeline
