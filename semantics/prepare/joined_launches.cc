#include "semantics/prepare/joined_launches.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/scope/scope_objects.h"

namespace palladion {
namespace {

// "" where launches can be joined.
std::string WhyNot(const Kernel& kernel) {
  if (Find(kernel.other, "devices") != nullptr && kernel.launch.mesh == "gpu")
    return "each launch of a GPU kernel begins with a barrier of all devices, so no device is a launch ahead";
  const bool one = std::all_of(kernel.launch.grid.begin(), kernel.launch.grid.end(),
                               [](const GridDim& dim) { return dim.size == 1 && !dim.bound.valid(); });
  if (!kernel.launch.mesh.empty() || !one || kernel.bodies.size() != 1)
    return "only a kernel of one program has them, with grid [] or of sizes 1 and no mesh of cores";
  for (const Operand& operand : kernel.operands) {
    const Type& type = kernel.values[operand.value.index()].type;
    const bool there = operand.space == Space::kAny || operand.space == Space::kHbm;
    if (operand.alias.valid() && !there)
      return Cat("'", operand.label,
                 "' is in the memory of an input, and a core copies it; only arrays in any or hbm go on");
    if (operand.block.has_value()) return Cat("'", operand.label, "' has blocks, and only whole arrays are known here");
    if (operand.role != Role::kScratch && type.is_ref())
      return Cat("'", operand.label, "' is ", ToString(type), ", which goes from launch to launch by itself");
  }
  const auto has = [](const AttrMap& map, std::string_view name) { return Find(map, name) != nullptr; };
  const Attr* id = Find(kernel.params, "collective_id");
  const bool own = id != nullptr && std::holds_alternative<std::int64_t>(id->value);
  if (has(kernel.other, "devices") && !own && !has(kernel.params, "skip_device_barrier"))
    return "without a collective_id each launch begins with a barrier of all devices, so no device is a launch ahead";
  return "";
}

class Joiner {
 public:
  explicit Joiner(const Kernel& kernel) : kernel_(kernel), joined_(kernel) {
    joined_.operands.clear();
    joined_.bodies[0].region.body.clear();
    joined_.bodies[0].region.params.clear();
  }

  Kernel Run(std::int64_t launches) {
    for (std::int64_t launch = 0; launch < launches; ++launch) Add(launch);
    return std::move(joined_);
  }

 private:
  // Value ids of a launch are those of the kernel, so far on; refs that all launches share keep theirs.
  void Add(std::int64_t launch) {
    offset_ = static_cast<std::int32_t>(launch * static_cast<std::int64_t>(kernel_.values.size()));
    for (const ValueInfo& value : kernel_.values) {
      if (launch == 0) break;
      joined_.values.push_back(value);
      Append(&joined_.values.back().name, "_launch", launch + 1);
    }
    shared_.assign(kernel_.values.size(), false);
    Region work = kernel_.bodies[0].region;
    Region& body = joined_.bodies[0].region;
    std::vector<Param> scratch;
    std::size_t next = 0;
    for (const Operand& operand : kernel_.operands) {
      const bool is_bound = operand.role == Role::kBound;
      if (!is_bound && operand.role == Role::kScratch) {
        scratch.push_back(work.params[next++]);
        continue;
      }
      const bool shares = operand.role != Role::kOut || operand.alias.valid();
      if (!is_bound) shared_[work.params[next].value.index()] = shares;
      if (launch == 0 || !shares) {
        joined_.operands.push_back(operand);
        if (launch > 0) {
          Move(&joined_.operands.back().value);
          Append(&joined_.operands.back().label, joined_.operands.back().label.empty() ? "" : " ", "of launch ",
                 launch + 1);
        }
        if (!is_bound) body.params.push_back(work.params[next]);
        if (!is_bound) Move(&body.params.back().value);
      }
      next += is_bound ? 0 : 1;
    }
    work.params = std::move(scratch);
    work.has_params = true;
    Rename(work);
    if (work.params.empty()) {
      std::move(work.body.begin(), work.body.end(), std::back_inserter(body.body));
      return;
    }
    body.body.push_back(ScopeOf(std::move(work)));
  }

  void Move(ValueId* id) const {
    if (id->valid() && !shared_[id->index()]) *id = ValueId{id->value + offset_};
  }

  void Rename(Arg& arg) const {
    Move(&arg.value);
    for (Transform& transform : arg.transforms) Rename(transform);
    for (Arg& part : arg.select) Rename(part);
  }

  void Rename(Transform& transform) const {
    Rename(transform.peer);
    for (Index& index : transform.indices) {
      Rename(index.start);
      Rename(index.size);
    }
  }

  void Rename(Region& region) const {
    for (Param& param : region.params) {
      Move(&param.value);
      for (Transform& transform : param.view) Rename(transform);
    }
    for (Instr& op : region.body) {
      for (Arg& arg : op.args) Rename(arg);
      for (Region& inner : op.regions) Rename(inner);
      for (ValueId& result : op.results) Move(&result);
    }
    for (Arg& result : region.results) Rename(result);
  }

  const Kernel& kernel_;
  Kernel joined_;
  std::int32_t offset_ = 0;
  std::vector<bool> shared_;  // by value of the kernel: refs of all launches
};

}  // namespace

// tpu-sessions.md#launches-in-a-row
absl::StatusOr<Kernel> JoinLaunches(const Kernel& kernel, std::int64_t launches) {
  constexpr std::int64_t kMost = 64;
  if (launches < 1 || launches > kMost)
    return absl::InvalidArgumentError(Cat("launches in a row must be from 1 to ", kMost, "; found ", launches));
  if (const std::string why = WhyNot(kernel); !why.empty())
    return absl::UnimplementedError(Cat("kernel @", kernel.name, ": several launches in a row: ", why));
  return launches == 1 ? kernel : Joiner(kernel).Run(launches);
}

}  // namespace palladion
