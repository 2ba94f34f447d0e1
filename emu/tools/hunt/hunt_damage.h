// One mistake in what an agent does, of the kinds that every family has: an operation left out, repeated, swapped with
// the one before it, or a new one.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_DAMAGE_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_DAMAGE_H_

#include <functional>
#include <utility>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

struct Changes {
  int own = 0;                                   // kinds that the family has besides
  std::function<void(int kind, Op* op)> change;  // of those, from 0 on
  std::function<Op()> any;                       // a new operation
};

inline void DamageOne(scheduler::Random* random, const Changes& changes, std::vector<Op>* ops) {
  const auto below = [&](std::size_t n) { return static_cast<int>(random->Below(n)); };
  if (ops->empty()) return ops->push_back(changes.any());
  const int at = below(ops->size()), kind = below(static_cast<std::size_t>(changes.own + 4));
  const auto op = ops->begin() + at;
  if (kind == 0) {
    ops->erase(op);
  } else if (kind == 1) {
    const Op again = *op;
    ops->insert(op, again);
  } else if (kind == 2) {
    if (at > 0) std::swap(*op, *(op - 1));
  } else if (kind < changes.own + 3) {
    changes.change(kind - 3, &*op);
  } else {
    ops->insert(op, changes.any());
  }
}

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_DAMAGE_H_
