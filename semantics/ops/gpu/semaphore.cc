// Semaphores. Spec: docs/spec/gpu-semaphores.md. Counts, and what a wait learns from whose signal, are the machine's
// (memory_model/sync/semaphore.h). Based on: semaphore_signal and its kin in JAX's Mosaic GPU and TPU backends. Limits:
// a kernel text without `devices` is for one GPU, whose number is 0.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/row.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/peer_device.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/program/device_index.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status ExpectInteger(const Type& type, std::string_view what) {
  if (type.is_array() && type.shape.empty() && IsInteger(type.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(what, " must be an integer; found ", ToString(type)));
}

// Operands come in groups that begin with ref=, each a semaphore; inc=, value= and device_id= are integers.
absl::Status VerifySemaphores(const Instr& op, const VerifyContext& context,
                              std::initializer_list<ElementKind> kinds = {ElementKind::kSem,
                                                                          ElementKind::kBarrierSem}) {
  if (op.args.empty() || op.args[0].name != "ref") return absl::InvalidArgumentError("expected an operand ref=");
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const Arg& arg = op.args[i];
    if (arg.kind == Arg::Kind::kNone) continue;
    if (arg.name == "ref") {
      PALLADION_RETURN_IF_ERROR(ExpectSync(context.in[i], kinds, "one semaphore"));
    } else if (arg.name == "inc" || arg.name == "value" || arg.name == "device_id") {
      PALLADION_RETURN_IF_ERROR(ExpectInteger(context.in[i], Cat(arg.name, "=")));
    } else if (arg.name == "decrement") {
      PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[i], Type{.dtype = DType::kBool}, "decrement="));
    } else if (arg.name == "core_index") {
      if (context.kernel.backend != "mosaic_tpu")
        return absl::InvalidArgumentError("core_index= names a TPU's core, and a GPU has none: leave it out");
      PALLADION_RETURN_IF_ERROR(ExpectInteger(context.in[i], "core_index="));
    } else {
      return absl::InvalidArgumentError(
          Cat("expected ref=, inc=, value=, decrement= or device_id=; found ", arg.name, "="));
    }
  }
  if (HasAttr(op, "memory_scope")) {
    const absl::StatusOr<std::string> scope = StringAttr(op, "memory_scope");
    PALLADION_RETURN_IF_ERROR(scope.status());
    if (*scope != "gpu" && *scope != "sys") {
      return absl::InvalidArgumentError(Cat("memory_scope must be gpu or sys; found ", *scope));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyNoResult(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return VerifySemaphores(op, context);
}

absl::Status VerifyWait(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(OperandType(op, context, "value").status());
  return VerifyNoResult(op, context);
}

absl::Status VerifyRead(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(
      VerifySemaphores(op, context, {ElementKind::kSem, ElementKind::kBarrierSem, ElementKind::kDmaSem}));
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  return ExpectType(op, 0, Type{.dtype = DType::kI32});
}

struct Number {
  SlotId slot;
  DType dtype = DType::kI32;
  std::int64_t Read(Frame& frame) const { return ReadIndex(frame.slot(slot), dtype, 0); }
};

absl::StatusOr<Number> PlanNumber(const Arg& arg, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const SlotId slot, builder.In(arg));
  return Number{slot, builder.TypeOf(arg).dtype};
}

// A signal to another core of the device, by its number.
absl::Status PlanCore(const Instr& op, Builder& builder, ViewPlan* semaphore) {
  const Arg* core = FindOperand(op, "core_index");
  if (core == nullptr || core->kind == Arg::Kind::kNone) return absl::OkStatus();
  const Program& program = builder.program();
  if (!CountsCores(program)) {
    return absl::UnimplementedError(
        "a signal to another core (core_index=) needs a launch over cores: pl.kernel or pl.core_map over a "
        "pltpu.TensorCoreMesh");
  }
  PALLADION_ASSIGN_OR_RETURN(IndexValue index, builder.PlanIndex(*core));
  semaphore->peer.push_back({.grid_dim = program.grid.size() - 1, .index = std::move(index)});
  return absl::OkStatus();
}

// ---- signals

struct Signal {
  ViewPlan semaphore;
  Number amount;
  std::vector<Number> device;  // of a GPU that runs the kernel alone: its number, or its coordinates; none: this one
};

struct SignalParams {
  std::vector<Signal> signals;
  std::vector<std::size_t> everywhere;  // of a multicast: the dimensions of the devices
};

// Where there is one device only, no other one would get the signal.
absl::Status ExpectThisDevice(const Signal& signal, const Step& step, Frame& frame) {
  for (const Number& coordinate : signal.device) {
    if (frame.shadow() != nullptr) frame.shadow()->Use(coordinate.slot, "the device of a signal", step, frame);
    const std::int64_t device = coordinate.Read(frame);
    if (device == 0) continue;
    return absl::UnimplementedError(
        Cat("a signal to device ", device,
            ", and the kernel text has no `devices {AXIS=SIZE};`, so one device runs it, whose number is 0: export the "
            "kernel from inside shard_map, whose mesh that is"));
  }
  return absl::OkStatus();
}

// gpu-semaphores.md#semaphore_signal, gpu-semaphores.md#semaphore_signal_parallel,
// gpu-semaphores.md#semaphore_signal_multicast: each count grows by the amount, after all that the thread did before.
absl::Status RunSignals(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const SignalParams*>(params);
  for (const Signal& signal : p.signals) {
    UseIndices(signal.semaphore, step, frame);
    if (frame.shadow() != nullptr) frame.shadow()->Use(signal.amount.slot, "the amount of a signal", step, frame);
    PALLADION_RETURN_IF_ERROR(ExpectThisDevice(signal, step, frame));
    const SyncElement semaphore = ElementOf(signal.semaphore, step, frame);
    const std::int64_t amount = signal.amount.Read(frame);
    if (amount < 0) {
      frame.machine().Report(
          {.code = FindingCode::kIllegal,
           .message = Cat("a semaphore is signalled by ", amount, "; counts have no sign, so the signal is left out"),
           .loc = step.loc,
           .text_line = step.text_line,
           .fix = "signal by 0 or more; only a wait makes a count smaller"});
    } else if (semaphore.array.valid()) {
      for (const std::vector<PeerCoordinate>& device : PeersAlong(p.everywhere, frame)) {
        const SyncElement there =
            device.empty() ? semaphore : frame.machine().PeerSync(semaphore, device, frame.site(step));
        PALLADION_RETURN_IF_ERROR(frame.machine().Arrive(
            {.at = {.kind = WaitTarget::Kind::kSemaphore, .object = there}, .amount = amount}, frame.site(step)));
      }
    }
  }
  return absl::OkStatus();
}

// Of a signal that is one, and here.
WaitTarget SignalledHere(const void* params, const Step& step, Frame& frame) {
  const SyncElement semaphore = ElementOf(static_cast<const SignalParams*>(params)->signals[0].semaphore, step, frame);
  if (!semaphore.array.valid()) return {};
  return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore};
}

