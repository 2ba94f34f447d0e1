// Blackwell's matrix products and what is issued beside them: asynchronous, into tensor memory. Spec:
// docs/spec/gpu-tcgen05.md. What a chip refuses (shapes, swizzles, types) is emu/check/legality's business; here any
// matrix product has its meaning. Based on: tcgen05_mma and tcgen05_commit_arrive of JAX's Mosaic GPU backend, and PTX
// on what follows what without a wait.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/row.h"
#include "semantics/ops/gpu/scaled_form.h"
#include "semantics/ops/gpu/tensor_operands.h"
#include "semantics/ops/gpu/tensor_product.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/dot.h"

namespace palladion {
namespace {

absl::Status ExpectTensorBarrier(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Type barrier, OperandType(op, context, "barrier"));
  PALLADION_RETURN_IF_ERROR(ExpectSync(barrier, {ElementKind::kBarrier, ElementKind::kClusterBarrier}, "one barrier"));
  const Type& ref = context.kernel.values[FindOperand(op, "barrier")->value.index()].type;
  if (ref.attrs.find("orders_tensor_core=true") != std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the barrier of an MMA must have orders_tensor_core=true; found ",
                                        ToString(ref), ": use plgpu.Barrier(orders_tensor_core=True)"));
}

// gpu-tcgen05.md#tcgen05_commit_arrive: an arrival at the barrier, of a pair at both blocks', when all that the lane
// has issued to the tensor core is complete.
absl::Status StartCommit(const ViewPlan& plan, const std::optional<std::size_t>& pair, const Step& step, Frame& frame) {
  const SyncElement barrier = ElementOf(plan, step, frame);
  if (!barrier.array.valid()) return absl::OkStatus();
  const Site site = frame.site(step);
  AsyncRequest request{.name = "tcgen05_commit",
                       .queue = frame.machine().QueueOf(AsyncQueue::kTensorCore),
                       .after_earlier = true,
                       .must_await = std::nullopt};
  request.At(site);
  request.completions.push_back(frame.machine().CompletionAt(barrier));
  if (pair.has_value()) {
    const PeerCoordinate other{*pair, 1};
    const SyncElement theirs = frame.machine().PeerSync(barrier, {&other, 1}, site);
    if (theirs.array != barrier.array) request.completions.push_back(frame.machine().CompletionAt(theirs));
  }
  return frame.machine().Start(std::move(request));
}

// ---- tcgen05_mma

absl::Status VerifyMma(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(ExpectNumbersIn(op, context, "acc", {Space::kTmem}).status());
  PALLADION_RETURN_IF_ERROR(ExpectNumbersIn(op, context, "a", {Space::kSmem, Space::kTmem}).status());
  PALLADION_RETURN_IF_ERROR(ExpectNumbersIn(op, context, "b", {Space::kSmem}).status());
  PALLADION_ASSIGN_OR_RETURN(const Type accumulate, OperandType(op, context, "accumulate"));
  if (!accumulate.is_array() || !accumulate.shape.empty() || accumulate.dtype != DType::kBool)
    return absl::InvalidArgumentError(Cat("accumulate= must be one truth value; found ", ToString(accumulate)));
  if (FindOperand(op, "barrier") != nullptr) PALLADION_RETURN_IF_ERROR(ExpectTensorBarrier(op, context));
  return FormOfProduct(op, context.kernel).status();
}

struct MmaParams {
  TensorView acc;
  std::vector<TensorView> taken;  // a, b, and what there is of a_scale, b_scale and a_sparse_metadata
  ViewPlan barrier;
  SlotId accumulate;
  bool arrives = false;
  std::optional<std::size_t> pair;
  std::shared_ptr<const TensorProduct> product;
  std::string kind;
};

