// Copies between global and shared memory that engines perform (TMA). Spec: docs/spec/gpu-copies.md. Here a copy is
// described; when its halves take place, and what is wrong with that, is the machine's business.
// Based on: copy_gmem_to_smem, copy_smem_to_gmem and their waits in JAX's Mosaic GPU backend. Limits: leader_tracked
// copies (two blocks that share one) need the Blackwell machine.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status ExpectSpace(const Instr& op, const VerifyContext& context, std::string_view name, Space space) {
  const Arg* arg = FindOperand(op, name);
  const bool is_ref =
      arg != nullptr && arg->kind == Arg::Kind::kValue && context.kernel.values[arg->value.index()].type.is_ref();
  if (!is_ref) return absl::InvalidArgumentError(Cat(name, "= must be a view of a ref"));
  const Space found = context.kernel.values[arg->value.index()].type.space;
  if (found == space) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(name, "= must be in ", Name(space), "; found a ref in ", Name(found)));
}

absl::Status VerifyCopy(const Instr& op, const VerifyContext& context, Space from, Space to) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(ExpectSpace(op, context, "src", from));
  PALLADION_RETURN_IF_ERROR(ExpectSpace(op, context, "dst", to));
  PALLADION_ASSIGN_OR_RETURN(const Type src, OperandType(op, context, "src"));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, OperandType(op, context, "dst"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(dst, src, "the destination"));
  return FindOperand(op, "predicate") == nullptr ? absl::OkStatus() : ExpectPredicate(op, context);
}

struct CopyParams {
  ViewPlan src, dst, barrier;
  SlotId predicate;  // invalid: always
  bool predicated_arrival = false;
  Outside outside = Outside::kZero;
  std::vector<std::size_t> axes;  // of a multicast: grid dimensions
  bool commit_group = false;
  AtomicFn reduce = nullptr;
  std::string from, to, tells;  // of a multicast, for comparison between blocks: the refs' names
};

bool Takes(const CopyParams& p, const Step& step, Frame& frame) {
  return IsTrue(p.predicate, "the predicate of a copy", step, frame);
}

absl::Status PlanPredicate(const Instr& op, Builder& builder, CopyParams* params) {
  if (const Arg* predicate = FindOperand(op, "predicate")) {
    PALLADION_ASSIGN_OR_RETURN(params->predicate, builder.In(*predicate));
  }
  return absl::OkStatus();
}

// ---- copy_gmem_to_smem

absl::Status VerifyLoad(const Instr& op, const VerifyContext& context) {
  if (HasAttr(op, "leader_tracked")) {
    return absl::UnimplementedError(
        "copy_gmem_to_smem is not supported with leader_tracked: the copy of two blocks together needs the Blackwell "
        "machine");
  }
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

// The blocks along the axes, the thread's own among them, in row-major order.
std::vector<std::vector<PeerCoordinate>> PeersAlong(absl::Span<const std::size_t> axes, const Frame& frame) {
  std::vector<std::vector<PeerCoordinate>> peers = {{}};
  for (const std::size_t axis : axes) {
    std::vector<std::vector<PeerCoordinate>> more;
    for (const std::vector<PeerCoordinate>& peer : peers) {
      for (std::int64_t i = 0; i < frame.grid_size[axis]; ++i) {
        more.push_back(peer);
        more.back().push_back({axis, i});
      }
    }
    peers = std::move(more);
  }
  return peers;
}

// Part i of n of a box along the first dimension of its value; false where it does not come out even.
bool TakePart(std::int64_t i, std::int64_t n, BoxAccess* box) {
  if (box->value_rank == 0 || box->count[box->order[0]] % n != 0) return false;
  const std::size_t d = box->order[0];
  box->count[d] /= n;
  box->start[d] += i * box->count[d] * box->step[d];
  return true;
}

// gpu-copies.md#copy_gmem_to_smem, collective_axes: each block along the axes issues its part of the copy, and that
// goes to all of them; a block's barrier gets one arrival when all parts have landed there.
absl::Status StartMulticast(const CopyParams& p, AsyncRequest request, const SyncElement& barrier, const Step& step,
                            Frame& frame) {
  const Site site = frame.site(step);
  const std::vector<std::vector<PeerCoordinate>> peers = PeersAlong(p.axes, frame);
  const auto n = static_cast<std::int64_t>(peers.size());
  std::int64_t mine = 0;
  for (const std::size_t axis : p.axes) mine = mine * frame.grid_size[axis] + frame.grid_index[axis];
  auto* source = std::get_if<BoxAccess>(&request.sources[0].where);
  auto* destination = std::get_if<BoxAccess>(&request.destinations[0].where);
  if (source == nullptr || destination == nullptr) {
    return absl::UnimplementedError("a multicast copy by index arrays: hardware has none");
  }
  PALLADION_RETURN_IF_ERROR(
      frame.machine().Collective(p.axes,
                                 Cat("copy from ", p.from, DescribeBox(*source), " to ", p.to,
                                     DescribeBox(*destination), " for ", p.tells, "[", barrier.element, "]"),
                                 site));
  // Where the parts do not come out even, the first block sends all.
  BoxAccess from = *source, to = *destination;
  const bool even = TakePart(mine, n, &from) && TakePart(mine, n, &to);
  if (even) *source = from, *destination = to;
  const auto parts = static_cast<std::size_t>(even ? n : 1);
  for (auto* sides : {&request.sources, &request.destinations})
    (*sides)[0].bytes /= parts, (*sides)[0].elements /= parts;
  const AsyncOperand sent = request.destinations[0];
  const BufferId mine_there = destination->buffer;
  request.destinations.clear();  // and with it what `destination` points to
  if (!even && mine != 0) request.sources.clear();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::vector<PeerCoordinate>& peer = peers[static_cast<std::size_t>(i)];
    const SyncElement tells = frame.machine().PeerSync(barrier, peer, site);
    const BufferId buffer = request.sources.empty() ? BufferId{} : frame.machine().PeerBuffer(mine_there, peer, site);
    if (i != mine && tells.array == barrier.array) continue;  // a block that is not there gets nothing
    request.completions.push_back(frame.machine().ArrivalAt(tells, n));
    if (request.sources.empty()) continue;
    std::get<BoxAccess>(request.destinations.emplace_back(sent).where).buffer = buffer;
  }
  request.function = [](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
    for (AsyncValue& value : *out) value = in[0];
  };
  return frame.machine().Start(std::move(request));
}

