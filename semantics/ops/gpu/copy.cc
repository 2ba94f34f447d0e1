// Copies between global and shared memory that engines perform (TMA). Spec: docs/spec/gpu-copies.md. Here a copy is
// described; when its halves take place, and what is wrong with that, is the machine's business.
// Based on: copy_gmem_to_smem, copy_smem_to_gmem and their waits in JAX's Mosaic GPU backend. Limits: copies that
// blocks make together are in gpu_collective_copy.cc.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/collective_copy.h"
#include "semantics/ops/gpu/row.h"
#include "semantics/ops/gpu/rows.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/device_index.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyCopy(const Instr& op, const VerifyContext& context, Space from, Space to) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_ASSIGN_OR_RETURN(Type src, ExpectNumbersIn(op, context, "src", {from}));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, ExpectNumbersIn(op, context, "dst", {to}));
  PALLADION_ASSIGN_OR_RETURN(const std::optional<LeaderTracked> leader, ReadLeaderTracked(op));
  PALLADION_ASSIGN_OR_RETURN(src, PartOfSource(leader, src, dst));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(dst, src, "the destination"));
  return FindOperand(op, "predicate") == nullptr ? absl::OkStatus() : ExpectPredicate(op, context);
}

struct CopyParams {
  ViewPlan src, dst, barrier;
  Shape tile;        // of the side in shared memory; empty: none
  SlotId predicate;  // invalid: always
  bool predicated_arrival = false;
  Outside outside = Outside::kZero;
  CollectiveCopy collective;
  std::vector<std::size_t> axes;  // of a store to all devices: grid dimensions
  bool commit_group = false;
  AtomicFn reduce = nullptr;
};

bool Takes(const CopyParams& p, const Step& step, Frame& frame) {
  return IsTrue(p.predicate, "the predicate of a copy", step, frame);
}

// The last dimensions of what is copied lie in tiles there.
Shape TileOf(const Arg& shared) {
  const auto is_untile = [](const Transform& transform) { return transform.kind == Transform::Kind::kUntile; };
  const auto at = std::find_if(shared.transforms.begin(), shared.transforms.end(), is_untile);
  return at == shared.transforms.end() ? Shape{} : at->ints;
}

// gpu-copies.md#tiles: TMA cuts the start in global memory into a tile and a place in it, which it keeps in every tile.
// Limits: not the columns of a gather or scatter.
struct GlobalSide {
  const ViewPlan& global;
  const AsyncOperand& operand;
  std::string_view sticks_out;  // what becomes of what then lies beyond a tile's end
};
void CheckStart(const CopyParams& p, const GlobalSide& side, const Step& step, Frame& frame) {
  const ViewPlan& global = side.global;
  const auto* const box = std::get_if<BoxAccess>(&side.operand.where);
  const auto tiled = static_cast<int>(p.tile.size());
  if (tiled == 0 || box == nullptr || !global.affine || box->value_rank < tiled) return;
  for (int i = 0; i < tiled; ++i) {
    const std::size_t d = box->order[static_cast<std::size_t>(box->value_rank - tiled + i)];
    const std::int64_t tile = p.tile[static_cast<std::size_t>(i)], start = box->start[d];
    if (tile < 2 || start % tile == 0) continue;
    const std::string& name = frame.program().refs[global.ref.index()].name;
    frame.machine().Report(
        {.code = FindingCode::kIllegal,
         .severity = Severity::kDefect,
         .message = Cat("a copy between ", name, DescribeBox(*box), " and tiles of ", tile, " starts at ", start,
                        " along dimension ", d, " of ", name, ": the start must be a multiple of the tile"),
         .loc = step.loc,
         .text_line = step.text_line,
         .why = Cat("TMA cuts the start into a tile and a place in it, and begins each tile at that place: what sticks "
                    "out of a tile ",
                    side.sticks_out),
         .fix = Cat("start at a multiple of ", tile, ", or leave the TilingTransform out of the SMEM ref")});
    return;
  }
}

