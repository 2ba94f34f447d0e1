#include "semantics/ops/ref/ref_access.h"

#include "semantics/base/status.h"
#include "semantics/program/broadcast.h"
#include "semantics/program/frame_shadow.h"

namespace palladion {
namespace {

const Arg* NamedOrNull(const Instr& op, std::string_view name) {
  for (const Arg& arg : op.args) {
    if (arg.name == name && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

// False: the access is a list of points.
bool ResolveAsBox(const AccessParams& p, const Step& step, Frame& frame, BoxAccess& box) {
  const bool marks_differ = p.view.unit != 1 && frame.shadow() != nullptr;  // marks are per element, not per byte
  if (p.view.affine && !marks_differ) {
    ResolveBox(p.view, step, frame, box);
  } else if (p.view.affine || !ResolveRuns(p.view, step, frame, box)) {
    return false;
  }
  box.mask = MaskOf(p, frame);
  return true;
}

// Calls access(box) or access(points), whichever the view is.
template <class F>
void ResolveAnd(const F& access, const AccessParams& p, Definedness* tracked, const Step& step, Frame& frame) {
  BoxAccess box;
  if (ResolveAsBox(p, step, frame, box)) {
    box.defined = tracked;
    access(box);
    return;
  }
  PointAccess points;
  ResolvePoints(p.view, step, frame, points);
  points.mask = MaskOf(p, frame);
  points.defined = tracked;
  access(points);
}

}  // namespace

absl::Status PlanMask(const Instr& op, const Shape& shape, AccessParams& params, Builder& builder) {
  if (const Arg* mask = NamedOrNull(op, "mask")) {
    PALLADION_ASSIGN_OR_RETURN(params.mask, Broadcast(*mask, shape, builder));
  }
  if (const Arg* other = NamedOrNull(op, "other")) {
    PALLADION_ASSIGN_OR_RETURN(params.other, Broadcast(*other, shape, builder));
  }
  return absl::OkStatus();
}

Mask MaskOf(const AccessParams& p, Frame& frame) {
  Mask mask;
  if (p.mask.valid()) mask.lanes = reinterpret_cast<const std::uint8_t*>(frame.slot(p.mask));
  if (p.other.valid()) mask.other = frame.slot(p.other);
  if (frame.shadow() == nullptr) return mask;
  if (p.mask.valid()) mask.lanes_undefined = frame.shadow()->Of(p.mask);
  if (p.other.valid()) mask.other_undefined = frame.shadow()->Of(p.other);
  return mask;
}

void UseIndices(const AccessParams& p, const Step& step, Frame& frame) {
  if (frame.shadow() != nullptr) frame.shadow()->UseIndices(p.view, MaskOf(p, frame), step, frame);
}

void LoadInto(const AccessParams& p, SlotId value, const Step& step, Frame& frame, PeerPlace where) {
  Definedness defined;
  Definedness* const tracked = frame.shadow() == nullptr ? nullptr : &defined;
  const auto load = [&](auto& access) {
    if (!where.empty()) access.buffer = frame.machine().PeerBuffer(access.buffer, where, frame.site(step));
    frame.machine().Load(access, frame.slot(value));
  };
  ResolveAnd(load, p, tracked, step, frame);
  if (tracked != nullptr) frame.shadow()->Set(value, defined);
}

void StoreFrom(const AccessParams& p, SlotId value, const Step& step, Frame& frame, PeerPlace where) {
  Definedness defined;
  Definedness* const tracked = frame.shadow() == nullptr ? nullptr : &defined;
  if (tracked != nullptr) defined = frame.shadow()->Get(value);
  const auto store = [&](auto& access) {
    if (!where.empty()) access.buffer = frame.machine().PeerBuffer(access.buffer, where, frame.site(step));
    frame.machine().Store(access, frame.slot(value));
  };
  ResolveAnd(store, p, tracked, step, frame);
}

}  // namespace palladion
