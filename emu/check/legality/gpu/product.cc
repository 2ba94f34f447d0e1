#include "emu/check/legality/gpu/product.h"

#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kAtomRows = 8;

// An index below a transposition: the dimensions that are left keep their order (commute_transpose_indexer).
Shape WithoutPoints(const Shape& perm, const std::vector<Index>& indices) {
  Shape kept;
  const auto is_point = [&](std::int64_t d) {
    const auto place = static_cast<std::size_t>(d);
    return place < indices.size() && indices[place].kind == Index::Kind::kPoint;
  };
  for (const std::int64_t p : perm) {
    if (is_point(p)) continue;
    std::int64_t before = 0;
    for (std::int64_t d = 0; d < p; ++d) before += is_point(d) ? 1 : 0;
    kept.push_back(p - before);
  }
  return kept;
}

Shape Composed(const Shape& perm, const Shape& next) {
  Shape both;
  for (const std::int64_t p : next) both.push_back(perm[static_cast<std::size_t>(p)]);
  return both;
}

}  // namespace

ProductOperand ProductOperandOf(const Kernel& kernel, const Arg& arg, bool lanes, bool reshapes) {
  ProductOperand operand{.view = layouts::GpuViewOf(kernel, arg)};
  operand.tile = operand.view.tile_seen;
  operand.followed = !operand.view.tiles_moved;
  if (!operand.followed) return operand;
  std::optional<Shape> perm;
  for (const Transform& transform : operand.view.rest) {
    const bool is_at = transform.kind == Transform::Kind::kAt;
    if (is_at && perm.has_value() && lanes) {
      perm = WithoutPoints(*perm, transform.indices);
    } else if (transform.kind == Transform::Kind::kTranspose && !(perm.has_value() && lanes)) {
      perm = perm.has_value() ? Composed(*perm, transform.ints) : Shape(transform.ints);
    } else if (transform.kind == Transform::Kind::kReshape && reshapes && !perm.has_value()) {
      operand.followed = !operand.view.bad_reshape.has_value();
      if (!operand.followed) return operand;
    } else if (perm.has_value() && !lanes) {
      operand.followed = false;
      return operand;
    } else if (!is_at) {
      operand.refused = Cat(".", Name(transform.kind), perm.has_value() ? " after .transpose" : "");
      return operand;
    }
  }
  operand.transposed = perm == Shape{1, 0};
  if (perm.has_value() && !operand.transposed && lanes) operand.refused = Cat(".transpose", ToString(*perm));
  return operand;
}

std::optional<std::string> WrongTile(const ProductOperand& operand, std::string_view name) {
  const std::optional<std::int64_t> swizzle = operand.view.swizzle();
  if (!swizzle.has_value() || operand.tile.empty() || operand.refused.has_value() || !operand.followed)
    return std::nullopt;
  const std::vector<std::int64_t> expected = {kAtomRows, *swizzle * 8 / Info(operand.view.ref.dtype).bits};
  if (operand.tile == expected) return std::nullopt;
  return Cat(name, " in tiles ", ToString(operand.tile), ", expected ", ToString(expected));
}

}  // namespace palladion::legality
