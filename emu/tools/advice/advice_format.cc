#include "emu/tools/advice/advice_format.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/run/launch/launch.h"
#include "emu/timing/report/format.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/text_table.h"

namespace palladion::advice {
namespace {

// What rounds to no change of a tenth of a percent.
constexpr double kNothing = 0.0005;

double Saved(machines::Nanoseconds time, const Advice& advice) { return 1 - time / advice.timing.time; }

std::string ChangeText(double saved) {
  if (std::abs(saved) < kNothing) return "no change";
  return Cat(timing::report::PercentText(std::abs(saved)), saved > 0 ? " less" : " more");
}

// Recorded times of variants of one kernel miss the ratio of two times by no more than the uncertainty of one
// (docs/explanation/time.md, docs/reference/tune.md), which is then a share of the slower time.
std::optional<double> UncertaintyOfDifference(std::optional<double> one, std::optional<double> other) {
  if (!one.has_value() || !other.has_value()) return std::nullopt;
  return std::max(*one, *other);
}

// The same, and whether that is more than two times of the model may be off against each other.
std::string DifferenceText(const Tried& one, const Advice& advice) {
  const double saved = Saved(*one.time, advice);
  if (std::abs(saved) < kNothing) return ChangeText(saved);
  const std::optional<double> uncertainty = UncertaintyOfDifference(advice.timing.uncertainty, one.uncertainty);
  if (!uncertainty.has_value()) return Cat(ChangeText(saved), ", of unknown uncertainty");
  const double share = std::abs((advice.timing.time - *one.time) / std::max(advice.timing.time, *one.time));
  return Cat(ChangeText(saved), share < *uncertainty ? ", less than its uncertainty" : "");
}

// The first line, as others hold what a terminal shows below it.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string Place(const Module& module, LocId loc, int line) {
  return line == 0 ? "" : Cat(" (", PlaceText(module, loc, line), ")");
}

std::string TriedText(const Advice& advice, const Module& module) {
  TableRows rows;
  std::string refused;
  for (const Tried& one : advice.tried) {
    if (one.time.has_value()) {
      rows.push_back({one.what, timing::report::TimeText(*one.time), DifferenceText(one, advice)});
    } else {
      Append(&refused, "  ", one.what, Place(module, one.loc, one.text_line), ": ", FirstLine(one.refused), "\n");
    }
  }
  std::string text;
  if (!rows.empty() && !advice.random.empty())
    Append(&text, "outputs are compared with random numbers in ", absl::StrJoin(advice.random, ", "),
           ", whose elements are all alike\n");
  if (!rows.empty())
    Append(&text, "changes, one at a time; each computes the same, bit for bit, and a check finds nothing new\n",
           TextTable(rows, LastColumn::kWords));
  if (!refused.empty()) Append(&text, "refused\n", refused);
  return text;
}

std::string WhatIfText(const Advice& advice) {
  if (advice.what_ifs.empty()) return "";
  TableRows rows;
  std::string refused;
  for (const WhatIf& one : advice.what_ifs) {
    if (one.time.has_value()) {
      rows.push_back({Cat(one.rate, one.halved ? ", halved" : "", one.with.empty() ? "" : " with ", one.with),
                      timing::report::TimeText(*one.time), ChangeText(Saved(*one.time, advice))});
    } else {
      Append(&refused, "  ", one.rate, ": not possible alone: ", FirstLine(one.refused), "\n");
    }
  }
  return Cat("what limits it: the same kernel on a chip with one rate doubled, or one time halved\n",
             TextTable(rows, LastColumn::kWords), refused);
}

void AddPlace(const Module& module, LocId loc, int line, JsonWriter& json) {
  json.Key("text_line").Number(line).Key("frames").Open('[');
  for (const SourceFrame& frame : launch::FramesOf(module, loc)) {
    json.Open('{').Key("file").String(frame.file).Key("line").Number(frame.line);
    json.Key("function").String(frame.function).Close('}');
  }
  json.Close(']');
}

void AddTime(const std::optional<machines::Nanoseconds>& time, const Advice& advice, JsonWriter& json) {
  json.Key("ns");
  if (!time.has_value()) {
    json.Null().Key("saved").Null();
    return;
  }
  json.Real(time->value()).Key("saved").Real(Saved(*time, advice));
}

}  // namespace

std::string AdviceText(const Advice& advice, const Module& module) {
  const timing::report::Timing& timing = advice.timing;
  std::string text = Cat("on ", timing.machine, " as it is: ", timing::report::TimeText(timing.time), ", ",
                         timing::report::HowFarOffText(timing.uncertainty), "\n");
  text += TriedText(advice, module);
  if (advice.tried.empty()) text += "no change was tried\n";
  text += WhatIfText(advice);
  if (!advice.not_tried.empty()) text += "not tried\n";
  for (const NotTried& one : advice.not_tried)
    Append(&text, "  ", one.what, Place(module, one.loc, one.text_line), ": ", one.why, "\n");
  std::optional<double> uncertainty = timing.uncertainty;
  for (const Tried& one : advice.tried) {
    if (one.time.has_value()) uncertainty = UncertaintyOfDifference(uncertainty, one.uncertainty);
  }
  return Cat(text, "The difference of two times is uncertain by ", uncertainty.has_value() ? "at most " : "",
             uncertainty.has_value() ? timing::report::PercentText(*uncertainty) : "an unknown share",
             " of the slower one: a smaller one may be none on the chip.\n");
}

std::string AdviceJson(const Advice& advice, const Module& module) {
  JsonWriter json;
  const timing::report::Timing& timing = advice.timing;
  json.Open('{').Key("machine").String(timing.machine).Key("ns").Real(timing.time.value());
  json.Key("uncertainty").OptionalReal(timing.uncertainty).Key("uncertainty_why").String(timing.uncertainty_why);
  json.Key("schedules").Number(advice.schedules).Key("random_inputs").Open('[');
  for (const std::string& name : advice.random) json.String(name);
  json.Close(']').Key("changes").Open('[');
  for (const Tried& one : advice.tried) {
    json.Open('{').Key("change").String(one.change).Key("what").String(one.what);
    AddPlace(module, one.loc, one.text_line, json);
    AddTime(one.time, advice, json);
    json.Key("difference_uncertainty")
        .OptionalReal(one.time.has_value() ? UncertaintyOfDifference(timing.uncertainty, one.uncertainty)
                                           : std::nullopt);
    json.Key("refused").String(one.refused).Key("text").String(one.text).Close('}');
  }
  json.Close(']').Key("not_tried").Open('[');
  for (const NotTried& one : advice.not_tried) {
    json.Open('{').Key("what").String(one.what);
    AddPlace(module, one.loc, one.text_line, json);
    json.Key("why").String(one.why).Close('}');
  }
  json.Close(']').Key("what_ifs").Open('[');
  for (const WhatIf& one : advice.what_ifs) {
    json.Open('{').Key("rate").String(one.rate).Key("with").String(one.with);
    AddTime(one.time, advice, json);
    json.Key("halved").Bool(one.halved).Key("refused").String(one.refused).Close('}');
  }
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::advice
