// Matrix products that a TPU kernel takes apart itself: weights are pushed, rows multiplied, sums popped. Spec:
// docs/spec/tpu.md. A core's units are part of its frame, and invisible to other agents. Based on: matmul_push_rhs,
// matmul_acc_lhs and matmul_pop of JAX 0.10.2, by their documentation: JAX has no interpreter for them. Limits: how
// many addresses the rows of an accumulator take is not documented, so a slice is used as a whole.
#include "semantics/ops/tpu/matrix_units.h"

#include <cstring>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/matrix/mma.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/dot.h"

namespace palladion {
namespace {

absl::Status ExpectNatural(const Instr& op, std::string_view name) {
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t value, IntAttr(op, name));
  if (value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("attribute '", name, "' must be 0 or more; found ", value));
}

absl::Status ExpectMatrix(const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  const Type& matrix = context.in[0];
  if (matrix.rank() == 2 && matrix.dtype != DType::kBool) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected a matrix of numbers as operand 0, found ", ToString(matrix)));
}

absl::Status VerifyPush(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectMatrix(context));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "staging_register"));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "mxu_index"));
  return ExpectResults(op, 0);
}

absl::Status VerifyAccumulate(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectMatrix(context));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "acc_addr"));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "mxu_index"));
  if (HasAttr(op, "load_staged_rhs")) PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "load_staged_rhs"));
  return ExpectResults(op, 0);
}

absl::Status VerifyPop(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "acc_addr"));
  PALLADION_RETURN_IF_ERROR(ExpectNatural(op, "mxu_index"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& sums = op.types[0];
  if (sums.is_array() && sums.rank() == 2 && (sums.dtype == DType::kF32 || sums.dtype == DType::kI32))
    return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("expected a matrix of f32 or i32 as the result, found ", ToString(sums)));
}

// ---- running

// What an instruction does to the units of its core; they are written back when it is done.
class UnitAccess {
 public:
  UnitAccess(std::int64_t unit, const Step& step, Frame& frame)
      : step_(step),
        frame_(frame),
        units_(frame.matrix_units() == nullptr ? MatrixUnits() : *frame.matrix_units()),
        name_(Cat("matrix unit ", unit)),
        unit_(units_.units[unit]) {}
  ~UnitAccess() { frame_.matrix_units() = std::make_shared<const MatrixUnits>(std::move(units_)); }
  UnitAccess(const UnitAccess&) = delete;
  UnitAccess& operator=(const UnitAccess&) = delete;

  MatrixUnit& operator*() { return unit_; }
  MatrixUnit* operator->() { return &unit_; }

  void Report(std::string_view what, std::string_view fix) {
    frame_.machine().Report({.code = FindingCode::kIllegal,
                             .message = Cat(name_, ": ", what),
                             .loc = step_.loc,
                             .text_line = step_.text_line,
                             .fix = std::string(fix)});
  }

  // The operand as it is now.
  UnitMatrix Take(SlotId slot, const Type& type) {
    AsyncValue value;
    value.bytes.assign(frame_.slot(slot), frame_.slot(slot) + ByteSize(type));
    if (frame_.shadow() != nullptr && frame_.shadow()->any(slot)) {
      const std::uint8_t* marks = frame_.shadow()->Of(slot);
      value.marks.assign(marks, marks + NumElements(type.shape));
    }
    return Of(std::move(value), type.shape[0], type.shape[1], type.dtype);
  }
  UnitMatrix Of(AsyncValue value, std::int64_t rows, std::int64_t columns, DType dtype) {
    const Site site = frame_.site(step_);
    return {std::make_shared<const AsyncValue>(std::move(value)), rows, columns, dtype, CodeSite::Of(site)};
  }
  UnitMatrix Zeros(std::int64_t rows, std::int64_t columns, DType dtype) {
    return Of({std::vector<std::byte>(static_cast<std::size_t>(rows * columns) * StorageBytes(dtype)), {}}, rows,
              columns, dtype);
  }

 private:
  const Step& step_;
  Frame& frame_;
  MatrixUnits units_;
  const std::string name_;
  MatrixUnit& unit_;
};

std::string ShapeText(const UnitMatrix& m) { return Cat(Name(m.dtype), "[", m.rows, ",", m.columns, "]"); }

