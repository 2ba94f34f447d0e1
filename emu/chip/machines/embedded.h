// The files *.machine and sources.txt, as emu/CMakeLists.txt puts them into the library.
#ifndef PALLADION_EMU_CHIP_MACHINES_EMBEDDED_H_
#define PALLADION_EMU_CHIP_MACHINES_EMBEDDED_H_

#include <string_view>

#include "absl/types/span.h"

namespace palladion::machines {

struct EmbeddedMachine {
  std::string_view path, text;
};
absl::Span<const EmbeddedMachine> EmbeddedMachines();
std::string_view EmbeddedSources();

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_EMBEDDED_H_
