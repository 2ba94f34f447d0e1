// The names of layouts of registers, for messages.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_NAMES_H_
#define PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_NAMES_H_

#include <string>

namespace palladion::layouts {

// Those that JAX makes public, with commas.
std::string PublicLayoutNames();

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_NAMES_H_