// A GPU signals by a number of its own where it runs the kernel alone.
absl::Status PlanSignals(const Instr& op, bool on_devices, Builder& builder, SignalParams* params) {
  std::vector<std::vector<const Arg*>> devices;  // by signal
  for (const Arg& arg : op.args) {
    if (arg.kind == Arg::Kind::kNone || arg.name == "core_index") continue;
    if (arg.name == "ref") {
      devices.emplace_back();
      PALLADION_ASSIGN_OR_RETURN(params->signals.emplace_back().semaphore, builder.PlanView(arg));
    } else if (arg.name == "device_id" && on_devices) {
      devices.back().push_back(&arg);
    } else {
      PALLADION_ASSIGN_OR_RETURN(const Number number, PlanNumber(arg, builder));
      if (arg.name == "inc") params->signals.back().amount = number;
      if (arg.name == "device_id") params->signals.back().device.push_back(number);
    }
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].empty()) continue;
    PALLADION_ASSIGN_OR_RETURN(params->signals[i].semaphore.peer, PlanDevice(op, devices[i], builder));
  }
  return absl::OkStatus();
}

absl::Status LowerSignals(const Instr& op, Builder& builder) {
  const bool tpu = builder.target().backend == TargetBackend::kMosaicTpu;
  const bool on_devices = tpu || builder.program().several_devices();
  SignalParams params;
  PALLADION_RETURN_IF_ERROR(PlanSignals(op, on_devices, builder, &params));
  if (tpu) PALLADION_RETURN_IF_ERROR(PlanCore(op, builder, &params.signals[0].semaphore));
  if (HasAttr(op, "collective_axes") && on_devices) {
    PALLADION_ASSIGN_OR_RETURN(params.everywhere,
                               WholeMesh(NamesOf(*Find(op.attrs, "collective_axes")), "collective_axes", builder));
  }
  for (const Signal& signal : params.signals) {
    if (!signal.amount.slot.valid()) return absl::InvalidArgumentError("expected an operand inc= for each ref=");
  }
  // Another agent's semaphore is made on first use, which is not to happen before the signal does.
  const bool here = params.signals.size() == 1 && params.everywhere.empty() && params.signals[0].semaphore.peer.empty();
  builder.Emit(RunSignals, std::move(params));
  if (here) builder.program().steps.back().signals = SignalledHere;
  return absl::OkStatus();
}

