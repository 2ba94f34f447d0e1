// For programs of a grid that cannot see each other's effects: whether they have several orders, and whether the kernel
// is large enough to run two orders at the same time, on a second thread. Limits: an operation's cost is a rough
// estimate.
#ifndef PALLADION_EMU_CHECK_ORDERS_H_
#define PALLADION_EMU_CHECK_ORDERS_H_

#include "absl/types/span.h"
#include "emu/emulate.h"
#include "semantics/program/program.h"

namespace palladion::check {

bool HasParallelDimension(const Program& program, absl::Span<const ConstArray> inputs);

bool WorthAThread(const Program& program, absl::Span<const ConstArray> inputs);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_ORDERS_H_
