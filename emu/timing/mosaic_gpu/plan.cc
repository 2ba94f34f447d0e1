#include "emu/timing/mosaic_gpu/plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::mosaic_gpu {
namespace {

using gpu::BlackwellCosts;
using gpu::BurstOf;
using gpu::ChipCosts;
using gpu::Left;
using gpu::Pipe;
using gpu::PipeOf;
using gpu::TensorWork;
using gpu::WorkOf;

constexpr std::int64_t kWarps = 4;
constexpr std::int64_t kMostColumns = 256;  // of one instruction of the tensor cores

const Type& RefOf(const Kernel& kernel, const Arg& arg) { return kernel.values[arg.value.index()].type; }

bool IsRef(const Kernel& kernel, const Arg& arg) {
  return arg.kind == Arg::Kind::kValue && RefOf(kernel, arg).is_ref();
}

const Arg* FindOperand(const Instr& instr, std::string_view name) {
  const auto found = std::find_if(instr.args.begin(), instr.args.end(),
                                  [&](const Arg& arg) { return arg.kind != Arg::Kind::kNone && arg.name == name; });
  return found == instr.args.end() ? nullptr : &*found;
}

absl::StatusOr<Type> SeenType(const Kernel& kernel, const Arg& arg) {
  if (!IsRef(kernel, arg)) return TypeOfArg(kernel, arg);
  return ViewType(kernel, RefOf(kernel, arg), arg.transforms);
}

// Of the memory that an operation names first. A ref that says nothing is an array of the kernel's, or the state of a
// region, which is in registers.
Space SpaceOf(const Kernel& kernel, const Instr& instr) {
  for (const Arg& arg : instr.args) {
    if (!IsRef(kernel, arg)) continue;
    if (RefOf(kernel, arg).space != Space::kDefault) return RefOf(kernel, arg).space;
    const std::vector<Param>& operands = kernel.bodies[0].region.params;
    const bool operand =
        std::any_of(operands.begin(), operands.end(), [&](const Param& param) { return param.value == arg.value; });
    return operand ? Space::kGmem : Space::kRegs;
  }
  return Space::kDefault;
}

std::int64_t TileRowBytes(const Kernel& kernel, const Arg& shared) {
  for (const Transform& transform : shared.transforms) {
    if (transform.kind == Transform::Kind::kUntile && !transform.ints.empty())
      return transform.ints.back() * static_cast<std::int64_t>(StorageBytes(RefOf(kernel, shared).dtype));
  }
  return 0;
}

class Planner {
 public:
  Planner(const Module& module, const Kernel& kernel, const Instr& instr, const ChipCosts& costs)
      : module_(module), kernel_(kernel), instr_(instr), row_(*instr.row), chip_(costs), costs_(gpu::Common(costs)) {
    plan_.instr = &instr;
  }

  absl::StatusOr<GpuPlan> Take() && {
    PALLADION_RETURN_IF_ERROR(Fill());
    return std::move(plan_);
  }

 private:
  absl::Status Fill() {
    if (row_.unit == Unit::kNone) {
      return row_.effect == Effect::kSynchronises ? Without("it waits for a time of its own") : absl::OkStatus();
    }
    if (row_.prepare != nullptr) return FillValue();
    switch (row_.access) {
      case RefAccess::kLoad:
      case RefAccess::kStore:
      case RefAccess::kAdd:
      case RefAccess::kAtomic:
        return FillAccess();
      case RefAccess::kCopy:
        return FillCopy();
      case RefAccess::kProduct:
        return FillProduct();
      case RefAccess::kAccumulator:  // in registers, or in tensor memory
        if (SpaceOf(kernel_, instr_) == Space::kTmem) return FillTensorAccess();
        return Is(row_.waits == Waits::kEngine ? GpuWork::kAwaitEngine : GpuWork::kNothing);
      case RefAccess::kPrefetch:
        return Is(row_.waits == Waits::kEngine ? GpuWork::kAwaitEngine : GpuWork::kNothing);
      case RefAccess::kNone:
        return FillSynchronisation();
    }
    return Without("");
  }

  absl::Status Is(GpuWork work) {
    plan_.work = work;
    return absl::OkStatus();
  }

