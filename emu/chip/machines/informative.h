// Informational numbers of descriptions: no cost law and no check reads them, so `--set` of one changes nothing. Based
// on: a list, which a test holds against every Key in the library's sources. Limits: a number that is read counts as
// read, whatever becomes of it.
#ifndef PALLADION_EMU_CHIP_MACHINES_INFORMATIVE_H_
#define PALLADION_EMU_CHIP_MACHINES_INFORMATIVE_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "emu/chip/machines/description.h"

namespace palladion::machines {

absl::Span<const std::string_view> InformativeKeys();
bool IsInformative(std::string_view key);
// Is it read for kernels of Triton alone? The same test holds this list against the sources, too.
bool IsForTriton(std::string_view key);

// Those that the machine has, as lines that a description's parser skips; "" where there are none.
std::string InformativeText(const Machine& machine);

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_INFORMATIVE_H_
