// One shape that a target does not take is one mistake, however many instructions it reaches: a block of three rows is
// loaded, multiplied and stored, and each of these would be refused. What these findings have in common is said in
// their `why`, the same for all of them, by which a report knows that they are one (emu/front/reports/causes.h); and
// each gets the fix with a shape that the target takes. Findings belong together that are about one shape, about what
// was computed of values that are, or about shapes that one operation combines. The same fix for the same element
// type is likewise one mistake. What it does not know: whether a kernel has two mistakes in blocks of one shape, or
// in values of one type, and whether what the kernel allocates besides still has room.
#ifndef PALLADION_EMU_CHECK_LEGALITY_SHAPE_CAUSES_H_
#define PALLADION_EMU_CHECK_LEGALITY_SHAPE_CAUSES_H_

#include "emu/check/legality/legality.h"

namespace palladion::legality {

// Gives those of its findings that are about shapes their `why` and their `fix`.
void NameShapes(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_SHAPE_CAUSES_H_