// gpu-copies.md#copy_gmem_to_smem: an engine reads the source and writes the destination some time later; then the
// barrier gets one arrival. With a false predicate nothing is moved, and the barrier gets its arrival all the same, or
// with predicated_arrival none.
absl::Status RunCopyIn(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const ViewPlan* view : {&p.src, &p.dst, &p.barrier}) UseIndices(*view, step, frame);
  AsyncRequest request{.name = "copy_gmem_to_smem"};
  request.At(frame.site(step));
  const SyncElement barrier = ElementOf(p.barrier, step, frame);
  if (Takes(p, step, frame)) {
    request.sources.push_back(OperandOf(p.src, p.outside, step, frame));
    request.destinations.push_back(OperandOf(p.dst, Outside::kError, step, frame));
    if (p.outside != Outside::kError) {
      const bool zeros = p.outside == Outside::kZero;
      NoteWhollyOutside(request.sources[0], p.src, zeros ? "zeros arrive" : "undefined data arrives", step, frame);
    }
    if (!p.axes.empty() && barrier.array.valid()) {
      return StartMulticast(p, std::move(request), barrier, step, frame);
    }
  } else if (p.predicated_arrival) {
    return absl::OkStatus();
  }
  if (barrier.array.valid()) request.completions.push_back(frame.machine().ArrivalAt(barrier, 1));
  return frame.machine().Start(std::move(request));
}

absl::Status ReadAxes(const Instr& op, const Builder& builder, CopyParams* params) {
  if (!HasAttr(op, "collective_axes")) return absl::OkStatus();
  const Attr& attr = *Find(op.attrs, "collective_axes");
  const AttrList single = {attr};
  const AttrList* names = std::get_if<AttrList>(&attr.value);
  for (const Attr& part : names == nullptr ? single : *names) {
    const std::string* name = std::get_if<std::string>(&part.value);
    if (name == nullptr) return absl::InvalidArgumentError("collective_axes must be names of cluster axes");
    PALLADION_ASSIGN_OR_RETURN(const int dim, builder.GridAxis(*name));
    params->axes.push_back(static_cast<std::size_t>(dim));
  }
  return absl::OkStatus();
}

absl::Status LowerCopyIn(const Instr& op, Builder& builder) {
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, builder.PlanView(*FindOperand(op, "src")));
  PALLADION_ASSIGN_OR_RETURN(params.dst, builder.PlanView(*FindOperand(op, "dst")));
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  PALLADION_RETURN_IF_ERROR(PlanPredicate(op, builder, &params));
  params.predicated_arrival = BoolAttrOr(op, "predicated_arrival", false);
  PALLADION_RETURN_IF_ERROR(ReadAxes(op, builder, &params));
  if (HasAttr(op, "oob_mode")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string mode, StringAttr(op, "oob_mode"));
    if (mode == "undefined") params.outside = Outside::kPad;
    if (mode == "promise_in_bounds") params.outside = Outside::kError;
  }
  if (params.outside != Outside::kError) params.src.guards.clear();  // what lies outside is filled, not wrong
  params.from = builder.program().refs[params.src.ref.index()].name;
  params.to = builder.program().refs[params.dst.ref.index()].name;
  params.tells = builder.program().refs[params.barrier.ref.index()].name;
  builder.Emit(RunCopyIn, std::move(params));
  return absl::OkStatus();
}

