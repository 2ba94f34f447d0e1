#include "semantics/ops/gpu/scaled_form.h"

#include <string>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_layout.h"
#include "semantics/ir/view_type.h"
#include "semantics/ops/matrix/mma.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

constexpr std::int64_t kLanes = kTmemLanes, kM64 = kTmemLanes / 2;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

std::string Named(std::string_view name, const Type& type) { return Cat(name, "=", ToString(type)); }

// What an access through the operand's view sees.
absl::StatusOr<Type> ViewedBy(const Arg& arg, const Kernel& kernel) {
  return ViewType(kernel, kernel.values[arg.value.index()].type, arg.transforms);
}

struct TmemOperand {
  Type type;
  TmemLayoutName layout = TmemLayoutName::kDefault;
};

// InvalidArgument where the operand is not there, or not a matrix in tensor memory.
absl::StatusOr<TmemOperand> FindInTmem(const Instr& op, std::string_view name, const Kernel& kernel) {
  const Arg* arg = FindOperand(op, name);
  if (arg == nullptr) return Invalid(Cat("expected an operand ", name, "="));
  const Type given = TypeOfArg(kernel, *arg);
  if (!given.is_ref() || given.space != Space::kTmem) {
    return Invalid(Cat(name, "= must be a view of a ref in tmem; found ", ToString(given)));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type type, ViewedBy(*arg, kernel));
  if (type.rank() != 2) return Invalid(Cat(name, "= must be a matrix; found ", ToString(type)));
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, LayoutOfView(kernel, *arg));
  return TmemOperand{type, layout.name};
}

absl::Status ExpectLayout(const TmemOperand& operand, TmemLayoutName layout, std::string_view name) {
  if (operand.layout == layout) return absl::OkStatus();
  return Invalid(Cat(name, "= must have layout=", Name(layout), "; found layout=", Name(operand.layout), " of ",
                     ToString(operand.type), ": allocate it with the plgpu.TMEMLayout of that name"));
}

// The elements along k that share one scale.
absl::StatusOr<std::int64_t> BlockOf(const Type& scale) {
  if (scale.dtype == DType::kF8E8M0FNU) return 32;
  if (scale.dtype == DType::kF8E4M3FN) return 16;
  return Invalid(
      Cat("scales must be f8e8m0fnu, in blocks of 32, or f8e4m3fn, in blocks of 16; found ", Named("a_scale", scale)));
}

absl::Status ReadScales(const Instr& op, const Kernel& kernel, ScaledMmaForm* form) {
  PALLADION_ASSIGN_OR_RETURN(const TmemOperand a, FindInTmem(op, "a_scale", kernel));
  PALLADION_ASSIGN_OR_RETURN(const TmemOperand b, FindInTmem(op, "b_scale", kernel));
  PALLADION_ASSIGN_OR_RETURN(form->block, BlockOf(a.type));
  if (form->sparse) form->block *= 2;
  form->scale = a.type.dtype;
  if (b.type.dtype != form->scale) {
    return Invalid(Cat("scales of both operands must have one type; found ", Named("a_scale", a.type), " and ",
                       Named("b_scale", b.type)));
  }
  const bool halves = HasAttr(op, "collective_axis") && form->m == kM64;
  form->b_scales = halves ? TmemLayoutName::kScalesM64Collective : TmemLayoutName::kScales;
  PALLADION_RETURN_IF_ERROR(ExpectLayout(a, TmemLayoutName::kScales, "a_scale"));
  PALLADION_RETURN_IF_ERROR(ExpectLayout(b, form->b_scales, "b_scale"));
  const std::int64_t columns = form->k / form->block;
  if (form->k % form->block != 0 || a.type.shape != Shape{kLanes, columns} || form->m > kLanes) {
    return Invalid(Cat("expected a_scale[128,", columns, "], a scale for each ", form->block, " of k = ", form->k,
                       "; found ", Named("a_scale", a.type)));
  }
  const std::int64_t rows = b.type.shape[0];
  if (b.type.shape[1] == columns && rows % kLanes == 0 && rows >= form->n) return absl::OkStatus();
  return Invalid(Cat("expected b_scale[", (form->n + kLanes - 1) / kLanes * kLanes, ",", columns,
                     "], a row for each of n = ", form->n, " columns, filled up to 128; found ",
                     Named("b_scale", b.type)));
}

