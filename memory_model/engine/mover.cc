#include "memory_model/engine/mover.h"

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "absl/types/span.h"

namespace palladion::memory_model {

std::size_t PlacesOf(const AsyncOperand& operand) {
  if (const auto* points = std::get_if<AsyncPoints>(&operand.where)) {
    return points->offset.size() / points->pieces_per_element;
  }
  const auto& box = std::get<BoxAccess>(operand.where);
  std::int64_t n = 1;
  for (int j = 0; j < box.value_rank; ++j) n *= box.count[box.order[static_cast<std::size_t>(j)]];
  return static_cast<std::size_t>(n);
}

ElementCount ElementsOf(const AsyncOperand& operand) {
  if (operand.elements != ElementCount(0)) return operand.elements;
  return ElementCount(static_cast<std::int64_t>(PlacesOf(operand)));
}

namespace {

// The part of 0..n that a chunk has.
struct Part {
  std::int64_t begin, end;
};
Part PartOf(std::int64_t n, int chunk, int chunks) { return {n * chunk / chunks, n * (chunk + 1) / chunks}; }

// One chunk of an operand's value, from or to memory.
class Mover {
 public:
  Mover(const AsyncRequest& request, int chunk, bool load, bool tracked, Machine* memory)
      : site_{request.site.loc, request.site.text_line, request.program},
        chunk_(chunk),
        chunks_(request.chunks),
        load_(load),
        tracked_(tracked),
        memory_(memory) {}

  void Move(const AsyncOperand& operand, AsyncValue* value) const {
    const std::size_t places = PlacesOf(operand);
    if (const auto* box = std::get_if<BoxAccess>(&operand.where)) return MoveBox(*box, places, operand, value);
    const auto& points = std::get<AsyncPoints>(operand.where);
    const Part part = PartOf(static_cast<std::int64_t>(places), chunk_, chunks_);
    if (part.begin == part.end) return;
    PointAccess access;
    access.buffer = points.buffer;
    const auto first = static_cast<std::size_t>(part.begin), count = static_cast<std::size_t>(part.end - part.begin);
    const std::size_t pieces = points.pieces_per_element;
    access.offset = absl::MakeConstSpan(points.offset).subspan(first * pieces, count * pieces);
    access.piece_bytes = points.piece_bytes.size();
    access.pieces_per_element = pieces;
    Go(&access, {first, count}, operand, value);
  }

  bool Lend(const AsyncOperand& operand, AsyncValue* value) const {
    BoxAccess box;
    Definedness defined;
    if (!TakeWhole(operand, &box)) return false;
    if (tracked_) box.defined = &defined;
    value->loan = memory_->Lend(box);
    if (value->loan.valid()) TakeMarks(defined, {0, PlacesOf(operand)}, {PlacesOf(operand), 1}, value);
    return value->loan.valid();
  }

  bool MakeRoom(const AsyncOperand& operand, AsyncValue* value) const {
    BoxAccess box;
    if (!TakeWhole(operand, &box)) return false;
    value->view = memory_->Room(box);
    return value->view.data != nullptr;
  }

  void Wrote(const AsyncOperand& operand, const AsyncValue& value) const {
    BoxAccess box;
    TakeWhole(operand, &box);
    Definedness defined;
    if (tracked_) box.defined = &defined;
    if (!value.marks.empty()) defined = {true, value.marks.data()};
    memory_->Wrote(box);
  }

 private:
  struct Places {
    std::size_t first, count;
  };

  void MoveBox(const BoxAccess& whole, std::size_t places, const AsyncOperand& operand, AsyncValue* value) const {
    BoxAccess box;
    TakeBox(whole, &box);
    if (chunks_ == 1 || box.value_rank == 0 || operand.elements != ElementCount(0)) {
      if (chunk_ == 0) Go(&box, {0, places}, operand, value);
      return;
    }
    const std::size_t d = box.order[0];
    const Part rows = PartOf(box.count[d], chunk_, chunks_);
    if (rows.begin == rows.end) return;
    const std::size_t row = places / static_cast<std::size_t>(box.count[d]);
    box.start[d] += rows.begin * box.step[d];
    box.count[d] = rows.end - rows.begin;
    Go(&box, {static_cast<std::size_t>(rows.begin) * row, static_cast<std::size_t>(box.count[d]) * row}, operand,
       value);
  }

  // False: the operand is no box of elements.
  bool TakeWhole(const AsyncOperand& operand, BoxAccess* box) const {
    const auto* whole = std::get_if<BoxAccess>(&operand.where);
    if (whole == nullptr || operand.elements != ElementCount(0) || chunks_ != 1 || operand.reduce != nullptr)
      return false;
    TakeBox(*whole, box);
    box->site = site_;
    return true;
  }

