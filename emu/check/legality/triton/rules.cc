// The rules of Triton. Based on: JAX 0.10.2, jax/_src/pallas/triton/lowering.py: lower_jaxpr_to_triton_module,
// `_check_tensor_size`, and the lowerings of the operations named below; Triton's own TensorSizeTrait, which says it of
// every value. conformance/golden/sweep_legality.txt has kernels of one operation each with JAX's verdict.
#include "emu/check/legality/triton/rules.h"

#include <algorithm>

#include "emu/check/legality/scan_loops.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kMaxTritonElements = std::int64_t{1} << 20;  // Triton: TRITON_MAX_TENSOR_NUMEL

void CheckOperandKinds(Legality& legality) {
  CheckGpuOperands(legality);
  for (const Operand& operand : legality.kernel().operands) {
    if (operand.role == Role::kScratch)
      legality.Illegal(operand, Cat("scratch memory has no lowering on ", legality.target()),
                       "keep the value in a loop carry, or add an output for it");
  }
}

bool IsAccess(const Instr& op) {
  const RefAccess access = RowOf(op).access;
  const bool is_access = access == RefAccess::kLoad || access == RefAccess::kStore || access == RefAccess::kAdd ||
                         access == RefAccess::kAtomic;
  return is_access && !RowOf(op).named_refs;  // the ref is the first operand
}

// False: said.
bool CheckTensorSize(Legality& legality, const Instr& op, const Type& type) {
  if (!type.is_array()) return true;
  const std::int64_t n = NumElements(type.shape);
  if ((n & (n - 1)) != 0) {
    legality.Illegal(op,
                     Cat(op.name, ": the number of elements of every array must be a power of two on ",
                         legality.target(), "; found ", n, " in ", ToString(type)),
                     "pad to a power of two and mask", About::kShape);
    return false;
  }
  if (n <= kMaxTritonElements) return true;
  legality.Illegal(op,
                   Cat(op.name, ": an array has at most ", kMaxTritonElements, " elements on ", legality.target(),
                       "; found ", n, " in ", ToString(type)),
                   "use smaller blocks", About::kShape);
  return false;
}

// _dot_general_lowering: what the tiles of one warp's f64 product need.
constexpr std::int64_t kLeastF64Rows = 16, kLeastF64Columns = 8, kLeastF64Depth = 16;

void CheckTritonDot(Legality& legality, const Instr& op, const Type& a, const Type& b) {
  if (a.rank() != 2 || b.rank() != 2)
    legality.Illegal(op,
                     Cat("dot_general must be of two matrices on ", legality.target(), "; found ", ToString(a), " and ",
                         ToString(b)),
                     "use a grid dimension or a loop for the batch");
  if (IsUnsigned(a.dtype) || IsUnsigned(b.dtype))
    legality.Illegal(op,
                     Cat("dot_general takes no unsigned operands on ", legality.target(), "; found ", ToString(a),
                         " and ", ToString(b)),
                     "convert to a signed type first");
  if (a.dtype != DType::kF64 || a.rank() != 2 || b.rank() != 2 || op.types.empty() || op.types[0].rank() != 2) return;
  const Shape& out = op.types[0].shape;
  const std::int64_t depth = out[0] == 0 ? 0 : NumElements(a.shape) / out[0];
  if (out[0] < kLeastF64Rows || out[1] < kLeastF64Columns || depth < kLeastF64Depth)
    legality.Illegal(op,
                     Cat("dot_general of f64 has at least ", kLeastF64Rows, " rows, ", kLeastF64Columns,
                         " columns and ", kLeastF64Depth, " elements to add up on ", legality.target(), "; found ",
                         ToString(a), " and ", ToString(b)),
                     "multiply larger blocks");
}

void CheckTritonAtomic(Legality& legality, const Instr& op, const Type& value) {
  const Attr* attr = Find(op.attrs, "op");
  const auto* word = attr == nullptr ? nullptr : std::get_if<AttrIdent>(&attr->value);
  const bool adds = RowOf(op).access == RefAccess::kAdd || (word != nullptr && word->name == "add");
  const bool ok = Info(value.dtype).bits >= 32 || (value.dtype == DType::kF16 && adds);
  if (!ok)
    legality.Illegal(op, Cat(op.name, " must be of 32-bit or 64-bit elements (or add f16) on ", legality.target(),
                             "; found ", ToString(value)));
}

bool IsNarrowFloat(DType dtype, int bits) { return IsFloat(dtype) && Info(dtype).bits == bits; }

// Why an operation has no code for its operands' element type; "" where it has. What the lowering itself refuses comes
// first; the rest is what Triton's compiler refused on an H100 (conformance/hardware), where JAX calls a function of
// CUDA's libdevice for a type that it does not have.
std::string WhyNoTritonCode(const Instr& op, DType in) {
  static const RuleRows kQuotients("div", "logistic", "erf_inv", "nextafter");
  static const RuleRows kPower("integer_pow");
  static const RuleRows kCast("convert_element_type");
  static const RuleRows kLibrary("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "expm1",
                                 "log1p", "pow", "sinh", "tan", "tanh");
  static const RuleRows kCounts("clz", "population_count");
  static const RuleRows kSign("sign");
  static const RuleRows kNot("not");
  static const RuleRows kOrders("max", "min", "clamp", "reduce_max", "reduce_min", "argmax", "argmin");
  const bool divides = kQuotients.Has(op) || (kPower.Has(op) && IntAttrOr(op, "y", 0) < 0);
  if ((divides || kLibrary.Has(op)) && IsNarrowFloat(in, 16)) return "floats of 16 bits";
  if ((divides || kSign.Has(op)) && IsNarrowFloat(in, 8)) return "floats of 8 bits";
  if (kOrders.Has(op) && in == DType::kBool) return "bools";
  if (kNot.Has(op) && in == DType::kU64) return "u64";  // _not_lowering_rule: its constant fits no signed number
  if (kCounts.Has(op) && in != DType::kI32) return "other integers than i32";
  if (!kCast.Has(op) || op.types.empty()) return "";
  const DType to = op.types[0].dtype;
  const bool mixed = (IsNarrowFloat(in, 8) && !IsFloat(to)) || (IsNarrowFloat(to, 8) && !IsFloat(in));
  return mixed ? "a conversion between a float of 8 bits and an integer" : "";
}

