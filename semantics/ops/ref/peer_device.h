// Which device an operation reaches for: its number in the mesh, or coordinates of it (pl.DeviceIdType). Based on:
// JAX's primitives.device_id_to_logical and docs/spec/tpu-copies.md#devices. Limits: axes of a core are no devices.
#ifndef PALLADION_SEMANTICS_OPS_REF_PEER_DEVICE_H_
#define PALLADION_SEMANTICS_OPS_REF_PEER_DEVICE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"

namespace palladion {

// Operands device_id=, one or several, are integers; the attributes device_id_type and device_axes say what they mean.
absl::Status VerifyDevice(const Instr& op, const VerifyContext& context);

// The views' places become the device's: what is added to ViewPlan::peer. Empty: the operation names none.
// InvalidArgument: the mesh has other axes. Unimplemented: the kernel has no mesh (`devices`).
absl::StatusOr<std::vector<PeerIndex>> PlanDevice(const Instr& op, Builder& builder);
// The same of these operands device_id= alone: of an operation that names several devices.
absl::StatusOr<std::vector<PeerIndex>> PlanDevice(const Instr& op, absl::Span<const Arg* const> args, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_REF_PEER_DEVICE_H_
