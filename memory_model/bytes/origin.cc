#include "memory_model/bytes/origin.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

// The numbers of one kind of origin; the last one is "several".
struct Range {
  std::size_t first, several;
};
constexpr Range RangeOf(OriginKind kind) {
  switch (kind) {
    case OriginKind::kOutput:
      return {1, 8};
    case OriginKind::kValue:
      return {96, 127};
    default:
      return {9, 95};
  }
}

bool SamePlace(const Origin& a, const Origin& b) {
  return a.kind == b.kind && a.was_read == b.was_read && a.text_line == b.text_line && a.loc == b.loc &&
         a.made_line == b.made_line && a.made == b.made && a.object == b.object && a.code == b.code &&
         a.carried == b.carried;
}

FindingCode CodeOf(OriginKind kind) {
  switch (kind) {
    case OriginKind::kPadding:
      return FindingCode::kPaddingLeak;
    default:
      return FindingCode::kUninitialised;
  }
}

// `reader` has met it; `at` says so of what it did, " at program (2)".
std::string WhereFrom(const Origin& origin, const std::string& reader, const std::string& at) {
  const std::string read = origin.was_read ? Cat(" that ", reader, " read") : "";
  switch (origin.kind) {
    case OriginKind::kNeverWritten:
      return Cat("an element of '", origin.object, "'", read, " before it was written");
    case OriginKind::kOutput:
      return Cat("an element of the output '", origin.object, "'", read,
                 origin.was_read ? " before it was written" : ", which was never written");
    case OriginKind::kPadding:
      return Cat("the padding of operand '", origin.object, "'", read, ": its block or tile reaches beyond the array");
    case OriginKind::kMaskedLane:
      return Cat("a masked-off lane of a load of '", origin.object, "' without other=", at);
    case OriginKind::kOutOfBounds:
      return Cat("a load of '", origin.object, "' out of bounds", at);
    case OriginKind::kValue:
    case OriginKind::kSeveral:
      break;
  }
  return "one of more places than are kept apart";
}

}  // namespace

std::uint8_t MovedFrom(std::uint8_t number, ElementCount at) {
  // Fifteen neighbours have a place each, in an order that the next fifteen do not share: a shift changes some.
  const auto element = static_cast<std::uint64_t>(at.value()), group = element / kInPlace;
  std::uint64_t turn = group * 0x9e3779b97f4a7c15;  // splitmix64's steps
  turn = (turn ^ (turn >> 30)) * 0xbf58476d1ce4e5b9;
  const std::uint64_t place = (element + (turn >> 32)) % kInPlace;
  return static_cast<std::uint8_t>(kMovedMark | (number - 1) << 4 | place);
}

Origins::Origins() {
  for (const OriginKind kind : {OriginKind::kOutput, OriginKind::kSeveral, OriginKind::kValue}) {
    Numbered& several = numbers_[RangeOf(kind).several];
    several.origin.was_read = true;
    if (kind == OriginKind::kValue) several.origin.kind = kind;
  }
}

std::uint8_t Origins::Number(Origin origin, absl::Span<const std::int64_t> program, std::string_view said) {
  const Range range = RangeOf(origin.kind);
  std::size_t i = range.first;
  for (; i < range.several; ++i) {
    Numbered& numbered = numbers_[i];
    if (numbered.met.empty()) {  // not given to a program yet
      if (!origin.was_read || origin.carried != Carried::kNot) unread_.push_back(static_cast<std::uint8_t>(i));
      numbered.origin = std::move(origin);
      break;
    }
    if (SamePlace(numbered.origin, origin)) break;
  }
  if (i == range.several && numbers_[i].met.empty()) numbers_[i].origin.code = origin.code;
  Meet(numbers_[i], program, said);
  return static_cast<std::uint8_t>(i);
}

void Origins::Meet(Numbered& numbered, absl::Span<const std::int64_t> program, std::string_view said) {
  constexpr std::size_t kMostPrograms = 4096;  // more than run at one time
  if (!numbered.met.empty() && numbered.last == program) return;
  numbered.last.assign(program.begin(), program.end());
  if (numbered.met.size() == kMostPrograms) numbered.met.clear();
  numbered.met.try_emplace(numbered.last, said);
}

std::uint8_t Origins::ReadAt(std::uint8_t mark, const Site& site) {
  Origin origin = Of(mark);
  if (origin.was_read && origin.carried == Carried::kNot) return mark;
  origin.carried = Carried::kNot;
  if (!std::exchange(origin.was_read, true)) origin.loc = site.loc, origin.text_line = site.text_line;
  return Number(std::move(origin), site.program);
}

void Origins::StoredTo(std::uint8_t mark, const std::string& object, absl::Span<const std::int64_t> program) {
  Numbered& numbered = numbers_[ComputedMark(mark)];
  if (numbered.origin.object != object || numbered.met.empty()) return;
  const Program& first = numbered.met.begin()->first;
  if (first.size() != program.size()) return;
  numbered.accumulates.resize(program.size());
  for (std::size_t d = 0; d < program.size(); ++d)
    numbered.accumulates[d] = numbered.accumulates[d] || first[d] != program[d];
}

