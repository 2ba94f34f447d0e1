#include "memory_model/bytes/definedness_tracker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "memory_model/sets/region.h"

namespace palladion::memory_model {
DefinedMark DefinednessTracker::Number(OriginKind kind, const MemoryBuffer& buffer, const Site* site) {
  if (values_only_) return 0;
  Origin origin{.kind = kind, .object = buffer.name, .made = buffer.made, .made_line = buffer.made_line};
  if (site == nullptr) return origins_.Number(std::move(origin), {});
  origin.was_read = engine_source_ == nullptr;
  origin.loc = site->loc;
  origin.text_line = site->text_line;
  return origins_.Number(std::move(origin), site->program);
}

std::uint8_t DefinednessTracker::MarkOfValue(const Finding& finding, const Site& site) {
  return origins_.Number({.kind = OriginKind::kValue,
                          .was_read = true,
                          .loc = finding.loc,
                          .text_line = finding.text_line,
                          .code = finding.code},
                         site.program, finding.message);
}

void DefinednessTracker::SetUndefined(MemoryBuffer& buffer) {
  buffer.stored_by.clear();
  if (buffer.is_output) {
    buffer.defined.SetAll(values_only_ ? DefinedMark{0} : kUntouched);
  } else {
    buffer.defined.SetAll(Number(OriginKind::kNeverWritten, buffer, nullptr));
  }
}

// ---- unwritten bytes of an output: which of them are where they were

class DefinednessTracker::Moves {
 public:
  // `beside_defined`: an engine's copy, which stores defined elements too.
  Moves(DefinednessTracker& tracker, const MemoryBuffer& buffer, const Site& site, bool beside_defined = false)
      : tracker_(tracker), buffer_(buffer), site_(site), beside_defined_(beside_defined) {}

  // Does one of n marks need Read or Store?
  static bool Any(const DefinedMark* marks, std::size_t n) {
    return std::any_of(marks, marks + n, [](DefinedMark mark) { return mark >= kMovedMark; });
  }

  // The mark of a value whose element the kernel reads here.
  DefinedMark Read(DefinedMark mark, ElementCount element) {
    if (!IsInPlace(mark)) return mark;
    return MovedFrom(mark == kUntouched ? Untouched() : ComputedMark(mark), element);
  }

  // The same, of one that is computed with.
  DefinedMark Use(DefinedMark mark) { return mark == kUntouched ? Untouched() : ComputedMark(mark); }

  // The mark that the element has after it was stored here. A block's copy to its array has each in its place.
  DefinedMark Store(DefinedMark mark, ElementCount element) {
    if (IsInPlace(mark)) return mark;
    if (mark < kMovedMark) return Beside(mark);
    const std::uint8_t number = ComputedMark(mark);
    const Origin& origin = tracker_.origins_.Of(number);
    const bool own = origin.kind != OriginKind::kOutput || origin.object == buffer_.name;
    if (own && MovedFrom(number, element) == mark) return InPlaceOf(mark);
    return beside_defined_ ? Beside(mark) : number;
  }

 private:
  DefinedMark Beside(DefinedMark mark) {
    if (!beside_defined_ || mark == 0) return mark;
    if (mark != last_.first) last_ = {mark, tracker_.origins_.BesideDefined(mark, site_)};
    return last_.second;
  }

  std::uint8_t Untouched() {
    if (untouched_ == 0) untouched_ = tracker_.Number(OriginKind::kOutput, buffer_, &site_);
    return untouched_;
  }

  DefinednessTracker& tracker_;
  const MemoryBuffer& buffer_;
  const Site& site_;
  const bool beside_defined_;
  std::uint8_t untouched_ = 0;
  std::pair<DefinedMark, DefinedMark> last_ = {0, 0};
};

// Which agent stores an undefined element in an output.
class DefinednessTracker::StoreRecord {
 public:
  StoreRecord(DefinednessTracker& tracker, MemoryBuffer& buffer, const Site& site)
      : tracker_(tracker), buffer_(buffer), site_(site) {
    if (tracker_.stores_.crowded()) tracker_.ForgetStores();
  }

  // What an engine stores was stored in its source before. `lane` is the element's number in the value.
  void Element(ElementCount element, std::size_t lane, DefinedMark mark) {
    if (mark == 0 || mark == kUntouched) return;
    if (buffer_.stored_by.empty()) buffer_.stored_by.resize(buffer_.elements().size());
    StoreNumber number = tracker_.engine_source_ == nullptr || tracker_.copied_.empty() ? 0 : tracker_.copied_[lane];
    buffer_.stored_by[element.size()] = number != 0 ? number : Own(mark);
  }

