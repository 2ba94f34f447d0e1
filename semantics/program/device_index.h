// Which device a number, or coordinates, mean in a view or an operation; and all devices of the mesh, where an
// operation reaches them at once. Based on: JAX's primitives.device_id_to_logical, docs/spec/tpu-copies.md#devices and
// docs/spec/gpu-devices.md. Limits: what a machine has at the device is its own business (Machine::PeerBuffer).
#ifndef PALLADION_SEMANTICS_PROGRAM_DEVICE_INDEX_H_
#define PALLADION_SEMANTICS_PROGRAM_DEVICE_INDEX_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/program/builder.h"

namespace palladion {

// A number of which device, and the axes that it counts along; several are flattened together, row-major.
struct DeviceNumber {
  const Arg* number = nullptr;
  std::vector<std::string> axes;
};

// The mesh's axes as one number's, or one each.
std::vector<std::vector<std::string>> DeviceAxes(bool logical, const std::vector<std::string>& mesh);

// What is added to ViewPlan::peer.
absl::StatusOr<std::vector<PeerIndex>> PlanDeviceNumbers(absl::Span<const DeviceNumber> numbers, Builder& builder);

// Of a view, by its transforms .peer: one logical number, or one coordinate for each axis of the mesh, of which `none`
// is the thread's own. Empty: it has none.
absl::StatusOr<std::vector<PeerIndex>> PlanPeerView(const Arg& view, Builder& builder);

// "x", or a list of names; empty where it is neither.
std::vector<std::string> NamesOf(const Attr& attr);

// The grid dimensions of the mesh, where `axes` are all of its axes. `what` names the list for errors.
absl::StatusOr<std::vector<std::size_t>> WholeMesh(const std::vector<std::string>& axes, std::string_view what,
                                                   Builder& builder);

// The places along these grid dimensions, the agent's own among them, in row-major order.
std::vector<std::vector<PeerCoordinate>> PeersAlong(absl::Span<const std::size_t> dims, const Frame& frame);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_DEVICE_INDEX_H_
