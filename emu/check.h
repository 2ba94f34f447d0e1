// Run a kernel under the orders that hardware may choose, and say everything that is wrong with it.
//
//   auto report = palladion::Check(*kernel, {x, y}, {.seeds = 64});
//   report->verdict, report->findings
#ifndef PALLADION_EMU_CHECK_H_
#define PALLADION_EMU_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/report.h"
#include "semantics/tensor/fill.h"

namespace palladion {

// What came of some of the seeds of a check, for the process that makes the report of all (docs/guides/sweeps.md).
struct CheckPart {
  std::string made_for;              // a kernel, a target, inputs and options: as replay strings name them
  std::int64_t first = 1, last = 1;  // its seeds, the last one not; seed 0 is where every part begins
  std::int64_t schedules = 0;        // of its seeds that ran
  std::vector<CheckTally> checks;    // of these
  std::vector<std::int64_t> news;    // seeds that say what neither seed 0 nor the part's earlier ones do
  bool stopped = false;              // after the last that ran: a schedule that does not end, or an error
};

// Where a GPU needs a fence for asynchronous accesses (docs/explanation/memory-model.md).
enum class ProxyRule : std::uint8_t { kPallas, kStrict, kLax };
PALLADION_EXPORT std::string_view Name(ProxyRule rule);  // "pallas", "strict", "lax"
PALLADION_EXPORT std::optional<ProxyRule> ProxyRuleFromName(std::string_view name);

// In which order copies from one TPU device to another land: in any, or in that in which they were started.
enum class LinkOrder : std::uint8_t { kUnordered, kOrdered };
PALLADION_EXPORT std::string_view Name(LinkOrder order);  // "unordered", "ordered"
PALLADION_EXPORT std::optional<LinkOrder> LinkOrderFromName(std::string_view name);

namespace check {
struct ForTests;
}

struct CheckOptions {
  std::int64_t seeds = 64;  // schedules to try where there is a choice; at least 1
  bool all_seeds = false;   // go on after a proof
  bool exhaustive = false;  // every schedule, where they are few
  std::string replay;       // one schedule, as a finding names it; "" for the seeds
  Fill fill;                // contents of unwritten memory
  ProxyRule proxy = ProxyRule::kPallas;
  LinkOrder links = LinkOrder::kUnordered;
  bool races = true, definedness = true, contracts = true;
  bool strict = false;                               // warnings count as defects
  int threads = 0;                                   // host threads; 0: all. The report does not depend on it.
  std::int64_t step_budget = std::int64_t{1} << 24;  // visible steps of one schedule before it is a livelock
  RunOptions run;
  // The one number that users give for both.
  void SetBudget(std::int64_t budget) { run.loop_budget = step_budget = budget; }
  // Of the seeds but 0 these ran elsewhere: only those with news run again, and the report is that of a check that ran
  // them all. What no part has is said to be interrupted. nullopt: all seeds run here.
  std::optional<std::vector<CheckPart>> parts;
  std::function<bool()> interrupted;           // asked between schedules, beside run.control; may be empty
  const check::ForTests* for_tests = nullptr;  // Palladion's own (emu/check/for_tests.h); outlives the check
};

// InvalidArgument: inputs that do not fit, seeds below 1, a replay string of another kernel or other inputs.
// ResourceExhausted: memory or the budget. What the kernel does wrong is in the report. An error after something was
// found is Report::error, beside what was found. `outputs`: those of seed 0 or of the replayed schedule, when not
// nullptr; none where it did not come to its end. An interrupted check has a report too, of what it knows.
PALLADION_EXPORT absl::StatusOr<Report> Check(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                              const CheckOptions& options = {}, std::vector<Tensor>* outputs = nullptr);

// The seeds first .. last - 1 of that check, 1 or more, for CheckOptions::parts of another: on any machine, and in any
// order. `options` are those of the whole. Errors are those of Check; Cancelled: it was interrupted. Where no seeds are
// needed (docs/explanation/checks.md), or every schedule is wanted, none run.
PALLADION_EXPORT absl::StatusOr<CheckPart> CheckSeeds(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                                      const CheckOptions& options, std::int64_t first,
                                                      std::int64_t last);

}  // namespace palladion

#endif  // PALLADION_EMU_CHECK_H_
