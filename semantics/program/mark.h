// Marks: steps that do nothing but report to a StepHooks the current position in the kernel's text, and where the
// operands and results of each instruction lie. Only an observable program has them (ProgramOptions): there every
// instruction of the text runs by itself, so that what it made can be seen. Programs for plain runs have none and pay
// nothing. What they do not show: the memory behind refs. A watcher (emu/run/events.h) sees each access between the
// marks of its instruction.
#ifndef PALLADION_SEMANTICS_PROGRAM_MARK_H_
#define PALLADION_SEMANTICS_PROGRAM_MARK_H_

#include <cstdint>
#include <vector>

#include "semantics/program/program.h"

namespace palladion {

// A value where it is read or was made.
struct MarkedValue {
  ValueId value;  // invalid: a literal or an array constant, or an unnamed result
  SlotId slot;    // invalid: a ref, an operand that is not given, or an unnamed result
};

struct Mark {
  enum class Kind : std::uint8_t {
    kBegin,   // the instruction starts
    kEnter,   // its region starts: a branch, a call, one iteration; of the kernel: an index map or the body
    kLeave,   // the region is done
    kFinish,  // the instruction is done
  };
  Kind kind = Kind::kBegin;
  const Instr* instr = nullptr;    // nullptr: a region of the kernel itself
  const Region* region = nullptr;  // kEnter, kLeave
  // kFinish: the instruction's operands, one for each Instr::args, then those that index its views. kEnter: the
  // region's parameters. kLeave: the region's results.
  std::vector<MarkedValue> in;
  std::vector<MarkedValue> out;  // kFinish: the results
};

// The mark that a step is; nullptr for every other step.
const Mark* MarkOf(const Step& step);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_MARK_H_
