// The options of a kernel call, which come as one text.
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "emu/front/bridge/bridge.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

absl::Status BadOption(std::string_view name, std::string_view value, std::string_view expected) {
  return absl::InvalidArgumentError(
      Cat("the option ", name, " of a kernel call must be ", expected, "; found '", value, "'"));
}

struct OptionReader {
  BridgeOptions& how;

  absl::Status Flag(std::string_view name, std::string_view value, bool& place) const {
    if (value != "0" && value != "1") return BadOption(name, value, "0 or 1");
    place = value == "1";
    return absl::OkStatus();
  }

  absl::Status Mode(std::string_view name, std::string_view value, LegalityMode& place) const {
    if (value != "0" && value != "1" && value != "2") return BadOption(name, value, "0, 1 or 2");
    place = value == "2" ? LegalityMode::kCompiler : value == "1" ? LegalityMode::kOn : LegalityMode::kOff;
    return absl::OkStatus();
  }

  template <class Number>
  absl::Status Whole(std::string_view name, std::string_view value, Number least, Number& place) const {
    if (!absl::SimpleAtoi(absl::string_view(value.data(), value.size()), &place) || place < least)
      return BadOption(name, value, Cat("a whole number of at least ", least));
    return absl::OkStatus();
  }

  void Raise(std::string_view list) const {
    how.raise_codes.clear();
    how.raise_limits.clear();
    for (const absl::string_view one : absl::StrSplit(absl::string_view(list.data(), list.size()), ',')) {
      if (const std::optional<FindingCode> code = CodeFromName(ToStd(one))) {
        how.raise_codes.insert(*code);
      } else {
        how.raise_limits.push_back(std::string(ToStd(one)));
      }
    }
  }

  absl::Status Set(std::string_view name, std::string_view value) const {
    CheckOptions& options = how.options;
    if (name == "check") return Flag(name, value, how.check);
    if (name == "time") return Flag(name, value, how.time);
    if (name == "all_seeds") return Flag(name, value, options.all_seeds);
    if (name == "exhaustive") return Flag(name, value, options.exhaustive);
    if (name == "races") return Flag(name, value, options.races);
    if (name == "definedness") return Flag(name, value, options.definedness);
    if (name == "contracts") return Flag(name, value, options.contracts);
    if (name == "strict") return Flag(name, value, options.strict);
    if (name == "padded_bounds") return Flag(name, value, options.run.padded_bounds);
    if (name == "legality") return Mode(name, value, options.run.legality);
    if (name == "engines_late") return Flag(name, value, options.run.engines_late);
    if (name == "launches") return Whole<std::int64_t>(name, value, 1, how.launches);
    if (name == "seeds") return Whole<std::int64_t>(name, value, 1, options.seeds);
    if (name == "threads") return Whole(name, value, 0, options.threads);
    if (name == "budget") {
      PALLADION_RETURN_IF_ERROR(Whole<std::int64_t>(name, value, 1, options.run.loop_budget));
      options.SetBudget(options.run.loop_budget);
      return absl::OkStatus();
    }
    if (name == "fill") options.fill = std::string(value);
    if (name == "proxy") options.proxy = std::string(value);
    if (name == "links") options.links = std::string(value);
    if (name == "replay") options.replay = std::string(value);
    if (name == "raise" && value == "all") how.raise_all = true;
    if (name == "raise" && value == "never") how.never_raise = true;
    if (name == "raise" && value != "all" && value != "none" && value != "never") Raise(value);
    if (name == "fill" || name == "proxy" || name == "links" || name == "replay" || name == "raise")
      return absl::OkStatus();
    return absl::InvalidArgumentError(Cat("a kernel call has no option '", name, "'"));
  }
};

}  // namespace

absl::StatusOr<BridgeOptions> ParseBridgeOptions(std::string_view text) {
  BridgeOptions how;
  how.options.run.budget_name = "the argument budget";
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), ';', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> named = absl::StrSplit(part, absl::MaxSplits('=', 1));
    PALLADION_RETURN_IF_ERROR(
        OptionReader{how}.Set({named.first.data(), named.first.size()}, {named.second.data(), named.second.size()}));
  }
  return how;
}

}  // namespace palladion::bridge
