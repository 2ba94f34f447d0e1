#include "semantics/ops/ref/peer_device.h"

#include <string>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/device_index.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

std::vector<const Arg*> DeviceArgs(const Instr& op) {
  std::vector<const Arg*> args;
  for (const Arg& arg : op.args) {
    if (arg.name == "device_id" && arg.kind != Arg::Kind::kNone) args.push_back(&arg);
  }
  return args;
}

// The axes that each operand counts along: of a logical number all of the mesh; of coordinates one each, or, where
// device_axes says so, several that are flattened together.
absl::StatusOr<std::vector<std::vector<std::string>>> AxesOf(const Instr& op, std::size_t operands,
                                                             const std::vector<std::string>& mesh) {
  std::vector<std::vector<std::string>> axes;
  if (HasAttr(op, "device_axes")) {
    const AttrList* list = std::get_if<AttrList>(&Find(op.attrs, "device_axes")->value);
    for (const Attr& entry : list == nullptr ? AttrList() : *list) axes.push_back(NamesOf(entry));
  } else {
    axes = DeviceAxes(HasAttr(op, "device_id_type") && *StringAttr(op, "device_id_type") == "logical", mesh);
  }
  if (axes.size() == operands) return axes;
  return absl::InvalidArgumentError(Cat("device_id= has ", operands, " numbers; expected ", axes.size(),
                                        " for the mesh [", absl::StrJoin(mesh, ", "), "]"));
}

}  // namespace

absl::Status VerifyDevice(const Instr& op, const VerifyContext& context) {
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    if (op.args[i].name != "device_id" || op.args[i].kind == Arg::Kind::kNone) continue;
    const Type& type = context.in[i];
    if (!type.is_array() || !type.shape.empty() || !IsInteger(type.dtype))
      return absl::InvalidArgumentError(Cat("device_id= must be an integer; found ", ToString(type)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PeerIndex>> PlanDevice(const Instr& op, absl::Span<const Arg* const> args,
                                                  Builder& builder) {
  if (args.empty()) return std::vector<PeerIndex>();
  const Program& program = builder.program();
  const bool cores = CountsCores(program) && HasAttr(op, "device_axes");
  if (!program.several_devices() && !cores) {
    return absl::UnimplementedError(
        "another device is named (device_id=), and the kernel text has no `devices {AXIS=SIZE};`: export the kernel "
        "from "
        "inside shard_map, whose mesh that is");
  }
  PALLADION_ASSIGN_OR_RETURN(const auto axes, AxesOf(op, args.size(), program.device_axes));
  std::vector<DeviceNumber> numbers;
  for (std::size_t i = 0; i < args.size(); ++i) numbers.push_back({args[i], axes[i]});
  return PlanDeviceNumbers(numbers, builder);
}

absl::StatusOr<std::vector<PeerIndex>> PlanDevice(const Instr& op, Builder& builder) {
  return PlanDevice(op, DeviceArgs(op), builder);
}

}  // namespace palladion
