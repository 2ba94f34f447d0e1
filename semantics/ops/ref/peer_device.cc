#include "semantics/ops/ref/peer_device.h"

#include <string>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
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
    for (const Attr& entry : list == nullptr ? AttrList() : *list) {
      std::vector<std::string>& names = axes.emplace_back();
      const AttrList single = {entry};
      const AttrList* several = std::get_if<AttrList>(&entry.value);
      for (const Attr& part : several == nullptr ? single : *several) {
        const std::string* name = std::get_if<std::string>(&part.value);
        names.push_back(name == nullptr ? "" : *name);
      }
    }
  } else if (HasAttr(op, "device_id_type") && *StringAttr(op, "device_id_type") == "logical") {
    axes.push_back(mesh);
  } else {
    for (const std::string& name : mesh) axes.push_back({name});
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

absl::StatusOr<std::vector<PeerIndex>> PlanDevice(const Instr& op, Builder& builder) {
  std::vector<PeerIndex> peer;
  const std::vector<const Arg*> args = DeviceArgs(op);
  if (args.empty()) return peer;
  const Program& program = builder.program();
  const bool cores = program.mesh.has_value() && program.mesh->cores && HasAttr(op, "device_axes");
  if (!program.several_devices() && !cores) {
    return absl::UnimplementedError(
        "another device is named (device_id=), and the kernel text has no `devices {AXIS=SIZE};`: export the kernel "
        "from "
        "inside shard_map, whose mesh that is");
  }
  PALLADION_ASSIGN_OR_RETURN(const auto axes, AxesOf(op, args.size(), program.device_axes));
  for (std::size_t i = 0; i < args.size(); ++i) {
    PALLADION_ASSIGN_OR_RETURN(const IndexValue index, builder.PlanIndex(*args[i]));
    std::int64_t inner = 1;  // devices along the axes after this one
    for (std::size_t k = axes[i].size(); k-- > 0;) {
      PALLADION_ASSIGN_OR_RETURN(const int axis, builder.GridAxis(axes[i][k]));  // of the cores too, from JAX 0.12 on
      const auto dim = static_cast<std::size_t>(axis);
      const std::int64_t size = program.grid[dim].size;
      // The first axis keeps what is too large, so that no number beyond the mesh is a device of it.
      peer.push_back({.grid_dim = dim, .index = index, .divisor = inner, .size = k == 0 ? 0 : size});
      inner *= size;
    }
  }
  return peer;
}

}  // namespace palladion
