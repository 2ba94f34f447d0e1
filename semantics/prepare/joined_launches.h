// Several launches of one kernel as one kernel, so that a device may be a launch ahead of another one: a device
// continues with the next launch when it has ended its own part of one, without waiting for others. Spec:
// docs/spec/tpu-sessions.md#launches-in-a-row. Limits: one program (grid [] or of sizes 1), whole arrays, which all
// exist from the start; scratch exists during its launch only.
#ifndef PALLADION_SEMANTICS_PREPARE_JOINED_LAUNCHES_H_
#define PALLADION_SEMANTICS_PREPARE_JOINED_LAUNCHES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"

namespace palladion {

// Every launch reads the same inputs. An output in the memory of an input is what the next launch takes; of others each
// launch has its own, the first launch's first. Unimplemented: a kernel that has no such form, with the reason.
absl::StatusOr<Kernel> JoinLaunches(const Kernel& kernel, std::int64_t launches);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_JOINED_LAUNCHES_H_