AsyncValue Transposed(const AsyncValue& from, const Type& type) {
  const auto rows = static_cast<std::size_t>(type.shape[0]), columns = static_cast<std::size_t>(type.shape[1]);
  const std::size_t bytes = StorageBytes(type.dtype);
  AsyncValue to = from;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      std::memcpy(&to.bytes[(j * rows + i) * bytes], &from.bytes[(i * columns + j) * bytes], bytes);
      if (!from.marks.empty()) to.marks[j * rows + i] = from.marks[i * columns + j];
    }
  }
  return to;
}

struct PushParams {
  std::int64_t unit, into;
  bool transpose;
  Type type;
};

// tpu.md#matmul_push_rhs: the register holds the matrix from here on.
absl::Status RunPush(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const PushParams*>(params);
  UnitAccess unit(p.unit, step, frame);
  UnitMatrix weights = unit.Take(frame.in(step, 0), p.type);
  if (p.transpose)
    weights = unit.Of(Transposed(*weights.value, p.type), p.type.shape[1], p.type.shape[0], p.type.dtype);
  if (unit->staged.count(p.into) != 0) {
    unit.Report(
        Cat("staging register ", p.into, " already holds a matrix that no product has loaded; it is overwritten"),
        "load it first, with matmul_acc_lhs(..., load_staged_rhs=REGISTER), or push into another register");
  }
  unit->staged[p.into] = std::move(weights);
  return absl::OkStatus();
}

absl::Status LowerPush(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const SlotId rhs, builder.In(op.args[0]));
  builder.program().matrix_units = true;
  builder.Emit(RunPush,
               PushParams{Int(op, "mxu_index"), Int(op, "staging_register"), BoolAttrOr(op, "transpose", false),
                          builder.TypeOf(op.args[0])},
               {rhs});
  return absl::OkStatus();
}

struct AccumulateParams {
  std::int64_t unit, address, load;  // load -1: the weights stay
  Type type;
};

// The weights that the product is by; zeros where there are none that fit, which is reported.
UnitMatrix WeightsOf(const AccumulateParams& p, UnitAccess& unit) {
  const auto staged = unit->staged.find(p.load);
  if (p.load >= 0 && staged != unit->staged.end()) {
    unit->weights = std::move(staged->second);
    unit->staged.erase(staged);
  } else if (p.load >= 0) {
    unit.Report(Cat("a product loads staging register ", p.load, ", which holds nothing; the weights stay"),
                "push the right side into that register first, once for each time it is loaded");
  }
  const std::int64_t k = p.type.shape[1];
  if (!unit->weights.has_value()) {
    unit.Report("a product before any weights were loaded; it is one by zeros",
                "push the right side, and load it with load_staged_rhs=REGISTER");
    return unit.Zeros(k, k, p.type.dtype);
  }
  const UnitMatrix& weights = *unit->weights;
  if (weights.rows == k && IsFloat(weights.dtype) == IsFloat(p.type.dtype)) return weights;
  unit.Report(Cat("a product of ", ToString(p.type), " by weights of ", ShapeText(weights), "; it is one by zeros"),
              "give the left side as many columns as the weights have rows, and both floats or both integers");
  return unit.Zeros(k, weights.columns, p.type.dtype);
}

// tpu.md#matmul_acc_lhs: sums of the slice at the address grow by the product.
absl::Status RunAccumulate(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccumulateParams*>(params);
  UnitAccess unit(p.unit, step, frame);
  const UnitMatrix left = unit.Take(frame.in(step, 0), p.type);
  const UnitMatrix weights = WeightsOf(p, unit);
  const DType sums = IsFloat(p.type.dtype) ? DType::kF32 : DType::kI32;
  auto [at, first] = unit->accumulators.try_emplace(p.address);
  if (first) at->second = unit.Zeros(left.rows, weights.columns, sums);
  const UnitMatrix before = at->second;
  if (before.rows != left.rows || before.columns != weights.columns || before.dtype != sums) {
    return absl::UnimplementedError(Cat("the accumulator at ", p.address, " holds ", ShapeText(before), ", and ",
                                        left.rows, " rows of ", Name(sums),
                                        " are added to it: how an accumulator's addresses count rows is not "
                                        "documented, so a slice is used as a whole"));
  }
  const Mma mma({left.rows, weights.columns, left.columns, left.dtype, weights.dtype, sums});
  AsyncValue after{std::vector<std::byte>(before.value->bytes.size()), {}};
  const AsyncValue* const right = weights.value.get();
  mma.Run({.a = *left.value, .b = {&right, 1}, .acc = before.value.get()}, &after);
  at->second = unit.Of(std::move(after), before.rows, before.columns, sums);
  return absl::OkStatus();
}