  absl::Status Without(std::string_view why) const {
    return absl::UnimplementedError(
        Cat("kernel @", kernel_.name, ", at ", PlaceText(module_, instr_.loc, instr_.text_line), ": '", instr_.dialect,
            instr_.dialect.empty() ? "" : ".", instr_.name, "' has no cost on this chip yet", why.empty() ? "" : ": ",
            why, "; time a kernel without it, and nothing of it is taken as free"));
  }

  void Spend(Pipe pipe, std::int64_t elements) {
    const bool first = plan_.by_thread.pipe == Pipe::kNone;
    (first ? plan_.by_thread : plan_.then_thread) = BurstOf(costs_, pipe, elements, kWarps);
    (first ? plan_.by_warp : plan_.then_warp) = BurstOf(costs_, pipe, elements, 1);
  }

  absl::Status FillValue() {
    constexpr std::int64_t kLanesOfRow = 4, kRounds = 2;  // in the layout of wgmma a row lies over four lanes
    const std::int64_t results = instr_.types.empty() ? 0 : NumElements(instr_.types[0].shape);
    PALLADION_ASSIGN_OR_RETURN(const Type in,
                               instr_.args.empty() ? instr_.types[0] : SeenType(kernel_, instr_.args.back()));
    plan_.work = GpuWork::kRegisters;
    switch (row_.flow) {
      case Flow::kMove:
      case Flow::kParts:
        plan_.moves = results > 1;
        return Is(GpuWork::kNothing);
      case Flow::kElementwise:
      case Flow::kConvert:
      case Flow::kMask:
      case Flow::kSelect: {
        PALLADION_ASSIGN_OR_RETURN(const Pipe pipe, PipeOf(row_, in.dtype));
        // A lane divides by several instructions of this pipe.
        Spend(pipe, row_.unit == Unit::kDivision ? results * costs_.division : results);
        const bool computes = row_.flow == Flow::kElementwise && IsFloat(in.dtype);
        plan_.flops = computes ? static_cast<double>(results) : 0;
        return absl::OkStatus();
      }
      case Flow::kReduce: {
        PALLADION_ASSIGN_OR_RETURN(const Pipe pipe, PipeOf(row_, in.dtype));
        Spend(pipe, NumElements(in.shape));
        Spend(Pipe::kShuffle, results * kLanesOfRow * kRounds);
        plan_.flops = IsFloat(in.dtype) ? static_cast<double>(NumElements(in.shape)) : 0;
        return absl::OkStatus();
      }
      case Flow::kAll:
        if (results > 1 && !instr_.args.empty()) break;
        Spend(Pipe::kAlu, results);
        return absl::OkStatus();
      default:
        break;
    }
    return Without("");
  }

  absl::Status FillAccess() {
    plan_.space = SpaceOf(kernel_, instr_);
    plan_.atomic = row_.access == RefAccess::kAtomic || row_.access == RefAccess::kAdd;
    plan_.everywhere = HasAttr(instr_, "collective_axes");
    plan_.stores = row_.access != RefAccess::kLoad && (instr_.results.empty() || !instr_.results[0].valid());
    if (plan_.space == Space::kRegs) return Is(GpuWork::kNothing);
    if (plan_.space != Space::kSmem && plan_.space != Space::kGmem) return Without("of a memory that GPUs do not have");
    return Is(GpuWork::kAccess);
  }

  absl::Status FillCopy() {
    const Arg *from = FindOperand(instr_, "src"), *to = FindOperand(instr_, row_.written);
    if (from == nullptr || to == nullptr || !IsRef(kernel_, *to)) return Without("");
    if (!IsRef(kernel_, *from) && RefOf(kernel_, *to).space == Space::kSmem) {
      PALLADION_RETURN_IF_ERROR(costs_.dsmem_latency.status());
      PALLADION_RETURN_IF_ERROR(costs_.dsmem_store.status());
      return Is(GpuWork::kPeerStore);
    }
    if (!IsRef(kernel_, *from)) return Without("it stores registers by an engine");
    if (RefOf(kernel_, *to).space == Space::kTmem) return FillTensorCopy(*to);
    const bool in = RefOf(kernel_, *from).space == Space::kGmem && RefOf(kernel_, *to).space == Space::kSmem;
    const bool out = RefOf(kernel_, *from).space == Space::kSmem && RefOf(kernel_, *to).space == Space::kGmem;
    if (!in && !out) return Without("it is no copy between global and shared memory");
    plan_.landing_bytes = TileRowBytes(kernel_, in ? *to : *from);
    return Is(in ? GpuWork::kCopyIn : GpuWork::kCopyOut);
  }