absl::Status PlanPredicate(const Instr& op, Builder& builder, CopyParams* params) {
  if (const Arg* predicate = FindOperand(op, "predicate")) {
    PALLADION_ASSIGN_OR_RETURN(params->predicate, builder.In(*predicate));
  }
  return absl::OkStatus();
}

// ---- copy_gmem_to_smem

absl::Status VerifyLoad(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyCopy(op, context, Space::kGmem, Space::kSmem));
  if (FindOperand(op, "barrier") == nullptr) {
    return absl::UnimplementedError(
        "copy_gmem_to_smem is not supported without a barrier: that is cp.async, of GPUs before Hopper, which are not "
        "modelled; give it a barrier, as Hopper and later GPUs need");
  }
  if (HasAttr(op, "oob_mode")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string mode, StringAttr(op, "oob_mode"));
    if (mode != "zeros" && mode != "undefined" && mode != "promise_in_bounds") {
      return absl::InvalidArgumentError(Cat("oob_mode must be zeros, undefined or promise_in_bounds; found ", mode));
    }
  }
  PALLADION_ASSIGN_OR_RETURN(const Type barrier, OperandType(op, context, "barrier"));
  return ExpectSync(barrier, {ElementKind::kBarrier, ElementKind::kClusterBarrier}, "one barrier");
}

void ToAll(const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
  for (AsyncValue& value : *out) value = in[0];
}

// gpu-copies.md#copy_gmem_to_smem: an engine reads the source and writes the destination some time later; then the
// barrier gets one arrival. With a false predicate nothing is moved, and the barrier gets its arrival all the same, or
// with predicated_arrival none.
absl::Status RunCopyIn(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const ViewPlan* view : {&p.src, &p.dst, &p.barrier}) UseIndices(*view, step, frame);
  AsyncRequest request = frame.machine().NewRequest();
  request.name = "copy_gmem_to_smem";
  request.At(frame.site(step));
  const SyncElement barrier = ElementOf(p.barrier, step, frame);
  if (Takes(p, step, frame)) {
    request.sources.push_back(OperandOf(p.src, p.outside, step, frame));
    request.destinations.push_back(OperandOf(p.dst, Outside::kError, step, frame));
    if (p.outside != Outside::kError) {
      const bool zeros = p.outside == Outside::kZero;
      NoteWhollyOutside(request.sources[0], p.src, zeros ? "zeros arrive" : "undefined data arrives", step, frame);
    }
    CheckStart(p, {p.src, request.sources[0], "arrives as zeros"}, step, frame);
    FillOutside(p.outside, &request);
    if (!p.collective.axes.empty() && barrier.array.valid()) {
      return StartCollective(p.collective, std::move(request), barrier, step, frame);
    }
  } else if (p.predicated_arrival) {
    return absl::OkStatus();
  } else if (p.collective.leader.has_value() && barrier.array.valid()) {
    return ArriveWithoutCopy(p.collective, std::move(request), barrier, frame);
  }
  if (barrier.array.valid()) request.completions.push_back(frame.machine().CompletionAt(barrier));
  return frame.machine().Start(std::move(request));
}

absl::Status LowerCopyIn(const Instr& op, Builder& builder) {
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, builder.PlanView(*FindOperand(op, "src")));
  PALLADION_ASSIGN_OR_RETURN(params.dst, builder.PlanView(*FindOperand(op, "dst")));
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  params.tile = TileOf(*FindOperand(op, "dst"));
  PALLADION_RETURN_IF_ERROR(PlanPredicate(op, builder, &params));
  params.predicated_arrival = BoolAttrOr(op, "predicated_arrival", false);
  PALLADION_ASSIGN_OR_RETURN(params.collective, ReadCollective(op, {params.src, params.dst, params.barrier}, builder));
  if (HasAttr(op, "oob_mode")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string mode, StringAttr(op, "oob_mode"));
    if (mode == "undefined") params.outside = Outside::kPad;
    if (mode == "promise_in_bounds") params.outside = Outside::kError;
  }
  if (params.outside != Outside::kError) params.src.guards.clear();  // what lies outside is filled, not wrong
  builder.Emit(RunCopyIn, std::move(params));
  return absl::OkStatus();
}

