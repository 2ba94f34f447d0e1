// Why an element of an output is what it is: the store that wrote it last, the instruction that made the value, the
// elements of the operands that went into it, and so on back to the inputs. Based on emu/tools/debug/provenance.h. What
// it does not show: which branch or index led there.
#ifndef PALLADION_EMU_TOOLS_DEBUG_WHY_H_
#define PALLADION_EMU_TOOLS_DEBUG_WHY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check/replayed_run.h"
#include "emu/emulate.h"

namespace palladion::debug {

struct WhyOptions {
  int depth = 12;                                    // steps back
  std::size_t shown = 3;                             // of the elements of one operand; the rest are counted
  std::size_t lines = 2000;                          // of the answer
  std::size_t value_bytes = std::size_t{512} << 20;  // of recorded values that are held at one time
  RunOptions run;
  const check::ReplayedRun* replayed = nullptr;  // the run that is explained, of this kernel; nullptr: a plain one
};

// `element` is OUTPUT[I,J]: an output by its name in the text or the user's own, and an index; without brackets where
// the output has no dimensions. The answer is an indented tree, each line with the values and places. The kernel must
// have been prepared as observable. InvalidArgument: no such output or element; what there is is said.
// ResourceExhausted: one program makes more values than value_bytes.
absl::StatusOr<std::string> Why(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                const std::string& element, const WhyOptions& options);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_WHY_H_
