// Memory: which elements of accesses are undefined, and where that came from. Rules: docs/spec/definedness.md.
#include <algorithm>
#include <array>
#include <cstring>

#include "memory_model/memory.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element_index.h"

namespace palladion {
namespace {

constexpr std::size_t kMaxUndefinedStores = 1024;  // of one output; older ones are forgotten

std::string CountText(std::int64_t count, std::int64_t of) {
  return Cat(count, " of its ", of, of == 1 ? " element" : " elements");
}

// A block with no element in its array is a finding of its own, so its data need not be another.
bool WindowOutside(absl::Span<const std::int64_t> shape, const BoxAccess& access) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (access.lower[d] >= shape[d] || access.upper[d] <= 0) return true;
  }
  return false;
}

}  // namespace

void Memory::TrackDefinedness() { tracking_ = std::make_unique<Tracking>(); }

DefinedMark Memory::Number(OriginKind kind, const Buffer& buffer, const Site* site) {
  Origin origin{.kind = kind, .object = buffer.name, .made = buffer.made, .made_line = buffer.made_line};
  if (site != nullptr) {
    origin.was_read = tracking_->engine_source == nullptr;
    origin.loc = site->loc;
    origin.text_line = site->text_line;
    origin.program.assign(site->program.begin(), site->program.end());
  }
  return tracking_->origins.Number(std::move(origin));
}

void Memory::SetUndefined(BufferId id) {
  Buffer& buffer = Of(id);
  buffer.defined.SetAll(Number(buffer.is_output ? OriginKind::kOutput : OriginKind::kNeverWritten, buffer, nullptr));
}

// ---- loads

// Masked-off lanes, over what the load's marks are so far. A lane of which nobody knows whether it takes part is the
// mask's.
void Memory::MarkMasked(const Buffer& buffer, const Mask& mask, const Site& site, std::size_t elements) {
  const bool none_off = std::memchr(mask.lanes, 0, elements) == nullptr;
  const DefinedMark masked =
      none_off || mask.other != nullptr ? DefinedMark{0} : Number(OriginKind::kMaskedLane, buffer, &site);
  MaskMarks(tracking_->marks.data(), mask.lanes, mask.other_undefined, masked, mask.lanes_undefined, elements);
}

// The first time that the kernel reads undefined data is part of where it comes from.
void Memory::FinishLoad(Definedness& defined, const Site& site, std::size_t elements) {
  DefinedMark* marks = tracking_->marks.data();
  defined = {CountMarks(marks, elements) != 0, marks};
  if (!defined.any || tracking_->engine_source != nullptr) return;
  for (const DefinedMark mark : tracking_->origins.unread()) {
    if (std::memchr(marks, mark, elements) != nullptr)
      ReplaceMarks(marks, mark, tracking_->origins.ReadAt(mark, site), elements);
  }
}

void Memory::DefineLoad(const Buffer& buffer, const BoxAccess& access, const BoxReach& reach, std::size_t elements) {
  if (access.defined == nullptr) return;
  const Mask& mask = access.mask;
  const bool may_be_masked = mask.lanes != nullptr && (mask.other == nullptr || mask.other_undefined != nullptr ||
                                                       mask.lanes_undefined != nullptr);
  if (buffer.defined.all_defined() && reach.all_copied && !may_be_masked) {
    *access.defined = {};
    return;
  }
  std::vector<DefinedMark>& marks = tracking_->marks;
  marks.resize(std::max(marks.size(), elements));
  if (!reach.all_copied) {
    const bool error =
        WindowOutside(buffer.shape, access) || (!reach.all_legal && AnyLaneOutside(access, reach, elements));
    const DefinedMark outside =
        access.outside == Outside::kZero && !error
            ? DefinedMark{0}
            : Number(error ? OriginKind::kOutOfBounds : OriginKind::kPadding, buffer, &access.site);
    std::fill_n(marks.begin(), elements, outside);
  }
  buffer.defined.LoadBox(buffer.shape, access, reach, marks.data());
  if (mask.lanes != nullptr) MarkMasked(buffer, mask, access.site, elements);
  FinishLoad(*access.defined, access.site, elements);
}

DefinedMark Memory::OutsideMark(const Buffer& buffer, const PointAccess& access, std::int64_t offset) {
  return Number(offset == PointAccess::kPadding ? OriginKind::kPadding : OriginKind::kOutOfBounds, buffer,
                &access.site);
}

