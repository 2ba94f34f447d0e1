// The devices that run a kernel together, as the text's `devices {x=4, y=2};` names them.
#ifndef PALLADION_SEMANTICS_PREPARE_DEVICE_MESH_H_
#define PALLADION_SEMANTICS_PREPARE_DEVICE_MESH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion {

// More is no mesh that one machine would emulate: each device has a core, memory and clocks of its own.
inline constexpr std::int64_t kMaxDevices = 1024;

// Puts the axes of the mesh before the grid's dimensions, which are there; without a mesh nothing changes.
// InvalidArgument: sizes that are none. Unimplemented: a machine that is modelled as one device.
absl::Status AddDevices(const Kernel& kernel, Program* program);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_DEVICE_MESH_H_
