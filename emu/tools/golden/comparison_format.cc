// A comparison as text and as JSON. The format of the JSON: docs/reference/compare.md.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "emu/tools/golden/comparison.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::golden {
namespace {

// JSON's readers take whole numbers of 63 bits.
std::int64_t Counted(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, std::numeric_limits<std::int64_t>::max()));
}

std::string BinName(std::size_t bin) {
  if (bin + 1 == kUlpBins) return "more";
  if (bin <= 2) return Cat(bin);
  return Cat((1 << (bin - 2)) + 1, "-", 1 << (bin - 1));
}

std::string Indented(const std::string& text, std::string_view by) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(ToAbsl(text), '\n', absl::SkipEmpty()))
    Append(&out, by, ToStd(line), "\n");
  return out;
}

std::string Number(double x) { return absl::StrFormat("%.3g", x); }

std::string Ulps(const OutputComparison& one) {
  std::string text;
  for (std::size_t bin = 0; bin < kUlpBins; ++bin) {
    if (one.ulps[bin] != 0) Append(&text, text.empty() ? "" : ", ", BinName(bin), ": ", one.ulps[bin]);
  }
  return text;
}

void Describe(const OutputComparison& one, const std::string& derivation, std::string& out) {
  if (!one.error.ok()) {
    Append(&out, one.name, ": not compared: ", ToStd(one.error.message()), "\n");
    return;
  }
  Append(&out, one.name, ": ", one.over == 0 ? "within tolerance" : "DIFFERS", ": ", one.over, " of ",
         one.elements - one.undefined, " elements over tolerance, ", one.differing, " differ in bits\n");
  if (one.undefined != 0) Append(&out, "  ", one.undefined, " elements are undefined and pass\n");
  if (one.unbounded != 0) Append(&out, "  ", one.unbounded, " elements have no known bound and pass\n");
  if (one.differing != 0) {
    Append(&out, "  largest error: absolute ", Number(one.largest_absolute), ", relative ",
           Number(one.largest_relative), ", ", one.largest_ulps, " ulps\n  elements by ulps: ", Ulps(one), "\n");
  }
  if (one.nan_differs != 0) Append(&out, "  ", one.nan_differs, " elements are NaN on one side only\n");
  if (one.infinity_differs != 0) Append(&out, "  ", one.infinity_differs, " infinities differ\n");
  if (one.zero_sign_differs != 0) Append(&out, "  ", one.zero_sign_differs, " zeros have the other sign\n");
  Append(&out, "  tolerance: ", derivation, "\n");
}

void Describe(const Causes& causes, std::string& out) {
  if (causes.tried == 0 && causes.failed == 0) return;
  Append(&out, "likely cause (", causes.tried, " hypotheses run",
         causes.failed == 0 ? "" : Cat(", ", causes.failed, " not runnable"),
         causes.left == 0 ? "" : Cat(", ", causes.left, " not begun: the budget was spent"), "; held against ",
         causes.wrong, causes.over ? " elements over tolerance" : " elements that differ in bits", " and ",
         causes.right, " others):\n");
  if (causes.likely.empty()) out += "  none: no hypothesis gives what the backend gave\n";
  for (const Cause& cause : causes.likely) {
    Append(&out, "  ", cause.kind, ": ", cause.what, ": explains ", cause.explained, " of ", causes.wrong,
           cause.unwritten == 0 ? "" : Cat(" (", cause.unwritten, " as unwritten, where any value would do)"),
           ", spoils ", cause.spoiled, " of ", causes.right, "\n");
  }
}

