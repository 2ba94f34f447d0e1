#include "scheduler/schedule.h"

#include <charconv>
#include <cstring>

#include "absl/strings/str_format.h"
#include "scheduler/random.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

constexpr std::string_view kVersion = "s1";
constexpr std::string_view kMoves = "moves";

std::string Hex(std::uint64_t hash) { return absl::StrFormat("%016x", hash); }

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
    if (to.has_value()) return Move{{}, 0, AgentId{*to}};
  } else if (parts.size() == 3) {
    const auto from = ParseNumber<std::int32_t>(parts[0]);
    const auto operations = ParseNumber<std::int64_t>(parts[1]);
    const auto to = ParseNumber<std::int32_t>(parts[2]);
    if (from.has_value() && operations.has_value() && to.has_value())
      return Move{AgentId{*from}, *operations, AgentId{*to}};
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
  if (policy == kMoves) {
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

absl::Status ParseHash(std::string_view text, std::string_view what, std::uint64_t& hash) {
  const auto value = ParseNumber<std::uint64_t>(text, 16);
  if (!value.has_value() || text.size() != 16)
    return absl::InvalidArgumentError(
        Cat("schedule: the hash of the ", what, " must be 16 hexadecimal digits; found '", text, "'"));
  hash = *value;
  return absl::OkStatus();
}

}  // namespace

std::string ToString(const Schedule& schedule) {
  std::string text = Cat(kVersion, ":");
  if (schedule.moves.has_value()) {
    Append(&text, kMoves, ":");
    for (std::size_t i = 0; i < schedule.moves->size(); ++i)
      Append(&text, i == 0 ? "" : "-", ToString((*schedule.moves)[i]));
  } else {
    Append(&text, RowOf(schedule.policy).name, ":", schedule.seed);
  }
  return Cat(text, ":", Hex(schedule.kernel), ":", Hex(schedule.inputs));
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts[0] != kVersion)
    return absl::InvalidArgumentError(Cat("schedule: expected '", kVersion, ":...' as a report prints it; found '",
                                          text.substr(0, 40),
                                          "', which is no schedule or one of another version of Palladion"));
  if (parts.size() != 5)
    return absl::InvalidArgumentError(
        Cat("schedule: expected s1:POLICY:SEED:KERNEL:INPUTS, five parts; found ", parts.size()));
  Schedule schedule;
  PALLADION_RETURN_IF_ERROR(ParseChoices(parts[1], parts[2], schedule));
  PALLADION_RETURN_IF_ERROR(ParseHash(parts[3], "kernel", schedule.kernel));
  PALLADION_RETURN_IF_ERROR(ParseHash(parts[4], "inputs", schedule.inputs));
  if (ToString(schedule) != text)
    return absl::InvalidArgumentError(Cat("schedule: '", text, "' should be written '", ToString(schedule), "'"));
  return schedule;
}

absl::Status ExpectMadeFor(const Schedule& schedule, std::uint64_t kernel, std::uint64_t inputs) {
  const bool other_kernel = schedule.kernel != kernel, other_inputs = schedule.inputs != inputs;
  if (!other_kernel && !other_inputs) return absl::OkStatus();
  std::string what;
  if (other_kernel) what = Cat("another kernel (", Hex(schedule.kernel), "; this one is ", Hex(kernel), ")");
  if (other_inputs)
    Append(&what, what.empty() ? "" : " and ", "other inputs (", Hex(schedule.inputs), "; these are ", Hex(inputs),
           ")");
  return absl::InvalidArgumentError(Cat("schedule: it was recorded with ", what,
                                        ", so it would not replay the same run; give it the kernel text and "
                                        "the inputs that its report names"));
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

}  // namespace palladion