  struct Elements {
    std::size_t count, unit;  // so many places are one
  };
  static void TakeMarks(const Definedness& defined, const Places& part, const Elements& elements, AsyncValue* value) {
    if (!defined.any) return;
    value->marks.resize(elements.count, 0);
    if (elements.unit == 1 && part.count == elements.count) {
      std::copy_n(defined.undefined, part.count, value->marks.begin());
      return;
    }
    for (std::size_t i = 0; i < part.count; ++i) {
      std::uint8_t& mark = value->marks[(part.first + i) / elements.unit];
      mark = MergeMarks(mark, defined.undefined[i]);
    }
  }

  // Only what of its arrays is set: they are large.
  static void TakeBox(const BoxAccess& from, BoxAccess* to) {
    to->buffer = from.buffer;
    to->rank = from.rank;
    to->value_rank = from.value_rank;
    to->outside = from.outside;
    const auto rank = static_cast<std::size_t>(from.rank);
    std::copy_n(from.start.begin(), rank, to->start.begin());
    std::copy_n(from.count.begin(), rank, to->count.begin());
    std::copy_n(from.step.begin(), rank, to->step.begin());
    std::copy_n(from.lower.begin(), rank, to->lower.begin());
    std::copy_n(from.upper.begin(), rank, to->upper.begin());
    std::copy_n(from.order.begin(), static_cast<std::size_t>(from.value_rank), to->order.begin());
  }

  // Marks are by element in a value, and by place in an access.
  template <class Access>
  void Go(Access* access, const Places& part, const AsyncOperand& operand, AsyncValue* value) const {
    if (part.count == 0) return;
    const std::size_t places = PlacesOf(operand), elements = ElementsOf(operand).size(), unit = places / elements;
    std::byte* const at = value->bytes.data() + part.first * (value->bytes.size() / places);
    access->site = site_;
    Definedness defined;
    if (tracked_) access->defined = &defined;
    if (!load_) {
      std::vector<std::uint8_t> spread;
      if (!value->marks.empty()) defined = {true, value->marks.data() + part.first};
      if (!value->marks.empty() && unit != 1) {
        spread.resize(part.count);
        for (std::size_t i = 0; i < part.count; ++i) spread[i] = value->marks[(part.first + i) / unit];
        defined.undefined = spread.data();
      }
      if (operand.reduce == nullptr) return memory_->Store(*access, at);
      return Reduce(*access, operand.reduce, at, {part.count, value->bytes.size() / places, unit});
    }
    memory_->Load(*access, at);
    TakeMarks(defined, part, {elements, unit}, value);
  }

  struct Sizes {
    std::size_t places, place_bytes, unit;  // so many places are one element
  };

  void Reduce(const PointAccess& access, AtomicFn reduce, const std::byte* operand, const Sizes&) const {
    memory_->Atomic(access, reduce, operand, nullptr, nullptr);
  }

  // Nothing comes between the load and the store: a half, or a chunk of it, is one step of the run.
  void Reduce(const BoxAccess& access, AtomicFn reduce, const std::byte* operand, const Sizes& sizes) const {
    std::vector<std::byte> value(sizes.places * sizes.place_bytes);
    Definedness old;
    BoxAccess load = access;  // of what is outside the store will tell
    load.outside = Outside::kPad;
    std::fill_n(load.lower.begin(), load.rank, std::numeric_limits<std::int64_t>::min());
    std::fill_n(load.upper.begin(), load.rank, std::numeric_limits<std::int64_t>::max());
    if (tracked_) load.defined = &old;
    memory_->Load(load, value.data());
    std::vector<std::uint8_t> marks;
    if (old.any || (tracked_ && access.defined->any)) {
      marks.assign(sizes.places, 0);
      for (std::size_t e = 0; e < sizes.places; ++e) {
        marks[e] = ComputedMark(MergeMarks(old.any ? old.undefined[e] : std::uint8_t{0},
                                           access.defined->any ? access.defined->undefined[e] : std::uint8_t{0}));
      }
      *access.defined = {true, marks.data()};
    }
    for (std::size_t at = 0; at < value.size(); at += sizes.place_bytes * sizes.unit) {
      reduce(&value[at], operand + at, nullptr, &value[at]);
    }
    memory_->Store(access, value.data());
  }

  Site site_;
  int chunk_, chunks_;
  bool load_, tracked_;
  Machine* memory_;
};

}  // namespace

void MoveChunk(const AsyncRequest& request, const AsyncOperand& operand, const MoveOptions& options, AsyncValue* value,
               Machine* memory) {
  Mover(request, options.chunk, options.load, options.tracked, memory).Move(operand, value);
}

bool LendWhole(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value,
               Machine* memory) {
  return Mover(request, 0, /*load=*/true, tracked, memory).Lend(operand, value);
}

bool MakeRoom(const AsyncRequest& request, const AsyncOperand& operand, AsyncValue* value, Machine* memory) {
  return Mover(request, 0, /*load=*/false, /*tracked=*/false, memory).MakeRoom(operand, value);
}

void Wrote(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value, Machine* memory) {
  Mover(request, 0, /*load=*/false, tracked, memory).Wrote(operand, *value);
}

}  // namespace palladion::memory_model