// ---- semaphore_wait

struct WaitParams {
  ViewPlan semaphore;
  Number value;
  SlotId decrement;  // invalid: it does
  MemoryScope scope = MemoryScope::kSystem;
};

WaitTarget CountWaitedFor(const WaitParams& p, const Step& step, Frame& frame) {
  const SyncElement semaphore = ElementOf(p.semaphore, step, frame);
  if (!semaphore.array.valid()) return {};
  WaitTarget target{.kind = WaitTarget::Kind::kSemaphore, .object = semaphore};
  target.value = static_cast<std::uint32_t>(p.value.Read(frame));  // counts are compared without a sign
  target.decrement = !p.decrement.valid() || ReadIndex(frame.slot(p.decrement), DType::kBool, 0) != 0;
  target.scope = p.scope;
  return target;
}

// Asked before the wait: one for an undefined count may never come to its end.
WaitTarget WaitsForCount(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WaitParams*>(params);
  if (frame.shadow() != nullptr) {
    frame.shadow()->Use(p.value.slot, "what a semaphore is waited for", step, frame);
    if (p.decrement.valid()) frame.shadow()->Use(p.decrement, "whether a wait decrements", step, frame);
  }
  return CountWaitedFor(p, step, frame);
}

// gpu-semaphores.md#semaphore_wait: until the count is at least `value`, which is then subtracted unless decrement is
// false; then the thread knows what the signals published.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WaitParams*>(params);
  UseIndices(p.semaphore, step, frame);
  return frame.machine().Wait(CountWaitedFor(p, step, frame), frame.site(step));
}

absl::Status LowerWait(const Instr& op, Builder& builder) {
  WaitParams params;
  PALLADION_ASSIGN_OR_RETURN(params.semaphore, builder.PlanView(*FindOperand(op, "ref")));
  PALLADION_ASSIGN_OR_RETURN(params.value, PlanNumber(*FindOperand(op, "value"), builder));
  if (const Arg* decrement = FindOperand(op, "decrement")) {
    PALLADION_ASSIGN_OR_RETURN(params.decrement, builder.In(*decrement));
  }
  if (HasAttr(op, "memory_scope") && *StringAttr(op, "memory_scope") == "gpu") params.scope = MemoryScope::kDevice;
  builder.Emit(RunWait, std::move(params));
  builder.program().steps.back().waits = WaitsForCount;
  return absl::OkStatus();
}

// ---- semaphore_read

struct ReadParams {
  ViewPlan semaphore;
};

WaitTarget LooksAtCount(const void* params, const Step& step, Frame& frame) {
  const SyncElement semaphore = ElementOf(static_cast<const ReadParams*>(params)->semaphore, step, frame);
  if (!semaphore.array.valid()) return {};
  return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore};
}

// gpu-semaphores.md#semaphore_read: the count now; the thread knows what every signal in it published.
absl::Status RunRead(const void* params, const Step& step, Frame& frame) {
  UseIndices(static_cast<const ReadParams*>(params)->semaphore, step, frame);
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t held,
                             frame.machine().Poll(LooksAtCount(params, step, frame), frame.site(step)));
  const auto count = static_cast<std::int32_t>(held);
  std::memcpy(frame.slot(frame.out(step, 0)), &count, sizeof(count));
  return absl::OkStatus();
}

