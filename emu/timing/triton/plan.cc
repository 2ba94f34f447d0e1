#include "emu/timing/triton/plan.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/triton_memory.h"
#include "emu/timing/triton/reduction.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"
#include "semantics/program/uses.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {

using gpu::BurstOf;
using gpu::Left;
using gpu::Pipe;
using gpu::PipeOf;
using machines::Bytes;
using machines::Cycles;
using machines::FlopsPerCycle;

namespace {

constexpr std::int64_t kWarpgroup = 4, kLanes = 32;

std::int64_t BytesOf(const Type& type) { return NumElements(type.shape) * Info(type.dtype).bits / 8; }

// FLOPs of one SM in a cycle, by mma.sync.
FlopsPerCycle MmaRate(const MmaSyncCosts& costs, DType type) {
  FlopsPerCycle rate = costs.tensor16;
  if (Info(type).bits == 32) rate = costs.tensor_tf32;
  if (Info(type).bits == 8) rate = IsFloat(type) ? costs.tensor_fp8 : costs.tensor_int8;
  return FlopsPerCycle(costs.rate16.value() * rate.value() / costs.tensor16.value());
}

// In f32 as it stands, by the FP32 pipes.
bool IsExact(const Instr& product, DType type) {
  const bool highest = layouts::WordOf(product.attrs, "precision").find("highest") == 0;
  return Info(type).bits > 32 || (Info(type).bits == 32 && highest);
}

}  // namespace

TritonPlanner::TritonPlanner(const Module& module, const Kernel& kernel, const TritonCosts& costs,
                             const TritonValues& values)
    : module_(module),
      kernel_(kernel),
      costs_(costs),
      values_(values),
      warps_(layouts::LanesOfTriton(kernel) / kLanes) {}

absl::StatusOr<TritonPlan> TritonPlanner::PlanOf(const Instr& instr) const {
  TritonPlan plan{.instr = &instr};
  PALLADION_RETURN_IF_ERROR(Fill(plan));
  if (instr.regions.empty()) {
    VisitUses(instr, [&](ValueId value) {
      if (!kernel_.values[value.index()].type.is_ref()) plan.reads.push_back(value);
    });
  } else if (plan.work == TritonWork::kBranch && instr.row->loops == Loops::kBranch &&
             instr.args[0].kind == Arg::Kind::kValue) {
    plan.reads.push_back(instr.args[0].value);
  }
  return plan;
}

absl::Status TritonPlanner::Without(const Instr& instr, std::string_view why) const {
  return absl::UnimplementedError(Cat("kernel @", kernel_.name, ", at ", PlaceText(module_, instr.loc, instr.text_line),
                                      ": '", instr.dialect, instr.dialect.empty() ? "" : ".", instr.name,
                                      "' has no cost in a Triton kernel yet", why.empty() ? "" : ": ", why,
                                      "; time a kernel without it, and nothing of it is taken as free"));
}

absl::Status TritonPlanner::Fill(TritonPlan& plan) const {
  const Instr& instr = *plan.instr;
  const OpRow& row = *instr.row;
  if (row.flow == Flow::kDot && row.prepare != nullptr) return FillProduct(plan);
  if (row.prepare != nullptr) return FillValue(plan);
  switch (row.access) {
    case RefAccess::kLoad:
    case RefAccess::kStore:
      plan.work = TritonWork::kAccess;
      plan.stores = row.access == RefAccess::kStore;
      plan.prefetched = !plan.stores && values_.Prefetched(instr);
      if (plan.prefetched) plan.ahead = AheadOf(instr);
      plan.read_back = plan.prefetched && !values_.OnlyMultiplied(instr);
      return absl::OkStatus();
    case RefAccess::kAdd:
    case RefAccess::kAtomic:
      plan.work = TritonWork::kAtomic;
      plan.stores = instr.results.empty() || !instr.results[0].valid();
      return absl::OkStatus();
    case RefAccess::kPrefetch:
      return absl::OkStatus();
    case RefAccess::kNone:
      break;
    default:
      return Without(instr, "");
  }
  if (row.effect == Effect::kPrints || row.unit == Unit::kNone) return absl::OkStatus();
  if (row.effect == Effect::kPure && row.unit == Unit::kScalar) {
    plan.work = TritonWork::kRegisters;
    plan.bursts = {BurstOf(costs_.common, Pipe::kAlu, 1, warps_)};
    return absl::OkStatus();
  }
  if (row.effect == Effect::kAllocates || row.loops == Loops::kOnce || row.loops == Loops::kBranch) {
    plan.work = TritonWork::kBranch;
    return absl::OkStatus();
  }
  if (!IsLoop(row)) return Without(instr, "");
  plan.work = TritonWork::kLoop;
  return absl::OkStatus();
}

