#include "emu/time/timing_told.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/launch/launch.h"
#include "emu/reports/json.h"
#include "emu/reports/text_table.h"
#include "semantics/base/cat.h"

namespace palladion::time {
namespace {

// Three significant digits, without an exponent.
std::string Digits(double number) {
  if (number == 0) return "0";
  const int whole = static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", std::clamp(3 - whole, 0, 6), number);
  return text.data();
}

// The largest unit of which there is one at least; the smallest where there is none.
std::string Scaled(double number, std::initializer_list<std::pair<double, std::string_view>> units) {
  for (const auto& [size, unit] : units) {
    if (number >= size) return Cat(Digits(number / size), " ", unit);
  }
  const auto& [size, unit] = *(units.end() - 1);
  return Cat(Digits(number / size), " ", unit);
}

}  // namespace

std::string TimeText(machines::Nanoseconds time) {
  return Scaled(time.value(), {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
}
std::string PercentText(double share) { return Cat(Digits(share * 100), " %"); }
std::string HowFarOffText(double uncertainty) {
  return uncertainty > 0 ? Cat("give or take ", PercentText(uncertainty)) : "and how far that is off is not known";
}

namespace {

std::string Gigahertz(machines::Hertz clock) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g GHz", clock.value() / 1e9);
  return text.data();
}
std::string BytesText(machines::Bytes bytes) {
  return Scaled(bytes.value(), {{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}});
}
std::string CyclesText(machines::Cycles cycles) {
  return Cat(static_cast<std::int64_t>(std::llround(cycles.value())), " cycles");
}

using reports::LastColumn;
using reports::TextTable;
using Rows = reports::TableRows;

// What was achieved of what the chip can do, limit by limit.
std::string RooflineText(const Timing& timing) {
  const double seconds = timing.time.value() / machines::kNanosecondsPerSecond;
  std::string text = "roofline: the least time that each limit allows\n";
  Rows rows;
  for (const Bound& bound : timing.roofline)
    rows.push_back({bound.limit, TimeText(bound.time), Cat(PercentText(bound.time / timing.time), " of the time")});
  text += TextTable(rows);
  return Cat(text, "achieved: ",
             Scaled(timing.flops / seconds,
                    {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}),
             ", ", Scaled(timing.memory.value() / seconds, {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1, "B/s"}}),
             " of main memory\n");
}

std::string UnitsText(const Timing& timing) {
  Rows rows;
  for (const UnitUse& use : timing.units) rows.push_back({use.unit, PercentText(use.busy)});
  return rows.empty() ? "" : "busy, averaged over all units of a kind and the whole time\n" + TextTable(rows);
}

std::string TrafficText(const Timing& timing) {
  if (timing.traffic.empty()) return "";
  const bool l2 = timing.traffic[0].missed.has_value();
  Rows rows = {{"operand", "read", "written"}};
  if (l2) rows[0].push_back("not in L2");
  for (const OperandTraffic& of : timing.traffic) {
    rows.push_back({of.operand, BytesText(of.read), BytesText(of.written)});
    const machines::Bytes all = of.read + of.written;
    if (l2) rows.back().push_back(all.value() > 0 ? PercentText(of.missed.value_or(machines::Bytes()) / all) : "-");
  }
  return "traffic\n" + TextTable(rows);
}

// A line of the user's Python, or where the kernel has no such places, of its text.
struct SourceLine {
  std::string file;
  int line = 0;
  auto operator<=>(const SourceLine&) const = default;
};
struct OfLine {
  machines::Cycles busy, waited;
  machines::Cycles longest;  // wait of one instruction, whose reason is told
  std::string op;            // the first
  std::string waited_for;
};

std::vector<std::pair<SourceLine, OfLine>> BySourceLine(const Timing& timing, const Module& module,
                                                        const std::string& kernel_path) {
  std::map<SourceLine, OfLine> lines;
  for (const LineTime& one : timing.lines) {
    const std::vector<SourceFrame> frames = launch::FramesOf(module, one.loc);
    OfLine& line =
        lines[frames.empty() ? SourceLine{kernel_path, one.text_line} : SourceLine{frames[0].file, frames[0].line}];
    if (line.op.empty()) line.op = one.op;
    line.busy += one.busy;
    line.waited += one.waited;
    if (one.waited > line.longest) {
      line.longest = one.waited;
      line.waited_for = one.waited_for;
    }
  }
  std::vector<std::pair<SourceLine, OfLine>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.busy + a.second.waited > b.second.busy + b.second.waited;
  });
  return sorted;
}

