#include "emu/debug/trace_json.h"

#include "absl/strings/str_join.h"
#include "emu/reports/json.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

// One core walks a TPU's grid; everywhere else a program is an agent of its own.
constexpr int kCoreTrack = 1, kEngineTrack = 0, kFirstProgramTrack = 1;

class Writer {
 public:
  Writer(const TraceRecorder& trace, const PreparedKernelState& kernel)
      : trace_(trace), kernel_(kernel), one_core_(kernel.program().grid_in_agent) {}

  std::string Write() {
    out_ = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"kernel\": " + JsonString(kernel_.program().kernel_name) +
           ", \"target\": " + JsonString(ToString(kernel_.program().target)) +
           Cat(", \"dropped\": ", trace_.dropped(), "}, \"traceEvents\": [\n");
    Name("process_name", 0, Cat("kernel @", kernel_.program().kernel_name));
    Name("thread_name", kEngineTrack, kernel_.program().uses_port ? "engines" : "copies");
    if (one_core_) {
      Name("thread_name", kCoreTrack, "core 0");
      ProgramSlices();
    } else {
      for (std::size_t p = 0; p < trace_.programs().size(); ++p)
        Name("thread_name", kFirstProgramTrack + static_cast<int>(p), ProgramName(p));
    }
    for (std::size_t i = 0; i < trace_.events().size(); ++i) Event(i);
    for (std::size_t i = 0; i < trace_.flows().size(); ++i) Flow(i);
    return out_ + "\n]}\n";
  }

 private:
  std::string ProgramName(std::size_t p) const {
    const std::vector<std::int64_t>& index = trace_.programs()[p].index;
    const std::optional<ThreadMesh>& mesh = kernel_.program().mesh;
    if (mesh.has_value() && mesh->thread_dim && !index.empty()) {
      return Cat("thread ", index.back(), " of block (", absl::StrJoin(index.begin(), index.end() - 1, ", "), ")");
    }
    return Cat("program (", absl::StrJoin(index, ", "), ")");
  }

  int TrackOf(const TraceEvent& event) const {
    if (event.by_engine) return kEngineTrack;
    return one_core_ ? kCoreTrack : kFirstProgramTrack + static_cast<int>(event.program);
  }

  void Begin() {
    if (!first_) out_ += ",\n";
    first_ = false;
  }

  void Name(std::string_view kind, int track, const std::string& name) {
    Begin();
    Append(&out_, "{\"ph\": \"M\", \"pid\": 1, \"tid\": ", track, ", \"name\": \"", kind,
           "\", \"args\": {\"name\": ", JsonString(name), "}}");
  }

  void Slice(const std::string& name, int track, std::int64_t begin, std::int64_t ticks, const std::string& args) {
    Begin();
    Append(&out_, "{\"ph\": \"X\", \"pid\": 1, \"tid\": ", track, ", \"ts\": ", begin, ", \"dur\": ", ticks,
           ", \"name\": ", JsonString(name), ", \"args\": {", args, "}}");
  }

  void ProgramSlices() {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans(trace_.programs().size(), {-1, -1});
    for (const TraceEvent& event : trace_.events()) {
      auto& [begin, end] = spans[static_cast<std::size_t>(event.program)];
      if (event.by_engine) continue;
      if (begin < 0) begin = event.begin;
      end = event.begin + event.ticks;
    }
    for (std::size_t p = 0; p < spans.size(); ++p) {
      if (spans[p].first >= 0) Slice(ProgramName(p), kCoreTrack, spans[p].first, spans[p].second - spans[p].first, "");
    }
  }

  void Event(std::size_t i) {
    const TraceEvent& event = trace_.events()[i];
    std::string args = Cat("\"program\": ", JsonString(ProgramName(static_cast<std::size_t>(event.program))),
                           ", \"text_line\": ", event.text_line);
    if (event.loc.valid()) Append(&args, ", \"source\": ", JsonString(Describe(kernel_.module(), event.loc)));
    if (!event.what.empty()) Append(&args, ", \"memory\": ", JsonString(event.what));
    Slice(event.name, TrackOf(event), event.begin, event.ticks, args);
  }

  void Flow(std::size_t i) {
    const TraceFlow& flow = trace_.flows()[i];
    const TraceEvent& from = trace_.events()[static_cast<std::size_t>(flow.from)];
    const TraceEvent& to = trace_.events()[static_cast<std::size_t>(flow.to)];
    const auto end = [&](std::string_view phase, const TraceEvent& event, std::string_view extra) {
      Begin();
      Append(&out_, "{\"ph\": \"", phase, "\", \"cat\": \"memory\", \"name\": \"seen by\", \"id\": ", i,
             ", \"pid\": 1, \"tid\": ", TrackOf(event), ", \"ts\": ", event.begin, extra, "}");
    };
    end("s", from, "");
    end("f", to, ", \"bp\": \"e\"");
  }

  const TraceRecorder& trace_;
  const PreparedKernelState& kernel_;
  const bool one_core_;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string TraceJson(const TraceRecorder& trace, const PreparedKernelState& kernel) {
  return Writer(trace, kernel).Write();
}

}  // namespace palladion
