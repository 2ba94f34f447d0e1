// Programs of a grid that do not see each other: have they several orders, and is it worth a thread to run two of them
// at a time? What it does not know: how long an operation takes beside others.
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
