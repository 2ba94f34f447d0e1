// Machine descriptions as `palladion machines` and Python show them: text for people, JSON for programs.
#ifndef PALLADION_EMU_FRONT_REPORTS_MACHINES_FORMAT_H_
#define PALLADION_EMU_FRONT_REPORTS_MACHINES_FORMAT_H_

#include <string>

#include "emu/chip/machines/description.h"

namespace palladion::reports {

std::string MachinesText();  // one line for each machine: its name, what JAX calls it, what its numbers rest on
// An object with machines, numbers (the table of keys), bases and sources.
std::string MachinesJson();
// An object with name, kind, family and numbers: name, value and unit as written, base_value and base_unit, basis,
// sources, note.
std::string MachineJson(const machines::Machine& machine);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_MACHINES_FORMAT_H_
