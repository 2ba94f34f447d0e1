// Compares a check's report on one small kernel with other judges: the reference machine's search of every order, the
// check's own exhaustive search, and the slow race checker on the same schedules. Any disagreement is a contradiction,
// and a bug in one of them.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_ORACLE_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_ORACLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emu/report.h"
#include "emu/tools/hunt/hunt_kernel.h"
#include "emu/tools/hunt/simple_races.h"
#include "semantics/tensor/tensor.h"

namespace palladion::hunt {

struct HuntOptions {
  std::int64_t seeds = 64;              // of the check that is judged
  std::int64_t more_seeds = 0;          // where it says proved: so many more, which must show nothing
  std::int64_t trials = 6;              // schedules whose races are compared
  std::int64_t max_states = 200'000;    // of the reference search
  std::int64_t max_schedules = 3'000;   // of the exhaustive check; 0: none
  std::int64_t elided_seeds = 0;        // schedules without values, held against the same in full; 0: none
  std::int64_t related_seeds = 0;       // of checks of the same kernel in other words; 0: none
  std::int64_t part_seeds = 0;          // of a check cut in parts, held against one in one piece; 0: none
  Mutation mutation = Mutation::kNone;  // of an oracle: to see it fail
  bool lie = false;                     // read every clean verdict as proved: to see that caught
};

struct Contradiction {
  std::string kind;  // "proved, but orders differ": what a shrunk kernel must still show
  std::string detail;
};

struct HuntResult {
  std::string text;                           // of the kernel
  std::string verdict;                        // of the check: "proved", "clean", ...
  std::string codes;                          // of its findings, each once
  bool searched = false;                      // the reference search saw every order
  bool exhausted = false;                     // so did the check's own
  bool missed = false;                        // clean under the seeds, and not in every order
  std::int64_t races_compared = 0, racy = 0;  // schedules
  std::int64_t elided = 0;                    // schedules that ran without values, beside the same in full
  std::int64_t related = 0;                   // the same kernel in other words, so often
  std::int64_t in_parts = 0, again = 0;       // schedules that ran as parts of a check, and those of them with news
  std::vector<Contradiction> contradictions;

  void Contradict(std::string kind, std::string detail) {  // each kind once
    for (const Contradiction& known : contradictions) {
      if (known.kind == kind) return;
    }
    contradictions.push_back({std::move(kind), std::move(detail)});
  }
};

std::vector<Tensor> InputsOf(const HuntKernel& kernel);  // x and m

HuntResult Judge(const HuntKernel& kernel, const HuntOptions& options);

// The kernel without what the contradiction does not need.
HuntKernel ShrinkKernel(const HuntKernel& kernel, const std::string& kind, const HuntOptions& options);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_ORACLE_H_