absl::Status LowerRead(const Instr& op, Builder& builder) {
  ReadParams params;
  PALLADION_ASSIGN_OR_RETURN(params.semaphore, builder.PlanView(*FindOperand(op, "ref")));
  builder.Emit(RunRead, std::move(params), {}, {builder.Result(op, 0)});
  builder.program().steps.back().polls = LooksAtCount;
  return absl::OkStatus();
}

// ---- get_global

absl::Status VerifyGlobal(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& type = op.types[0];
  const bool semaphores =
      type.is_ref() && (type.element == ElementKind::kSem || type.element == ElementKind::kBarrierSem);
  if (semaphores) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected a ref of semaphores; found ", ToString(type)));
}

// gpu-semaphores.md#get_global: what every thread of every block gets at this place of the kernel is the same.
absl::Status LowerGlobal(const Instr& op, Builder& builder) {
  if (!op.results[0].valid()) return absl::OkStatus();
  return DefineSync(op.results[0], PlaceLevel::kDevice, builder).status();
}

// ---- get_barrier_semaphore

absl::Status VerifyBarrierSemaphore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& type = op.types[0];
  if (type.is_ref() && type.element == ElementKind::kBarrierSem && type.shape.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected a ref of one barrier semaphore; found ", ToString(type)));
}

// tpu-copies.md#get_barrier_semaphore: the device's semaphore of the kernel's collective id, the same wherever it is
// asked for.
absl::Status LowerBarrierSemaphore(const Instr& op, Builder& builder) {
  if (!op.results[0].valid()) return absl::OkStatus();
  const Attr* attr = Find(builder.kernel().params, "collective_id");
  const std::int64_t* id = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  if (id == nullptr || *id < 0) {
    return absl::InvalidArgumentError(
        "a barrier semaphore is known by its collective id, and the kernel has none: pass "
        "compiler_params=pltpu.CompilerParams(collective_id=...), a number of 0 or more");
  }
  return DefineSync(op.results[0], PlaceLevel::kBlock, builder, *id).status();
}

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  return Named(Synchronising(Signalling(GpuRow(name, spec, verify, lower, Unit::kControl))));
}

// The count that an agent reads, or takes from, may be another one where other agents came first.
constexpr OpRow Looks(OpRow row, Waits waits) {
  row.waits = waits;
  row.signals = Signals::kNever;
  row.decides = Decides::kAlways;
  return row;
}

constexpr OpRow OnTpuToo(OpRow row) {
  row.backends = kTpuGpu;
  return row;
}

constexpr OpRow Global(OpRow row) {
  row.effect = Effect::kAllocates;
  row.asks_port = AsksPort::kMay;  // not where its result is unused
  row.allocates = Allocates::kGrid;
  return row;
}

constexpr OpRow OfBarrier(OpRow row) {
  row.signals = Signals::kNever;
  row.backends = kTpu;
  return row;
}

constexpr OpRow kSemaphoreOps[] = {
    OnTpuToo(Row("semaphore_signal", "gpu-semaphores.md#semaphore_signal", VerifyNoResult, LowerSignals)),
    Row("semaphore_signal_parallel", "gpu-semaphores.md#semaphore_signal_parallel", VerifyNoResult, LowerSignals),
    Row("semaphore_signal_multicast", "gpu-semaphores.md#semaphore_signal_multicast", VerifyNoResult, LowerSignals),
    OnTpuToo(Looks(Row("semaphore_wait", "gpu-semaphores.md#semaphore_wait", VerifyWait, LowerWait), Waits::kSignal)),
    OnTpuToo(Looks(Row("semaphore_read", "gpu-semaphores.md#semaphore_read", VerifyRead, LowerRead), Waits::kNever)),
    Global(Row("get_global", "gpu-semaphores.md#get_global", VerifyGlobal, LowerGlobal)),
    OfBarrier(Row("get_barrier_semaphore", "tpu-copies.md#get_barrier_semaphore", VerifyBarrierSemaphore,
                  LowerBarrierSemaphore)),
};

}  // namespace

absl::Span<const OpRow> SemaphoreOps() { return kSemaphoreOps; }

}  // namespace palladion
