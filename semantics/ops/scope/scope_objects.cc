#include "semantics/ops/scope/scope_objects.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

struct SyncParams {
  RefId ref;
  SyncRequest request;
};

absl::Status RunAllocSync(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const SyncParams*>(params);
  SyncRequest request = p.request;
  request.place.step = &step - frame.program().steps.data();
  request.site = frame.site(step);
  RefState& state = frame.ref(p.ref);
  PALLADION_ASSIGN_OR_RETURN(state.sync, frame.machine().AllocSync(request));
  for (std::size_t d = 0; d < request.shape.size(); ++d) state.origin[d] = 0;
  return absl::OkStatus();
}

absl::Status RunLeaveSync(const void* params, const Step& step, Frame& frame) {
  RefState& state = frame.ref(static_cast<const SyncParams*>(params)->ref);
  frame.machine().LeaveSync(std::exchange(state.sync, {}), frame.site(step));
  return absl::OkStatus();
}

// The grid dimensions of one collective axis, which may be several names together.
absl::StatusOr<std::vector<std::size_t>> DimsOf(const Attr& axis, const Builder& builder) {
  std::vector<std::size_t> dims;
  const AttrList single = {axis};
  const AttrList* list = std::get_if<AttrList>(&axis.value);
  for (const Attr& part : list == nullptr ? single : *list) {
    const std::string* name = std::get_if<std::string>(&part.value);
    if (name == nullptr) return absl::InvalidArgumentError("the axes of a cluster barrier must be names");
    PALLADION_ASSIGN_OR_RETURN(const int dim, builder.GridAxis(*name));
    dims.push_back(static_cast<std::size_t>(dim));
  }
  return dims;
}

absl::Status ReadBarrier(const Type& type, const Builder& builder, SyncRequest* request) {
  PALLADION_ASSIGN_OR_RETURN(const AttrMap attrs, ParseAttrMap(type.attrs.empty() ? "{}" : type.attrs));
  if (const Attr* arrivals = Find(attrs, "arrivals")) {
    const std::int64_t* count = std::get_if<std::int64_t>(&arrivals->value);
    if (count == nullptr || *count < 1) return absl::InvalidArgumentError("arrivals of a barrier must be at least 1");
    request->num_arrivals = *count;
  }
  if (const Attr* orders = Find(attrs, "orders_tensor_core")) {
    const bool* flag = std::get_if<bool>(&orders->value);
    request->orders_tensor_core = flag != nullptr && *flag;
  }
  if (type.element != ElementKind::kClusterBarrier) return absl::OkStatus();
  request->kind = SyncKind::kClusterBarrier;
  const Attr* axes = Find(attrs, "axes");
  const AttrList* list = axes == nullptr ? nullptr : std::get_if<AttrList>(&axes->value);
  if (list == nullptr) return absl::InvalidArgumentError("a cluster barrier needs axes=[...]");
  for (const Attr& axis : *list) {
    PALLADION_ASSIGN_OR_RETURN(std::vector<std::size_t> dims, DimsOf(axis, builder));
    request->axes.push_back(std::move(dims));
  }
  const Attr* leader = Find(attrs, "leader_tracked");
  const bool* tracked = leader == nullptr ? nullptr : std::get_if<bool>(&leader->value);
  request->leader_tracked = tracked != nullptr && *tracked;
  if (!request->leader_tracked || (request->axes.size() == 1 && request->axes[0].size() == 1)) return absl::OkStatus();
  return absl::InvalidArgumentError("a cluster barrier with leader_tracked has one axis that is not composite");
}

struct MeetParams {
  std::string what;
};

WaitTarget WaitsForMeeting(const void*, const Step&, Frame&) { return {.kind = WaitTarget::Kind::kMeeting}; }

absl::Status RunMeet(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Arrive(
      {.at = {.kind = WaitTarget::Kind::kMeeting}, .what = static_cast<const MeetParams*>(params)->what},
      frame.site(step));
}

absl::Status RunEndMeeting(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForMeeting(params, step, frame), frame.site(step));
}

}  // namespace

absl::StatusOr<RefId> DefineSync(ValueId value, PlaceLevel owner, Builder& builder, std::int64_t collective) {
  const Type& type = builder.TypeOf(value);
  const ValueInfo& info = builder.kernel().values[value.index()];
  SyncParams params{.ref = {}, .request = {.name = info.label.empty() ? info.name : info.label}};
  params.request.shape = type.shape;
  params.request.place.owner = owner;
  params.request.collective = collective;
  switch (type.element) {
    case ElementKind::kBarrier:
    case ElementKind::kClusterBarrier:
      PALLADION_RETURN_IF_ERROR(ReadBarrier(type, builder, &params.request));
      break;
    case ElementKind::kSem:
    case ElementKind::kBarrierSem:
      params.request.kind = SyncKind::kSemaphore;
      break;
    case ElementKind::kDmaSem:
      params.request.kind = SyncKind::kDmaSemaphore;
      break;
    case ElementKind::kData:
      return absl::InternalError("a ref of numbers is no object of synchronisation");
  }
  params.ref = builder.NewRef(builder.WholeRef(type, params.request.name));
  const RefId ref = params.ref;
  builder.DefineRef(value, ref);
  builder.EmitVisible(RunAllocSync, std::move(params));
  builder.program().uses_port = true;
  return ref;
}

Instr ScopeOf(Region region) {
  Instr scope;
  scope.name = "run_scoped";
  scope.attrs.emplace_back("collective_axes", Attr{AttrList{}});
  scope.text_line = region.text_line;
  scope.regions.push_back(std::move(region));
  return scope;
}

absl::StatusOr<PlaceLevel> OwnerOf(const Instr& op, const Builder& builder) {
  if (!HasAttr(op, "collective_axes")) return PlaceLevel::kThread;
  const AttrList& axes = std::get<AttrList>(Find(op.attrs, "collective_axes")->value);
  if (axes.empty()) return PlaceLevel::kThread;
  const Program& program = const_cast<Builder&>(builder).program();
  const std::string* name = axes.size() == 1 ? std::get_if<std::string>(&axes[0].value) : nullptr;
  if (name != nullptr && program.mesh.has_value() && program.mesh->thread_dim && *name == program.mesh->names.back()) {
    return PlaceLevel::kBlock;
  }
  return absl::InvalidArgumentError(Cat("collective_axes must be [] or the kernel's thread axis",
                                        program.mesh.has_value() && program.mesh->thread_dim
                                            ? Cat(", [\"", program.mesh->names.back(), "\"]")
                                            : std::string(", and this kernel has none"),
                                        "; found ", ToString(*Find(op.attrs, "collective_axes"))));
}

absl::StatusOr<std::size_t> ClusterAxis(const std::string& name, const Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const int dim, builder.GridAxis(name));
  const Program& program = const_cast<Builder&>(builder).program();
  const auto axis = static_cast<std::size_t>(dim);
  if (axis >= program.first_cluster_dim() && axis < program.block_dims()) return axis;
  return absl::InvalidArgumentError(
      Cat("\"", name, "\" is no axis of the kernel's cluster, along which blocks work together"));
}

void EmitMeeting(Builder& builder) {
  builder.EmitVisible(RunMeet, MeetParams{"run_scoped"});
  builder.EmitVisible(RunEndMeeting, MeetParams{});
  builder.program().steps.back().waits = WaitsForMeeting;
  builder.program().uses_port = true;
}

void EmitLeaveSync(RefId ref, Builder& builder) { builder.EmitVisible(RunLeaveSync, SyncParams{.ref = ref}); }

}  // namespace palladion