// The dimensions of the grid along which programs accumulate into it.
std::vector<std::size_t> Origins::AxesOf(const Numbered& numbered) const {
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; !naming_.blocks && d < numbered.accumulates.size(); ++d) {
    if (numbered.accumulates[d]) axes.push_back(d - naming_.device_dims);
  }
  return axes;
}

Mend Origins::MendOf(const Numbered& numbered) const {
  const Origin& origin = numbered.origin;
  const std::vector<std::size_t> axes = AxesOf(numbered);
  const bool stored = origin.kind == OriginKind::kNeverWritten || origin.kind == OriginKind::kOutput;
  if (!stored || naming_.blocks || (axes.size() != 1 && !numbered.accumulates.empty())) return {};
  return {.kind = Mend::Kind::kZeros,
          .object = origin.object,
          .amount = axes.empty() ? -1 : static_cast<std::int64_t>(axes[0])};
}

// Where programs of a grid accumulate into it, the first of them is to begin with zeros; threads also read what a copy
// has not brought yet.
std::string Origins::FixOf(const Numbered& numbered) const {
  const Origin& origin = numbered.origin;
  const std::vector<std::size_t> axes = AxesOf(numbered);
  std::string zeros;
  if (axes.size() == 1) {
    zeros = Cat(": zeros under pl.when(pl.program_id(", axes[0], ") == 0)");
  } else if (!naming_.blocks && !numbered.accumulates.empty()) {
    zeros = ": zeros in the first of the programs that accumulate into it";
  }
  switch (origin.kind) {
    case OriginKind::kNeverWritten:
      if (naming_.blocks) return Cat("store to '", origin.object, "', or wait for what fills it, before it is read");
      return Cat("store to '", origin.object, "' before it is read", zeros);
    case OriginKind::kOutput:
      return Cat("store to every element of '", origin.object, "' before it is read", zeros);
    case OriginKind::kPadding:
      return "mask the elements beyond the array with jnp.where before they reach other elements, or choose a block "
             "that divides the array";
    case OriginKind::kMaskedLane:
      return "give the load an other=, or mask what is computed from it";
    default:
      return "";
  }
}

std::uint8_t Origins::CarriedAt(std::uint8_t mark, const Site& site) {
  Origin origin = Of(mark);
  if (origin.was_read) return mark;
  if (origin.kind == OriginKind::kNeverWritten) origin.carried = Carried::kByEngines;
  origin.was_read = true;
  origin.loc = site.loc;
  origin.text_line = site.text_line;
  return Number(std::move(origin), site.program);
}

std::uint8_t Origins::BesideDefined(std::uint8_t mark, const Site& site) {
  Origin origin = Of(mark);
  const bool moved = mark >= kMovedMark;  // of another output, or of another place of this one
  if (mark == 0 || (!moved && origin.carried == Carried::kNot)) return mark;
  origin.kind = OriginKind::kNeverWritten;
  origin.carried = Carried::kBesideDefined;
  return Number(std::move(origin), site.program);
}

Origins::Program Origins::MetBy(std::uint8_t mark, absl::Span<const std::int64_t> program) const {
  const Numbered& numbered = numbers_[ComputedMark(mark)];
  Program own(program.begin(), program.end());
  return numbered.met.count(own) != 0 ? own : numbered.last;
}

Finding Origins::FindingOfValue(const Numbered& numbered, const std::string& what, const Program& met) const {
  const auto said = numbered.met.find(met);
  const std::string& why = said != numbered.met.end() ? said->second : numbered.met.at(numbered.last);
  return {.code = numbered.origin.code,
          .severity = RowOf(numbered.origin.code).severity,
          .message = Cat(why, "; ", what, " depends on the result"),
          .loc = numbered.origin.loc,
          .text_line = numbered.origin.text_line};
}

Finding Origins::FindingOf(std::uint8_t mark, const std::string& what, const Program& met) const {
  const Numbered& numbered = numbers_[ComputedMark(mark)];
  const Origin& origin = numbered.origin;
  if (origin.kind == OriginKind::kValue) return FindingOfValue(numbered, what, met);
  const FindingCode code = CodeOf(origin.kind);
  Finding finding{.code = code,
                  .severity = RowOf(code).severity,
                  .message = Cat(what, " is undefined: it comes from ",
                                 WhereFrom(origin, AgentName(naming_, met), AtAgent(naming_, met))),
                  .loc = {},
                  .first = std::nullopt,
                  .second = std::nullopt,
                  .why = "",
                  .fix = FixOf(numbered)};
  finding.mend = MendOf(numbered);
  if (origin.kind == OriginKind::kSeveral) return finding;
  finding.first = FindingAccess{.kind = origin.was_read ? AccessKind::kRead : AccessKind::kAlloc,
                                .agent = met.empty() && !origin.was_read ? "" : AgentName(naming_, met),
                                .object = origin.object,
                                .box = "",
                                .loc = origin.was_read ? origin.loc : origin.made,
                                .text_line = origin.was_read ? origin.text_line : origin.made_line};
  return finding;
}

}  // namespace palladion::memory_model
