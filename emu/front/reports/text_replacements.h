// A fix's edits of the kernel text as replacements of its lines, as SARIF 2.1.0 has them (3.57): whole lines, none of
// which overlaps another one, in the order of the text. Limits: an edit names a line, so for a line with more than one
// statement there are no replacements.
#ifndef PALLADION_EMU_FRONT_REPORTS_TEXT_REPLACEMENTS_H_
#define PALLADION_EMU_FRONT_REPORTS_TEXT_REPLACEMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "emu/report.h"

namespace palladion::reports {

struct TextReplacement {
  int first = 0, past = 0;  // lines from 1; equal: nothing goes, and `inserted` comes before the line
  std::string inserted;     // lines with their ends, "" for none
};

// Empty where there are no edits, where one has no place in the text, and where the result would be no kernel text.
std::vector<TextReplacement> ReplacementsOf(std::string_view kernel_text, const std::vector<TextEdit>& edits);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_TEXT_REPLACEMENTS_H_