void Memory::DefineLoad(const Buffer& buffer, const PointAccess& access, bool all_inside) {
  if (access.defined == nullptr) return;
  const Mask& mask = access.mask;
  if (buffer.defined.all_defined() && all_inside && mask.lanes == nullptr) {
    *access.defined = {};
    return;
  }
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  std::vector<DefinedMark>& marks = tracking_->marks;
  marks.resize(std::max(marks.size(), elements));
  std::fill_n(marks.begin(), elements, DefinedMark{0});
  const bool only_outside = buffer.defined.all_defined() && pieces == 1;
  for (std::size_t e = 0; e < elements; ++e) {
    if (only_outside && access.offset[e] >= 0) continue;
    if (mask.lanes != nullptr && mask.lanes[e] == 0) continue;
    for (std::size_t p = e * pieces; p < (e + 1) * pieces; ++p) {
      const std::int64_t offset = access.offset[p];
      const DefinedMark mark = offset >= 0
                                   ? buffer.defined.LoadPiece(static_cast<std::size_t>(offset), access.piece_bytes)
                                   : OutsideMark(buffer, access, offset);
      marks[e] = MergeMarks(marks[e], mark);
    }
  }
  if (mask.lanes != nullptr) MarkMasked(buffer, mask, access.site, elements);
  FinishLoad(*access.defined, access.site, elements);
}

// ---- stores

void Memory::DefineStore(Buffer& buffer, const BoxAccess& access, const BoxReach& reach) {
  const bool any = access.defined != nullptr && access.defined->any;
  const DefinedMark* marks = any ? access.defined->undefined : nullptr;
  const bool stored = buffer.defined.StoreBox(buffer.shape, access, reach, marks);
  if (!stored || !any || !buffer.is_output) return;
  std::int64_t first = 0, last = 0;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    first = first * buffer.shape[d] + access.start[d] + reach.copy[d].begin * access.step[d];
    last = last * buffer.shape[d] + access.start[d] + (reach.copy[d].end - 1) * access.step[d];
  }
  RecordStore(buffer, first, last, marks, LayoutOf(access, 1).elements, access.site);
}

void Memory::DefineStore(Buffer& buffer, const PointAccess& access) {
  const bool any = access.defined != nullptr && access.defined->any;
  const Mask& mask = access.mask;
  if (!any && mask.lanes_undefined == nullptr && buffer.defined.all_defined()) return;
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  std::int64_t first = static_cast<std::int64_t>(buffer.bytes), last = -1;  // of what is undefined
  for (std::size_t e = 0; e < elements; ++e) {
    DefinedMark mark = mask.lanes_undefined == nullptr ? DefinedMark{0} : mask.lanes_undefined[e];
    if (mask.lanes != nullptr && mask.lanes[e] == 0 && mark == 0) continue;
    if (any) mark = MergeMarks(mark, access.defined->undefined[e]);
    for (std::size_t p = e * pieces; p < (e + 1) * pieces; ++p) {
      if (access.offset[p] < 0) continue;
      buffer.defined.StorePiece(static_cast<std::size_t>(access.offset[p]), access.piece_bytes, mark);
      if (mark == 0) continue;
      first = std::min(first, access.offset[p]);
      last = std::max(last, access.offset[p]);
    }
  }
  if (!any || !buffer.is_output || first > last) return;
  const auto element_bytes = static_cast<std::int64_t>(buffer.element_bytes);
  RecordStore(buffer, first / element_bytes, last / element_bytes, access.defined->undefined, elements, access.site);
}

// The lanes one after another, as the atomic itself goes: a later lane may find what an earlier one left.
void Memory::DefineAtomic(Buffer& buffer, const PointAccess& access) {
  if (access.defined == nullptr) return;
  const Mask& mask = access.mask;
  const bool any = access.defined->any;
  const DefinedMark* operand = access.defined->undefined;
  const std::size_t pieces = access.pieces_per_element, elements = access.offset.size() / pieces;
  const bool all_inside =
      std::all_of(access.offset.begin(), access.offset.end(), [](std::int64_t offset) { return offset >= 0; });
  if (!any && buffer.defined.all_defined() && all_inside && mask.lanes == nullptr) return;
  // The operand's marks may be those of the last load.
  std::vector<DefinedMark> old(elements, 0);
  for (std::size_t e = 0; e < elements; ++e) {
    const absl::Span<const std::int64_t> offset = access.offset.subspan(e * pieces, pieces);
    const DefinedMark unsure = mask.lanes_undefined == nullptr ? DefinedMark{0} : mask.lanes_undefined[e];
    if (mask.lanes != nullptr && mask.lanes[e] == 0 && unsure == 0) {
      old[e] = Number(OriginKind::kMaskedLane, buffer, &access.site);
      continue;
    }
    for (const std::int64_t at : offset) {
      old[e] = MergeMarks(old[e], at >= 0 ? buffer.defined.LoadPiece(static_cast<std::size_t>(at), access.piece_bytes)
                                          : OutsideMark(buffer, access, at));
    }
    old[e] = MergeMarks(old[e], unsure);
    if (*std::min_element(offset.begin(), offset.end()) < 0) continue;
    const DefinedMark after = any ? MergeMarks(old[e], operand[e]) : old[e];
    for (const std::int64_t at : offset)
      buffer.defined.StorePiece(static_cast<std::size_t>(at), access.piece_bytes, after);
  }
  tracking_->marks.assign(old.begin(), old.end());
  FinishLoad(*access.defined, access.site, elements);
}

