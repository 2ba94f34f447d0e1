#include "emu/front/options/check_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "emu/front/reports/part_json.h"
#include "semantics/base/cat.h"
#include "semantics/base/decimal.h"
#include "semantics/base/status.h"
#include "semantics/tensor/fill.h"

namespace palladion::options {
namespace {

constexpr int kMostThreads = 4096;

std::from_chars_result Read(const char* from, const char* to, double& number) {
  return ReadDecimal(from, to, number, std::chars_format::general);
}

template <class Integer>
std::from_chars_result Read(const char* from, const char* to, Integer& number) {
  return std::from_chars(from, to, number);
}

template <class Number>
std::optional<Number> NumberFrom(std::string_view text) {
  Number number = 0;
  const auto [end, error] = Read(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <bool CheckOptions::*member>
absl::Status SetSwitch(CheckOptions& options, std::string_view value) {
  options.*member = value == "1";
  return absl::OkStatus();
}

absl::Status SetReplay(CheckOptions& options, std::string_view value) {
  options.replay = std::string(value);
  return absl::OkStatus();
}

absl::Status SetSeeds(CheckOptions& options, std::string_view value) {
  options.seeds = *NumberFrom<std::int64_t>(value);
  return absl::OkStatus();
}

absl::Status SetBudget(CheckOptions& options, std::string_view value) {
  options.SetBudget(*NumberFrom<std::int64_t>(value));
  return absl::OkStatus();
}

absl::Status SetThreads(CheckOptions& options, std::string_view value) {
  options.threads = *NumberFrom<int>(value);
  return absl::OkStatus();
}

absl::Status SetBounds(CheckOptions& options, std::string_view value) {
  options.run.padded_bounds = value == "padded";
  return absl::OkStatus();
}

absl::Status SetLegality(CheckOptions& options, std::string_view value) {
  options.run.legality = value == "compiler" ? LegalityMode::kCompiler
                         : value == "on"     ? LegalityMode::kOn
                                             : LegalityMode::kOff;
  return absl::OkStatus();
}

absl::Status SetFill(CheckOptions& options, std::string_view value) {
  PALLADION_ASSIGN_OR_RETURN(options.fill, ParseFill(value));
  return absl::OkStatus();
}

// Of a choice that fits.
template <auto member, auto from_name>
absl::Status SetChoice(CheckOptions& options, std::string_view value) {
  options.*member = *from_name(value);
  return absl::OkStatus();
}

absl::Status SetParts(CheckOptions& options, std::string_view value) {
  PALLADION_ASSIGN_OR_RETURN(options.parts, reports::PartsOfJson(std::string(value)));
  return absl::OkStatus();
}

absl::Status SetSeconds(CheckOptions& options, std::string_view value) {
  const std::chrono::duration<double> seconds(*NumberFrom<double>(value));
  if (seconds.count() == 0) return absl::OkStatus();
  const auto end = std::chrono::steady_clock::now() + seconds;
  options.interrupted = [end] { return std::chrono::steady_clock::now() >= end; };
  return absl::OkStatus();
}

using enum ValueKind;
constexpr CheckOption kTable[] = {
    {"seeds", "seeds", kNumber, "N", "64", kFlag | kKeyword,
     "How many schedules to try where the kernel leaves a choice (default 64, at least 1). Where nothing else can "
     "happen fewer run, and the report says why they suffice.",
     SetSeeds, std::numeric_limits<std::int64_t>::max(), "a check that runs nothing is no pass"},
    {"exhaustive", "exhaustive", kSwitch, "", "0", kFlag | kKeyword, "Every schedule, where they are few.",
     SetSwitch<&CheckOptions::exhaustive>},
    {"replay", "replay", kText, "SCHEDULE", "", kFlag | kKeyword | kOfRuns,
     "One schedule, [as a finding names it](schedules.md#schedule-strings). Where it does not apply any more, the "
     "message says what has changed.",
     SetReplay},
    {"fill", "fill", kText, "FILL", "nan", kFlag | kKeyword | kOfReplays | kReplays,
     "What unwritten memory holds: `nan` (the default), `zero`, `random:SEED` or `intmax`.", SetFill},
    {"races", "races", kSwitch, "", "1", kKeyword | kReplays, "Whether accesses without an order are looked for.",
     SetSwitch<&CheckOptions::races>},
    {"definedness", "definedness", kSwitch, "", "1", kKeyword | kReplays,
     "Whether data from memory that was never written, or from padding, is followed to where it matters.",
     SetSwitch<&CheckOptions::definedness>},
    {"contracts", "contracts", kSwitch, "", "1", kKeyword | kReplays,
     "Whether what an operation's documentation asks of its values is checked.", SetSwitch<&CheckOptions::contracts>},
    {"strict", "strict", kSwitch, "", "0", kFlag | kKeyword | kReplays, "Warnings fail the check too.",
     SetSwitch<&CheckOptions::strict>},
    {"proxy", "proxy", kChoice, "pallas|strict|lax", "pallas", kFlag | kKeyword | kOfReplays | kReplays,
     "On a GPU, where asynchronous accesses of shared memory need a fence ([memory model](memory-model.md)).",
     SetChoice<&CheckOptions::proxy, ProxyRuleFromName>},
    {"links", "links", kChoice, "unordered|ordered", "unordered", kFlag | kKeyword | kOfReplays | kReplays,
     "Whether copies from one TPU device to another land in the order in which they were started "
     "([devices](spec/tpu-copies.md#devices)). `unordered` is the default.",
     SetChoice<&CheckOptions::links, LinkOrderFromName>},
    {"bounds", "bounds", kChoice, "logical|padded", "logical", kFlag | kKeyword | kOfRuns | kReplays,
     "On a TPU, which accesses are out of bounds: those beyond an array's shape, or (`padded`) only those beyond the "
     "tiles that hold it, as `buffer_bounds` in JAX. What is read between the two is undefined, what is stored there "
     "is lost.",
     SetBounds},
    {"all_seeds", "all-seeds", kSwitch, "", "0", kFlag | kKeyword,
     "Try all seeds, also after [a proof](verdicts.md#when-a-check-stops).", SetSwitch<&CheckOptions::all_seeds>},
    {"budget", "budget", kNumber, "N", "", kFlag | kKeyword | kOfRuns | kReplays,
     "As of `run`. Besides, a schedule in which no program or thread ended during N operations on shared memory "
     "(default 2^24) is a [LIVELOCK](findings.md#livelock), after which no other schedule is tried.",
     SetBudget},
    {"legality", "legality", kChoice, "on|off|compiler", "on", kFlag | kKeyword | kOfRuns | kReplays,
     "Whether [what the target refuses](spec/contracts.md) is found, before the kernel runs. What its compiler may "
     "refuse behind JAX's lowering is a warning with `on`, and a defect with `compiler`.",
     SetLegality},
    {"threads", "threads", kNumber, "N", "", kFlag, "Host threads (default: all). The report does not depend on it.",
     SetThreads, kMostThreads},
    {"parts", "parts", kText, "FILE", "", kFlag,
     "What `--part` wrote for seeds of this check, with the same kernel, inputs and options: the report is that of a "
     "check that ran them here. Several files with commas; seeds that are in none of them count as interrupted.",
     SetParts},
    {"seconds", "seconds", kSeconds, "S", "", 0,
     "After so many no further schedule begins, and the check counts as interrupted.", SetSeconds},
};

// What a value must be, in words; nullopt: it is that.
std::optional<std::string> Wanted(const CheckOption& option, std::string_view value) {
  const std::vector<std::string_view> choices = option.Choices();
  switch (option.kind) {
    case kSwitch:
      if (value == "0" || value == "1") return std::nullopt;
      return "0 or 1";
    case kNumber:
      if (const std::int64_t number = NumberFrom<std::int64_t>(value).value_or(0); number >= 1)
        return number <= option.most ? std::nullopt : std::optional(Cat(option.most, " or less"));
      if (!option.why_positive.empty() && NumberFrom<std::int64_t>(value).has_value())
        return Cat("1 or more, below 2^63: ", option.why_positive);
      return "1 or more, below 2^63";
    case kSeconds:
      if (const std::optional<double> seconds = NumberFrom<double>(value); seconds >= 0.0 && std::isfinite(*seconds))
        return std::nullopt;
      return "a number of seconds, 0 or more";
    case kChoice: {
      if (std::find(choices.begin(), choices.end(), value) != choices.end()) return std::nullopt;
      std::string list;
      for (std::size_t i = 0; i < choices.size(); ++i)
        Append(&list, i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
      return list;
    }
    case kText:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string NamesOn(unsigned surfaces) {
  std::string names;
  for (const CheckOption& option : kTable) {
    if ((option.surfaces & surfaces) != 0) Append(&names, names.empty() ? "" : ", ", option.name);
  }
  return names;
}

constexpr unsigned kEverySurface = ~0U;

// `surfaces`: an option is on one of these. Those of replays alone need one.
absl::StatusOr<CheckOptions> OptionsOf(absl::Span<const std::string_view> named, unsigned surfaces,
                                       std::string_view what) {
  CheckOptions options;
  options.run.budget_name = "the argument budget";
  std::string_view of_replays;
  for (const std::string_view pair : named) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const CheckOption* const option = FindCheckOption(name);
    if (option == nullptr || (surfaces != kEverySurface && (option->surfaces & surfaces) == 0))
      return absl::InvalidArgumentError(Cat(what, " has no option '", name, "'; it has ", NamesOn(surfaces)));
    if (surfaces != kEverySurface && option->on(kOfReplays)) of_replays = name;
    if (name == "replay" && equals + 1 >= pair.size())
      return absl::InvalidArgumentError("replay needs the schedule that a report names; found ''");
    PALLADION_RETURN_IF_ERROR(Set(*option, pair.substr(std::min(equals + 1, pair.size())), name, options));
  }
  if (!of_replays.empty() && options.replay.empty())
    return absl::InvalidArgumentError(
        Cat(of_replays, " says how the check ran whose schedule is replayed: it goes with replay"));
  return options;
}

}  // namespace

std::string_view Name(ValueKind kind) {
  constexpr std::string_view kNames[] = {"switch", "number", "seconds", "choice", "text"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string_view> CheckOption::Choices() const {
  std::vector<std::string_view> choices;
  if (kind != kChoice) return choices;
  for (const absl::string_view choice : absl::StrSplit(absl::string_view(values.data(), values.size()), '|'))
    choices.emplace_back(choice.data(), choice.size());
  return choices;
}

absl::Span<const CheckOption> CheckOptionTable() { return kTable; }

const CheckOption* FindCheckOption(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kTable), std::end(kTable),
                                         [&](const CheckOption& option) { return option.name == name; });
  return found == std::end(kTable) ? nullptr : found;
}

absl::Status Set(const CheckOption& option, std::string_view value, std::string_view shown, CheckOptions& options) {
  if (const std::optional<std::string> wanted = Wanted(option, value); wanted.has_value())
    return absl::InvalidArgumentError(Cat(shown, " must be ", *wanted, "; found '", value, "'"));
  return option.set(options, value);
}

absl::StatusOr<CheckOptions> CheckOptionsOf(absl::Span<const std::string_view> named) {
  return OptionsOf(named, kEverySurface, "a check");
}

absl::StatusOr<CheckOptions> RunOptionsOf(absl::Span<const std::string_view> named) {
  return OptionsOf(named, kOfRuns | kOfReplays, "a run");
}

}  // namespace palladion::options
