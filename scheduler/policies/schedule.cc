#include "scheduler/policies/schedule.h"

#include <charconv>
#include <cstring>

#include "absl/strings/str_format.h"
#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

constexpr std::string_view kVersion = "s2", kOldVersion = "s1";
constexpr std::string_view kMoves = "moves";

std::string Hex(std::uint32_t hash) { return absl::StrFormat("%08x", hash); }

// agent.operations.to, or start.to for the first choice.
std::string ToString(const Move& move) {
  if (!move.from.valid()) return Cat("start.", move.to.value);
  return Cat(move.from.value, ".", move.operations, ".", move.to.value);
}

// A decimal or hexadecimal number as ToString writes it.
template <class T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

absl::StatusOr<Move> ParseMove(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '.');
  if (parts.size() == 2 && parts[0] == "start") {
    const auto to = ParseNumber<std::int32_t>(parts[1]);
    if (to.has_value()) return Move{{}, 0, AgentOrdinal{*to}};
  } else if (parts.size() == 3) {
    const auto from = ParseNumber<std::int32_t>(parts[0]);
    const auto operations = ParseNumber<std::int64_t>(parts[1]);
    const auto to = ParseNumber<std::int32_t>(parts[2]);
    if (from.has_value() && operations.has_value() && to.has_value())
      return Move{AgentOrdinal{*from}, *operations, AgentOrdinal{*to}};
  }
  return absl::InvalidArgumentError(
      Cat("schedule: a move is AGENT.OPERATIONS.AGENT or start.AGENT; found '", text, "'"));
}

absl::StatusOr<std::vector<Move>> ParseMoves(std::string_view text) {
  std::vector<Move> moves;
  if (text.empty()) return moves;
  for (std::string_view part : Split(text, '-')) {
    PALLADION_ASSIGN_OR_RETURN(Move move, ParseMove(part));
    moves.push_back(move);
  }
  return moves;
}

absl::Status ParseChoices(std::string_view policy, std::string_view rest, Schedule& schedule) {
  if (policy.substr(0, policy.find('@')) == kMoves) {
    if (policy != kMoves) {
      const auto at_once = ParseNumber<std::int64_t>(policy.substr(kMoves.size() + 1));
      if (!at_once.has_value() || *at_once == 0)
        return absl::InvalidArgumentError(
            Cat("schedule: moves@N has how many clusters are there at once, 1 or more; found '", policy, "'"));
      schedule.at_once = *at_once;
    }
    PALLADION_ASSIGN_OR_RETURN(schedule.moves, ParseMoves(rest));
    return absl::OkStatus();
  }
  const std::optional<PolicyKind> kind = PolicyFromName(policy);
  if (!kind.has_value()) {
    std::string names;
    for (const PolicyRow& row : AllPolicies()) Append(&names, row.name, ", ");
    return absl::InvalidArgumentError(Cat("schedule: '", policy, "' is no policy; there are ", names, "and moves"));
  }
  schedule.policy = *kind;
  const auto seed = ParseNumber<std::uint64_t>(rest);
  if (!seed.has_value())
    return absl::InvalidArgumentError(Cat("schedule: the seed must be a decimal number; found '", rest, "'"));
  schedule.seed = *seed;
  return absl::OkStatus();
}

absl::Status ParseHash(std::string_view text, std::string_view what, std::uint32_t& hash) {
  const auto value = ParseNumber<std::uint32_t>(text, 16);
  if (!value.has_value() || text.size() != 8)
    return absl::InvalidArgumentError(
        Cat("schedule: the hash of the ", what, " must be 8 hexadecimal digits; found '", text, "'"));
  hash = *value;
  return absl::OkStatus();
}

absl::Status ParseWord(std::string_view text, std::string_view what, std::string& word) {
  if (text.empty()) return absl::InvalidArgumentError(Cat("schedule: the ", what, " is missing"));
  word = std::string(text);
  return absl::OkStatus();
}

// {kernel, target, operations, shapes, inputs, options}
absl::Status ParseOrigin(absl::Span<const std::string_view> parts, ScheduleOrigin& origin) {
  PALLADION_RETURN_IF_ERROR(ParseWord(parts[0], "kernel", origin.kernel));
  PALLADION_RETURN_IF_ERROR(ParseWord(parts[1], "target", origin.target));
  PALLADION_RETURN_IF_ERROR(ParseHash(parts[2], "operations", origin.operations));
  PALLADION_RETURN_IF_ERROR(ParseHash(parts[3], "shapes", origin.shapes));
  PALLADION_RETURN_IF_ERROR(ParseHash(parts[4], "inputs", origin.inputs));
  return ParseWord(parts[5], "options", origin.options);
}