absl::Status LowerAccumulate(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const SlotId lhs, builder.In(op.args[0]));
  const Type type = builder.TypeOf(op.args[0]);
  builder.program().matrix_units = true;
  builder.Emit(RunAccumulate,
               AccumulateParams{Int(op, "mxu_index"), Int(op, "acc_addr"), IntAttrOr(op, "load_staged_rhs", -1), type},
               {lhs});
  const double products = static_cast<double>(NumElements(type.shape)) * static_cast<double>(type.shape[1]);
  builder.SetWork(products / simd::kMultiplyAddsOfElement);
  return absl::OkStatus();
}

struct PopParams {
  std::int64_t unit, address;
  Type type;
};

// tpu.md#matmul_pop: the slice's sums, which are gone from the unit then.
absl::Status RunPop(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const PopParams*>(params);
  UnitAccess unit(p.unit, step, frame);
  const SlotId out = frame.out(step, 0);
  const auto found = unit->accumulators.find(p.address);
  const bool there = found != unit->accumulators.end();
  const UnitMatrix sums = there ? found->second : unit.Zeros(p.type.shape[0], p.type.shape[1], p.type.dtype);
  if (!there) {
    unit.Report(Cat("a result is popped from the accumulator at ", p.address,
                    ", to which nothing has been added since the last pop; it is zeros"),
                "call matmul_acc_lhs with that address first, and pop its result once");
  }
  if (sums.rows != p.type.shape[0] || sums.columns != p.type.shape[1] || sums.dtype != p.type.dtype) {
    return absl::UnimplementedError(Cat("the accumulator at ", p.address, " holds ", ShapeText(sums), ", and ",
                                        ToString(p.type),
                                        " is popped from it: how an accumulator's addresses count rows is not "
                                        "documented, so a slice is used as a whole"));
  }
  if (there) unit->accumulators.erase(found);
  const auto& bytes = sums.value->bytes;  // none of an array of no elements
  if (!bytes.empty()) std::memcpy(frame.slot(out), bytes.data(), bytes.size());
  if (frame.shadow() != nullptr) frame.shadow()->Set(out, {!sums.value->marks.empty(), sums.value->marks.data()});
  return absl::OkStatus();
}

absl::Status LowerPop(const Instr& op, Builder& builder) {
  builder.program().matrix_units = true;
  builder.Emit(RunPop, PopParams{Int(op, "mxu_index"), Int(op, "acc_addr"), op.types[0]}, {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

// ---- the end of the kernel

void ReportLeft(std::string_view what, std::string_view fix, const UnitMatrix& left, Frame& frame) {
  frame.machine().Report({.code = FindingCode::kIllegal,
                          .message = Cat(what, " when the kernel ends"),
                          .loc = left.site.loc,
                          .text_line = left.site.text_line,
                          .fix = std::string(fix)});
}

absl::Status RunExpectIdle(const void*, const Step&, Frame& frame) {
  const std::shared_ptr<const MatrixUnits> units = std::exchange(frame.matrix_units(), nullptr);
  if (units == nullptr) return absl::OkStatus();
  for (const auto& [index, unit] : units->units) {
    for (const auto& [number, matrix] : unit.staged) {
      ReportLeft(Cat("matrix unit ", index, ": staging register ", number, " still holds a matrix"),
                 "load what was pushed, or do not push it", matrix, frame);
    }
    for (const auto& [address, matrix] : unit.accumulators) {
      ReportLeft(Cat("matrix unit ", index, ": the accumulator at ", address, " still holds sums"), "pop every result",
                 matrix, frame);
    }
  }
  return absl::OkStatus();
}

constexpr OpRow Units(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  return {.name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = Effect::kDraws,
          .waits = Waits::kNever,
          .signals = Signals::kNever,
          .decides = Decides::kNever,
          .backends = kTpu,
          .unit = Unit::kMatrix};
}

constexpr OpRow kTpuMatrixOps[] = {
    Units("matmul_push_rhs", "tpu.md#matmul_push_rhs", VerifyPush, LowerPush),
    Units("matmul_acc_lhs", "tpu.md#matmul_acc_lhs", VerifyAccumulate, LowerAccumulate),
    Units("matmul_pop", "tpu.md#matmul_pop", VerifyPop, LowerPop),
};

}  // namespace

void EmitExpectIdleUnits(Builder& builder) {
  struct None {};
  if (builder.program().matrix_units) builder.Emit(RunExpectIdle, None{});
}

absl::Span<const OpRow> TpuMatrixOps() { return kTpuMatrixOps; }

}  // namespace palladion