// ---- copy_smem_to_gmem

absl::Status VerifyStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyCopy(op, context, Space::kSmem, Space::kGmem));
  if (!HasAttr(op, "reduction_op")) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "reduction_op"));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, OperandType(op, context, "dst"));
  return FindCopyReduction(name, dst.dtype).status();
}

// gpu-devices.md#multicast_ref: what is read once is written at the same place of every device.
void WriteEverywhere(const CopyParams& p, const Step& step, Frame& frame, AsyncRequest* request) {
  const AsyncOperand own = request->destinations[0];
  request->destinations.clear();
  for (const std::vector<PeerCoordinate>& device : PeersAlong(p.axes, frame)) {
    AsyncOperand& there = request->destinations.emplace_back(own);
    std::visit([&](auto& where) { where.buffer = frame.machine().PeerBuffer(own.buffer(), device, frame.site(step)); },
               there.where);
  }
  request->function = ToAll;
}

// gpu-copies.md#copy_smem_to_gmem: an engine reads the source and writes the destination some time later, as one of the
// thread's current group; elements outside the array are dropped. With a reduction each element becomes the reduction
// of itself and the source's, as one atomic.
absl::Status RunCopyOut(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const ViewPlan* view : {&p.src, &p.dst}) UseIndices(*view, step, frame);
  if (Takes(p, step, frame)) {
    AsyncRequest request = frame.machine().NewRequest();
    request.name = "copy_smem_to_gmem", request.await = "plgpu.wait_smem_to_gmem(0)";
    request.queue = frame.machine().QueueOf(AsyncQueue::kStores);
    request.must_await = Half::kRead;
    request.At(frame.site(step));
    request.sources.push_back(OperandOf(p.src, Outside::kError, step, frame));
    request.destinations.push_back(OperandOf(p.dst, Outside::kZero, step, frame));
    request.destinations[0].reduce = p.reduce;
    NoteWhollyOutside(request.destinations[0], p.dst, "nothing is written", step, frame);
    CheckStart(p, {p.dst, request.destinations[0], "is not written"}, step, frame);
    DropOutside(p.dst, step, frame, &request);
    if (!p.axes.empty()) WriteEverywhere(p, step, frame, &request);
    PALLADION_RETURN_IF_ERROR(frame.machine().Start(std::move(request)));
  }
  return p.commit_group ? frame.machine().CommitGroup(AsyncQueue::kStores, frame.site(step)) : absl::OkStatus();
}

// Of a view of all devices' memory: their dimensions; the view is of the device's own from here on.
absl::StatusOr<std::vector<std::size_t>> TakeMulticast(Arg* view, Builder& builder) {
  std::vector<std::size_t> dims;
  for (auto at = view->transforms.begin(); at != view->transforms.end();) {
    if (at->kind != Transform::Kind::kMulticast) {
      ++at;
      continue;
    }
    PALLADION_ASSIGN_OR_RETURN(dims, WholeMesh(NamesOf(*Find(at->attrs, "axes")), "the axes of a multicast", builder));
    at = view->transforms.erase(at);
  }
  return dims;
}

