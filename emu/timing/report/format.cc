#include "emu/timing/report/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/text_table.h"

namespace palladion::timing::report {
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
std::string HowFarOffText(std::optional<double> uncertainty) {
  return uncertainty.has_value() ? Cat("give or take ", PercentText(*uncertainty))
                                 : "and how far that is off is not known";
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

using Rows = TableRows;

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
  return rows.empty() ? "" : "busy, of the kernel's cycles, averaged over all units of a kind\n" + TextTable(rows);
}

std::string TrafficText(const Timing& timing) {
  if (timing.traffic.empty()) return "";
  const bool l2 = timing.traffic[0].missed.has_value();
  Rows rows = {{"operand", "read", "written"}};
  if (l2) rows[0].push_back("of the read, L2 had");
  const auto add = [&](const OperandTraffic& of) {
    rows.push_back({of.operand, BytesText(of.read), BytesText(of.written)});
    const std::optional<double> hits = L2HitRate(of);
    if (l2) rows.back().push_back(hits.has_value() ? PercentText(*hits) : "-");
  };
  for (const OperandTraffic& of : timing.traffic) add(of);
  if (timing.traffic.size() > 1) add(AllTraffic(timing.traffic));
  return "traffic\n" + TextTable(rows);
}

std::string PlacementText(const Placement& placement) {
  std::string text = Cat("blocks: ", placement.blocks, " on ", placement.units, " cores, at most ", placement.at_once,
                         " at once on one; the limit is ", placement.limit, "\n");
  if (placement.timed.value_or(placement.blocks) < placement.blocks)
    Append(&text, "timed: ", *placement.timed, " of these blocks, for the others are like them\n");
  if (!placement.waves.has_value()) return text;
  const Waves& waves = *placement.waves;
  Append(&text, "waves of blocks: ", waves.count, waves.count == 1 ? ", " : ", the last one ", PercentText(waves.last),
         " full\n");
  return text;
}

std::string DevicesText(const Timing& timing) {
  Rows rows = {{"device", "ended after", "sent", "received", "link out", "link in", "its threads waited most for"}};
  for (const DeviceTime& one : timing.devices) {
    rows.push_back({one.device, CyclesText(one.ended), BytesText(one.sent), BytesText(one.received),
                    PercentText(one.out_busy), PercentText(one.in_busy),
                    one.stalls.empty() ? "-" : one.stalls[0].reason});
  }
  return timing.devices.empty()
             ? ""
             : "devices, and how busy the links of each were\n" + TextTable(rows, LastColumn::kWords);
}

std::string StallsText(const Timing& timing) {
  machines::Cycles all;
  for (const StallTime& stall : timing.stalls) all += stall.waited;
  Rows rows;
  for (const StallTime& stall : timing.stalls)
    rows.push_back({stall.reason, CyclesText(stall.waited), PercentText(stall.waited / all)});
  return rows.empty() ? ""
                      : "what threads waited for, all of them together; shares are of these waits\n" + TextTable(rows);
}

// A line of the user's Python, or where the kernel has no such places, of its text.
struct SourceLine {
  std::string file;
  int line = 0;
  bool operator<(const SourceLine& other) const { return std::tie(file, line) < std::tie(other.file, other.line); }
};
struct OfLine {
  machines::Cycles busy, waited;
  machines::Cycles longest;  // wait of one instruction, whose reason is printed
  std::string op;            // the first
  std::string waited_for;
  std::map<std::string, machines::Cycles> stalls;

