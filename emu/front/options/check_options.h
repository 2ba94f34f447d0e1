// The options of a check that have a name, one row each, and those of a plain run among them. From these rows come the
// flags of the command, the options of the C ABI and of kernel calls from compiled programs, the keywords of Python
// (python/palladion/base/check_options.py, whose rows tools/gen_docs.py writes) and the tables of docs. What a row sets
// is a member of CheckOptions (emu/check.h).
//
// Limits: a row knows its own values; which options exclude each other is in emu/check/options.cc.
#ifndef PALLADION_EMU_FRONT_OPTIONS_CHECK_OPTIONS_H_
#define PALLADION_EMU_FRONT_OPTIONS_CHECK_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"

namespace palladion::options {

enum class ValueKind : std::uint8_t {
  kSwitch,   // 0 or 1; the flag of one has no value
  kNumber,   // a whole number of at least 1
  kSeconds,  // a number of at least 0
  kChoice,   // one of `values`
  kText,     // read by the row itself
};
std::string_view Name(ValueKind kind);  // "switch", "number", "seconds", "choice", "text"

// The interfaces that offer an option: a sum of these. The C ABI has them all.
enum Surface : unsigned {
  kFlag = 1,        // of `palladion check`
  kKeyword = 2,     // of palladion.check, palladion.emulate and palladion.Task
  kOfRuns = 4,      // of a plain run, too
  kReplays = 8,     // a schedule replays only with the value that it was found with
  kOfReplays = 16,  // of a plain run only where that is a replay
};

struct CheckOption {
  std::string_view name;  // a keyword
  std::string_view flag;  // the same with dashes
  ValueKind kind;
  std::string_view values;    // what help shows for the value: "N", or the choices with bars; "": a switch
  std::string_view fallback;  // the value without the option; "": there is none
  unsigned surfaces;
  std::string_view help;  // Markdown of one paragraph, as docs/reference/command.md has it
  absl::Status (*set)(CheckOptions& options, std::string_view value);  // of a value that fits the kind
  std::int64_t most = std::numeric_limits<std::int64_t>::max();        // of a number
  std::string_view why_positive = "";                                  // why a number must not be 0 or less

  bool on(Surface surface) const { return (surfaces & surface) != 0; }
  std::vector<std::string_view> Choices() const;
};

absl::Span<const CheckOption> CheckOptionTable();
const CheckOption* FindCheckOption(std::string_view name);  // nullptr: there is none of this name

// InvalidArgument: a value that is none; `shown` is the name as the user wrote it ("--proxy", "proxy").
absl::Status Set(const CheckOption& option, std::string_view value, std::string_view shown, CheckOptions& options);

// The options of a list of "name=value", which name the budget as an argument. InvalidArgument: no such option, or a
// value that is none.
absl::StatusOr<CheckOptions> CheckOptionsOf(absl::Span<const std::string_view> named);
// With CheckOptions::replay a plain run is that of this schedule.
absl::StatusOr<CheckOptions> RunOptionsOf(absl::Span<const std::string_view> named);

}  // namespace palladion::options

#endif  // PALLADION_EMU_FRONT_OPTIONS_CHECK_OPTIONS_H_
