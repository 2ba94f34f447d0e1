// A schedule as a short string that replays a run byte for byte on any host. Either the policy and its seed, or, when
// it was shrunk, the moves themselves; always with hashes of the kernel and of the inputs, because for others it would
// be another run.
//
//   s1:pct2:17:9f86d081884c7d65:2c26b46b68ffc68f      policy and seed, kernel, inputs
//   s1:moves:start.3-1.2.0:9f86d081884c7d65:...       after agent 1's 2nd operation agent 0 goes: docs/schedules.md
#ifndef PALLADION_SCHEDULER_SCHEDULE_H_
#define PALLADION_SCHEDULER_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "scheduler/portfolio.h"

namespace palladion {

struct Schedule {
  PolicyKind policy = PolicyKind::kProgramOrder;  // when there are no moves
  std::uint64_t seed = 0;
  std::optional<std::vector<Move>> moves;
  std::uint64_t kernel = 0, inputs = 0;  // hashes
};

std::string ToString(const Schedule& schedule);

// Strict: what ToString does not write is refused. InvalidArgument says which part is wrong and how it should look.
absl::StatusOr<Schedule> ParseSchedule(std::string_view text);

// InvalidArgument when the schedule is another kernel's or of other inputs; says which.
absl::Status ExpectMadeFor(const Schedule& schedule, std::uint64_t kernel, std::uint64_t inputs);

std::unique_ptr<Policy> MakePolicy(const Schedule& schedule, const RunLengths& lengths);

// A hash of bytes for schedules: the same on every host, 64 bits, not for adversaries. Order and sizes count.
class ScheduleHash {
 public:
  ScheduleHash& Add(absl::Span<const std::byte> bytes);
  ScheduleHash& Add(std::string_view text);
  ScheduleHash& Add(std::uint64_t word);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SCHEDULER_SCHEDULE_H_
