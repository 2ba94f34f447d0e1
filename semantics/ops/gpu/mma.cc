#include "semantics/ops/gpu/mma.h"

#include <cstring>
#include <memory>

#include "semantics/simd/dot.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

std::vector<std::int64_t> Multiples(std::int64_t count, std::int64_t stride) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
  return offsets;
}

}  // namespace

// Integers wrap, as their accumulators do; floats add up in double.
Mma::Mma(std::int64_t m, std::int64_t n, std::int64_t k, DType a, DType b, DType acc)
    : m_(m),
      n_(n),
      k_(k),
      a_(a),
      b_(b),
      acc_(acc),
      a_row_(Multiples(m, k)),
      a_k_(Multiples(k, 1)),
      b_column_(Multiples(n, 1)),
      b_k_(Multiples(k, n)) {}

void Mma::Run(const AsyncValue& a, const AsyncValue& b, const AsyncValue& acc, AsyncValue* out) const {
  const simd::DotShape shape{static_cast<std::size_t>(m_), static_cast<std::size_t>(n_), static_cast<std::size_t>(k_)};
  const std::size_t scratch_bytes = simd::DotScratchBytes(shape);
  const std::unique_ptr<std::byte[]> scratch(new std::byte[scratch_bytes]);
  const bool adds = IsFloat(acc_);
  simd::Dot({a.bytes.data(), a_, a_row_.data(), a_k_.data()}, {b.bytes.data(), b_, b_column_.data(), b_k_.data()},
            shape, {acc_, out->bytes.data(), adds ? acc.bytes.data() : nullptr},
            absl::MakeSpan(scratch.get(), scratch_bytes));
  if (!adds) AddIntegers(acc.bytes.data(), out->bytes.data());
  MarkUndefined(a, b, acc, out);
}

void Mma::AddIntegers(const std::byte* acc, std::byte* out) const {
  const auto count = static_cast<std::size_t>(m_ * n_);
  VisitDType(acc_, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (!E::kIsFloat) {
      using T = typename E::Storage;
      using Wide = std::uint64_t;
      const T* before = reinterpret_cast<const T*>(acc);
      T* sum = reinterpret_cast<T*>(out);
      for (std::size_t i = 0; i < count; ++i)
        sum[i] = static_cast<T>(static_cast<Wide>(before[i]) + static_cast<Wide>(sum[i]));
    }
  });
}

// An element is undefined where the accumulator's was, where a row of a has an undefined element, or a column of b.
void Mma::MarkUndefined(const AsyncValue& a, const AsyncValue& b, const AsyncValue& acc, AsyncValue* out) const {
  if (a.marks.empty() && b.marks.empty() && acc.marks.empty()) return;
  const auto m = static_cast<std::size_t>(m_), n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(k_);
  std::vector<std::uint8_t> row(m, 0), column(n, 0);
  if (!a.marks.empty()) {
    for (std::size_t i = 0; i < m * k; ++i) row[i / k] = MergeMarks(row[i / k], a.marks[i]);
  }
  if (!b.marks.empty()) {
    for (std::size_t i = 0; i < k * n; ++i) column[i % n] = MergeMarks(column[i % n], b.marks[i]);
  }
  out->marks = acc.marks;
  out->marks.resize(m * n, 0);
  for (std::size_t i = 0; i < m * n; ++i) {
    out->marks[i] = ComputedMark(MergeMarks(out->marks[i], MergeMarks(row[i / n], column[i % n])));
  }
}

}  // namespace palladion
