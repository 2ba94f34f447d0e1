#include "semantics/ops/matrix/mma.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "semantics/tensor/element.h"

namespace palladion {

std::vector<std::int64_t> Multiples(std::int64_t count, std::int64_t stride) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
  return offsets;
}

// Integers wrap, as their accumulators do; floats add up in double.
Mma::Mma(const Form& form)
    : m_(form.m),
      n_(form.n),
      k_(form.k),
      a_(form.a),
      b_(form.b),
      acc_(form.acc),
      a_row_(Multiples(m_, k_)),
      a_k_(Multiples(k_, 1)),
      b_column_(Multiples(n_, 1)),
      b_k_(Multiples(k_, n_)),
      rooms_(std::make_shared<Rooms>()) {}

simd::DotShape Mma::shape() const {
  return {static_cast<std::size_t>(m_), static_cast<std::size_t>(n_), static_cast<std::size_t>(k_)};
}

std::size_t Mma::scratch_bytes() const { return simd::DotScratchBytes(shape()); }

void Mma::Multiply(const std::byte* a, const std::byte* b, const std::byte* acc, std::byte* out,
                   absl::Span<std::byte> scratch) const {
  const bool adds = IsFloat(acc_);
  simd::Dot({{a, a_, a_row_.data(), a_k_.data()},
             {b, b_, b_column_.data(), b_k_.data()},
             shape(),
             {acc_, out, adds ? acc : nullptr}},
            scratch);
  if (!adds) AddWrapped(acc_, acc, {out, static_cast<std::size_t>(m_ * n_) * StorageBytes(acc_)});
}

// ---- operands where they lie

namespace {

ElementSize SizeOf(DType dtype) { return ElementSize(static_cast<std::int64_t>(StorageBytes(dtype))); }

// Offsets, in elements, of all indices of these dimensions, which are one dimension of a matrix.
void OffsetsOf(absl::Span<const ValueView::Dim> dims, ElementSize size, std::vector<std::int64_t>* offsets) {
  offsets->assign(1, 0);
  std::size_t inner = 1;  // the offsets so far are those of the dimensions behind
  for (std::size_t d = dims.size(); d-- > 0; inner = offsets->size()) {
    const std::int64_t stride = dims[d].stride / size.value();
    for (std::int64_t i = 1; i < dims[d].count; ++i) {
      for (std::size_t j = 0; j < inner; ++j) offsets->push_back((*offsets)[j] + i * stride);
    }
  }
}

// A view as a matrix of so many rows. False: no dimension of it ends where a row does.
bool MatrixOf(const ValueView& view, std::int64_t rows, ElementSize size, std::vector<std::int64_t>* row,
              std::vector<std::int64_t>* column) {
  std::size_t outer = 0;
  std::int64_t count = 1;
  while (count < rows && outer < view.dims.size()) count *= view.dims[outer++].count;
  if (count != rows) return false;
  const absl::Span<const ValueView::Dim> dims(view.dims);
  OffsetsOf(dims.first(outer), size, row);
  OffsetsOf(dims.subspan(outer), size, column);
  return true;
}

std::int64_t DistanceOf(const ValueView& from, const ValueView& to) {
  return reinterpret_cast<std::intptr_t>(to.data) - reinterpret_cast<std::intptr_t>(from.data);
}

// All of views that their offsets depend on.
std::vector<std::int64_t> FormOf(absl::Span<const ValueView> views) {
  std::vector<std::int64_t> form;
  for (const ValueView& view : views) {
    form.push_back(DistanceOf(views[0], view));
    for (const ValueView::Dim& dim : view.dims) form.insert(form.end(), {dim.count, dim.stride});
    form.push_back(0);  // no dimension has it
  }
  return form;
}

const std::byte* Dense(const AsyncValue& value, ElementSize size, std::vector<std::byte>* bytes) {
  if (value.view.data == nullptr) return value.bytes.data();
  bytes->resize((value.view.elements() * size).size());
  CopyOut(value.view, size, bytes->data());
  return bytes->data();
}

void Assign(const AsyncValue& from, ElementSize size, std::vector<std::byte>* between, AsyncValue* to) {
  const std::byte* const dense = Dense(from, size, to->view.data == nullptr ? &to->bytes : between);
  if (to->view.data != nullptr) return CopyIn(dense, size, to->view);
  if (dense != to->bytes.data()) to->bytes = from.bytes;
}

// Elements from one row to the next of a matrix whose rows are dense; 0: they are not, or there is one column.
std::size_t RowStride(const ValueView& view, std::int64_t columns, ElementSize size) {
  if (view.dims.size() != 2 || view.dims[1].count != columns || view.dims[1].stride != size.value()) return 0;
  return static_cast<std::size_t>(view.dims[0].stride / size.value());
}

}  // namespace

