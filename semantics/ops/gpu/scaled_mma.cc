#include "semantics/ops/gpu/scaled_mma.h"

#include <memory>
#include <numeric>

#include "semantics/ops/matrix/mma.h"
#include "semantics/simd/dot.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

constexpr std::int64_t kKept = 2, kOf = 4;  // positions of a group

std::vector<double> Doubles(const AsyncValue& value, DType dtype) {
  return VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    using T = typename E::Storage;
    const T* from = reinterpret_cast<const T*>(value.bytes.data());
    std::vector<double> doubles(value.bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] = E::ToDouble(from[i]);
    return doubles;
  });
}

std::uint8_t MarkAt(const AsyncValue& value, std::int64_t element) {
  return value.marks.empty() ? std::uint8_t{0} : value.marks[static_cast<std::size_t>(element)];
}

bool HasMarks(const AsyncValue* value) { return value != nullptr && !value->marks.empty(); }

}  // namespace

ScaledMma::ScaledMma(const ScaledMmaForm& form)
    : form_(form),
      stored_(form.sparse ? form.k * kKept / kOf : form.k),
      scale_columns_(form.block == 0 ? 0 : form.k / form.block),
      pair_(Info(form.a).bits == 4 ? 2 : 1),
      dense_(static_cast<std::size_t>(form.k)) {
  std::iota(dense_.begin(), dense_.end(), 0);
  for (std::int64_t j = 0; j < form.n; ++j) scale_row_.push_back(ScaleRowOfColumn(form.b_scales, j, form.n));
}

void ScaledMma::Run(const ScaledMmaOperands& in, AsyncValue* out) const {
  Multiply(in, out);
  if (!IsFloat(form_.acc)) AddWrapped(form_.acc, in.acc.bytes.data(), absl::MakeSpan(out->bytes));
  MarkUndefined(in, out);
}

std::vector<std::int64_t> ScaledMma::KeptOf(std::int64_t row, const AsyncValue* positions) const {
  if (!form_.sparse) return dense_;
  const std::int64_t entries = stored_ / pair_;
  std::vector<std::int64_t> kept;
  kept.reserve(static_cast<std::size_t>(stored_));
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const std::int64_t element = PositionInTmem(row, entry, entries, Info(form_.a).bits);
    // An undefined position may be any byte; what it makes is undefined, but it has to be a place of b.
    const auto position = static_cast<std::int64_t>(positions->bytes[static_cast<std::size_t>(element)]) % kOf;
    for (std::int64_t i = 0; i < pair_; ++i) kept.push_back((entry / kKept * kOf + position) * pair_ + i);
  }
  return kept;
}

std::vector<double> ScaledMma::ScaledA(const ScaledMmaOperands& in) const {
  std::vector<double> values = Doubles(in.a, form_.a);
  const std::vector<double> scales = Doubles(*in.a_scale, form_.scale);
  const std::int64_t block = form_.block * stored_ / form_.k;  // of stored elements: a group never spans two blocks
  for (std::int64_t i = 0; i < form_.m * stored_; ++i) {
    const std::int64_t scale = i / stored_ * scale_columns_ + i % stored_ / block;
    values[static_cast<std::size_t>(i)] *= scales[static_cast<std::size_t>(scale)];
  }
  return values;
}

std::vector<double> ScaledMma::ScaledB(const ScaledMmaOperands& in) const {
  std::vector<double> values = Doubles(in.b, form_.b);
  const std::vector<double> scales = Doubles(*in.b_scale, form_.scale);
  for (std::int64_t i = 0; i < form_.k * form_.n; ++i) {
    const std::int64_t row = scale_row_[static_cast<std::size_t>(i % form_.n)];
    values[static_cast<std::size_t>(i)] *=
        scales[static_cast<std::size_t>(row * scale_columns_ + BlockOf(i / form_.n))];
  }
  return values;
}

