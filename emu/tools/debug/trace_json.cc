#include "emu/tools/debug/trace_json.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/timing/timeline/trace_tracks.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/program/agent_naming.h"

namespace palladion::debug {
namespace {

class Writer {
 public:
  Writer(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel)
      : trace_(trace), kernel_(kernel), one_core_(kernel.program().grid_in_agent) {}

  std::string Write() {
    out_ = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": " + JsonString(kernel_.program().kernel_name) +
           ", \"target\": " + JsonString(ToString(kernel_.program().target)) +
           Cat(", \"dropped\": ", trace_.dropped(), "}, \"traceEvents\": [\n");
    Metadata("process_name", 0, "name", JsonString(Cat("kernel @", kernel_.program().kernel_name)));
    MakeTracks();
    for (std::size_t p = 0; p < spans_.size(); ++p) {
      if (spans_[p].ticks > 0) Slice(ProgramName(p), tracks_[trace_.events().size() + p], spans_[p], "");
    }
    for (std::size_t i = 0; i < trace_.events().size(); ++i) Event(i);
    for (std::size_t i = 0; i < trace_.flows().size(); ++i) Flow(i);
    return out_ + "\n]}\n";
  }

 private:
  std::string ProgramName(std::size_t p) const {
    return AgentName(NamingOf(kernel_.program()), trace_.programs()[p].index);
  }

  // What one agent does: a program, or the core that walks a TPU's grid, with a slice around each program. What engines
  // do has rows of its own.
  void MakeTracks() {
    const std::size_t events = trace_.events().size();
    if (one_core_) SpanPrograms();
    tracks_.resize(events + spans_.size());
    std::vector<std::size_t> engines;
    std::vector<std::vector<std::size_t>> agents(one_core_ ? 1 : trace_.programs().size());
    if (one_core_) {
      for (std::size_t p = 0; p < spans_.size(); ++p) {
        if (spans_[p].ticks > 0) agents[0].push_back(events + p);
      }
    }
    for (std::size_t i = 0; i < events; ++i) {
      const TraceEvent& event = trace_.events()[i];
      (event.by_engine ? engines : agents[one_core_ ? 0 : static_cast<std::size_t>(event.program)]).push_back(i);
    }
    Rows(engines, timing::timeline::SeparateRows(SlicesOf(engines)),
         kernel_.program().uses_port ? "engines" : "copies");
    for (std::size_t a = 0; a < agents.size(); ++a)
      Rows(agents[a], timing::timeline::NestedRows(SlicesOf(agents[a])), one_core_ ? "core 0" : ProgramName(a));
  }

  std::vector<timing::timeline::TraceSlice> SlicesOf(absl::Span<const std::size_t> which) const {
    const std::size_t events = trace_.events().size();
    std::vector<timing::timeline::TraceSlice> slices;
    for (const std::size_t i : which)
      slices.push_back(i < events ? timing::timeline::TraceSlice{trace_.events()[i].begin, trace_.events()[i].ticks}
                                  : spans_[i - events]);
    return slices;
  }

  // One track for each row, in this order on the screen.
  void Rows(absl::Span<const std::size_t> which, const timing::timeline::TraceRows& rows, const std::string& name) {
    for (int row = 0; row < std::max(rows.count, 1); ++row) {
      Metadata("thread_name", next_track_ + row, "name", JsonString(row == 0 ? name : Cat(name, ", ", row + 1)));
      Metadata("thread_sort_index", next_track_ + row, "sort_index", Cat(next_track_ + row));
    }
    for (std::size_t i = 0; i < which.size(); ++i) tracks_[which[i]] = next_track_ + rows.row[i];
    next_track_ += std::max(rows.count, 1);
  }

  void SpanPrograms() {
    spans_.assign(trace_.programs().size(), {.begin = -1, .ticks = 0});
    for (const TraceEvent& event : trace_.events()) {
      timing::timeline::TraceSlice& span = spans_[static_cast<std::size_t>(event.program)];
      if (event.by_engine) continue;
      if (span.begin < 0) span.begin = event.begin;
      span.ticks = event.begin + event.ticks - span.begin;
    }
  }

  void Begin() {
    if (!first_) out_ += ",\n";
    first_ = false;
  }

  void Metadata(std::string_view kind, int track, std::string_view member, const std::string& value) {
    Begin();
    Append(&out_, "{\"ph\": \"M\", \"pid\": 1, \"tid\": ", track, ", \"name\": \"", kind, "\", \"args\": {\"", member,
           "\": ", value, "}}");
  }

  void Slice(const std::string& name, int track, const timing::timeline::TraceSlice& slice, const std::string& args) {
    Begin();
    Append(&out_, "{\"ph\": \"X\", \"pid\": 1, \"tid\": ", track, ", \"ts\": ", slice.begin, ", \"dur\": ", slice.ticks,
           ", \"name\": ", JsonString(name), ", \"args\": {", args, "}}");
  }

  void Event(std::size_t i) {
    const TraceEvent& event = trace_.events()[i];
    std::string args = Cat("\"program\": ", JsonString(ProgramName(static_cast<std::size_t>(event.program))),
                           ", \"text_line\": ", event.text_line);
    if (event.loc.valid()) Append(&args, ", \"source\": ", JsonString(Describe(kernel_.module(), event.loc)));
    if (!event.what.empty()) Append(&args, ", \"memory\": ", JsonString(event.what));
    Slice(event.name, tracks_[i], {event.begin, event.ticks}, args);
  }

  void Flow(std::size_t i) {
    const TraceFlow& flow = trace_.flows()[i];
    const auto end = [&](std::string_view phase, std::int64_t event, std::string_view extra) {
      Begin();
      Append(&out_, "{\"ph\": \"", phase, "\", \"cat\": \"memory\", \"name\": \"seen by\", \"id\": ", i,
             ", \"pid\": 1, \"tid\": ", tracks_[static_cast<std::size_t>(event)],
             ", \"ts\": ", trace_.events()[static_cast<std::size_t>(event)].begin, extra, "}");
    };
    end("s", flow.from, "");
    end("f", flow.to, ", \"bp\": \"e\"");
  }

  const TraceRecorder& trace_;
  const kernel::PreparedKernelState& kernel_;
  const bool one_core_;
  std::vector<timing::timeline::TraceSlice> spans_;  // with one core: from a program's first step to its last
  std::vector<int> tracks_;                          // of each event, then of each span
  int next_track_ = 0;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string TraceJson(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel) {
  return Writer(trace, kernel).Write();
}

}  // namespace palladion::debug
