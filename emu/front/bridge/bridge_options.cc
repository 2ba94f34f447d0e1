// The options of a kernel call, which come as one text.
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "emu/front/bridge/bridge.h"
#include "emu/front/options/check_options.h"
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
    if (name == "check") return Flag(name, value, how.check);
    if (name == "time") return Flag(name, value, how.time);
    if (name == "engines_late") return Flag(name, value, how.options.run.engines_late);
    if (name == "launches") return Whole<std::int64_t>(name, value, 1, how.launches);
    if (name == "raise") {
      how.raise_all = value == "all";
      how.never_raise = value == "never";
      if (!how.raise_all && !how.never_raise && value != "none") Raise(value);
      return absl::OkStatus();
    }
    if (const options::CheckOption* const option = options::FindCheckOption(name); option != nullptr)
      return options::Set(*option, value, Cat("the option ", name, " of a kernel call"), how.options);
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
