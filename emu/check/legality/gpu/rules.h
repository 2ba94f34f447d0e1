// All rules of Mosaic GPU: operands and blocks, and the tables of limits.h.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GPU_RULES_H_
#define PALLADION_EMU_CHECK_LEGALITY_GPU_RULES_H_

#include "emu/check/legality/legality.h"

namespace palladion::legality {

void CheckMosaicGpu(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GPU_RULES_H_
