// A finding's fix as an edit of the kernel text (Finding::mend): lines that are inserted, removed or replaced. Where
// the edit is not possible, or would not remove the finding, the fix names the missing order instead of a call. Based
// on: the text alone; tests show that a fix works (tools/fix_table.py).
#ifndef PALLADION_EMU_RUN_LAUNCH_MENDED_H_
#define PALLADION_EMU_RUN_LAUNCH_MENDED_H_

#include <string>
#include <vector>

#include "emu/report.h"
#include "emu/run/launch/text_places.h"
#include "semantics/base/finding.h"
#include "semantics/ir/module.h"

namespace palladion::launch {

struct Mended {
  std::string fix;
  std::vector<TextEdit> edits;  // empty: none
};
Mended MendedIn(const Module& module, const Finding& finding);

// Lines that come before or after one, or instead of it, or at the end of its region.
TextEdit Inserted(TextEdit::Where where, int line, std::vector<std::string> lines);

// The same of a wait for an operation (awaited_in_text.cc).
struct WaitedText {
  const Module& module;
  const Finding& finding;
  const TextPlaces& text;
  const TextPlaces::Place& issue;
};
Mended MendedByWait(const WaitedText& wait);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_MENDED_H_
