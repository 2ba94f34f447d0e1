// A launch over the threads of GPU blocks, under a policy: for kernels with `mesh gpu`, and for those whose blocks have
// barriers or asynchronous copies. The same inputs, outputs and errors as RunScheduled.
#ifndef PALLADION_EMU_LAUNCH_THREAD_LAUNCH_H_
#define PALLADION_EMU_LAUNCH_THREAD_LAUNCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/launch/scheduled_launch.h"

namespace palladion {

class GpuMachine;

// Does the kernel run this way?
bool NeedsThreads(const Program& program);

struct ThreadOptions {
  ScheduledOptions scheduled;
  bool races = false;
  // Blocks that do not interact run one after another; with this they are all there from the start, as a search of
  // every schedule has them: a list of moves is about all agents.
  bool together = false;
  // The last blocks begin first where launch.order says so, also where some can only begin when others have ended: no
  // chip does that. Else these begin in order whatever launch.order says.
  bool begin_backwards = false;
  // Gets the names of the arrays of the call of which whoever wrote an element wrote the same bytes; nullptr: unasked.
  std::vector<std::string>* one_value = nullptr;
  // Shown the machine once every block has ended: what is left there, for tests.
  std::function<void(const GpuMachine&)> at_end = nullptr;
};

absl::StatusOr<ScheduledResult> RunThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                           absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                           Policy& policy);

// Every schedule; each runs from the start.
absl::StatusOr<Explored> ExploreThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                        absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                        std::int64_t max_schedules,
                                        const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit);

}  // namespace palladion

#endif  // PALLADION_EMU_LAUNCH_THREAD_LAUNCH_H_
