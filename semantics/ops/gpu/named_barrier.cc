// Barriers that need no allocation: named barriers of a block (bar.sync, bar.arrive of PTX) and the barrier of a
// cluster (barrier.cluster.arrive, .wait), which kernels write as inline_mgpu. Spec: docs/spec/gpu-named-barriers.md.
// What is ordered is the machine's (memory_model/sync/named_barrier.h). Not here: barriers that the compiler itself
// uses (warpgroup_barrier takes the number of the warpgroup, plus one).
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyNamed(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(IntAttr(op, "lanes").status());
  const Type& number = context.in[0];
  if (number.is_array() && number.shape.empty() && IsInteger(number.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the number of a barrier must be an integer; found ", ToString(number)));
}

struct NamedParams {
  SlotId number;
  DType dtype = DType::kI32;  // of the number
  std::int64_t lanes = 0;
  bool waits = false;
};

constexpr std::int64_t kLanesOfWarp = 32, kMostLanes = 1024;

// What hardware cannot do; "" where it can.
std::string WhyIllegal(const NamedParams& p, std::int64_t number) {
  if (number < 0 || number >= kNamedBarriers)
    return Cat("named barrier ", number, "; a block has barriers 0 to ", kNamedBarriers - 1);
  if (p.lanes > 0 && p.lanes <= kMostLanes && p.lanes % kLanesOfWarp == 0) return "";
  return Cat("a named barrier for ", p.lanes, " lanes; its count is a multiple of ", kLanesOfWarp, ", up to ",
             kMostLanes);
}

WaitTarget Named(std::int64_t number) {
  return {.kind = WaitTarget::Kind::kNamedBarrier, .object = {}, .value = number};
}

// gpu-named-barriers.md#named_barrier_arrive, and the first half of #named_barrier_sync: the thread releases what
// it did before to the lanes of this phase.
absl::Status RunArrive(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const NamedParams*>(params);
  if (frame.shadow() != nullptr) frame.shadow()->Use(p.number, "the number of a barrier", step, frame);
  const std::int64_t number = ReadIndex(frame.slot(p.number), p.dtype, 0);
  if (const std::string why = WhyIllegal(p, number); !why.empty()) {
    frame.machine().Report({.code = FindingCode::kIllegal,
                            .message = Cat(why, "; no arrival is counted"),
                            .loc = step.loc,
                            .text_line = step.text_line,
                            .fix = "give a number and a count that PTX's bar has"});
    return absl::OkStatus();
  }
  return frame.machine().Arrive({.at = Named(number), .amount = p.lanes, .waits = p.waits}, frame.site(step));
}

WaitTarget WaitsForNamed(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const NamedParams*>(params);
  const std::int64_t number = ReadIndex(frame.slot(p.number), p.dtype, 0);
  return WhyIllegal(p, number).empty() ? Named(number) : WaitTarget{};
}

// gpu-named-barriers.md#named_barrier_sync: until the phase is over to which it has arrived.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForNamed(params, step, frame), frame.site(step));
}

absl::Status LowerNamed(const Instr& op, Builder& builder) {
  NamedParams params{.number = {},
                     .dtype = builder.TypeOf(op.args[0]).dtype,
                     .lanes = Int(op, "lanes"),
                     .waits = op.row->waits != Waits::kNever};
  PALLADION_ASSIGN_OR_RETURN(params.number, builder.In(op.args[0]));
  builder.Emit(RunArrive, params);
  if (!params.waits) return absl::OkStatus();
  builder.Emit(RunWait, params);
  builder.program().steps.back().waits = WaitsForNamed;
  return absl::OkStatus();
}

// ---- the barrier of a cluster

absl::Status VerifyOfCluster(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

struct NoParams {};

WaitTarget WaitsForCluster(const void*, const Step&, Frame&) { return {.kind = WaitTarget::Kind::kClusterSync}; }

// gpu-named-barriers.md#barrier_cluster_arrive
absl::Status RunClusterArrive(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Arrive({.at = WaitsForCluster(params, step, frame)}, frame.site(step));
}

// gpu-named-barriers.md#barrier_cluster_wait
absl::Status RunClusterWait(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForCluster(params, step, frame), frame.site(step));
}

absl::Status LowerOfCluster(const Instr& op, Builder& builder) {
  const bool waits = op.row->waits != Waits::kNever;
  builder.Emit(waits ? RunClusterWait : RunClusterArrive, NoParams{});
  if (waits) builder.program().steps.back().waits = WaitsForCluster;
  return absl::OkStatus();
}

struct Functions {
  VerifyFn verify;
  LowerFn lower;
};
constexpr Functions kNamed{VerifyNamed, LowerNamed}, kOfCluster{VerifyOfCluster, LowerOfCluster};

constexpr OpRow Row(std::string_view name, std::string_view spec, Waits waits, Functions functions = kNamed) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = functions.verify,
          .lower = functions.lower,
          .effect = Effect::kSynchronises,
          .asks_port = AsksPort::kAlways,
          .waits = waits,
          .signals = Signals::kMay,
          .decides = Decides::kAlways,
          .backends = kGpu,
          .unit = Unit::kControl};
}

constexpr OpRow kNamedBarrierOps[] = {
    Row("named_barrier_arrive", "gpu-named-barriers.md#named_barrier_arrive", Waits::kNever),
    Row("named_barrier_sync", "gpu-named-barriers.md#named_barrier_sync", Waits::kMeeting),
    Row("barrier_cluster_arrive", "gpu-named-barriers.md#barrier_cluster_arrive", Waits::kNever, kOfCluster),
    Row("barrier_cluster_wait", "gpu-named-barriers.md#barrier_cluster_wait", Waits::kMeeting, kOfCluster),
};

}  // namespace

absl::Span<const OpRow> NamedBarrierOps() { return kNamedBarrierOps; }

}  // namespace palladion