  absl::Status FillProduct() {
    const Arg *left = FindOperand(instr_, "a"), *into = FindOperand(instr_, row_.written);
    if (left == nullptr || into == nullptr || row_.unit != Unit::kMatrix) return Without("");
    PALLADION_ASSIGN_OR_RETURN(const Type a, SeenType(kernel_, *left));
    PALLADION_ASSIGN_OR_RETURN(const Type acc, SeenType(kernel_, *into));
    absl::StatusOr<TensorWork> work =
        RefOf(kernel_, *into).space == Space::kTmem ? TensorProductOf(*left, a, acc) : WgmmaOf(*left, a, acc);
    if (!work.ok()) return Without(std::string(work.status().message()));
    plan_.tensor = *work;
    plan_.flops = 2 * static_cast<double>(NumElements(acc.shape)) * static_cast<double>(a.shape[1]);
    if (plan_.pair) plan_.flops *= 2;
    return Is(GpuWork::kProduct);
  }

  absl::StatusOr<TensorWork> WgmmaOf(const Arg& left, const Type& a, const Type& acc) const {
    const auto* hopper = std::get_if<gpu::HopperCosts>(&chip_);
    if (hopper == nullptr) return absl::UnimplementedError("wgmma is of Hopper");
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t instructions,
                               gpu::WgmmaInstructions(acc.shape[0], a.shape[1], a.dtype));
    const std::int64_t parts = (acc.shape[1] + kMostColumns - 1) / kMostColumns;
    return WorkOf(*hopper, gpu::Product{.n = acc.shape[1] / parts,
                                        .instructions = instructions * parts,
                                        .left = IsRef(kernel_, left) ? Left::kShared : Left::kRegisters});
  }