  // "a copy that line 5 starts; 90.0 % a copy into shared memory, 10.0 % a busy L2": shares where there are several.
  std::string Why() const {
    constexpr std::size_t kMost = 3;
    std::vector<std::pair<std::string, machines::Cycles>> sorted(stalls.begin(), stalls.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string why = waited_for;
    for (std::size_t i = 0; sorted.size() > 1 && i < std::min(kMost, sorted.size()); ++i)
      Append(&why, i == 0 ? "; " : ", ", PercentText(sorted[i].second / waited), " ", sorted[i].first);
    return why;
  }
};

SourceLine LineOf(const Module& module, LocId loc, int text_line, const std::string& kernel_path) {
  const std::vector<SourceFrame> frames = launch::FramesOf(module, loc);
  return frames.empty() ? SourceLine{kernel_path, text_line} : SourceLine{frames[0].file, frames[0].line};
}

std::vector<std::pair<SourceLine, OfLine>> BySourceLine(const Timing& timing, const Module& module,
                                                        const std::string& kernel_path) {
  std::map<SourceLine, OfLine> lines;
  for (const LineTime& one : timing.lines) {
    OfLine& line = lines[LineOf(module, one.loc, one.text_line, kernel_path)];
    if (line.op.empty()) line.op = one.op;
    line.busy += one.busy;
    line.waited += one.waited;
    for (const StallTime& stall : one.stalls) line.stalls[stall.reason] += stall.waited;
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

std::string PlaceOf(const SourceLine& place) {
  return Cat(place.file.substr(place.file.find_last_of('/') + 1), ":", place.line);
}

// What the user wrote there; else the operation.
std::string WhatIsAt(const SourceLine& place, const std::string& op, const TimingTextOptions& options) {
  std::string what;
  if (options.source_line) {
    const std::optional<std::string> text = options.source_line(place.file, place.line);
    if (text.has_value()) what = text->substr(std::min(text->find_first_not_of(" \t"), text->size()));
  }
  return what.empty() ? op : what;
}

std::string PathText(const Timing& timing, const Module& module, const TimingTextOptions& options) {
  struct OfPlace {
    machines::Cycles time;
    std::string op;  // the first
  };
  std::map<std::pair<SourceLine, std::string>, OfPlace> places;  // and what is done there
  for (const PathPart& part : timing.critical_path) {
    const SourceLine line =
        part.text_line == 0 ? SourceLine() : LineOf(module, part.loc, part.text_line, options.kernel_path);
    OfPlace& of = places[{line, part.doing}];
    if (of.op.empty()) of.op = part.op;
    of.time += part.time;
  }
  std::vector<std::pair<std::pair<SourceLine, std::string>, OfPlace>> sorted(places.begin(), places.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  Rows rows;
  for (std::size_t i = 0; i < std::min(options.lines, sorted.size()); ++i) {
    const auto& [place, doing] = sorted[i].first;
    const OfPlace& of = sorted[i].second;
    std::string what = place.line == 0 ? "" : WhatIsAt(place, of.op, options);
    if (!doing.empty()) Append(&what, what.empty() ? "(" : "  (", doing, ")");
    rows.push_back(
        {place.line == 0 ? "" : PlaceOf(place), CyclesText(of.time), PercentText(of.time / timing.cycles), what});
  }
  if (rows.empty()) return "";
  std::string text =
      "critical path: what the last to end waited for, back to the start; all of it is the kernel's cycles\n" +
      TextTable(rows, LastColumn::kWords);
  if (sorted.size() > rows.size()) Append(&text, "  parts not shown: ", sorted.size() - rows.size(), " (--lines N)\n");
  return text;
}

// Of what the shares are: the rows add up to it.
std::string WholeText(const Timing& timing) {
  if (!timing.whole.has_value()) return "";
  return Cat("; shares are of ", timing.whole->of, " for all of the ", TimeText(timing.time));
}

std::string LinesText(const Timing& timing, const Module& module, const TimingTextOptions& options) {
  const auto lines = BySourceLine(timing, module, options.kernel_path);
  Rows rows = {{"line", "busy", "waited", ""}};
  if (timing.whole.has_value()) rows[0].insert(rows[0].end() - 1, "share");
  const auto add = [&](std::vector<std::string> row, machines::Cycles all, std::string what) {
    if (timing.whole.has_value()) row.push_back(PercentText(all / timing.whole->time));
    row.push_back(std::move(what));
    rows.push_back(std::move(row));
  };
  machines::Cycles hidden;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [place, of] = lines[i];
    if (i >= options.lines) {
      hidden += of.busy + of.waited;
      continue;
    }
    std::string what = WhatIsAt(place, of.op, options);
    if (!of.waited_for.empty()) Append(&what, "  (waits for ", of.Why(), ")");
    add({PlaceOf(place), CyclesText(of.busy), CyclesText(of.waited)}, of.busy + of.waited, what);
  }
  if (timing.whole.has_value()) {
    for (const Whole::Part& part : timing.whole->rest)
      add({"", "", CyclesText(part.time)}, part.time, Cat("(", part.name, ")"));
  }
  if (rows.size() == 1) return "";
  std::string text = Cat("where the time of threads went, all of them together", WholeText(timing), "\n",
                         TextTable(rows, LastColumn::kWords));
  if (lines.size() <= options.lines) return text;
  Append(&text, "  lines not shown: ", lines.size() - options.lines);
  if (timing.whole.has_value()) Append(&text, ", ", PercentText(hidden / timing.whole->time));
  return text + " (--lines N)\n";
}

}  // namespace

std::string TimingText(const Timing& timing, const Module& module, const TimingTextOptions& options) {
  std::string text = Cat("on ", timing.machine, " at ", Gigahertz(timing.clock), ": ", TimeText(timing.time), " (",
                         CyclesText(timing.cycles), " and ", TimeText(timing.launch), " of launch), ",
                         HowFarOffText(timing.uncertainty), ": ", timing.uncertainty_why, "\n");
  text += RooflineText(timing) + UnitsText(timing);
  text += PlacementText(timing.placement) + DevicesText(timing) + TrafficText(timing) +
          PathText(timing, module, options) + StallsText(timing) + LinesText(timing, module, options);
  for (const std::string& left_out : timing.left_out) Append(&text, "left out: ", left_out, "\n");
  return text;
}

}  // namespace palladion::timing::report
