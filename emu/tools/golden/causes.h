// Which mistake explains a backend's outputs. Each cause is a hypothesis that is run: the kernel is rewritten so that
// it makes the mistake, and its outputs are compared with the backend's. Nothing is guessed from patterns. What it does
// not find: several mistakes at once, and what docs/reference/compare.md lists.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_CAUSES_H_
#define PALLADION_EMU_TOOLS_GOLDEN_CAUSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/tools/golden/bundle.h"

namespace palladion::golden {

struct CauseOptions {
  bool wanted = true;
  std::int64_t most = 400;  // hypotheses that are run
  double seconds = 60;      // after which no other one is begun
  RunOptions run;
};

// One hypothesis that explains something.
struct Cause {
  std::string kind;            // "transposed block"
  std::string what;            // "the blocks of 'x' are transposed"
  std::int64_t explained = 0;  // of the wrong elements: what the hypothesis gives there is what the backend gave
  std::int64_t unwritten = 0;  // of these: the hypothesis leaves the element unwritten, so any value would do
  std::int64_t spoiled = 0;    // of the right elements: the hypothesis gives something else than the backend
  std::int64_t changed = 0;    // elements that the hypothesis gives another value than the kernel does
  std::int64_t met = 0;        // of these: the backend has that value
  std::string text;            // the kernel that makes the mistake; "" where the outputs were changed after it
};

struct Causes {
  std::vector<Cause> likely;          // those that explain most first
  std::int64_t wrong = 0, right = 0;  // elements that the hypotheses are held against
  bool over = true;  // wrong: over tolerance; false: all are within it, and wrong are those whose bits differ
  std::int64_t tried = 0, failed = 0, left = 0;  // hypotheses: run; not runnable; not begun
};

// found: of each output of the bundle; nullptr where there is none to compare.
absl::StatusOr<Causes> FindCauses(const Bundle& bundle, absl::Span<const Tensor* const> found,
                                  const CauseOptions& options);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_CAUSES_H_
