// What each finding code means: its rule (the table of finding.h), and a page of emu/front/reports/explain with why it
// matters, a tiny wrong kernel and the fixed one. The tests check both kernels, so a page cannot promise what no check
// finds.
#ifndef PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_
#define PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "semantics/base/finding.h"

namespace palladion::reports {

struct EmbeddedPage {
  std::string_view code, text;
};
absl::Span<const EmbeddedPage> EmbeddedPages();  // by name of the file; made by the build

// A file is lines "# key: value", then paragraphs, "--- wrong", a kernel text, "--- right", a kernel text.
struct ExplainPage {
  FindingCode code = FindingCode::kOutOfBounds;
  std::string text;                  // paragraphs
  std::string wrong, right;          // kernel texts, with a line end
  std::vector<std::string> options;  // of `palladion check` for both: "--in", "x=iota"
  std::vector<std::string> also;     // other codes that the wrong kernel shows, as consequences of this one
};

// Nothing where the code has no page or its page is not of this form.
std::optional<ExplainPage> PageOf(FindingCode code);

std::string ExplainText(const ExplainPage& page, bool color);
// Of one limit of GPU kernels ("copy.strides", as findings name it); "" where there is none of that name.
std::string ExplainLimit(std::string_view name);
std::string ExplainList();
std::string ExplainJson();  // all pages

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_
