// Unions of refs with a member that is narrower than a byte. Here every element of such a member has memory of its own
// (RefInfo::places_of_byte), so a member of another width does not see what was written through it: a kernel that reads
// it so is refused. What it does not see: an order that loops, branches and copies in flight make; there the kernel
// runs, and races are looked for.
#ifndef PALLADION_SEMANTICS_PROGRAM_NARROW_MEMBERS_H_
#define PALLADION_SEMANTICS_PROGRAM_NARROW_MEMBERS_H_

#include "absl/status/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// Unimplemented: bytes are read through a member of another width than the one that wrote them.
absl::Status CheckNarrowMembers(const Kernel& kernel);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_NARROW_MEMBERS_H_
