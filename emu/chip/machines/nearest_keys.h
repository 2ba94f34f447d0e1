// Run-time lookup of the names of numbers, with suggestions for misspelled ones.
#ifndef PALLADION_EMU_CHIP_MACHINES_NEAREST_KEYS_H_
#define PALLADION_EMU_CHIP_MACHINES_NEAREST_KEYS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "emu/chip/machines/description.h"

namespace palladion::machines {

std::size_t RowOf(std::string_view name);  // of key_table::kRows; key_table::kCount: there is none

// "there is no number 'l2.sise'; the nearest are l2.size, l2.slices": of those that the machine has, where one is
// given.
std::string UnknownKey(std::string_view name, const Machine* machine);

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_NEAREST_KEYS_H_
