// What a check said of a kernel text, as lines that can be compared with those of another text.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_CHECKED_REPORT_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_CHECKED_REPORT_H_

#include <set>
#include <string>
#include <vector>

#include "conformance/case_file.h"
#include "emu/report.h"
#include "semantics/tensor/tensor.h"

namespace palladion::conformance {

struct CheckedText {
  Report report;
  int exit_code = 0;
  std::vector<Tensor> outputs;
  bool tried = false;  // the verdict rests on schedules, of which more might say more
};

// Checks `text` as the case's kernel, with `factor` times as many schedules as the case asks for where it needs some.
// `by_policy`: check::ForTests'.
CheckedText CheckText(const Case& test, const std::string& text, std::int64_t factor, bool by_policy = false);

// Two accesses without an order meet, or an output depends on the schedule.
bool HasConflict(const CheckedText& checked);

// What `after` says otherwise than `before`, where `denies` is a fact that it may lack. `lines` are those where the
// text of `after` has something more: parts that never ran there are its own.
std::vector<std::string> Differences(const CheckedText& before, const CheckedText& after, absl::Span<const Fact> denies,
                                     const std::set<int>& lines);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_CHECKED_REPORT_H_
