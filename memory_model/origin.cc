#include "memory_model/origin.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

constexpr std::size_t kSeveral = 255;

bool SamePlace(const Origin& a, const Origin& b) {
  return a.kind == b.kind && a.was_read == b.was_read && a.text_line == b.text_line && a.loc == b.loc &&
         a.made_line == b.made_line && a.made == b.made && a.object == b.object;
}

FindingCode CodeOf(OriginKind kind) {
  switch (kind) {
    case OriginKind::kPadding:
      return FindingCode::kPaddingLeak;
    case OriginKind::kOutput:
      return FindingCode::kOutMissing;
    default:
      return FindingCode::kUninitialised;
  }
}

std::string WhereFrom(const Origin& origin) {
  const std::string read = origin.was_read ? Cat(" that ", NameOfProgram(origin.program), " read") : "";
  switch (origin.kind) {
    case OriginKind::kNeverWritten:
      return Cat("an element of '", origin.object, "'", read, " before anybody had written it");
    case OriginKind::kOutput:
      return Cat("an element of the output '", origin.object, "'", read, origin.was_read ? " before" : ", as if",
                 " anybody had written it");
    case OriginKind::kPadding:
      return Cat("the padding of operand '", origin.object, "'", read, ": its block reaches beyond the array");
    case OriginKind::kMaskedLane:
      return Cat("a masked-off lane of a load of '", origin.object, "' without other=, in ",
                 NameOfProgram(origin.program));
    case OriginKind::kOutOfBounds:
      return Cat("a load of '", origin.object, "' out of bounds, in ", NameOfProgram(origin.program));
    case OriginKind::kSeveral:
      break;
  }
  return "one of more places than are told apart";
}

std::string FixOf(const Origin& origin) {
  switch (origin.kind) {
    case OriginKind::kNeverWritten:
      return Cat("store to '", origin.object,
                 "' before it is read: in the first program of the dimension it accumulates over, under pl.when");
    case OriginKind::kOutput:
      return Cat("store to every element of '", origin.object, "' before it is read");
    case OriginKind::kPadding:
      return "mask the elements beyond the array with jnp.where before they reach other elements, or choose a block "
             "that divides the array";
    case OriginKind::kMaskedLane:
      return "give the load an other=, or mask what is computed from it";
    default:
      return "";
  }
}

}  // namespace

std::string NameOfProgram(absl::Span<const std::int64_t> program) {
  return Cat("program (", absl::StrJoin(program, ", "), ")");
}

Origins::Origins() { origins_.resize(1); }

std::uint8_t Origins::Number(Origin origin) {
  for (std::size_t i = 1; i < origins_.size(); ++i) {
    if (!SamePlace(origins_[i], origin)) continue;
    origins_[i].program = std::move(origin.program);
    return static_cast<std::uint8_t>(i);
  }
  if (origins_.size() == kSeveral)
    origins_.push_back(Origin{.kind = OriginKind::kSeveral, .object = "", .was_read = true});
  if (origins_.size() > kSeveral) return kSeveral;
  if (!origin.was_read) unread_.push_back(static_cast<std::uint8_t>(origins_.size()));
  origins_.push_back(std::move(origin));
  return static_cast<std::uint8_t>(origins_.size() - 1);
}

std::uint8_t Origins::ReadAt(std::uint8_t mark, const Site& site) {
  if (Of(mark).was_read) return mark;
  Origin origin = Of(mark);
  origin.was_read = true;
  origin.loc = site.loc;
  origin.text_line = site.text_line;
  origin.program.assign(site.program.begin(), site.program.end());
  return Number(std::move(origin));
}

Finding Origins::FindingOf(std::uint8_t mark, const std::string& what) const {
  const Origin& origin = Of(mark);
  const FindingCode code = CodeOf(origin.kind);
  Finding finding{.code = code,
                  .severity = RowOf(code).severity,
                  .message = Cat(what, " is undefined: it comes from ", WhereFrom(origin)),
                  .loc = {},
                  .first = std::nullopt,
                  .second = std::nullopt,
                  .why = "",
                  .fix = FixOf(origin)};
  if (origin.kind == OriginKind::kSeveral) return finding;
  FindingAccess first{.kind = origin.was_read ? AccessKind::kRead : AccessKind::kAlloc,
                      .agent = origin.program.empty() ? "" : NameOfProgram(origin.program),
                      .object = origin.object,
                      .box = "",
                      .loc = origin.was_read ? origin.loc : origin.made,
                      .text_line = origin.was_read ? origin.text_line : origin.made_line};
  finding.first = std::move(first);
  return finding;
}

}  // namespace palladion
