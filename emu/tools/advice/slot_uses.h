// Every use of the arrays of shared memory that a kernel allocates, and what indexes their leading dimension there.
#ifndef PALLADION_EMU_TOOLS_ADVICE_SLOT_USES_H_
#define PALLADION_EMU_TOOLS_ADVICE_SLOT_USES_H_

#include <map>
#include <string>
#include <vector>

#include "emu/tools/advice/origins.h"
#include "semantics/ir/module.h"

namespace palladion::advice {

struct SlotUse {
  const Instr* instr = nullptr;  // that uses it
  const Arg* slot = nullptr;     // the index of the leading dimension; nullptr: there is no such single index
};

struct SlotArray {
  ValueId value;                 // as instructions name it
  std::vector<ValueId> aliases;  // other ids of the same array
  int text_line = 0;             // of the allocation
  LocId loc;
  std::vector<SlotUse> uses;
};

// Memory and barriers of at least one dimension, in the text's order.
std::vector<SlotArray> SlotArraysOf(Kernel& kernel);

// Every value that an instruction uses, those in the indices of its views too.
std::vector<std::pair<const Instr*, const Arg*>> UsesOf(Kernel& kernel, ValueId id);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_SLOT_USES_H_