void CheckTritonType(Legality& legality, const Instr& op) {
  if (op.args.empty() || op.types.empty()) return;
  static const RuleRows kClamp("clamp");
  const Type in = TypeOfArg(legality.kernel(), op.args[kClamp.Has(op) && op.args.size() > 1 ? 1 : 0]);
  if (!in.is_array() || in.shape.empty()) return;
  const std::string why = WhyNoTritonCode(op, in.dtype);
  if (why.empty()) return;
  legality.Illegal(op, Cat(op.name, " of ", why, " has no code on ", legality.target(), "; found ", ToString(in)),
                   IsFloat(in.dtype) ? "convert to f32 first" : "convert to i32 first");
}

// Loops, and operations whose form the lowering does not know.
void CheckTritonForm(Legality& legality, const Instr& op) {
  static const RuleRows kSelect("select_n");
  static const RuleRows kStack("stack");
  static const RuleRows kIndices("argmax", "argmin");
  const std::string there = Cat(" on ", legality.target());
  if (kSelect.Has(op) && op.args.size() != 3)
    legality.Illegal(op, Cat("select_n has two cases", there, "; found ", op.args.size() - 1),
                     "nest several jnp.where");
  if (kStack.Has(op) && !op.types.empty() &&
      (op.args.size() != 2 || IntAttrOr(op, "axis", 0) != op.types[0].rank() - 1))
    legality.Illegal(op,
                     Cat("stack joins two arrays along a new last dimension", there, "; found ", op.args.size(),
                         " along dimension ", IntAttrOr(op, "axis", 0)),
                     "store the parts into slices of a ref");
  if (kIndices.Has(op) && !op.types.empty() && op.types[0].dtype != DType::kI32)
    legality.Illegal(op, Cat(op.name, " gives i32", there, "; found ", ToString(op.types[0])),
                     "use lax.argmax or lax.argmin with index_dtype=jnp.int32");
  if (const std::optional<std::string> found = ScansBackward(op))
    legality.Illegal(op, Cat("a scan runs forward", there, "; found ", *found), "use fori_loop and count down");
  if (const std::optional<std::string> found = ScansArrays(op))
    legality.Illegal(
        op,
        Cat("a scan only carries values: it neither goes through arrays nor stacks results", there, "; found ", *found),
        "use fori_loop, and index refs by its counter");
  if (IsScan(op) && IntAttrOr(op, "unroll", 1) != 1)
    legality.Illegal(op, Cat("a loop is not unrolled", there, "; found unroll=", IntAttrOr(op, "unroll", 1)),
                     "leave unroll out; Triton unrolls loops itself");
}

void CheckTritonOp(Legality& legality, const Instr& op) {
  const Kernel& kernel = legality.kernel();
  CheckTritonType(legality, op);
  CheckTritonForm(legality, op);
  for (const Type& type : op.types) {
    if (!CheckTensorSize(legality, op, type)) return;
  }
  static const RuleRows kDot("dot_general");
  static const RuleRows kCumulativeSum("cumsum");
  static const RuleRows kConcatenate("concatenate");
  if (kDot.Has(op)) CheckTritonDot(legality, op, TypeOfArg(kernel, op.args[0]), TypeOfArg(kernel, op.args[1]));
  const Attr* reverse = kCumulativeSum.Has(op) ? Find(op.attrs, "reverse") : nullptr;
  if (reverse != nullptr && reverse->value == Attr{true}.value)
    legality.Illegal(op, Cat("cumsum runs forward only on ", legality.target()), "turn the array, or sum backward");
  if (kConcatenate.Has(op)) {
    const bool ok = op.args.size() == 2 && TypeOfArg(kernel, op.args[0]).shape.back() == 1 &&
                    TypeOfArg(kernel, op.args[1]).shape.back() == 1 && op.types[0].shape.back() == 2;
    if (!ok)
      legality.Illegal(op,
                       Cat("concatenate joins two arrays of shape [..., 1] along the last dimension on ",
                           legality.target(), "; found a result of ", ToString(op.types[0])),
                       "store the parts into slices of a ref");
  }
  if (!IsAccess(op) || op.args[0].kind != Arg::Kind::kValue) return;
  ++legality.accesses;
  const Arg& view = op.args[0];
  if (view.transforms.size() > 1)
    legality.Illegal(op,
                     Cat(op.name, ": a ref is indexed at most once on ", legality.target(), "; found a chain of ",
                         view.transforms.size()),
                     "put all indices into one .at");
  const absl::StatusOr<Type> value = ViewType(kernel, kernel.values[view.value.index()].type, view.transforms);
  if (!value.ok()) return;
  if (op.types.empty()) CheckTensorSize(legality, op, *value);
  if (RowOf(op).access == RefAccess::kAdd || RowOf(op).access == RefAccess::kAtomic)
    CheckTritonAtomic(legality, op, *value);
}

}  // namespace

void CheckTriton(Legality& legality) {
  if (legality.backend() != TargetBackend::kTriton) return;
  CheckOperandKinds(legality);
  ForEachInstr(legality.kernel().bodies[0].region, [&](const Instr& op) { CheckTritonOp(legality, op); });
}

}  // namespace palladion::legality