// ---- copy_smem_to_gmem

absl::Status VerifyStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyCopy(op, context, Space::kSmem, Space::kGmem));
  if (!HasAttr(op, "reduction_op")) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "reduction_op"));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, OperandType(op, context, "dst"));
  return FindAtomic(name, dst.dtype).status();
}

// gpu-copies.md#copy_smem_to_gmem: an engine reads the source and writes the destination some time later, as one of the
// thread's current group; elements outside the array are dropped. With a reduction each element becomes the reduction
// of itself and the source's, as one atomic.
absl::Status RunCopyOut(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const ViewPlan* view : {&p.src, &p.dst}) UseIndices(*view, step, frame);
  if (Takes(p, step, frame)) {
    AsyncRequest request{.name = "copy_smem_to_gmem",
                         .await = "plgpu.wait_smem_to_gmem(0)",
                         .queue = frame.machine().QueueOf(AsyncQueue::kStores),
                         .must_await = Half::kRead};
    request.At(frame.site(step));
    request.sources.push_back(OperandOf(p.src, Outside::kError, step, frame));
    request.destinations.push_back(OperandOf(p.dst, Outside::kZero, step, frame));
    request.destinations[0].reduce = p.reduce;
    NoteWhollyOutside(request.destinations[0], p.dst, "nothing is written", step, frame);
    PALLADION_RETURN_IF_ERROR(frame.machine().Start(std::move(request)));
  }
  return p.commit_group ? frame.machine().CommitGroup(AsyncQueue::kStores, frame.site(step)) : absl::OkStatus();
}

absl::Status LowerCopyOut(const Instr& op, Builder& builder) {
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, builder.PlanView(*FindOperand(op, "src")));
  PALLADION_ASSIGN_OR_RETURN(params.dst, builder.PlanView(*FindOperand(op, "dst")));
  PALLADION_RETURN_IF_ERROR(PlanPredicate(op, builder, &params));
  params.dst.guards.clear();  // what lies outside is dropped, not wrong
  params.commit_group = BoolAttrOr(op, "commit_group", true);
  if (HasAttr(op, "reduction_op")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "reduction_op"));
    PALLADION_ASSIGN_OR_RETURN(params.reduce, FindAtomic(name, params.dst.type.dtype));
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

// gpu-copies.md#wait_smem_to_gmem: until at most n of the thread's groups are under way, the latest; with
// wait_read_only, until all but those have read their sources.
absl::Status RunWaitStores(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WaitParams*>(params);
  if (frame.shadow != nullptr) frame.shadow->Use(p.count, "a number of groups", step, frame);
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

constexpr OpRow Copy(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = Effect::kReadsWrites,
          .asks_port = AsksPort::kAlways,
          .waits = Waits::kNever,
          .signals = Signals::kMay,
          .decides = Decides::kReducing,
          .access = RefAccess::kCopy,
          .named_refs = true,
          .written = "dst",
          .backends = kGpu,
          .unit = Unit::kMemory};
}

constexpr OpRow Groups(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower, Waits waits) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = Effect::kSynchronises,
          .asks_port = AsksPort::kAlways,
          .waits = waits,
          .signals = Signals::kNever,
          .decides = Decides::kNever,
          .named_refs = true,
          .written = "dst",
          .backends = kGpu,
          .unit = Unit::kMemory};
}

constexpr OpRow kRows[] = {
    Copy("copy_gmem_to_smem", "gpu-copies.md#copy_gmem_to_smem", VerifyLoad, LowerCopyIn),
    Copy("copy_smem_to_gmem", "gpu-copies.md#copy_smem_to_gmem", VerifyStore, LowerCopyOut),
    Groups("commit_group", "gpu-copies.md#commit_group", VerifyCommitGroup, LowerCommitGroup, Waits::kNever),
    Groups("wait_smem_to_gmem", "gpu-copies.md#wait_smem_to_gmem", VerifyWaitStores, LowerWaitStores, Waits::kEngine),
};

}  // namespace

absl::Span<const OpRow> GpuCopyOps() { return kRows; }

}  // namespace palladion