// Each row of a sparse a multiplies rows of b of its own, so it is a product of its own.
void ScaledMma::Multiply(const ScaledMmaOperands& in, AsyncValue* out) const {
  const bool scaled = form_.block != 0;
  const std::vector<double> scaled_a = scaled ? ScaledA(in) : std::vector<double>();
  const std::vector<double> scaled_b = scaled ? ScaledB(in) : std::vector<double>();
  const DType a_type = scaled ? DType::kF64 : form_.a, b_type = scaled ? DType::kF64 : form_.b;
  const std::byte* a = scaled ? reinterpret_cast<const std::byte*>(scaled_a.data()) : in.a.bytes.data();
  const void* b = scaled ? static_cast<const void*>(scaled_b.data()) : in.b.bytes.data();

  const std::int64_t rows = form_.sparse ? 1 : form_.m;  // of one product
  const std::vector<std::int64_t> a_row = Multiples(rows, stored_), a_k = Multiples(stored_, 1);
  const std::vector<std::int64_t> b_column = Multiples(form_.n, 1);
  const simd::DotShape shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(form_.n),
                             static_cast<std::size_t>(stored_)};
  const std::size_t scratch_bytes = simd::DotScratchBytes(shape);
  const std::unique_ptr<std::byte[]> scratch(new std::byte[scratch_bytes]);
  const std::size_t a_step = static_cast<std::size_t>(stored_) * StorageBytes(a_type);
  const std::size_t out_step = static_cast<std::size_t>(form_.n) * StorageBytes(form_.acc);
  for (std::int64_t row = 0; row < form_.m; row += rows) {
    std::vector<std::int64_t> b_k = KeptOf(row, in.positions);
    for (std::int64_t& offset : b_k) offset *= form_.n;
    const std::size_t at = static_cast<std::size_t>(row) * out_step;
    const std::byte* addend = IsFloat(form_.acc) ? in.acc.bytes.data() + at : nullptr;
    simd::Dot({{a + static_cast<std::size_t>(row) * a_step, a_type, a_row.data(), a_k.data()},
               {b, b_type, b_column.data(), b_k.data()},
               shape,
               {form_.acc, out->bytes.data() + at, addend}},
              absl::MakeSpan(scratch.get(), scratch_bytes));
  }
}

// What row `row` of a, its scales and its positions make undefined: every element of the row.
std::uint8_t ScaledMma::MarkOfRow(std::int64_t row, const ScaledMmaOperands& in) const {
  std::uint8_t mark = 0;
  for (std::int64_t i = 0; i < stored_; ++i) mark = MergeMarks(mark, MarkAt(in.a, row * stored_ + i));
  for (std::int64_t i = 0; i < scale_columns_; ++i) {
    mark = MergeMarks(mark, MarkAt(*in.a_scale, row * scale_columns_ + i));
  }
  if (!form_.sparse) return mark;
  const std::int64_t entries = stored_ / pair_;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    mark = MergeMarks(mark, MarkAt(*in.positions, PositionInTmem(row, entry, entries, Info(form_.a).bits)));
  }
  return mark;
}

// What b's elements at `kept`, and the scales of their blocks, make undefined in each column.
std::vector<std::uint8_t> ScaledMma::MarksOfColumns(const std::vector<std::int64_t>& kept,
                                                    const ScaledMmaOperands& in) const {
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(form_.n), 0);
  if (!HasMarks(&in.b) && !HasMarks(in.b_scale)) return marks;
  for (const std::int64_t k : kept) {
    for (std::int64_t j = 0; j < form_.n; ++j) {
      std::uint8_t& mark = marks[static_cast<std::size_t>(j)];
      mark = MergeMarks(mark, MarkAt(in.b, k * form_.n + j));
      if (form_.block == 0) continue;
      const std::int64_t row = scale_row_[static_cast<std::size_t>(j)];
      mark = MergeMarks(mark, MarkAt(*in.b_scale, row * scale_columns_ + BlockOf(k)));
    }
  }
  return marks;
}

// An element is undefined where the accumulator's was, and where anything that its sum takes is.
void ScaledMma::MarkUndefined(const ScaledMmaOperands& in, AsyncValue* out) const {
  const bool any = HasMarks(&in.a) || HasMarks(&in.b) || HasMarks(&in.acc) || HasMarks(in.a_scale) ||
                   HasMarks(in.b_scale) || HasMarks(in.positions);
  if (!any) return;
  out->marks.assign(static_cast<std::size_t>(form_.m * form_.n), 0);
  std::vector<std::uint8_t> columns = MarksOfColumns(dense_, in);
  for (std::int64_t i = 0; i < form_.m; ++i) {
    const std::uint8_t row = MarkOfRow(i, in);
    if (form_.sparse) columns = MarksOfColumns(KeptOf(i, in.positions), in);
    for (std::int64_t j = 0; j < form_.n; ++j) {
      const std::int64_t at = i * form_.n + j;
      const std::uint8_t taken = MergeMarks(row, columns[static_cast<std::size_t>(j)]);
      out->marks[static_cast<std::size_t>(at)] = ComputedMark(MergeMarks(MarkAt(in.acc, at), taken));
    }
  }
}

}  // namespace palladion