std::string OptionsInWords(const std::string& options) { return options == "-" ? "the default options" : options; }

}  // namespace

std::string ToString(const Schedule& schedule) {
  std::string text = Cat(kVersion, ":");
  if (schedule.moves.has_value()) {
    text += kMoves;
    if (schedule.at_once > 0) Append(&text, "@", schedule.at_once);
    text += ":";
    for (std::size_t i = 0; i < schedule.moves->size(); ++i)
      Append(&text, i == 0 ? "" : "-", ToString((*schedule.moves)[i]));
  } else {
    Append(&text, RowOf(schedule.policy).name, ":", schedule.seed);
  }
  const ScheduleOrigin& origin = schedule.origin;
  return Cat(text, ":", origin.kernel, ":", origin.target, ":", Hex(origin.operations), ":", Hex(origin.shapes), ":",
             Hex(origin.inputs), ":", origin.options);
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts[0] == kOldVersion)
    return absl::InvalidArgumentError(
        Cat("schedule: '", text.substr(0, 40),
            "' is of an older version of Palladion, whose strings were bound to lines and names of the kernel; check "
            "the kernel again and take the string of the new report"));
  if (parts[0] != kVersion)
    return absl::InvalidArgumentError(Cat("schedule: expected '", kVersion, ":...' as a report prints it; found '",
                                          text.substr(0, 40),
                                          "', which is no schedule or one of another version of Palladion"));
  if (parts.size() != 9)
    return absl::InvalidArgumentError(
        Cat("schedule: expected s2:POLICY:SEED:KERNEL:TARGET:OPERATIONS:SHAPES:INPUTS:OPTIONS, nine parts; found ",
            parts.size()));
  Schedule schedule;
  PALLADION_RETURN_IF_ERROR(ParseChoices(parts[1], parts[2], schedule));
  PALLADION_RETURN_IF_ERROR(ParseOrigin(absl::MakeConstSpan(parts).subspan(3), schedule.origin));
  if (ToString(schedule) != text)
    return absl::InvalidArgumentError(Cat("schedule: '", text, "' should be written '", ToString(schedule), "'"));
  return schedule;
}

absl::Status ExpectMadeFor(const Schedule& schedule, const ScheduleOrigin& now) {
  const ScheduleOrigin& then = schedule.origin;
  std::string what;
  const auto changed = [&](bool differs, const std::string& text) {
    if (differs) Append(&what, what.empty() ? "" : "; ", text);
  };
  const bool other_shapes = then.shapes != now.shapes, other_target = then.target != now.target;
  changed(other_target, Cat("it was recorded for the target ", then.target, ", and this one is ", now.target));
  changed(other_shapes, "the grid, or the shapes or types of the operands, are others");
  // Both go into the operations, too.
  const bool other_kernel = then.operations != now.operations && !other_shapes && !other_target;
  changed(other_kernel, then.kernel == now.kernel
                            ? Cat("the operations of kernel @", now.kernel, " have changed since it was recorded")
                            : Cat("it was recorded with kernel @", then.kernel, ", and this is @", now.kernel,
                                  ", which does other operations"));
  changed(then.inputs != now.inputs && !other_shapes, "the inputs have other values");
  changed(then.options != now.options, Cat("it was recorded with ", OptionsInWords(then.options), ", and this is with ",
                                           OptionsInWords(now.options)));
  if (what.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("schedule: it would not replay the same run: ", what,
          "; go back to what it was recorded with, or check again and take the string of the new report"));
}

std::unique_ptr<Policy> MakePolicy(const Schedule& schedule, const RunLengths& lengths) {
  if (schedule.moves.has_value()) return std::make_unique<ReplayPolicy>(*schedule.moves);
  return MakePolicy(schedule.policy, schedule.seed, lengths);
}

ScheduleHash& ScheduleHash::Add(std::uint64_t word) {
  state_ = Random(state_ ^ word).Next();
  return *this;
}

ScheduleHash& ScheduleHash::Add(absl::Span<const std::byte> bytes) {
  Add(static_cast<std::uint64_t>(bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    Add(word);
  }
  return *this;
}

ScheduleHash& ScheduleHash::Add(std::string_view text) {
  return Add(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

}  // namespace palladion::scheduler
