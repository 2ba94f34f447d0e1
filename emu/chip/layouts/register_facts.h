// What kernel text says of the registers of a GPU's threads: which operations name the layout of a value, repeat one
// along new dimensions, or say how many registers a thread may have from there on. For the rules, and for the model of
// time, which looks at no other operation's name.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_REGISTER_FACTS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_REGISTER_FACTS_H_

#include <cstdint>
#include <optional>

#include "semantics/ir/module.h"

namespace palladion::layouts {

bool IsLayoutCast(const Instr& op);
bool IsBroadcast(const Instr& op);
bool SetsRegisters(const Instr& op);
// The number that it says; nothing where it is no literal, or `op` says none.
std::optional<std::int64_t> RegistersSet(const Instr& op);
// The instruction of `region` or of a region in it that `value` is a result of; nullptr: a parameter.
const Instr* MakerOf(ValueId value, const Region& region);
// The layout_cast that stands right behind `op` and casts its result, where `op` is somewhere in `region`.
const Instr* CastBehind(const Instr& op, const Region& region);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_REGISTER_FACTS_H_
