// The page of a comparison: its numbers as JSON in a file that draws them (page/compare_page.html).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "emu/tools/golden/error_map.h"
#include "emu/tools/golden/hypotheses.h"
#include "emu/tools/golden/page/compare_page_html.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::golden {
namespace {

constexpr int kMostColours = 9;  // of a legend

class PageData {
 public:
  PageData(const Bundle& bundle, const Comparison& comparison) : bundle_(bundle), comparison_(comparison) {}

  absl::StatusOr<std::string> Json() {
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel,
                               PrepareText(bundle_.text, {.kernel = bundle_.kernel, .target = bundle_.target}));
    const Module module = OnlyKernel(kernel);
    json_.Open('{').Key("kernel").String(comparison_.kernel).Key("target").String(comparison_.target);
    json_.Key("defect").String(comparison_.defects.empty()
                                   ? ""
                                   : Cat("The bundle's kernel has a defect (", CodesText(comparison_.defects),
                                         "): a backend may rightly give other outputs."));
    json_.Key("report").String(PrintableLines(ToText(comparison_)));
    json_.Key("legends").Open('{').Key("held").Open('[');
    Legend("#e8e8e8", "the same bits");
    Legend("#3a9d40", "within tolerance");
    Legend("#e04848", "over tolerance");
    Legend("#3b8fc4", "undefined");
    json_.Close(']').Close('}').Key("outputs").Open('[');
    for (std::size_t i = 0; i < comparison_.outputs.size(); ++i)
      PALLADION_RETURN_IF_ERROR(Output(module.kernels[0], i));
    return json_.Close(']').Close('}').Take();
  }

 private:
  void Legend(const std::string& colour, const std::string& text) {
    json_.Open('[').String(colour).String(text).Close(']');
  }

  void Scale(const ErrorScale& scale) {
    json_.Key("legend").Open('[');
    Legend("#e8e8e8", "no error");
    const int step = std::max(1, (scale.high - scale.low + kMostColours - 1) / kMostColours);
    for (int power = scale.low; scale.low < scale.high && power <= scale.high; power += step)
      Legend(scale.ColourAt(power), Cat("1e", power));
    Legend("#d50078", "a number on one side only");
    Legend("#3b8fc4", "undefined");
    json_.Close(']');
  }

  absl::Status Output(const Kernel& kernel, std::size_t i) {
    const OutputComparison& output = comparison_.outputs[i];
    const std::vector<std::int64_t>& shape = bundle_.outputs[i].operand.shape;
    json_.Open('{').Key("name").String(output.name).Key("summary");
    if (!output.error.ok() || output.elements == 0) {
      json_.String(output.error.ok() ? "no elements" : Cat("not compared: ", ToStd(output.error.message()))).Close('}');
      return absl::OkStatus();
    }
    json_.String(Cat(output.over, " of ", output.elements - output.undefined, " elements are over tolerance, ",
                     output.differing,
                     " differ in bits. The last dimension goes from left to right, all others from "
                     "top to bottom; lines are the blocks of the kernel's grid."));
    const std::int64_t columns = shape.empty() ? 1 : shape.back();
    std::vector<std::int64_t> tile = TileOf(kernel, i, shape);
    if (tile.size() < 2) tile.insert(tile.begin(), 2 - tile.size(), 1);
    json_.Key("rows").Number(output.elements / columns).Key("columns").Number(columns);
    json_.Key("shape").Open('[');
    for (const std::int64_t size : shape) json_.Number(size);
    json_.Close(']').Key("block").Open('[').Number(tile[tile.size() - 2]).Number(tile.back()).Close(']');
    Scale(ScaleOf(output));
    PALLADION_ASSIGN_OR_RETURN(const std::string held, ErrorMapPng(output, shape));
    PALLADION_ASSIGN_OR_RETURN(const std::string error, ErrorScalePng(output, shape));
    json_.Key("held").String(absl::Base64Escape(ToAbsl(held))).Key("error").String(absl::Base64Escape(ToAbsl(error)));
    json_.Key("worst").Open('[');
    for (const ElementStory& story : comparison_.worst[i]) {
      json_.Open('{').Key("element").String(story.element).Key("expected").String(story.golden);
      json_.Key("found").String(story.found).Key("tolerance").String(story.tolerance).Key("why").String(story.why);
      json_.Close('}');
    }
    json_.Close(']').Close('}');
    return absl::OkStatus();
  }

  const Bundle& bundle_;
  const Comparison& comparison_;
  JsonWriter json_;
};

}  // namespace

absl::StatusOr<std::string> ComparisonPage(const Bundle& bundle, const Comparison& comparison) {
  PALLADION_ASSIGN_OR_RETURN(const std::string json, PageData(bundle, comparison).Json());
  return absl::StrReplaceAll(kComparePageHtml, {{"/*DATA*/null", ForScript(json)}});
}

}  // namespace palladion::golden