  // The accumulator has one block's rows, and all columns, where two blocks make it together.
  absl::StatusOr<TensorWork> TensorProductOf(const Arg& left, const Type& a, const Type& acc) {
    const auto* blackwell = std::get_if<BlackwellCosts>(&chip_);
    if (blackwell == nullptr) return absl::UnimplementedError("tensor memory is of Blackwell");
    if (FindOperand(instr_, "a_sparse_metadata") != nullptr)
      return absl::UnimplementedError("no source says how long sparse products take");
    PALLADION_ASSIGN_OR_RETURN(const Type b, SeenType(kernel_, *FindOperand(instr_, "b")));
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t deep, gpu::Tcgen05Instructions(a.shape[1], a.dtype, b.dtype));
    plan_.pair = HasAttr(instr_, "collective_axis");
    const std::int64_t parts = (acc.shape[1] + kMostColumns - 1) / kMostColumns;
    return WorkOf(*blackwell,
                  gpu::TensorProduct{.m = acc.shape[0] * (plan_.pair ? 2 : 1),
                                     .n = acc.shape[1] / parts,
                                     .pair = plan_.pair,
                                     .left_in_tensor_memory = RefOf(kernel_, left).space == Space::kTmem},
                  deep * parts);
  }

  absl::Status FillTensorAccess() {
    const auto* blackwell = std::get_if<BlackwellCosts>(&chip_);
    const auto ref =
        std::find_if(instr_.args.begin(), instr_.args.end(), [&](const Arg& arg) { return IsRef(kernel_, arg); });
    if (blackwell == nullptr) return Without("tensor memory is of Blackwell");
    plan_.space = Space::kTmem;
    plan_.stores = row_.effect == Effect::kWrites;
    PALLADION_ASSIGN_OR_RETURN(const Type seen, SeenType(kernel_, *ref));
    const machines::Bytes bytes(static_cast<double>(NumElements(seen.shape)) * Info(seen.dtype).bits / 8);
    const auto cost = plan_.stores ? gpu::TensorStore : gpu::TensorLoad;
    plan_.tensor_thread = cost(*blackwell, bytes, kWarps);
    plan_.tensor_warp = cost(*blackwell, bytes, 1);
    return Is(GpuWork::kAccess);
  }

  absl::Status FillTensorCopy(const Arg& to) {
    const auto* blackwell = std::get_if<BlackwellCosts>(&chip_);
    if (blackwell == nullptr) return Without("tensor memory is of Blackwell");
    PALLADION_ASSIGN_OR_RETURN(const Type seen, SeenType(kernel_, to));
    plan_.tensor = gpu::TensorCopy(
        *blackwell, machines::Bytes(static_cast<double>(NumElements(seen.shape)) * Info(seen.dtype).bits / 8));
    plan_.pair = HasAttr(instr_, "collective_axis");
    return Is(GpuWork::kTensorCopy);
  }

  bool MakesTensorMemory() const {
    return row_.allocates == Allocates::kScope && !instr_.regions.empty() &&
           std::any_of(instr_.regions[0].params.begin(), instr_.regions[0].params.end(), [&](const Param& param) {
             const Type& type = kernel_.values[param.value.index()].type;
             return type.is_ref() && type.space == Space::kTmem;
           });
  }

  // Of one that names no ref, the barrier has a number.
  bool NamesBarrier() const {
    if (std::none_of(instr_.args.begin(), instr_.args.end(), [&](const Arg& arg) { return IsRef(kernel_, arg); }))
      return true;
    return std::any_of(instr_.args.begin(), instr_.args.end(), [&](const Arg& arg) {
      if (!IsRef(kernel_, arg)) return false;
      const ElementKind element = RefOf(kernel_, arg).element;
      return element == ElementKind::kBarrier || element == ElementKind::kClusterBarrier;
    });
  }

  absl::Status FillSynchronisation() {
    if (MakesTensorMemory()) return Is(GpuWork::kTensorRoom);
    if (row_.effect == Effect::kPrints || row_.effect == Effect::kAllocates) return absl::OkStatus();
    if (row_.effect == Effect::kPure && row_.unit == Unit::kScalar) {
      Spend(Pipe::kAlu, 1);
      return Is(GpuWork::kRegisters);
    }
    if (row_.effect == Effect::kControl) {
      if (row_.loops == Loops::kUnsaid) return Without("");
      if (row_.waits == Waits::kMeeting || row_.waits == Waits::kWarps) return Is(GpuWork::kMeet);
      if (row_.waits == Waits::kEngine) return Is(GpuWork::kAwaitEngine);
      return Is(row_.loops == Loops::kOnce ? GpuWork::kNothing : GpuWork::kControl);
    }
    if (row_.effect != Effect::kSynchronises || row_.unit == Unit::kNone) return Without("");
    if (row_.waits == Waits::kSignal) return Is(NamesBarrier() ? GpuWork::kAwaitBarrier : GpuWork::kAwaitSemaphore);
    if (row_.waits == Waits::kEngine) return Is(GpuWork::kAwaitEngine);
    if (row_.waits == Waits::kMeeting) return Is(GpuWork::kMeet);
    if (row_.waits == Waits::kLaunch) return absl::OkStatus();
    if (row_.waits != Waits::kNever) return Without("");
    if (row_.signals == Signals::kMay) return Is(NamesBarrier() ? GpuWork::kArrive : GpuWork::kSignal);
    if (row_.decides != Decides::kNever) return Is(NamesBarrier() ? GpuWork::kAwaitBarrier : GpuWork::kAwaitSemaphore);
    if (row_.asks_port == AsksPort::kNever || row_.unit == Unit::kMemory) return Is(GpuWork::kControl);
    return row_.unit == Unit::kControl ? Is(GpuWork::kFence) : Without("");
  }

  const Module& module_;
  const Kernel& kernel_;
  const Instr& instr_;
  const OpRow& row_;
  const ChipCosts& chip_;
  const gpu::GpuCosts& costs_;
  GpuPlan plan_;
};

}  // namespace

absl::StatusOr<GpuPlan> PlanOf(const Module& module, const Kernel& kernel, const Instr& instr, const ChipCosts& costs) {
  return Planner(module, kernel, instr, costs).Take();
}

}  // namespace palladion::timing::mosaic_gpu