// Where wgmma runs beside the loop, a buffer is free, and is filled again, when the product before the running one is
// over: an iteration later than where products are awaited.
std::int64_t TritonPlanner::AheadOf(const Instr& load) const {
  const std::int64_t stages = layouts::StagesOfTriton(kernel_);
  const std::vector<const Instr*> products = values_.ProductsOf(values_.LoopOf(load));
  const bool beside = std::all_of(products.begin(), products.end(),
                                  [&](const Instr* product) { return values_.AddedUp(*product) && IsWgmma(*product); });
  return std::max<std::int64_t>(0, stages - (beside ? 2 : 1));
}

absl::Status TritonPlanner::FillValue(TritonPlan& plan) const {
  const Instr& instr = *plan.instr;
  const OpRow& row = *instr.row;
  if (values_.JoinsProduct(instr)) return absl::OkStatus();  // the product does it
  const std::int64_t results = instr.types.empty() ? 0 : NumElements(instr.types[0].shape);
  const Type in = instr.args.empty() ? instr.types[0] : TypeOfArg(kernel_, instr.args.back());
  switch (row.flow) {
    case Flow::kMove:
    case Flow::kParts:
      plan.moves = results > 1;
      return absl::OkStatus();
    case Flow::kElementwise:
    case Flow::kConvert:
    case Flow::kMask:
    case Flow::kSelect: {
      PALLADION_ASSIGN_OR_RETURN(const Pipe pipe, PipeOf(row, in.dtype));
      plan.work = TritonWork::kRegisters;
      const std::int64_t times = row.unit == Unit::kDivision && IsFloat(in.dtype) ? costs_.common.division : 1;
      plan.bursts.push_back(BurstOf(costs_.common, pipe, results * times, warps_));
      plan.flops = row.flow == Flow::kElementwise && IsFloat(in.dtype) ? static_cast<double>(results) : 0;
      return absl::OkStatus();
    }
    case Flow::kReduce:
    case Flow::kPrefix:
      return FillReduction(plan, in);
    case Flow::kAll:
      plan.work = TritonWork::kRegisters;
      plan.bursts = {BurstOf(costs_.common, Pipe::kAlu, std::max<std::int64_t>(1, results), warps_)};
      return absl::OkStatus();
    default:
      return Without(instr, "");
  }
}

absl::Status TritonPlanner::FillReduction(TritonPlan& plan, const Type& in) const {
  const Instr& instr = *plan.instr;
  const Arg& from = instr.args.front();
  const Type value = TypeOfArg(kernel_, from);
  PALLADION_ASSIGN_OR_RETURN(const Pipe pipe, PipeOf(*instr.row, in.dtype));
  const bool as_product = from.kind == Arg::Kind::kValue && values_.LiesAsProduct(from.value);
  const TritonTree tree =
      TreeOf(value.shape, ReducedAxes(instr, value.shape), {.warps = warps_, .product = as_product});
  const std::int64_t elements = NumElements(value.shape), lanes = warps_ * kLanes;
  const bool prefix = instr.row->flow == Flow::kPrefix;  // each element gets what came before, too
  plan.work = TritonWork::kReduction;
  plan.bursts = {BurstOf(costs_.common, pipe, prefix ? 2 * elements : elements, warps_),
                 BurstOf(costs_.common, Pipe::kShuffle, tree.of_lane * tree.rounds * lanes, warps_),
                 BurstOf(costs_.common, pipe, tree.of_lane * tree.rounds * lanes, warps_)};
  const Cycles round = costs_.common.shfl_latency + costs_.common.alu_latency;
  plan.chain = static_cast<double>(tree.rounds) * round;
  plan.meets = tree.warps > 1;
  if (plan.meets) plan.exchanged = tree.of_lane * lanes * Info(value.dtype).bits / 8;
  plan.flops = IsFloat(value.dtype) ? static_cast<double>(elements) : 0;
  return absl::OkStatus();
}

// ---- products

// Whole warpgroups, and whole instructions of 64 rows, 8 columns and 32 bytes of K.
bool TritonPlanner::IsWgmma(const Instr& product) const {
  const Type a = TypeOfArg(kernel_, product.args[0]);
  const Shape& out = product.types[0].shape;
  if (!costs_.hopper.has_value() || IsExact(product, a.dtype) || out.size() != 2) return false;
  return warps_ % kWarpgroup == 0 && out[0] % 64 == 0 && out[1] % 8 == 0 && BytesOf(a) / out[0] % 32 == 0;
}

