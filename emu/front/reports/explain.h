// What each finding code means: its rule (the table of finding.h), and a page of emu/front/reports/explain with why it
// matters, a tiny wrong kernel and the fixed one, in Python and as kernel text. The tests check all four, so a page
// cannot promise what no check finds. Does not catch: a Python kernel and a kernel text that do different things.
#ifndef PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_
#define PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/finding.h"

namespace palladion::reports {

struct EmbeddedPage {
  std::string_view code, text;
};
absl::Span<const EmbeddedPage> EmbeddedPages();  // by name of the file; made by the build

// A wrong kernel and the mended one, each with a line end.
struct KernelPair {
  std::string wrong, right;
};

// A file is lines "# key: value", then paragraphs, "--- python wrong", a program, "--- python right", a program,
// "--- wrong", a kernel text, "--- right", a kernel text.
struct ExplainPage {
  FindingCode code = FindingCode::kOutOfBounds;
  std::string text;                  // paragraphs
  KernelPair python, pkir;           // programs that print their report; kernel texts
  std::vector<std::string> options;  // of `palladion check` for both kernel texts: "--in", "x=iota"
  std::vector<std::string> also;     // other codes that the wrong kernel shows, as consequences of this one
};

// Nothing where the code has no page or its page is not of this form.
std::optional<ExplainPage> PageOf(FindingCode code);

struct ExplainLook {
  bool color = false;
  bool pkir = false;  // kernel text instead of Python
};
std::string ExplainText(const ExplainPage& page, const ExplainLook& look);
// Of one limit of GPU kernels ("copy.strides", as findings name it); "" where there is none of that name.
std::string ExplainLimit(std::string_view name);
std::string ExplainList();
std::string ExplainJson();  // all pages
// One code or limit as JSON: what both have is `name`, `severity`, `rule` and `text`, as the command prints it.
absl::StatusOr<std::string> ExplainedJson(std::string_view name);
// Nothing explains `name`: the error says which names are near.
absl::Status UnknownCode(std::string_view name);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_EXPLAIN_H_