simd::DotOperand Mma::Left(const AsyncValue& a, Room* room) const {
  if (a.view.data != nullptr) {
    const std::vector<std::int64_t> form = FormOf({&a.view, 1});
    if (form != room->a_form) {
      room->a_form = form;
      if (!MatrixOf(a.view, m_, SizeOf(a_), &room->a_row, &room->a_k)) room->a_row.clear();
    }
    if (!room->a_row.empty()) return {a.view.data, a_, room->a_row.data(), room->a_k.data()};
  }
  return {Dense(a, SizeOf(a_), &room->a), a_, a_row_.data(), a_k_.data()};
}

// One table of columns for all parts: those of the later ones reach from the first one's memory into theirs.
bool Mma::InOneTable(absl::Span<const ValueView> parts, Room* room) const {
  std::vector<std::int64_t> form = FormOf(parts), row, column;
  if (form == room->b_form) return !room->b_column.empty();
  room->b_form = std::move(form);
  room->b_column.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t bytes = DistanceOf(parts[0], parts[i]), size = SizeOf(b_).value();
    const bool fits = MatrixOf(parts[i], k_, SizeOf(b_), &row, &column) && bytes % size == 0;
    if (!fits || (i > 0 && row != room->b_k)) {
      room->b_column.clear();
      return false;
    }
    for (const std::int64_t offset : column) room->b_column.push_back(offset + bytes / size);
    room->b_k.swap(row);
  }
  return true;
}

simd::DotOperand Mma::Right(absl::Span<const AsyncValue* const> b, Room* room) const {
  absl::InlinedVector<ValueView, 2> views;
  for (const AsyncValue* part : b) views.push_back(part->view);
  const bool lie = std::all_of(views.begin(), views.end(), [](const ValueView& view) { return view.data != nullptr; });
  if (lie && InOneTable(views, room)) return {b.front()->view.data, b_, room->b_column.data(), room->b_k.data()};
  if (b.size() == 1) return {Dense(*b.front(), SizeOf(b_), &room->b), b_, b_column_.data(), b_k_.data()};
  const std::size_t width = static_cast<std::size_t>(n_) / b.size() * StorageBytes(b_);
  room->b.resize(static_cast<std::size_t>(k_) * width * b.size());
  std::vector<std::byte> dense;
  for (std::size_t part = 0; part < b.size(); ++part) {
    const std::byte* const from = Dense(*b[part], SizeOf(b_), &dense);
    for (std::size_t row = 0; row < static_cast<std::size_t>(k_); ++row)
      std::memcpy(&room->b[(row * b.size() + part) * width], from + row * width, width);
  }
  return {room->b.data(), b_, b_column_.data(), b_k_.data()};
}

