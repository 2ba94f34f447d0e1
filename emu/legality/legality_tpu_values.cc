// Mosaic TPU's rules for operations on values: which types, and which forms, its lowerings take. Based on: the lowering
// rules of JAX 0.10.2's Mosaic TPU backend and the verifiers of the operations that they make; held against them by
// tpu_legality_golden_test.cc. What is missing: conformance/golden/tpu_legality_open.txt.
#include <algorithm>
#include <vector>

#include "emu/legality/legality.h"
#include "emu/legality/rule_rows.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// `_dot_general_lowering_rule`: two matrices go to the MXU, whose accumulators have 32 bits (tpu.matmul's verifier); a
// product with one row or a vector is multiplied and added up, in any type.
void CheckProduct(Legality& legality, const Instr& op, const Type& lhs, const Type& rhs) {
  const auto rows = [](const Type& type) { return type.rank() < 2 ? 1 : type.shape[type.shape.size() - 2]; };
  const bool matrices = lhs.rank() == 2 && rhs.rank() == 2 && rows(lhs) > 1 && rows(rhs) > 1;
  if (matrices && Info(op.types[0].dtype).bits != 32)
    legality.Illegal(op,
                     Cat("dot_general of two matrices must give 32-bit numbers on ", legality.target(), "; found ",
                         ToString(op.types[0])),
                     "pass preferred_element_type=jnp.float32 (or int32) and convert the product");
  const Attr* precision = Find(op.attrs, "precision");
  if (precision == nullptr) return;
  const AttrList* each = std::get_if<AttrList>(&precision->value);
  const bool one = each != nullptr && each->size() == 2 && (*each)[0] == (*each)[1];
  if (each != nullptr && (!one || (*each)[0] == Attr{AttrIdent{"high"}}))
    legality.Illegal(op,
                     Cat("dot_general has one precision, default or highest, for both operands on ", legality.target(),
                         "; found ", ToString(*precision)),
                     "give both lax.Precision.DEFAULT or HIGHEST");
}

// `_pad_lowering_rule`: nothing between elements, and nothing is cut off.
void CheckPad(Legality& legality, const Instr& op) {
  const auto config = IntListsAttr(op, "config");
  for (const std::vector<std::int64_t>& dim : config.ok() ? *config : std::vector<std::vector<std::int64_t>>()) {
    if (dim[2] == 0 && dim[0] >= 0 && dim[1] >= 0) continue;
    return legality.Illegal(op, Cat("pad has no interior and no negative padding on ", legality.target()),
                            "pad at the ends, and slice to cut off");
  }
}

void CheckTypes(Legality& legality, const Instr& op) {
  const auto in = [&](std::size_t i) { return TypeOfArg(legality.kernel(), op.args[i]); };
  for (const Type& type : op.types) {
    if (type.is_ref() || type.kind == TypeKind::kToken || Info(type.dtype).bits != 64) continue;
    return legality.Illegal(
        op, Cat(op.name, ": there are no 64-bit numbers on ", legality.target(), "; found ", ToString(type)),
        "use 32-bit types");
  }
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  static const RuleRows kFinds("argmax", "argmin");
  static const RuleRows kJoins("reduce_and", "reduce_or");
  static const RuleRows kDot("dot_general");
  if (kReductions.Has(op) && !IsFloat(in(0).dtype) && in(0).dtype != DType::kI32)
    legality.Illegal(op,
                     Cat(op.name, " must be over floats or i32 on ", legality.target(), "; found ", ToString(in(0))),
                     "convert to i32 or f32 first");
  const bool finds = kFinds.Has(op);
  const bool narrow = finds && legality.jax_0_11 && in(0).dtype == DType::kBF16;
  if (finds && ((in(0).dtype != DType::kF32 && !narrow) || op.types[0].dtype != DType::kI32))
    legality.Illegal(op,
                     Cat(op.name, " must be of f32, to i32, on ", legality.target(), "; found ", ToString(in(0)),
                         " to ", ToString(op.types[0])),
                     "convert to f32 first");
  if (kJoins.Has(op) && !IsBool(in(0).dtype))
    legality.Illegal(op, Cat(op.name, " must be over bool on ", legality.target(), "; found ", ToString(in(0))));
  if (kDot.Has(op) && (IsUnsigned(in(0).dtype) || IsUnsigned(in(1).dtype)))
    legality.Illegal(op,
                     Cat("dot_general takes no unsigned operands on ", legality.target(), "; found ", ToString(in(0)),
                         " and ", ToString(in(1))),
                     "convert to a signed type first");
  if (kDot.Has(op)) CheckProduct(legality, op, in(0), in(1));
  static const RuleRows kPad("pad");
  if (kPad.Has(op)) CheckPad(legality, op);
  static const RuleRows kIota("iota");
  if (kIota.Has(op) && IsFloat(op.types[0].dtype))
    legality.Illegal(op, Cat("iota counts in integers on ", legality.target(), "; found ", ToString(op.types[0])),
                     "count in i32 and convert");
}

// `_gather_lowering_rule`: along one axis, by an index for each element of the result, as jnp.take_along_axis writes
// it.
void CheckGather(Legality& legality, const Instr& op) {
  static const RuleRows kGathers("gather");
  if (!kGathers.Has(op)) return;
  const Type x = TypeOfArg(legality.kernel(), op.args[0]), indices = TypeOfArg(legality.kernel(), op.args[1]);
  const Shape& shape = op.types[0].shape;
  const auto ints = [&](std::string_view name) {
    const absl::StatusOr<std::vector<std::int64_t>> list = IntsAttr(op, name);
    return list.ok() ? *list : std::vector<std::int64_t>();
  };
  const std::vector<std::int64_t> collapsed = ints("collapsed_slice_dims"), sizes = ints("slice_sizes"),
                                  batching = ints("operand_batching_dims");
  const bool of_elements = Shape(indices.shape.begin(), indices.shape.end() - 1) == shape &&
                           indices.shape.back() == 1 && x.shape.size() == shape.size() &&
                           std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n == 1; });
  const bool along_one = ints("offset_dims").empty() && collapsed.size() == 1 && collapsed == ints("start_index_map") &&
                         batching == ints("start_indices_batching_dims") && batching.size() + 1 == shape.size();
  if (!of_elements || !along_one)
    return legality.Illegal(
        op,
        Cat("gather from ", ToString(x), " by ", ToString(indices), " on ", legality.target(),
            " must take one element for each of the result's along one axis, as jnp.take_along_axis does"),
        "use jnp.take_along_axis, or select with a mask");
  if (collapsed[0] + 2 < static_cast<std::int64_t>(shape.size()))
    return legality.Illegal(op,
                            Cat("gather along axis ", collapsed[0], " of ", ToString(x),
                                ": only the last two can be on ", legality.target()),
                            "transpose first");
  const absl::StatusOr<std::string> mode = StringAttr(op, "mode");
  if (mode.ok() && *mode == "clip")
    legality.Illegal(op, Cat("gather has no mode clip on ", legality.target()),
                     "clip the indices, and pass mode=\"promise_in_bounds\"");
}

}  // namespace

void CheckTpuValues(Legality& legality, const Instr& op) {
  CheckTypes(legality, op);
  CheckGather(legality, op);
}

}  // namespace palladion
