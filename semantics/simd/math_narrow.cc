// Elementary functions of types of eight bits and fewer: a table of 256 entries for each function and type, filled from
// the f64 kernel on first use. One rounding of a double is right for them all (math_test.cc tries every input).
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "semantics/simd/math_find.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

using Table = std::array<std::uint8_t, 256>;

template <DType D>
Table MakeTable(MathOp op) {
  std::array<double, 256> x;
  for (std::size_t i = 0; i < 256; ++i) x[i] = Element<D>::ToDouble(static_cast<std::uint8_t>(i));
  FindMath(op, DType::kF64, Target::kScalar)(x.data(), x.data(), x.size());
  Table table;
  for (std::size_t i = 0; i < 256; ++i) table[i] = Element<D>::FromDouble(x[i]);
  return table;
}

template <DType D, MathOp op>
void MapTable(const void* x, void* out, std::size_t n) {
  static const Table table = MakeTable<D>(op);
  const auto* in = static_cast<const std::uint8_t*>(x);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = table[in[i]];
}

template <DType D, std::size_t... kOps>
UnaryFn FindIn(MathOp op, std::index_sequence<kOps...>) {
  static constexpr UnaryFn kFunctions[] = {&MapTable<D, static_cast<MathOp>(kOps)>...};
  return kFunctions[static_cast<std::size_t>(op)];
}

}  // namespace

UnaryFn FindNarrow(MathOp op, DType dtype) {
  return VisitDType(dtype, [op](auto tag) -> UnaryFn {
    constexpr DType kType = tag;
    if constexpr (Element<kType>::kIsFloat && Element<kType>::kBits <= 8) {
      return FindIn<kType>(op, std::make_index_sequence<kMathOpCount>());
    } else {
      return nullptr;
    }
  });
}

}  // namespace palladion::simd
