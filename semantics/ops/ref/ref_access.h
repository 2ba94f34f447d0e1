// One access of an operation on refs: its plan, where mask and other come from, and the requests it makes.
#ifndef PALLADION_SEMANTICS_OPS_REF_REF_ACCESS_H_
#define PALLADION_SEMANTICS_OPS_REF_REF_ACCESS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "semantics/program/builder.h"

namespace palladion {

struct AccessParams {
  ViewPlan view;
  SlotId mask, other, value, old;
  bool may_borrow = false;
  std::size_t bytes = 0;
};

// The operation's mask= and other=, broadcast to the shape of the access.
absl::Status PlanMask(const Instr& op, const Shape& shape, AccessParams& params, Builder& builder);

Mask MaskOf(const AccessParams& p, Frame& frame);

// Where definedness is tracked: what is undefined in the indices decides which memory is touched, and is reported.
void UseIndices(const AccessParams& p, const Step& step, Frame& frame);

// The view's elements into a slot, or from one. `where`: of the same memory at that place.
using PeerPlace = absl::Span<const PeerCoordinate>;
void LoadInto(const AccessParams& p, SlotId value, const Step& step, Frame& frame, PeerPlace where = {});
void StoreFrom(const AccessParams& p, SlotId value, const Step& step, Frame& frame, PeerPlace where = {});

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_REF_REF_ACCESS_H_