// gpu-tcgen05.md#tcgen05_mma: acc becomes acc + a b, or a b, some time later, in both blocks of a pair.
absl::Status RunMma(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const MmaParams*>(params);
  UseIndices(p.acc.plan, step, frame);
  for (const TensorView& view : p.taken) UseIndices(view.plan, step, frame);
  if (p.arrives) UseIndices(p.barrier, step, frame);
  const bool accumulate = IsTrue(p.accumulate, "whether a product accumulates", step, frame);
  if (!Issues(p.pair, frame)) return absl::OkStatus();
  const Site site = frame.site(step);
  AsyncRequest request{.name = "tcgen05_mma",
                       .await = "plgpu.tcgen05_commit_arrive(...) and plgpu.barrier_wait(...)",
                       .queue = frame.machine().QueueOf(AsyncQueue::kTensorCore),
                       .pipelined = Pipelined{Pipelined::Stage::kProduct, p.kind}};
  request.At(site);
  if (p.product->takes_views()) request.views = accumulate ? FunctionViews::kReplaces : FunctionViews::kApart;
  request.destinations.push_back(TensorOperandOf(p.acc, step, frame));
  if (accumulate) request.sources.push_back(request.destinations[0]);
  for (const TensorView& view : p.taken) request.sources.push_back(TensorOperandOf(view, step, frame));
  if (p.pair.has_value() && (!AddOfOther(*p.pair, site, frame, &request.sources) ||
                             !AddOfOther(*p.pair, site, frame, &request.destinations))) {
    return absl::OkStatus();
  }
  request.function = [product = p.product, accumulate](const std::vector<AsyncValue>& in,
                                                       std::vector<AsyncValue>* out) {
    product->Run(accumulate, in, out);
  };
  PALLADION_RETURN_IF_ERROR(frame.machine().Start(std::move(request)));
  return p.arrives ? StartCommit(p.barrier, p.pair, step, frame) : absl::OkStatus();
}

absl::Status LowerMma(const Instr& op, Builder& builder) {
  MmaParams params;
  PALLADION_ASSIGN_OR_RETURN(params.acc, PlanTensorView(op, "acc", builder));
  for (const std::string_view name : {"a", "b", "a_scale", "b_scale", "a_sparse_metadata"}) {
    if (FindOperand(op, name) == nullptr) continue;
    PALLADION_ASSIGN_OR_RETURN(TensorView view, PlanTensorView(op, name, builder));
    params.taken.push_back(std::move(view));
  }
  PALLADION_ASSIGN_OR_RETURN(params.accumulate, builder.In(*FindOperand(op, "accumulate")));
  if (const Arg* barrier = FindOperand(op, "barrier")) {
    PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*barrier));
    params.arrives = true;
  }
  PALLADION_ASSIGN_OR_RETURN(params.pair, PairAxis(op, builder));
  PALLADION_ASSIGN_OR_RETURN(const ScaledMmaForm form, FormOfProduct(op, builder.kernel()));
  const bool paired = params.pair.has_value();
  params.product = std::make_shared<const TensorProduct>(form, paired ? 2 : 1);
  params.kind = Cat(Name(form.a), " ", Name(form.b), form.block != 0 ? Cat(" by ", Name(form.scale)) : "",
                    form.sparse ? " sparse" : "", paired ? " collective" : "");
  const double products =
      static_cast<double>(form.m * form.n) * static_cast<double>(params.taken[0].plan.type.shape[1]);
  builder.Emit(RunMma, std::move(params));
  builder.SetWork(products / simd::kMultiplyAddsOfElement);
  return absl::OkStatus();
}

// ---- tcgen05_commit_arrive

absl::Status VerifyCommit(const Instr& op, const VerifyContext& context) {
  const bool predicated = FindOperand(op, "predicate") != nullptr;
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, predicated ? 2 : 1));
  if (predicated) PALLADION_RETURN_IF_ERROR(ExpectPredicate(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return ExpectTensorBarrier(op, context);
}

struct CommitParams {
  ViewPlan barrier;
  SlotId predicate;  // invalid: always
  std::optional<std::size_t> pair;
};

absl::Status RunCommit(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CommitParams*>(params);
  UseIndices(p.barrier, step, frame);
  if (!IsTrue(p.predicate, "the predicate of an arrival", step, frame)) return absl::OkStatus();
  return Issues(p.pair, frame) ? StartCommit(p.barrier, p.pair, step, frame) : absl::OkStatus();
}

absl::Status LowerCommit(const Instr& op, Builder& builder) {
  CommitParams params;
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  if (const Arg* predicate = FindOperand(op, "predicate")) {
    PALLADION_ASSIGN_OR_RETURN(params.predicate, builder.In(*predicate));
  }
  PALLADION_ASSIGN_OR_RETURN(params.pair, PairAxis(op, builder));
  builder.Emit(RunCommit, std::move(params));
  return absl::OkStatus();
}

constexpr OpRow kGpuTcgen05Ops[] = {
    ByEngine(Signalling(GpuRow("tcgen05_mma", "gpu-tcgen05.md#tcgen05_mma", VerifyMma, LowerMma, Unit::kMatrix)),
             RefAccess::kProduct, "acc"),
    Named(Synchronising(Signalling(GpuRow("tcgen05_commit_arrive", "gpu-tcgen05.md#tcgen05_commit_arrive", VerifyCommit,
                                          LowerCommit, Unit::kMatrix)))),
};

}  // namespace

absl::Span<const OpRow> GpuTcgen05Ops() { return kGpuTcgen05Ops; }

}  // namespace palladion
