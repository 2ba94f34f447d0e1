// The rules of Triton (rules.cc says what they are based on).
#ifndef PALLADION_EMU_CHECK_LEGALITY_TRITON_RULES_H_
#define PALLADION_EMU_CHECK_LEGALITY_TRITON_RULES_H_

#include "emu/check/legality/legality.h"

namespace palladion::legality {

void CheckTriton(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TRITON_RULES_H_
