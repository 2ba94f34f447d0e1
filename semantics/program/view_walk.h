// The transforms of a chain that is walked, but for .at, as steps back from the coordinates after them to those before.
// Tiles and batches are a transposition and a reshape. Based on: docs/spec/kernel-text.md, "Views and the shape of an
// access" and "Views through layouts". Sub-byte elements have a byte each here, so what would look at their packing is
// refused.
#ifndef PALLADION_SEMANTICS_PROGRAM_VIEW_WALK_H_
#define PALLADION_SEMANTICS_PROGRAM_VIEW_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "semantics/ir/module.h"
#include "semantics/ir/view_layout.h"
#include "semantics/program/view.h"

namespace palladion {

class WalkSteps {
 public:
  WalkSteps(const RefInfo& info, ViewPlan& plan);

  const Shape& shape() const { return shape_; }  // after the steps so far
  DType dtype() const { return dtype_; }
  // The sizes of shape() that are known only at run time, in slots; empty where there are none.
  const std::vector<IndexValue>& extents() const { return extents_; }

  absl::Status Add(const Transform& t);  // all but kAt
  void Push(WalkStep step, Shape after);

 private:
  void Transpose(const std::vector<std::int64_t>& perm);
  void Reshape(const Shape& to);
  void Untile(const Shape& tile);
  void Tile(const Shape& tile);
  void ExpandBatch(const Shape& batch);
  void CollapseBatch();
  absl::Status Bitcast(DType to);
  absl::Status Alias(const Transform& t);
  absl::Status Cells(const AliasMember& member);  // a member of a union in tensor memory
  void Part(const Shape& start, Shape after);     // .at[start +: after]

  ViewPlan& plan_;
  Shape shape_;
  std::vector<IndexValue> extents_;
  DType dtype_;
  std::int64_t places_;  // RefInfo::places_of_byte
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VIEW_WALK_H_
