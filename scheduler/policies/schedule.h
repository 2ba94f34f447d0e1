// A schedule as a short string that replays a run byte for byte on any host. Either the policy and its seed, or, when
// it was shrunk, the moves themselves; always with what it was made for, because for another kernel, target, shape or
// input it would be another run.
//
//   s2:pct2:17:add:triton/h100:9f86d081:7d65aa10:2c26b46b:-   policy and seed; kernel, target; hashes of its
//                                                             operations, its shapes, its inputs; options
//   s2:moves:start.3-1.2.0:add:...                            after agent 1's 2nd operation agent 0 goes
//   s2:moves@264:start.3-1.2.0:add:...                        the same, where 264 clusters of blocks are resident
//
// docs/explanation/schedules.md has the parts.
#ifndef PALLADION_SCHEDULER_POLICIES_SCHEDULE_H_
#define PALLADION_SCHEDULER_POLICIES_SCHEDULE_H_

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
#include "scheduler/policies/portfolio.h"

namespace palladion::scheduler {

// What a schedule was made for. Words hold letters, digits and "_./-=,".
struct ScheduleOrigin {
  std::string kernel = "_";                              // its name, for messages: another name is no other kernel
  std::string target = "_", options = "-";               // "-": none but the defaults
  std::uint32_t operations = 0, shapes = 0, inputs = 0;  // hashes
};

struct Schedule {
  PolicyKind policy = PolicyKind::kProgramOrder;  // when there are no moves
  std::uint64_t seed = 0;
  std::optional<std::vector<Move>> moves;
  // With moves, of a run in time: so many clusters of GPU blocks at once, whose threads go on for as long as is asked
  // of them. 0: all that there can be.
  std::int64_t at_once = 0;
  ScheduleOrigin origin = {};
};

std::string ToString(const Schedule& schedule);

// Strict: what ToString does not write is refused. InvalidArgument says which part is wrong and how it should look.
absl::StatusOr<Schedule> ParseSchedule(std::string_view text);

// InvalidArgument when it was made for something else; says what has changed.
absl::Status ExpectMadeFor(const Schedule& schedule, const ScheduleOrigin& now);

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
inline std::uint32_t Folded(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ (hash >> 32)); }

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_SCHEDULE_H_