// For each origin among the marks: this store. What an engine stores somebody stored in its source before.
void Memory::RecordStore(Buffer& buffer, std::int64_t first, std::int64_t last, const DefinedMark* marks, std::size_t n,
                         const Site& site) {
  std::array<bool, 256> seen{};
  for (std::size_t i = 0; i < n; ++i) seen[marks[i]] = true;
  std::vector<UndefinedStore>& stores = buffer.undefined_stores;
  for (std::size_t m = 1; m < seen.size(); ++m) {
    const auto mark = static_cast<DefinedMark>(m);
    if (!seen[m] || !tracking_->origins.Of(mark).was_read) continue;
    UndefinedStore store{mark, first, last, site.loc, site.text_line, {site.program.begin(), site.program.end()}};
    if (tracking_->engine_source != nullptr) {
      const std::vector<UndefinedStore>& before = tracking_->engine_source->undefined_stores;
      const auto found = std::find_if(before.rbegin(), before.rend(), [&](const auto& s) { return s.mark == mark; });
      if (found != before.rend()) {
        store = *found;
        store.first = first, store.last = last;
      }
    }
    if (stores.size() == kMaxUndefinedStores) stores.erase(stores.begin(), stores.begin() + kMaxUndefinedStores / 2);
    stores.push_back(std::move(store));
  }
}

// ---- findings

void Memory::ReportUndefined(DefinedMark mark, std::string_view use, const Site& site) {
  const Origins& origins = tracking_->origins;
  if (origins.IsReported(mark)) return;
  Finding finding = origins.FindingOf(mark, Cat(use, " at ", NameOfProgram(site.program)));
  finding.loc = site.loc;
  finding.text_line = site.text_line;
  finding.second = FindingAccess{.kind = AccessKind::kRead,
                                 .agent = NameOfProgram(site.program),
                                 .object = std::string(use),
                                 .box = "",
                                 .loc = site.loc,
                                 .text_line = site.text_line};
  Report(std::move(finding));
}

std::int64_t Memory::ReportUndefinedOutput(BufferId id, const Site& site) {
  const Buffer& buffer = Of(id);
  const auto elements = static_cast<std::int64_t>(buffer.bytes / std::max<std::size_t>(1, buffer.element_bytes));
  if (buffer.defined.all_defined()) return elements;
  struct Part {
    std::int64_t first = 0, count = 0;
  };
  std::array<Part, 256> parts{};
  for (std::int64_t e = 0; e < elements; ++e) {
    Part& part = parts[buffer.defined.At(static_cast<std::size_t>(e))];
    if (part.count++ == 0) part.first = e;
  }
  const Origins& origins = tracking_->origins;
  for (std::size_t m = 1; m < parts.size(); ++m) {
    const auto mark = static_cast<DefinedMark>(m);
    const Part part = parts[m];
    if (part.count == 0 || origins.IsReported(mark)) continue;
    const std::string element = Cat("'", buffer.name, "'", IndexText(buffer.shape, part.first));
    const Origin& origin = origins.Of(mark);
    if (origin.kind == OriginKind::kOutput && !origin.was_read) {
      Report({.code = FindingCode::kOutMissing,
              .severity = Severity::kWarning,
              .message = Cat("output ", element, " was never written (", CountText(part.count, elements), " were not)"),
              .loc = site.loc,
              .text_line = site.text_line,
              .first = std::nullopt,
              .second = std::nullopt,
              .why = "",
              .fix = "store to every element of the output, or make the grid cover it"});
      continue;
    }
    Finding finding = origins.FindingOf(mark, Cat("output ", element, " (", CountText(part.count, elements), ")"));
    finding.loc = site.loc;
    finding.text_line = site.text_line;
    const std::vector<UndefinedStore>& stores = buffer.undefined_stores;
    const auto stored = [&](bool there) {
      return std::find_if(stores.rbegin(), stores.rend(), [&](const UndefinedStore& s) {
        return s.mark == mark && (!there || (s.first <= part.first && part.first <= s.last));
      });
    };
    auto store = stored(true);
    if (store == stores.rend()) store = stored(false);
    if (store != stores.rend()) {
      finding.loc = store->loc;
      finding.text_line = store->text_line;
      finding.second = FindingAccess{.kind = AccessKind::kWrite,
                                     .agent = NameOfProgram(store->program),
                                     .object = buffer.name,
                                     .box = IndexText(buffer.shape, part.first),
                                     .loc = store->loc,
                                     .text_line = store->text_line};
    }
    Report(std::move(finding));
  }
  return elements;
}

}  // namespace palladion