// Floats are added where they lie; sums of integers wrap, and are added to afterwards.
void Mma::AddTo(const simd::DotOperand& a, const simd::DotOperand& b, const AsyncValue* acc, Room* room,
                AsyncValue* out) const {
  const ElementSize size = SizeOf(acc_);
  const absl::Span<std::byte> scratch = absl::MakeSpan(room->scratch);
  AsyncValue sum{.bytes = std::move(room->sum), .marks = {}};
  sum.bytes.resize(static_cast<std::size_t>(m_ * n_) * size.size());
  if (!IsFloat(acc_)) {
    simd::Dot({a, b, shape(), {acc_, sum.bytes.data()}}, scratch);
    std::vector<std::byte> before;
    if (acc != nullptr) AddWrapped(acc_, Dense(*acc, size, &before), absl::MakeSpan(sum.bytes));
    Assign(sum, size, nullptr, out);
  } else {
    const std::size_t stride =
        out->view.data == nullptr ? static_cast<std::size_t>(n_) : RowStride(out->view, n_, size);
    AsyncValue& to = stride == 0 ? sum : *out;
    if (acc == nullptr) std::fill(sum.bytes.begin(), sum.bytes.end(), std::byte{0});
    const AsyncValue& before = acc == nullptr ? sum : *acc;
    const bool there = &before == &to || (before.view.data != nullptr && before.view == to.view);
    if (!there) Assign(before, size, &sum.bytes, &to);
    std::byte* const at = to.view.data == nullptr ? to.bytes.data() : to.view.data;
    simd::Dot({a, b, shape(), {acc_, at, at, stride}}, scratch);
    if (stride == 0) Assign(sum, size, nullptr, out);
  }
  room->sum = std::move(sum.bytes);
}

std::unique_ptr<Mma::Room> Mma::TakeRoom() const {
  const std::lock_guard<std::mutex> lock(rooms_->mutex);
  if (rooms_->free.empty()) {
    auto room = std::make_unique<Room>();
    room->scratch.resize(scratch_bytes());
    return room;
  }
  std::unique_ptr<Room> room = std::move(rooms_->free.back());
  rooms_->free.pop_back();
  return room;
}

void Mma::Run(const MmaOperands& in, AsyncValue* out) const {
  std::unique_ptr<Room> room = TakeRoom();
  AddTo(Left(in.a, room.get()), Right(in.b, room.get()), in.acc, room.get(), out);
  MarkUndefined(in, out);
  const std::lock_guard<std::mutex> lock(rooms_->mutex);
  rooms_->free.push_back(std::move(room));
}

DType Multiplied(DType dtype) { return dtype == DType::kU8 ? DType::kI8 : dtype; }

void AddWrapped(DType dtype, const std::byte* acc, absl::Span<std::byte> out) {
  VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (!E::kIsFloat) {
      using T = typename E::Storage;
      using Wide = std::uint64_t;
      const T* before = reinterpret_cast<const T*>(acc);
      T* sum = reinterpret_cast<T*>(out.data());
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i)
        sum[i] = static_cast<T>(static_cast<Wide>(before[i]) + static_cast<Wide>(sum[i]));
    }
  });
}

// An element is undefined where the accumulator's was, where a row of a has an undefined element, or a column of b.
void Mma::MarkUndefined(const MmaOperands& in, AsyncValue* out) const {
  bool any = !in.a.marks.empty() || (in.acc != nullptr && !in.acc->marks.empty());
  for (const AsyncValue* part : in.b) any |= !part->marks.empty();
  if (!any) return;
  const auto m = static_cast<std::size_t>(m_), n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(k_);
  std::vector<std::uint8_t> row(m, 0), column(n, 0);
  if (!in.a.marks.empty()) {
    for (std::size_t i = 0; i < m * k; ++i) row[i / k] = MergeMarks(row[i / k], in.a.marks[i]);
  }
  const std::size_t width = n / in.b.size();
  for (std::size_t part = 0; part < in.b.size(); ++part) {
    const std::vector<std::uint8_t>& marks = in.b[part]->marks;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      std::uint8_t& mark = column[part * width + i % width];
      mark = MergeMarks(mark, marks[i]);
    }
  }
  out->marks.assign(m * n, 0);
  if (in.acc != nullptr && !in.acc->marks.empty()) out->marks = in.acc->marks;
  for (std::size_t i = 0; i < m * n; ++i) {
    out->marks[i] = ComputedMark(MergeMarks(out->marks[i], MergeMarks(row[i / n], column[i % n])));
  }
}

}  // namespace palladion
