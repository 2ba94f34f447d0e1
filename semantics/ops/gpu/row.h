// What rows of GPU operations that ask the machine have in common, and how they differ. Based on the fields of OpRow,
// of which each says what it is for. Limits: operations that also run elsewhere say so in their own files.
#ifndef PALLADION_SEMANTICS_OPS_GPU_ROW_H_
#define PALLADION_SEMANTICS_OPS_GPU_ROW_H_

#include <string_view>

#include "semantics/registry/op_row.h"

namespace palladion {

// It waits for nothing, signals nothing, and does not depend on which agent came first.
constexpr OpRow GpuRow(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower, Unit unit) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .asks_port = AsksPort::kAlways,
          .waits = Waits::kNever,
          .signals = Signals::kNever,
          .decides = Decides::kNever,
          .backends = kGpu,
          .unit = unit};
}

constexpr OpRow Synchronising(OpRow row) {
  row.effect = Effect::kSynchronises;
  return row;
}

constexpr OpRow Signalling(OpRow row) {
  row.signals = Signals::kMay;
  return row;
}

constexpr OpRow Waiting(OpRow row, Waits waits) {
  row.waits = waits;
  return row;
}

// Its refs have names.
constexpr OpRow Named(OpRow row) {
  row.named_refs = true;
  return row;
}

// An engine does it: `access` to the ref of the name `written`, and reads the others.
constexpr OpRow ByEngine(OpRow row, RefAccess access, std::string_view written) {
  row = Named(row);
  row.effect = Effect::kReadsWrites;
  row.access = access;
  row.written = written;
  return row;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_ROW_H_
