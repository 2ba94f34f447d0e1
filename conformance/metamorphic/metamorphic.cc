#include "conformance/metamorphic/metamorphic.h"

#include <optional>

#include "conformance/metamorphic/checked_report.h"
#include "conformance/metamorphic/insertion.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

// An operation more makes other schedules of the same seeds. A difference that more of them take away is none.
constexpr std::int64_t kMore = 32;

unsigned BackendOf(std::string_view target) {
  if (target.starts_with("triton")) return kTriton;
  if (target.starts_with("mosaic_tpu")) return kMosaicTpu;
  if (target.starts_with("mosaic_gpu")) return kMosaicGpu;
  return kGeneric;
}

// A case's kernel as it is, checked when it is first asked for.
class Original {
 public:
  Original(const Case& test, const std::string& text) : test_(test), text_(text) {}

  const CheckedText& Few() { return CheckedWith(few_, 1); }
  const CheckedText& Many() { return CheckedWith(many_, kMore); }

 private:
  const CheckedText& CheckedWith(std::optional<CheckedText>& checked, std::int64_t factor) {
    if (!checked.has_value()) checked = CheckText(test_, text_, factor);
    return *checked;
  }

  const Case& test_;
  const std::string& text_;
  std::optional<CheckedText> few_, many_;
};

std::vector<std::string> DifferencesOf(const Case& test, Original& original, const Inserted& inserted,
                                       absl::Span<const Fact> denies) {
  const CheckedText changed = CheckText(test, inserted.text, 1);
  std::vector<std::string> differences = Differences(original.Few(), changed, denies, inserted.lines);
  if (differences.empty() || (!changed.tried && !original.Few().tried)) return differences;
  return Differences(original.Many(), CheckText(test, inserted.text, kMore), denies, inserted.lines);
}

}  // namespace

std::string Change::Name() const { return Cat(harmless->name, "@", PlaceName(place)); }

std::vector<Change> ChangesFor(const Case& test) {
  std::vector<Change> changes;
  for (const Harmless& harmless : AllHarmless()) {
    if ((harmless.backends & BackendOf(test.target)) == 0) continue;
    for (const unsigned place : {kAtStart, kAtEnd, kInLoop}) {
      if (place == kInLoop && test.budget.has_value()) continue;  // the budget is of the turns of loops
      if ((harmless.places & place) != 0) changes.push_back({&harmless, place});
    }
  }
  return changes;
}

std::vector<Comparison> Compare(const Case& test, const std::vector<Change>& changes) {
  std::vector<Comparison> comparisons;
  const absl::StatusOr<std::string> canonical = CanonicalText(test.kernel);
  if (!canonical.ok()) return comparisons;  // no kernel that something could be put into
  Original original(test, *canonical);
  for (const Change& change : changes) {
    Comparison& comparison = comparisons.emplace_back(Comparison{.change = change});
    const std::optional<Inserted> inserted = Insert(*canonical, *change.harmless, change.place);
    if (!inserted.has_value()) continue;
    if (!change.harmless->beside_conflicts && HasConflict(original.Few())) continue;
    comparison.applies = true;
    comparison.differences = DifferencesOf(test, original, *inserted, change.harmless->denies);
  }
  return comparisons;
}

std::size_t Chosen(std::string_view name, std::size_t turn, std::size_t changes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::size_t>((hash >> 32) + turn) % changes;
}

}  // namespace palladion::conformance
