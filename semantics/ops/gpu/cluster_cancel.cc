// Cluster launch control: the work of a cluster that has not begun is asked for, and the answer is read. Spec:
// docs/spec/gpu-cluster-cancel.md. Based on: try_cluster_cancel and query_cluster_cancel in JAX's Mosaic GPU backend,
// and clusterlaunchcontrol in PTX. Which cluster it is, is the machine's and the schedule's (emu/run/threads). Not
// here: which chips have it (legality).
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

// result= is 16 bytes of shared memory.
absl::Status ExpectAnswer(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Type result, ExpectNumbersIn(op, context, "result", {Space::kSmem}));
  if (ByteSize(result) == kCancelAnswerBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("an answer has ", kCancelAnswerBytes,
                                        " bytes, as plgpu.TryClusterCancelResult; result= is ", ToString(result)));
}

absl::Status VerifyTry(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(ExpectAnswer(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Type barrier, OperandType(op, context, "barrier"));
  return ExpectSync(barrier, {ElementKind::kBarrier}, "one barrier");
}

struct TryParams {
  ViewPlan result, barrier;
  bool of_each_thread = false;
  std::string each_along;  // names of axes, quoted
};

// gpu-cluster-cancel.md#try_cluster_cancel: one arrival, which of the block's first thread expects the bytes of the
// answer.
absl::Status RunTry(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const TryParams*>(params);
  for (const ViewPlan* view : {&p.result, &p.barrier}) UseIndices(*view, step, frame);
  const CancelRequest request{.result = OperandOf(p.result, Outside::kError, step, frame),
                              .barrier = ElementOf(p.barrier, step, frame),
                              .of_each_thread = p.of_each_thread,
                              .each_along = p.each_along};
  return request.barrier.array.valid() ? frame.machine().TryCancel(request, frame.site(step)) : absl::OkStatus();
}

// Since JAX 0.12 a request says along which axes it is made together; before, it is along all. Is this such an axis, or
// one along which there is no other?
bool IsTogether(const Instr& op, const Program& program, std::size_t grid_dim) {
  const Attr* const attr = Find(op.attrs, "collective_axes");
  if (attr == nullptr || program.grid[grid_dim].size == 1) return true;
  const AttrList* const axes = std::get_if<AttrList>(&attr->value);
  const std::string& wanted = program.mesh->names[grid_dim - program.device_axes.size()];
  return axes != nullptr && std::any_of(axes->begin(), axes->end(), [&](const Attr& axis) {
           const std::string* const name = std::get_if<std::string>(&axis.value);
           return name != nullptr && *name == wanted;
         });
}

// The axes of the cluster that a request leaves out. JAX lowers it: block 0 along the axes that are named asks, so here
// each block along these does.
std::string AxesLeftOut(const Instr& op, const Program& program) {
  std::string names;
  for (std::size_t d = program.first_cluster_dim(); d < program.block_dims(); ++d) {
    if (IsTogether(op, program, d)) continue;
    const std::string& name = program.mesh->names[d - program.device_axes.size()];
    names += Cat(names.empty() ? "\"" : ", \"", name, "\"");
  }
  return names;
}

absl::Status LowerTry(const Instr& op, Builder& builder) {
  const Program& program = builder.program();
  if (!program.mesh.has_value() || CountsCores(program))
    return absl::InvalidArgumentError("try_cluster_cancel needs the mesh of a GPU kernel; launch it by plgpu.kernel");
  TryParams params;
  PALLADION_ASSIGN_OR_RETURN(params.result, builder.PlanView(*FindOperand(op, "result")));
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  params.of_each_thread = program.mesh->thread_dim && !IsTogether(op, program, program.grid.size() - 1);
  params.each_along = AxesLeftOut(op, program);
  builder.Emit(RunTry, std::move(params));
  return absl::OkStatus();
}

// ---- the answer

absl::StatusOr<std::vector<std::string>> GridNames(const Instr& op) {
  const Attr* names = Find(op.attrs, "grid_names");
  const AttrList* list = names == nullptr ? nullptr : std::get_if<AttrList>(&names->value);
  std::vector<std::string> found;
  for (const Attr& entry : list == nullptr ? AttrList{} : *list) {
    if (const std::string* name = std::get_if<std::string>(&entry.value)) found.push_back(*name);
  }
  if (list != nullptr && found.size() == list->size()) return found;
  return absl::InvalidArgumentError("expected grid_names=[...], names of the grid's dimensions");
}

absl::Status VerifyQuery(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectAnswer(op, context));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::string> names, GridNames(op));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, names.size() + 1));
  for (std::size_t i = 0; i < names.size(); ++i)
    PALLADION_RETURN_IF_ERROR(ExpectType(op, i, Type{.dtype = DType::kI32}));
  return ExpectType(op, names.size(), Type{.dtype = DType::kBool});
}

struct QueryParams {
  AccessParams answer;
  std::vector<std::size_t> dims;  // of the grid, one for each name
  std::size_t grid_dims = 0;      // all that count clusters
};

constexpr std::int32_t kNoIndex = -1;

