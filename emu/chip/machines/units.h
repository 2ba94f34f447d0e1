// How the numbers of a machine description are written: units with their dimension, and a number with its unit as text.
#ifndef PALLADION_EMU_CHIP_MACHINES_UNITS_H_
#define PALLADION_EMU_CHIP_MACHINES_UNITS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "emu/chip/machines/amount.h"

namespace palladion::machines {

struct UnitRow {
  std::string_view spelled;  // "" of a count
  Dimension dimension;
  double factor;  // of the base unit
};
const UnitRow* FindUnit(std::string_view spelled);      // nullptr: there is none
std::string UnitsOf(Dimension dimension);               // "B, KiB or MiB": what a message asks for
std::string_view BaseUnit(Dimension dimension);         // of Amount's doubles
const UnitRow* UnitInWord(std::string_view lowercase);  // as a word of `--set l2.mib=25`

struct Written {
  double value = 0;
  const UnitRow* unit = nullptr;  // nullptr: none was written; a count, or what it is taken for
};
// "50 MiB", "50MiB", "132". InvalidArgument: what is expected and what is there.
absl::StatusOr<Written> ParseWritten(std::string_view text);
// The shortest text that reads back the same, without an exponent.
std::string PrintValue(double value);

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_UNITS_H_
