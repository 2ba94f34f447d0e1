// Plans views of refs: the chain of transforms of an operand becomes one box where its indices are affine, else a walk
// over its levels (view.h).
#ifndef PALLADION_SEMANTICS_PROGRAM_VIEW_PLANNER_H_
#define PALLADION_SEMANTICS_PROGRAM_VIEW_PLANNER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/program/builder.h"
#include "semantics/program/view.h"
#include "semantics/program/view_walk.h"

namespace palladion {

class ViewPlanner {
 public:
  explicit ViewPlanner(Builder& builder) : builder_(builder) {}

  absl::StatusOr<ViewPlan> View(const Arg& view);
  // The same, and a bitcast may be to or from elements of less than a byte: see ViewPlan::unit_bits.
  absl::StatusOr<ViewPlan> Packed(const Arg& view);
  absl::StatusOr<ViewPlan> Points(const Arg& view);      // never a box: for lanes that go one by one
  absl::StatusOr<IndexValue> PlanIndex(const Arg& arg);  // an integer operand of an instruction, or an index

 private:
  absl::StatusOr<bool> Affine(const Arg& view, ViewPlan& plan);
  absl::Status Walk(const Arg& view, ViewPlan& plan);
  absl::StatusOr<WalkStep> WalkAt(const std::vector<Index>& indices, const WalkSteps& so_far, Shape& after);
  // Of a slice whose size is known only at run time; else in no slot.
  absl::StatusOr<IndexValue> Extent(const Index& index);
  absl::Status Place(const Arg& view, ViewPlan& plan);  // once, last
  absl::Status PlaceOnDevice(const Arg& view, ViewPlan& plan);
  int UnitBits(const Arg& view, const RefInfo& info) const;

  Builder& builder_;
  bool packed_ = false;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VIEW_PLANNER_H_