void SetIndex(const QueryParams& p, std::int64_t cluster, const Step& step, Frame& frame) {
  std::vector<std::int32_t> index(p.grid_dims, kNoIndex);
  for (std::size_t d = p.grid_dims; cluster >= 0 && d-- > 0; cluster /= frame.grid_size()[d])
    index[d] = static_cast<std::int32_t>(cluster % frame.grid_size()[d]);
  for (std::size_t i = 0; i < p.dims.size(); ++i)
    std::memcpy(frame.slot(frame.out(step, i)), &index[p.dims[i]], sizeof(std::int32_t));
}

// Results from `first` to before `last` are undefined, with this mark.
void SetUndefined(std::size_t first, std::size_t last, std::uint8_t mark, const Step& step, Frame& frame) {
  if (frame.shadow() == nullptr || mark == 0) return;
  for (std::size_t i = first; i < last; ++i) {
    *frame.shadow()->Marks(frame.out(step, i)) = mark;
    frame.shadow()->SetAny(frame.out(step, i), true);
  }
}

std::uint8_t MarkOf(std::string message, const Step& step, Frame& frame) {
  const Finding finding{
      .code = FindingCode::kLaunchControl, .message = std::move(message), .loc = step.loc, .text_line = step.text_line};
  return frame.machine().MarkOfValue(finding, frame.site(step));
}

// gpu-cluster-cancel.md#query_cluster_cancel: whether there is a cluster whose work is this one's now, and which.
absl::Status RunQuery(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const QueryParams*>(params);
  UseIndices(p.answer, step, frame);
  LoadInto(p.answer, p.answer.value, step, frame);
  PALLADION_ASSIGN_OR_RETURN(const CancelAnswer answer,
                             frame.machine().ReadAnswer(frame.slot(p.answer.value), frame.site(step)));
  SetIndex(p, answer.success ? answer.cluster : kNoIndex, step, frame);
  *frame.slot(frame.out(step, p.dims.size())) = static_cast<std::byte>(answer.success ? 1 : 0);
  if (frame.shadow() == nullptr) return absl::OkStatus();
  std::uint8_t unknown = 0;
  if (const Definedness bytes = frame.shadow()->Get(p.answer.value); bytes.any) {
    const std::size_t elements = frame.program().slots[p.answer.value.index()].elements;
    for (std::size_t i = 0; i < elements; ++i) unknown = MergeMarks(unknown, bytes.undefined[i]);
  } else if (!answer.is_one) {
    unknown = MarkOf("query_cluster_cancel reads bytes that no try_cluster_cancel has written", step, frame);
  }
  SetUndefined(0, p.dims.size() + 1, unknown, step, frame);
  if (unknown != 0 || answer.success) return absl::OkStatus();
  const std::uint8_t refused =
      MarkOf("the grid indices of a query_cluster_cancel are used although its success is false, and are undefined",
             step, frame);
  SetUndefined(0, p.dims.size(), refused, step, frame);
  return absl::OkStatus();
}

absl::Status LowerQuery(const Instr& op, Builder& builder) {
  const Program& program = builder.program();
  if (!program.mesh.has_value() || CountsCores(program))
    return absl::InvalidArgumentError("query_cluster_cancel needs the mesh of a GPU kernel; launch it by plgpu.kernel");
  QueryParams params;
  params.grid_dims = program.first_cluster_dim();
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::string> names, GridNames(op));
  for (const std::string& name : names) {
    PALLADION_ASSIGN_OR_RETURN(const int dim, builder.GridAxis(name));
    params.dims.push_back(static_cast<std::size_t>(dim));
    if (params.dims.back() < params.grid_dims && params.dims.back() >= program.device_axes.size()) continue;
    return absl::InvalidArgumentError(Cat("'", name,
                                          "' counts devices, blocks of a cluster or threads; grid_names has "
                                          "names of the grid's dimensions"));
  }
  PALLADION_ASSIGN_OR_RETURN(params.answer.view, builder.PlanView(*FindOperand(op, "result")));
  params.answer.value = builder.NewTemporary(params.answer.view.type);
  std::vector<SlotId> results;
  for (std::size_t i = 0; i < op.results.size(); ++i) results.push_back(builder.Result(op, i));
  builder.Emit(RunQuery, std::move(params), {}, results);
  return absl::OkStatus();
}

constexpr OpRow kClusterCancelOps[] = {
    {.dialect = "",
     .name = "try_cluster_cancel",
     .spec = "gpu-cluster-cancel.md#try_cluster_cancel",
     .verify = VerifyTry,
     .lower = LowerTry,
     .effect = Effect::kSynchronises,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kNever,
     .signals = Signals::kMay,
     .decides = Decides::kAlways,
     .launch_control = ClusterLaunchControl::kRequests,
     .named_refs = true,
     .written = "result",
     .backends = kGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "query_cluster_cancel",
     .spec = "gpu-cluster-cancel.md#query_cluster_cancel",
     .verify = VerifyQuery,
     .lower = LowerQuery,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kAlways,
     .access = RefAccess::kLoad,
     .launch_control = ClusterLaunchControl::kReads,
     .named_refs = true,
     .backends = kGpu,
     .unit = Unit::kControl},
};

}  // namespace

absl::Span<const OpRow> ClusterCancelOps() { return kClusterCancelOps; }

}  // namespace palladion
