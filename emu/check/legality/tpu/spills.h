// What the compiler of a TPU kernel puts into VMEM beside the kernel's own arrays, as an estimate: vector registers
// that it spills, and its internal scratch. Based on: what the compiler printed for kernels of which windows and
// scratch are known (docs/spec/tpu-limits.md lists them), each rule made from one or two of them. Elementwise work on
// whole refs spills nothing: it goes register by register. A reduction along lanes holds a column vector for every 8
// rows, a row statistic that comes back two and a half of them, and two such (softmax) or more hold five. A product
// that feeds a reduction (attention in one step) waits as a whole. It may be off by half. Not modelled: unrolled loops,
// and values that the compiler computes twice.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_SPILLS_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_SPILLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/check/legality/legality.h"

namespace palladion::legality {

struct SpillEstimate {
  std::string what;  // "row statistics that come back (reduce_max)"
  std::int64_t bytes = 0;
  LocId loc;
  int text_line = 0;  // of the instruction; 0: of none
  bool grows = true;  // with the blocks
};

// The largest of each kind. For a kernel of Mosaic TPU with a named chip.
std::vector<SpillEstimate> EstimatedSpills(const Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_SPILLS_H_