absl::Status LowerCopyOut(const Instr& op, Builder& builder) {
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, builder.PlanView(*FindOperand(op, "src")));
  params.tile = TileOf(*FindOperand(op, "src"));
  Arg dst = *FindOperand(op, "dst");
  PALLADION_ASSIGN_OR_RETURN(params.axes, TakeMulticast(&dst, builder));
  PALLADION_ASSIGN_OR_RETURN(params.dst, builder.PlanView(dst));
  PALLADION_RETURN_IF_ERROR(PlanPredicate(op, builder, &params));
  params.dst.guards.clear();  // what lies outside is dropped, not wrong
  params.commit_group = BoolAttrOr(op, "commit_group", true);
  if (HasAttr(op, "reduction_op")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "reduction_op"));
    PALLADION_ASSIGN_OR_RETURN(params.reduce, FindCopyReduction(name, params.dst.type.dtype));
  }
  builder.Emit(RunCopyOut, std::move(params));
  return absl::OkStatus();
}

// ---- groups

absl::Status VerifyCommitGroup(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

struct NoParams {};

// gpu-copies.md#commit_group: the thread's copies to global memory since the last group are a group, also where there
// is none.
absl::Status RunCommitGroup(const void*, const Step& step, Frame& frame) {
  return frame.machine().CommitGroup(AsyncQueue::kStores, frame.site(step));
}

absl::Status LowerCommitGroup(const Instr&, Builder& builder) {
  builder.Emit(RunCommitGroup, NoParams{});
  return absl::OkStatus();
}

absl::Status VerifyWaitStores(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  if (context.in[0].is_array() && context.in[0].shape.empty() && IsInteger(context.in[0].dtype)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(Cat("the number of groups must be an integer; found ", ToString(context.in[0])));
}

struct WaitParams {
  SlotId count;
  DType dtype;
  bool reads_only = false;
};

WaitTarget WaitsForStores(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const WaitParams*>(params);
  return {.kind = WaitTarget::Kind::kGroups,
          .value = std::max<std::int64_t>(0, ReadIndex(frame.slot(p.count), p.dtype, 0)),
          .reads_only = p.reads_only,
          .queue = AsyncQueue::kStores};
}

// gpu-copies.md#wait_smem_to_gmem: until at most n of the thread's groups are in flight, the latest; with
// wait_read_only, until all but those have read their sources.
absl::Status RunWaitStores(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WaitParams*>(params);
  if (frame.shadow() != nullptr) frame.shadow()->Use(p.count, "a number of groups", step, frame);
  return frame.machine().Wait(WaitsForStores(params, step, frame), frame.site(step));
}

absl::Status LowerWaitStores(const Instr& op, Builder& builder) {
  WaitParams params;
  PALLADION_ASSIGN_OR_RETURN(params.count, builder.In(op.args[0]));
  params.dtype = builder.TypeOf(op.args[0]).dtype;
  params.reads_only = BoolAttrOr(op, "wait_read_only", false);
  builder.Emit(RunWaitStores, std::move(params));
  builder.program().steps.back().waits = WaitsForStores;
  return absl::OkStatus();
}

constexpr OpRow Copy(OpRow row) {
  row.decides = Decides::kReducing;
  return ByEngine(row, RefAccess::kCopy, "dst");
}

constexpr OpRow kGpuCopyOps[] = {
    Signalling(
        Copy(GpuRow("copy_gmem_to_smem", "gpu-copies.md#copy_gmem_to_smem", VerifyLoad, LowerCopyIn, Unit::kMemory))),
    Copy(GpuRow("copy_smem_to_gmem", "gpu-copies.md#copy_smem_to_gmem", VerifyStore, LowerCopyOut, Unit::kMemory)),
    Synchronising(
        GpuRow("commit_group", "gpu-copies.md#commit_group", VerifyCommitGroup, LowerCommitGroup, Unit::kMemory)),
    Waiting(Synchronising(GpuRow("wait_smem_to_gmem", "gpu-copies.md#wait_smem_to_gmem", VerifyWaitStores,
                                 LowerWaitStores, Unit::kMemory)),
            Waits::kEngine),
};

}  // namespace

absl::Span<const OpRow> GpuCopyOps() { return kGpuCopyOps; }

}  // namespace palladion