std::string LinesText(const Timing& timing, const Module& module, const TimingTextOptions& options) {
  const auto lines = BySourceLine(timing, module, options.kernel_path);
  Rows rows = {{"line", "busy", "waited", ""}};
  for (std::size_t i = 0; i < std::min(options.lines, lines.size()); ++i) {
    const auto& [place, of] = lines[i];
    std::string what;
    if (options.source_line) {
      const std::optional<std::string> text = options.source_line(place.file, place.line);
      if (text.has_value()) what = text->substr(std::min(text->find_first_not_of(" \t"), text->size()));
    }
    if (what.empty()) what = of.op;
    if (!of.waited_for.empty()) Append(&what, "  (waits for ", of.waited_for, ")");
    const std::string file = place.file.substr(place.file.find_last_of('/') + 1);
    rows.push_back({Cat(file, ":", place.line), CyclesText(of.busy), CyclesText(of.waited), what});
  }
  if (rows.size() == 1) return "";
  std::string text = "where the time of threads went, all of them together\n" + TextTable(rows, LastColumn::kWords);
  if (lines.size() > options.lines) Append(&text, "  lines not told: ", lines.size() - options.lines, " (--lines N)\n");
  return text;
}

void AddLines(const Timing& timing, const Module& module, reports::JsonWriter& json) {
  json.Key("lines").Open('[');
  for (const LineTime& line : timing.lines) {
    json.Open('{').Key("text_line").Number(line.text_line).Key("op").String(line.op).Key("runs").Number(line.runs);
    json.Key("busy_cycles").Real(line.busy.value()).Key("waited_cycles").Real(line.waited.value());
    json.Key("waited_for").String(line.waited_for).Key("frames").Open('[');
    for (const SourceFrame& frame : launch::FramesOf(module, line.loc)) {
      json.Open('{').Key("file").String(frame.file).Key("line").Number(frame.line);
      json.Key("function").String(frame.function).Close('}');
    }
    json.Close(']').Close('}');
  }
  json.Close(']');
}

}  // namespace

std::string TimingText(const Timing& timing, const Module& module, const TimingTextOptions& options) {
  std::string text = Cat("on ", timing.machine, " at ", Gigahertz(timing.clock), ": ", TimeText(timing.time), " (",
                         CyclesText(timing.cycles), " and ", TimeText(timing.launch), " of launch), ",
                         HowFarOffText(timing.uncertainty), ": ", timing.uncertainty_why, "\n");
  text += RooflineText(timing) + UnitsText(timing);
  Append(&text, "blocks: ", timing.placement.blocks, " on ", timing.placement.units, " cores, at most ",
         timing.placement.at_once, " at once on one; the limit is ", timing.placement.limit, "\n");
  text += TrafficText(timing) + LinesText(timing, module, options);
  for (const std::string& left_out : timing.left_out) Append(&text, "left out: ", left_out, "\n");
  return text;
}

std::string TimingJson(const Timing& timing, const Module& module) {
  reports::JsonWriter json;
  json.Open('{').Key("machine").String(timing.machine).Key("clock_hz").Real(timing.clock.value());
  json.Key("cycles").Real(timing.cycles.value()).Key("ns").Real(timing.time.value());
  json.Key("launch_ns").Real(timing.launch.value()).Key("uncertainty").Real(timing.uncertainty);
  json.Key("uncertainty_why").String(timing.uncertainty_why).Key("flops").Real(timing.flops);
  json.Key("memory_bytes").Real(timing.memory.value()).Key("roofline").Open('[');
  for (const Bound& bound : timing.roofline)
    json.Open('{').Key("limit").String(bound.limit).Key("ns").Real(bound.time.value()).Close('}');
  json.Close(']').Key("units").Open('[');
  for (const UnitUse& use : timing.units)
    json.Open('{').Key("unit").String(use.unit).Key("busy").Real(use.busy).Close('}');
  json.Close(']').Key("traffic").Open('[');
  for (const OperandTraffic& of : timing.traffic) {
    json.Open('{').Key("operand").String(of.operand).Key("read_bytes").Real(of.read.value());
    json.Key("written_bytes").Real(of.written.value()).Key("missed_bytes");
    if (of.missed.has_value()) {
      json.Real(of.missed->value());
    } else {
      json.Null();
    }
    json.Close('}');
  }
  json.Close(']').Key("placement").Open('{').Key("blocks").Number(timing.placement.blocks);
  json.Key("units").Number(timing.placement.units).Key("at_once").Number(timing.placement.at_once);
  json.Key("limit").String(timing.placement.limit).Close('}');
  AddLines(timing, module, json);
  json.Key("left_out").Open('[');
  for (const std::string& left_out : timing.left_out) json.String(left_out);
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::time