 private:
  StoreNumber Own(DefinedMark mark) {
    StoreNumber& number = own_[mark];
    if (number == 0) {
      number = tracker_.stores_.Add({.mark = mark,
                                     .loc = site_.loc,
                                     .text_line = site_.text_line,
                                     .program = {site_.program.begin(), site_.program.end()},
                                     .met = tracker_.origins_.MetBy(mark, site_.program)});
    }
    return number;
  }

  DefinednessTracker& tracker_;
  MemoryBuffer& buffer_;
  const Site& site_;
  std::array<StoreNumber, 256> own_{};
};

void DefinednessTracker::ForgetStores() {
  std::vector<std::vector<StoreNumber>*> elements{&copied_};
  for (MemoryBuffer& buffer : buffers_) elements.push_back(&buffer.stored_by);
  stores_.Forget(elements);
}

// ---- loads

// Masked-off lanes, over what the load's marks are so far. A lane with an undefined mask is the
// mask's.
void DefinednessTracker::MarkMasked(const MemoryBuffer& buffer, const Mask& mask, const Site& site,
                                    std::size_t elements) {
  const bool none_off = std::memchr(mask.lanes, 0, elements) == nullptr;
  const DefinedMark masked =
      none_off || mask.other != nullptr ? DefinedMark{0} : Number(OriginKind::kMaskedLane, buffer, &site);
  MaskMarks(marks_.data(), {mask.lanes, mask.other_undefined, masked, mask.lanes_undefined}, elements);
}

// The first time that the kernel reads undefined data is part of where it comes from.
void DefinednessTracker::FinishLoad(Definedness& defined, const Site& site, std::size_t elements) {
  DefinedMark* marks = marks_.data();
  defined = {CountMarks(marks, elements) != 0, marks};
  if (!defined.any || engine_source_ != nullptr) return;
  for (std::size_t i = 0, known = origins_.unread().size(); i < known; ++i) {  // those that it makes are not among them
    const DefinedMark mark = origins_.unread()[i];
    if (std::memchr(marks, mark, elements) == nullptr) continue;
    const DefinedMark read = copies_ ? origins_.CarriedAt(mark, site) : origins_.ReadAt(mark, site);
    if (read != mark) ReplaceMarks(marks, mark, read, elements);
  }
}

// The writer of what an engine copies is the writer of its source.
void DefinednessTracker::CopyStores(const MemoryBuffer& source, const BoxAccess& access, const BoxReach& reach,
                                    std::size_t elements) {
  std::vector<StoreNumber>& copied = copied_;
  copied.clear();
  if (source.stored_by.empty()) return;
  copied.resize(elements);
  VisitElements(access, reach, source.shape, [&](std::int64_t element, std::int64_t lane) {
    copied[static_cast<std::size_t>(lane)] = source.stored_by[static_cast<std::size_t>(element)];
  });
}

void DefinednessTracker::Load(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                              bool outside_is_error) {
  if (access.defined == nullptr) return;
  const std::size_t elements = LayoutOf(access, ElementSize(1)).elements;
  const Mask& mask = access.mask;
  const bool may_be_masked = mask.lanes != nullptr && (mask.other == nullptr || mask.other_undefined != nullptr ||
                                                       mask.lanes_undefined != nullptr);
  if (reach.all_copied && !may_be_masked && buffer.defined.AllDefined(buffer.shape, access, reach)) {
    *access.defined = {};
    return;
  }
  std::vector<DefinedMark>& marks = marks_;
  marks.resize(std::max(marks.size(), elements));
  if (!reach.all_copied) {
    const DefinedMark outside =
        access.outside == Outside::kZero && !outside_is_error
            ? DefinedMark{0}
            : Number(outside_is_error ? OriginKind::kOutOfBounds : OriginKind::kPadding, buffer, &access.site);
    std::fill_n(marks.begin(), elements, outside);
  }
  buffer.defined.LoadBox(buffer.shape, access, reach, marks.data());
  if (engine_source_ == nullptr && Moves::Any(marks.data(), elements)) {
    Moves moves(*this, buffer, access.site);
    VisitElements(access, reach, buffer.shape, [&](std::int64_t element, std::int64_t lane) {
      marks[static_cast<std::size_t>(lane)] = moves.Read(marks[static_cast<std::size_t>(lane)], ElementCount(element));
    });
  }
  if (engine_source_ == &buffer) CopyStores(buffer, access, reach, elements);
  if (mask.lanes != nullptr) MarkMasked(buffer, mask, access.site, elements);
  FinishLoad(*access.defined, access.site, elements);
}

DefinedMark DefinednessTracker::OutsideMark(const MemoryBuffer& buffer, const PointAccess& access,
                                            std::int64_t offset) {
  return Number(offset == PointAccess::kPadding ? OriginKind::kPadding : OriginKind::kOutOfBounds, buffer,
                &access.site);
}

void DefinednessTracker::Load(const MemoryBuffer& buffer, const PointAccess& access, bool all_inside) {
  if (access.defined == nullptr) return;
  const Mask& mask = access.mask;
  if (buffer.defined.all_defined() && all_inside && mask.lanes == nullptr) {
    *access.defined = {};
    return;
  }
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  const ByteCount piece(static_cast<std::int64_t>(access.piece_bytes));
  std::vector<DefinedMark>& marks = marks_;
  marks.resize(std::max(marks.size(), elements));
  std::fill_n(marks.begin(), elements, DefinedMark{0});
  const bool only_outside = buffer.defined.all_defined() && pieces == 1;
  Moves moves(*this, buffer, access.site);
  for (std::size_t e = 0; e < elements; ++e) {
    if (only_outside && access.offset[e] >= 0) continue;
    if (mask.lanes != nullptr && mask.lanes[e] == 0) continue;
    for (std::size_t p = e * pieces; p < (e + 1) * pieces; ++p) {
      const std::int64_t offset = access.offset[p];
      const DefinedMark mark =
          offset >= 0 ? buffer.defined.LoadPiece(ByteCount(offset), piece) : OutsideMark(buffer, access, offset);
      marks[e] = MergeMarks(marks[e], mark);
    }
    if (IsInPlace(marks[e]))
      marks[e] = moves.Read(marks[e], ByteCount(access.offset[e * pieces]) / buffer.element_size);
  }
  if (mask.lanes != nullptr) MarkMasked(buffer, mask, access.site, elements);
  FinishLoad(*access.defined, access.site, elements);
}

// ---- stores

namespace {

// With the lanes whose mask is undefined.
BoxAccess WithoutMask(const BoxAccess& access) {
  BoxAccess all = access;
  all.mask.lanes = nullptr;
  return all;
}

}  // namespace

// The marks of a value that is stored to an output, as they are in their new places.
const DefinedMark* DefinednessTracker::MarksInPlace(const MemoryBuffer& buffer, const BoxAccess& access,
                                                    const BoxReach& reach) {
  const DefinedMark* marks = access.defined->undefined;
  const std::size_t elements = LayoutOf(access, ElementSize(1)).elements;
  const bool beside = copies_ && CountMarks(marks, elements) < elements;
  if (!beside && !Moves::Any(marks, elements)) return marks;
  Moves moves(*this, buffer, access.site, beside);
  std::vector<DefinedMark>& in_place = in_place_;
  in_place.assign(marks, marks + elements);
  VisitElements(WithoutMask(access), reach, buffer.shape, [&](std::int64_t element, std::int64_t lane) {
    in_place[static_cast<std::size_t>(lane)] =
        moves.Store(in_place[static_cast<std::size_t>(lane)], ElementCount(element));
  });
  return in_place.data();
}

void DefinednessTracker::NoteAccumulation(const MemoryBuffer& buffer, const Definedness& stored, std::size_t elements,
                                          const Site& site) {
  if (engine_source_ != nullptr || copies_) return;
  const auto computed = [](DefinedMark mark) { return mark != 0 && mark < kMovedMark; };
  const DefinedMark* const end = stored.undefined + elements;
  const DefinedMark* const at = std::find_if(stored.undefined, end, computed);
  if (at != end) origins_.StoredTo(*at, buffer.name, site.program);
}

void DefinednessTracker::Store(MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach) {
  const bool any = access.defined != nullptr && access.defined->any;
  if (any) NoteAccumulation(buffer, *access.defined, LayoutOf(access, ElementSize(1)).elements, access.site);
  const DefinedMark* marks = !any                ? nullptr
                             : !buffer.is_output ? access.defined->undefined
                                                 : MarksInPlace(buffer, access, reach);
  const bool stored = buffer.defined.StoreBox(buffer.shape, access, reach, marks);
  const Mask& mask = access.mask;
  if (!stored || !buffer.is_output || (!any && mask.lanes_undefined == nullptr)) return;
  StoreRecord record(*this, buffer, access.site);
  VisitElements(WithoutMask(access), reach, buffer.shape, [&](std::int64_t element, std::int64_t at) {
    const auto lane = static_cast<std::size_t>(at);
    const DefinedMark unsure = mask.lanes_undefined == nullptr ? DefinedMark{0} : mask.lanes_undefined[lane];
    if (mask.lanes != nullptr && mask.lanes[lane] == 0 && unsure == 0) return;
    record.Element(ElementCount(element), lane, MergeMarks(ComputedMark(unsure), any ? marks[lane] : DefinedMark{0}));
  });
}

void DefinednessTracker::Store(MemoryBuffer& buffer, const PointAccess& access) {
  const bool any = access.defined != nullptr && access.defined->any;
  const Mask& mask = access.mask;
  if (!any && mask.lanes_undefined == nullptr && buffer.defined.all_defined()) return;
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  const ByteCount piece(static_cast<std::int64_t>(access.piece_bytes));
  const bool beside = copies_ && any && CountMarks(access.defined->undefined, elements) < elements;
  if (any) NoteAccumulation(buffer, *access.defined, elements, access.site);
  Moves moves(*this, buffer, access.site, beside);
  StoreRecord record(*this, buffer, access.site);
  for (std::size_t e = 0; e < elements; ++e) {
    DefinedMark mark = mask.lanes_undefined == nullptr ? DefinedMark{0} : ComputedMark(mask.lanes_undefined[e]);
    if (mask.lanes != nullptr && mask.lanes[e] == 0 && mark == 0) continue;
    if (any) mark = MergeMarks(mark, access.defined->undefined[e]);
    if (buffer.is_output) mark = moves.Store(mark, ByteCount(access.offset[e * pieces]) / buffer.element_size);
    for (std::size_t p = e * pieces; p < (e + 1) * pieces; ++p) {
      const ByteCount at(access.offset[p]);
      if (at < ByteCount(0)) continue;
      buffer.defined.StorePiece(at, piece, mark);
      if (buffer.is_output) record.Element(at / buffer.element_size, e, mark);
    }
  }
}

// The lanes one after another, as the atomic itself goes: a later lane may find what an earlier one left.
void DefinednessTracker::Atomic(MemoryBuffer& buffer, const PointAccess& access) {
  if (access.defined == nullptr) return;
  const Mask& mask = access.mask;
  const bool any = access.defined->any;
  const DefinedMark* operand = access.defined->undefined;
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  const ByteCount piece(static_cast<std::int64_t>(access.piece_bytes));
  const bool all_inside =
      std::all_of(access.offset.begin(), access.offset.end(), [](std::int64_t offset) { return offset >= 0; });
  if (!any && buffer.defined.all_defined() && all_inside && mask.lanes == nullptr) return;
  Moves moves(*this, buffer, access.site);
  StoreRecord record(*this, buffer, access.site);
  // The operand's marks may be those of the last load.
  std::vector<DefinedMark> old(elements, 0);
  for (std::size_t e = 0; e < elements; ++e) {
    const absl::Span<const std::int64_t> offset = access.offset.subspan(e * pieces, pieces);
    const DefinedMark unsure = mask.lanes_undefined == nullptr ? DefinedMark{0} : ComputedMark(mask.lanes_undefined[e]);
    if (mask.lanes != nullptr && mask.lanes[e] == 0 && unsure == 0) {
      old[e] = Number(OriginKind::kMaskedLane, buffer, &access.site);
      continue;
    }
    for (const std::int64_t at : offset) {
      old[e] = MergeMarks(old[e],
                          at >= 0 ? buffer.defined.LoadPiece(ByteCount(at), piece) : OutsideMark(buffer, access, at));
    }
    old[e] = MergeMarks(moves.Use(old[e]), unsure);
    if (old[e] != 0) old[e] = origins_.ReadAt(old[e], access.site);  // what it becomes is computed
    if (*std::min_element(offset.begin(), offset.end()) < 0) continue;
    const DefinedMark after = any ? MergeMarks(old[e], ComputedMark(operand[e])) : old[e];
    for (const std::int64_t at : offset) {
      buffer.defined.StorePiece(ByteCount(at), piece, after);
      if (buffer.is_output) record.Element(ByteCount(at) / buffer.element_size, e, after);
    }
  }
  marks_.assign(old.begin(), old.end());
  FinishLoad(*access.defined, access.site, elements);
}

}  // namespace palladion::memory_model
