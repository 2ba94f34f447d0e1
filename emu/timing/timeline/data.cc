#include "emu/timing/timeline/data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/source_lines.h"

namespace palladion::timing::timeline {
namespace {

using report::StallTime;

constexpr int kLinesAround = 15;  // of a Python line that is named

// Numbers for things that are written once, in the order of their first use.
template <class T>
class Numbered {
 public:
  std::int64_t Of(const T& one) {
    const auto [found, is_new] = numbers_.emplace(one, all_.size());
    if (is_new) all_.push_back(one);
    return static_cast<std::int64_t>(found->second);
  }
  const std::vector<T>& all() const { return all_; }

 private:
  std::map<T, std::size_t> numbers_;
  std::vector<T> all_;
};

double Rounded(machines::Cycles cycles) { return std::round(cycles.value() * 100) / 100; }

class Data {
 public:
  explicit Data(const TimelineShown& shown) : shown_(shown), timeline_(shown.timeline) {}

  std::string Json() {
    const report::Timing& timing = shown_.timing;
    json_.Open('{').Key("kernel").String(shown_.report.kernel).Key("target").String(shown_.report.target);
    json_.Key("machine").String(timing.machine).Key("clock_hz").Real(timing.clock.value());
    json_.Key("cycles").Real(timing.cycles.value()).Key("ns").Real(timing.time.value());
    json_.Key("launch_ns").Real(timing.launch.value()).Key("uncertainty").OptionalReal(timing.uncertainty);
    json_.Key("uncertainty_why").String(timing.uncertainty_why);
    json_.Key("of").String(timeline_.of).Key("length").Real(timeline_.length.value());
    json_.Key("dropped").Number(timeline_.dropped);
    json_.Key("flops").Real(timing.flops).Key("memory").Real(timing.memory.value());
    json_.Key("memory_peak").Real(timing.memory_peak.value());
    AddSummary();
    AddLines();
    AddPath();
    AddDevices();
    AddLanes();
    AddSpans();
    AddFindings();
    AddPlaces();
    AddFiles();
    return json_.Close('}').Take();
  }

 private:
  void AddSummary() {
    json_.Key("roofline").Open('[');
    for (const report::Bound& bound : shown_.timing.roofline)
      json_.Open('{').Key("limit").String(bound.limit).Key("ns").Real(bound.time.value()).Close('}');
    json_.Close(']').Key("units").Open('[');
    for (const report::UnitUse& use : shown_.timing.units)
      json_.Open('{').Key("unit").String(use.unit).Key("busy").Real(use.busy).Close('}');
    json_.Close(']').Key("left_out").Open('[');
    for (const std::string& left_out : shown_.timing.left_out) json_.String(left_out);
    json_.Close(']');
  }

  void AddLines() {
    json_.Key("lines").Open('[');
    for (const report::LineTime& line : shown_.timing.lines) {
      json_.Open('{').Key("line").Number(line.text_line).Key("place").Number(PlaceOf(line.loc));
      json_.Key("op").String(line.op).Key("busy").Real(Rounded(line.busy)).Key("waited").Real(Rounded(line.waited));
      json_.Key("runs").Number(line.runs).Key("why").String(line.waited_for);
      AddStalls(line.stalls);
      json_.Close('}');
    }
    json_.Close(']');
    AddStalls(shown_.timing.stalls);
    AddWhole();
  }

  void AddWhole() {
    const std::optional<report::Whole>& whole = shown_.timing.whole;
    if (!whole.has_value()) return;
    json_.Key("whole").Open('{').Key("of").String(whole->of).Key("cycles").Real(Rounded(whole->time));
    json_.Key("rest").Open('[');
    for (const report::Whole::Part& part : whole->rest)
      json_.Open('{').Key("name").String(part.name).Key("cycles").Real(Rounded(part.time)).Close('}');
    json_.Close(']').Close('}');
  }

  void AddStalls(const std::vector<StallTime>& stalls) {
    json_.Key("stalls").Open('[');
    for (const StallTime& stall : stalls) {
      json_.Open('{').Key("reason").String(stall.reason).Key("cycles").Real(Rounded(stall.waited)).Close('}');
    }
    json_.Close(']');
  }

  void AddPath() {
    json_.Key("path").Open('[');
    for (const report::PathPart& part : shown_.timing.critical_path) {
      json_.Open('{').Key("line").Number(part.text_line).Key("place").Number(PlaceOf(part.loc));
      json_.Key("op").String(part.op).Key("doing").String(part.doing);
      json_.Key("cycles").Real(Rounded(part.time)).Close('}');
    }
    json_.Close(']');
  }

  void AddDevices() {
    json_.Key("devices").Open('[');
    for (const report::DeviceTime& device : shown_.timing.devices) {
      json_.Open('{').Key("name").String(device.device).Key("ended").Real(Rounded(device.ended));
      json_.Key("sent").Real(device.sent.value()).Key("received").Real(device.received.value());
      json_.Key("out").Real(device.out_busy).Key("in").Real(device.in_busy).Close('}');
    }
    json_.Close(']');
  }

  void AddLanes() {
    json_.Key("lanes").Open('[');
    for (const Lane& lane : timeline_.lanes) {
      json_.Open('{').Key("group").String(lane.group).Key("name").String(lane.name);
      json_.Key("kind").Number(static_cast<std::int64_t>(lane.kind)).Close('}');
    }
    json_.Close(']').Key("strips").Open('[');
    for (const Strip& strip : timeline_.strips) {
      json_.Open('{').Key("name").String(strip.name).Key("share").Open('[');
      for (const double share : strip.share) json_.Real(std::round(share * 1e3) / 1e3);
      json_.Close(']').Close('}');
    }
    json_.Close(']');
  }