absl::Status TritonPlanner::FillProduct(TritonPlan& plan) const {
  const Instr& instr = *plan.instr;
  const Type a = TypeOfArg(kernel_, instr.args[0]);
  const Shape& out = instr.types[0].shape;
  if (out.size() != 2) return Without(instr, "it is no product of two matrices");
  const std::int64_t k = NumElements(a.shape) / std::max<std::int64_t>(1, out[0]);
  plan.work = TritonWork::kProduct;
  plan.flops = 2 * static_cast<double>(NumElements(out)) * static_cast<double>(k);
  plan.overlaps = values_.AddedUp(instr) && values_.LoopOf(instr) != nullptr && layouts::StagesOfTriton(kernel_) > 1;
  if (IsExact(instr, a.dtype)) {
    plan.product = TritonProduct::kFma;
    plan.bursts = {BurstOf(costs_.common, Pipe::kFp32, NumElements(out) * k, warps_)};
  } else if (!costs_.hopper.has_value()) {
    return Without(instr, "Triton multiplies with tensor memory there, which has no cost; h100 and h200 have products");
  } else if (IsWgmma(instr)) {
    PALLADION_RETURN_IF_ERROR(FillWgmma(plan, a, k));
  } else {
    FillMmaSync(plan, a, k);
  }
  FillOperands(plan);
  return absl::OkStatus();
}

absl::Status TritonPlanner::FillWgmma(TritonPlan& plan, const Type& a, std::int64_t k) const {
  constexpr std::int64_t kMostColumns = 256;
  const Shape& out = plan.instr->types[0].shape;
  const std::int64_t parts = (out[1] + kMostColumns - 1) / kMostColumns;
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t instructions, gpu::WgmmaInstructions(out[0], k, a.dtype));
  const bool shared = values_.LoadOf(plan.instr->args[0]) != nullptr;
  plan.product = TritonProduct::kWgmma;
  plan.tensor = gpu::WorkOf(
      *costs_.hopper,
      {.n = out[1] / parts, .instructions = instructions * parts, .left = shared ? Left::kShared : Left::kRegisters});
  // Each warpgroup issues its own part.
  plan.tensor.issue = plan.tensor.issue / (static_cast<double>(warps_) / kWarpgroup);
  return absl::OkStatus();
}

// Triton's warps over a tile of m16n8: rows and columns grow in turn (warpsPerTileV2).
void TritonPlanner::FillMmaSync(TritonPlan& plan, const Type& a, std::int64_t k) const {
  constexpr std::int64_t kRows = 16, kColumns = 8, kDepth = 16;
  const Shape& out = plan.instr->types[0].shape;
  std::int64_t down = 1, across = 1;
  while (down * across < warps_) {
    const bool taller = out[0] / (2 * kRows) / down >= out[1] / kColumns / across;
    (taller && down < out[0] / kRows ? down : across) *= 2;
  }
  const std::int64_t rows = std::max(out[0], kRows), columns = std::max(out[1], kColumns), deep = std::max(k, kDepth);
  const double flops = 2 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(deep);
  const Cycles pipe(flops / MmaRate(costs_.mma, a.dtype).value());
  const double as16 = MmaRate(costs_.mma, a.dtype).value() / costs_.mma.rate16.value();
  const double instructions = flops / as16 / (2 * kRows * kColumns * kDepth);  // that each takes as one of 16 bits
  const Bytes read(static_cast<double>(a.shape.empty() ? 0 : Info(a.dtype).bits / 8) *
                   static_cast<double>(rows * deep * across + columns * deep * down));
  plan.product = TritonProduct::kMmaSync;
  plan.tensor = {.pipe = pipe,
                 .port = gpu::PortTime(costs_.common, read),
                 .drain = costs_.mma.latency,
                 .issue = Cycles(instructions / static_cast<double>(costs_.common.issue_slots)),
                 .flops16 = flops / as16};
  plan.chained = (instructions / static_cast<double>(warps_)) * costs_.mma.interval;
}

void TritonPlanner::FillOperands(TritonPlan& plan) const {
  for (std::size_t i = 0; i < 2; ++i) {
    const Arg& arg = plan.instr->args[i];
    const Instr* const load = values_.LoadOf(arg);
    const bool direct = load != nullptr && values_.OnlyMultiplied(*load);
    TritonOperand how = TritonOperand::kStaged;
    if (direct && values_.Prefetched(*load)) {
      how = TritonOperand::kPrefetched;
    } else if (i == 0 && load == nullptr && plan.product != TritonProduct::kFma) {
      how = TritonOperand::kRegisters;  // a result of arithmetic, in the layout that the left operand has
    }
    plan.operands.push_back(how);
    plan.operand_bytes.push_back(BytesOf(TypeOfArg(kernel_, arg)));
  }
}

}  // namespace palladion::timing::triton