absl::Status ReadPositions(const Instr& op, const Kernel& kernel, ScaledMmaForm* form) {
  PALLADION_ASSIGN_OR_RETURN(const TmemOperand positions, FindInTmem(op, "a_sparse_metadata", kernel));
  PALLADION_RETURN_IF_ERROR(ExpectLayout(positions, TmemLayoutName::kSparseMetadata, "a_sparse_metadata"));
  const std::int64_t group = Info(form->a).bits == 4 ? 8 : 4;
  const Shape expected = {form->m, form->k / group * 2};
  if (form->m % kLanes == 0 && form->k % group == 0 && positions.type.dtype == DType::kU2 &&
      positions.type.shape == expected) {
    return absl::OkStatus();
  }
  return Invalid(Cat("expected a_sparse_metadata u2", ToString(expected),
                     " with m a multiple of 128, two positions of each ", group, " along k = ", form->k, "; found ",
                     ToString(positions.type)));
}

}  // namespace

absl::StatusOr<TmemLayout> LayoutOfView(const Kernel& kernel, const Arg& view) {
  for (auto transform = view.transforms.rbegin(); transform != view.transforms.rend(); ++transform) {
    if (transform->kind != Transform::Kind::kAlias) continue;
    AttrMap attrs = transform->attrs;
    std::erase_if(attrs, [](const AttrEntry& entry) {
      return entry.first == "dtype" || entry.first == "shape" || entry.first == "offset";
    });
    PALLADION_ASSIGN_OR_RETURN(const AliasMember member, ParseAlias(transform->attrs));
    return ReadTmemLayout(attrs, member.shape);
  }
  return TmemLayoutOf(kernel.values[view.value.index()].type);
}

absl::StatusOr<ScaledMmaForm> FormOfProduct(const Instr& op, const Kernel& kernel) {
  PALLADION_ASSIGN_OR_RETURN(const Type acc, ViewedBy(*FindOperand(op, "acc"), kernel));
  PALLADION_ASSIGN_OR_RETURN(const Type a, ViewedBy(*FindOperand(op, "a"), kernel));
  PALLADION_ASSIGN_OR_RETURN(const Type b, ViewedBy(*FindOperand(op, "b"), kernel));
  const bool sparse = BoolAttrOr(op, "sparse", false), scaled = BoolAttrOr(op, "scaled", false);
  if ((FindOperand(op, "a_scale") != nullptr) != scaled || (FindOperand(op, "b_scale") != nullptr && !scaled) ||
      (FindOperand(op, "a_sparse_metadata") != nullptr) != sparse) {
    return Invalid(Cat(
        "expected a_scale= and b_scale= with scaled=true and a_sparse_metadata= with sparse=true only; found scaled=",
        scaled ? "true" : "false", ", sparse=", sparse ? "true" : "false"));
  }
  const std::int64_t blocks = HasAttr(op, "collective_axis") ? 2 : 1, stored = sparse ? 2 : 1;
  const bool fits = acc.rank() == 2 && a.rank() == 2 && b.rank() == 2 && a.shape[0] == acc.shape[0] &&
                    b.shape[1] * blocks == acc.shape[1] && a.shape[1] * stored == b.shape[0];
  if (!fits) {
    return Invalid(Cat("expected acc[m,n], a[m,k", sparse ? "/2" : "", "] and b[k,n", blocks == 2 ? "/2" : "",
                       "]; found ", ToString(acc), ", ", ToString(a), " and ", ToString(b)));
  }
  ScaledMmaForm form{.m = acc.shape[0],
                     .n = acc.shape[1],
                     .k = b.shape[0],
                     .a = Multiplied(a.dtype),
                     .b = Multiplied(b.dtype),
                     .acc = acc.dtype,
                     .sparse = sparse};
  if (scaled) PALLADION_RETURN_IF_ERROR(ReadScales(op, kernel, &form));
  if (sparse) PALLADION_RETURN_IF_ERROR(ReadPositions(op, kernel, &form));
  return form;
}

}  // namespace palladion