void Write(const OutputComparison& one, JsonWriter& json) {
  json.Key("name").String(one.name).Key("error");
  if (one.error.ok()) {
    json.Null();
  } else {
    json.String(ToStd(one.error.message()));
    return;
  }
  json.Key("elements").Number(one.elements).Key("undefined").Number(one.undefined);
  json.Key("over_tolerance").Number(one.over).Key("differing").Number(one.differing);
  json.Key("unbounded").Number(one.unbounded).Key("nan_differs").Number(one.nan_differs);
  json.Key("infinity_differs").Number(one.infinity_differs).Key("zero_sign_differs").Number(one.zero_sign_differs);
  json.Key("largest_absolute").Real(one.largest_absolute).Key("largest_relative").Real(one.largest_relative);
  json.Key("largest_ulps").Number(Counted(one.largest_ulps)).Key("ulps").Open('{');
  for (std::size_t bin = 0; bin < kUlpBins; ++bin) {
    if (one.ulps[bin] != 0) json.Key(BinName(bin)).Number(one.ulps[bin]);
  }
  json.Close('}');
}

void Write(const Causes& causes, JsonWriter& json) {
  json.Open('{').Key("wrong").Number(causes.wrong).Key("right").Number(causes.right);
  json.Key("wrong_is").String(causes.over ? "over tolerance" : "other bits");
  json.Key("tried").Number(causes.tried).Key("failed").Number(causes.failed).Key("left").Number(causes.left);
  json.Key("likely").Open('[');
  for (const Cause& cause : causes.likely) {
    json.Open('{').Key("kind").String(cause.kind).Key("what").String(cause.what);
    json.Key("explained")
        .Number(cause.explained)
        .Key("unwritten")
        .Number(cause.unwritten)
        .Key("spoiled")
        .Number(cause.spoiled)
        .Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace

std::string CodesText(const std::vector<FindingCode>& codes) {
  std::string text;
  for (const FindingCode code : codes) Append(&text, text.empty() ? "" : ", ", Code(code));
  return text;
}

std::string ToText(const Comparison& comparison) {
  std::string out = Cat("kernel @", comparison.kernel, " on ", comparison.target, "\n");
  if (!comparison.defects.empty()) {
    Append(
        &out, "warning: the bundle's kernel has a defect (", CodesText(comparison.defects),
        "; report.json): its outputs are those of one order, and a backend may rightly give others; mend it first, and "
        "write the bundle again\n");
  }
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    Describe(comparison.outputs[i], comparison.derivations[i], out);
    for (std::size_t j = 0; j < comparison.stories[i].size(); ++j) {
      const ElementStory& story = comparison.stories[i][j];
      Append(&out, "  ", j == 0 ? "first" : "worst", " over tolerance: ", story.element, ": expected ", story.golden,
             ", found ", story.found, ", tolerance ", story.tolerance, "\n", Indented(story.why, "    "));
    }
  }
  for (const std::string& name : comparison.unknown) Append(&out, name, ": is no output of the kernel\n");
  Describe(comparison.causes, out);
  return out;
}

std::string ToJson(const Comparison& comparison) {
  JsonWriter json;
  json.Open('{').Key("kernel").String(comparison.kernel).Key("target").String(comparison.target);
  json.Key("kernel_defects").Open('[');
  for (const FindingCode code : comparison.defects) json.String(Code(code));
  json.Close(']').Key("outputs").Open('[');
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    json.Open('{');
    Write(comparison.outputs[i], json);
    json.Key("tolerance").String(comparison.derivations[i]).Key("elements_told").Open('[');
    for (const ElementStory& story : comparison.stories[i]) {
      json.Open('{').Key("element").String(story.element).Key("expected").String(story.golden);
      json.Key("found").String(story.found).Key("tolerance").String(story.tolerance).Key("why").String(story.why);
      json.Close('}');
    }
    json.Close(']').Close('}');
  }
  json.Close(']').Key("unknown").Open('[');
  for (const std::string& name : comparison.unknown) json.String(name);
  json.Close(']').Key("causes");
  Write(comparison.causes, json);
  json.Key("code").Number(static_cast<std::int64_t>(ExitCodeOf(comparison)));
  return json.Close('}').Take();
}

}  // namespace palladion::golden