  template <class Number>
  void Column(std::string_view name, Number number) {
    json_.Key(name).Open('[');
    for (const Span& span : timeline_.spans) number(span);
    json_.Close(']');
  }

  void AddSpans() {
    Numbered<std::string> texts;
    const auto spans = static_cast<std::int64_t>(timeline_.spans.size());
    json_.Key("spans").Open('{');
    Column("lane", [&](const Span& span) { json_.Number(span.lane); });
    Column("begin", [&](const Span& span) { json_.Real(Rounded(span.begin)); });
    Column("end", [&](const Span& span) { json_.Real(Rounded(span.end)); });
    Column("kind", [&](const Span& span) { json_.Number(static_cast<std::int64_t>(span.kind)); });
    Column("place", [&](const Span& span) { json_.Number(PlaceOf(span.loc)); });
    Column("line", [&](const Span& span) { json_.Number(span.text_line); });
    Column("slot", [&](const Span& span) { json_.Number(span.slot); });
    Column("by", [&](const Span& span) { json_.Number(span.ended_by < spans ? span.ended_by : kNoSpan); });
    Column("what", [&](const Span& span) { json_.Number(texts.Of(span.what)); });
    json_.Close('}').Key("texts").Open('[');
    for (const std::string& text : texts.all()) json_.String(text);
    json_.Close(']');
  }

  // When the run met it; nullptr: another run did, or the picture's does not say.
  const FoundAt* FoundOf(const ReportedFinding& finding) const {
    const auto line = [](const std::optional<ReportedAccess>& side) { return side.has_value() ? side->text_line : 0; };
    const std::pair sides(line(finding.first), line(finding.second));
    for (const FoundAt& found : timeline_.found) {
      const bool same = sides == std::pair(found.first, found.second) || sides == std::pair(found.second, found.first);
      if (found.code == finding.code && same && (sides.first != 0 || found.text_line == finding.text_line))
        return &found;
    }
    return nullptr;
  }

  void AddFindings() {
    json_.Key("findings").Open('[');
    for (const ReportedFinding& finding : shown_.report.findings) {
      json_.Open('{').Key("code").String(Code(finding.code)).Key("severity").String(Name(finding.severity));
      json_.Key("message").String(finding.message).Key("source").String(finding.source);
      const FoundAt* const found = FoundOf(finding);
      json_.Key("at").Real(found == nullptr ? -1 : Rounded(found->at));
      json_.Key("span").Number(found == nullptr ? kNoSpan : found->span);
      json_.Key("sides").Open('[').Open('{').Key("line").Number(finding.text_line).Key("agent").String("").Close('}');
      for (const std::optional<ReportedAccess>& side : {finding.first, finding.second}) {
        if (!side.has_value()) continue;
        json_.Open('{').Key("line").Number(side->text_line).Key("agent").String(side->agent).Close('}');
      }
      json_.Close(']').Close('}');
    }
    json_.Close(']');
  }

  // -1: the text has none.
  std::int64_t PlaceOf(LocId loc) { return loc.valid() ? places_.Of(loc) : -1; }

  // Each with its frames, innermost first, as a file's number and a line.
  void AddPlaces() {
    json_.Key("places").Open('[');
    for (const LocId loc : places_.all()) {
      json_.Open('{').Key("told").String(Describe(shown_.module, loc)).Key("frames").Open('[');
      for (const SourceFrame& frame : launch::FramesOf(shown_.module, loc)) {
        named_[files_.Of(frame.file)].insert(frame.line);
        json_.Open('[').Number(files_.Of(frame.file)).Number(frame.line).Close(']');
      }
      json_.Close(']').Close('}');
    }
    json_.Close(']');
  }

  // A line as its number and its text.
  void AddLine(int number, std::string_view line) {
    json_.Open('[').Number(number).String(MakeExcerpt(line, 1, kWidest).text).Close(']');
  }

  void AddFiles() {
    json_.Key("kernel_path").String(shown_.kernel_path).Key("kernel_text").Open('[');
    int number = 0;
    for (const auto line : absl::StrSplit(ToAbsl(shown_.kernel_text), '\n')) AddLine(++number, std::string(line));
    json_.Close(']').Key("files").Open('[');
    for (std::size_t i = 0; i < files_.all().size(); ++i) {
      json_.Open('{').Key("name").String(files_.all()[i]).Key("lines").Open('[');
      for (const int line : Around(named_[static_cast<std::int64_t>(i)])) {
        const std::optional<std::string> text = shown_.source_line(files_.all()[i], line);
        if (text.has_value()) AddLine(line, *text);
      }
      json_.Close(']').Close('}');
    }
    json_.Close(']');
  }

  static std::set<int> Around(const std::set<int>& named) {
    std::set<int> lines;
    for (const int line : named) {
      for (int l = std::max(1, line - kLinesAround); l <= line + kLinesAround; ++l) lines.insert(l);
    }
    return lines;
  }

  static constexpr std::size_t kWidest = 2000;  // columns of a source line

  const TimelineShown& shown_;
  const Timeline& timeline_;
  JsonWriter json_;
  Numbered<LocId> places_;
  Numbered<std::string> files_;
  std::map<std::int64_t, std::set<int>> named_;  // lines of each file
};

}  // namespace

std::string TimelineData(const TimelineShown& shown) { return Data(shown).Json(); }

}  // namespace palladion::timing::timeline
