#include "memory_model/engine/mover.h"

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

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

// An operand's value, from or to memory.
class Mover {
 public:
  Mover(const AsyncRequest& request, bool load, bool tracked, Machine* memory)
      : site_{request.site.loc, request.site.text_line, request.program},
        load_(load),
        tracked_(tracked),
        memory_(memory) {}

  void Move(const AsyncOperand& operand, AsyncValue* value) const {
    if (const auto* whole = std::get_if<BoxAccess>(&operand.where)) {
      BoxAccess box;
      TakeBox(*whole, &box);
      return Go(&box, operand, value);
    }
    const auto& points = std::get<AsyncPoints>(operand.where);
    PointAccess access;
    access.buffer = points.buffer;
    access.offset = points.offset;
    access.piece_bytes = points.piece_bytes.size();
    access.pieces_per_element = points.pieces_per_element;
    Go(&access, operand, value);
  }

  bool BeginCowRead(const AsyncOperand& operand, AsyncValue* value) const {
    BoxAccess box;
    Definedness defined;
    if (!TakeWhole(operand, &box)) return false;
    if (tracked_) box.defined = &defined;
    value->cow_read = memory_->BeginCowRead(box);
    if (value->cow_read.valid()) TakeMarks(defined, PlacesOf(operand), PlacesOf(operand), value);
    return value->cow_read.valid();
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
  // False: the operand is no box of elements.
  bool TakeWhole(const AsyncOperand& operand, BoxAccess* box) const {
    const auto* whole = std::get_if<BoxAccess>(&operand.where);
    if (whole == nullptr || operand.elements != ElementCount(0) || operand.reduce != nullptr) return false;
    TakeBox(*whole, box);
    box->site = site_;
    return true;
  }

  static void TakeMarks(const Definedness& defined, std::size_t places, std::size_t elements, AsyncValue* value) {
    if (!defined.any) return;
    value->marks.resize(elements, 0);
    if (places == elements) {
      std::copy_n(defined.undefined, places, value->marks.begin());
      return;
    }
    const std::size_t unit = places / elements;  // so many places are one
    for (std::size_t i = 0; i < places; ++i) {
      std::uint8_t& mark = value->marks[i / unit];
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
  void Go(Access* access, const AsyncOperand& operand, AsyncValue* value) const {
    const std::size_t places = PlacesOf(operand);
    if (places == 0) return;
    const std::size_t elements = ElementsOf(operand).size(), unit = places / elements;
    std::byte* const at = value->bytes.data();
    access->site = site_;
    Definedness defined;
    if (tracked_) access->defined = &defined;
    if (!load_) {
      std::vector<std::uint8_t> spread;
      if (!value->marks.empty()) defined = {true, value->marks.data()};
      if (!value->marks.empty() && unit != 1) {
        spread.resize(places);
        for (std::size_t i = 0; i < places; ++i) spread[i] = value->marks[i / unit];
        defined.undefined = spread.data();
      }
      if (operand.reduce == nullptr) return memory_->Store(*access, at);
      return Reduce(*access, operand.reduce, at, {places, value->bytes.size() / places, unit});
    }
    memory_->Load(*access, at);
    TakeMarks(defined, places, elements, value);
  }

  struct Sizes {
    std::size_t places, place_bytes, unit;  // so many places are one element
  };

  void Reduce(const PointAccess& access, AtomicFn reduce, const std::byte* operand, const Sizes&) const {
    memory_->Atomic(access, reduce, operand, nullptr, nullptr);
  }

  // Nothing comes between the load and the store: a half is one step of the run.
  void Reduce(const BoxAccess& access, AtomicFn reduce, const std::byte* operand, const Sizes& sizes) const {
    std::vector<std::byte> value(sizes.places * sizes.place_bytes);
    Definedness old;
    BoxAccess load = access;  // the store will report what is outside
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
  bool load_, tracked_;
  Machine* memory_;
};

}  // namespace

void MoveHalf(const AsyncRequest& request, const AsyncOperand& operand, const MoveOptions& options, AsyncValue* value,
              Machine* memory) {
  Mover(request, options.load, options.tracked, memory).Move(operand, value);
}

bool BeginWholeCowRead(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value,
                       Machine* memory) {
  return Mover(request, /*load=*/true, tracked, memory).BeginCowRead(operand, value);
}

bool MakeRoom(const AsyncRequest& request, const AsyncOperand& operand, AsyncValue* value, Machine* memory) {
  return Mover(request, /*load=*/false, /*tracked=*/false, memory).MakeRoom(operand, value);
}

void Wrote(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value, Machine* memory) {
  Mover(request, /*load=*/false, tracked, memory).Wrote(operand, *value);
}

}  // namespace palladion::memory_model
