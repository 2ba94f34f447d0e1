// What a rule about the compiler behind a lowering says, and how certain it is that the compiler has it. The rules are
// in tpu/refusals.h: of other compilers none is known.
#ifndef PALLADION_EMU_CHECK_LEGALITY_REFUSAL_TEXT_H_
#define PALLADION_EMU_CHECK_LEGALITY_REFUSAL_TEXT_H_

#include <cstdint>
#include <string_view>

#include "emu/check/legality/limit_row.h"

namespace palladion::legality {

enum class Certainty : std::uint8_t {
  kSource,    // it stood in the compiler's source while that was public
  kReported,  // a message of the compiler in a public report
  kLifted,    // it was so, and later releases take some of it or all: a note
  kFollows,   // it follows from a rule that is sure, and no report is known: a note
};
std::string_view Words(Certainty certainty);  // "in the compiler's source while it was public, ..."
inline bool IsNote(Certainty certainty) { return certainty == Certainty::kLifted || certainty == Certainty::kFollows; }

struct RefusalText {
  LimitText limit;
  std::string_view chips = "all";
  Certainty certainty = Certainty::kSource;
};

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_REFUSAL_TEXT_H_
