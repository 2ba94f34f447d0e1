// A chain of transforms as one affine box: each dimension of the view is a list of parts of buffer dimensions, major to
// minor, which tiles split and reshapes join; at the end the parts of a buffer dimension have to be one run again.
// Based on: docs/spec/kernel-text.md, "Views and the shape of an access" and "Views through layouts". What is not one
// box (index arrays, a slice of the inside of a tile that several tiles share) is left to the walk, element by element.
#ifndef PALLADION_SEMANTICS_PROGRAM_VIEW_AFFINE_H_
#define PALLADION_SEMANTICS_PROGRAM_VIEW_AFFINE_H_

#include <cstdint>
#include <vector>

#include "semantics/ir/module.h"
#include "semantics/program/view.h"

namespace palladion {

// An entry of .at whose start is a constant or a scalar in a slot.
struct AffineEntry {
  Index::Kind kind = Index::Kind::kFull;  // kFull, kPoint or kSlice
  IndexValue start;
  std::int64_t size = 1, stride = 1;  // kSlice; size kDynamicDim: what `extent` says at run time
  IndexValue extent = {};
};

// `layouts`: on Mosaic, where layouts are boxes, and an index below the first .at is an address that is guarded. On the
// other targets a view is a box only where its first .at alone has indices that are known only at run time.
class AffineView {
 public:
  AffineView(const RefInfo& info, bool layouts, ViewPlan& plan);

  // The transforms, in the chain's order. False: no box.
  [[nodiscard]] bool At(const std::vector<AffineEntry>& entries);
  [[nodiscard]] bool Layout(const Transform& transform);  // all but kAt and kBitcast

  // Fills the plan's axes, order and shape. False: no box.
  [[nodiscard]] bool Finish();

 private:
  // Elements start, start + stride, ... of a buffer dimension, `count` of them; where they start is the axis' base. A
  // count that is negative is so many times what the axis' `times` says at run time.
  struct Part {
    int axis;
    std::int64_t count, stride;
  };
  struct Dim {
    std::vector<Part> parts;  // major to minor; the dimension's size is the product of their counts
    std::int64_t tile = 1;    // where slices have to start on Mosaic GPU
    bool own = true;          // the ref's own dimension, which no layout has touched
  };

  static std::int64_t Size(const Dim& dim);
  static Dim Joined(std::vector<Dim>::const_iterator first, std::vector<Dim>::const_iterator last);
  // Parts that split `dim` into dimensions of these sizes; false where a part would have to be divided unevenly.
  static bool Split(const Dim& dim, const Shape& sizes, std::vector<Dim>& out);
  bool Alias(const Transform& transform);
  bool Reshape(const Shape& to);
  void Transpose(const std::vector<std::int64_t>& perm);
  void Untile(const std::vector<std::int64_t>& tile);
  bool Tile(const std::vector<std::int64_t>& tile);
  bool ExpandBatch(const std::vector<std::int64_t>& batch);
  void CollapseBatch();
  static bool Append(const Part& part, std::vector<Part>& runs);
  bool Narrow(const AffineEntry& entry, Dim& dim);
  bool NarrowStatic(std::int64_t start, std::int64_t size, Dim& dim);
  bool NarrowDynamic(const AffineEntry& entry, Dim& dim);
  AxisPlan& Axis(const Part& part) { return plan_.axes[static_cast<std::size_t>(part.axis)]; }

  bool layouts_;
  std::int64_t places_;  // RefInfo::places_of_byte
  ViewPlan& plan_;
  std::vector<Dim> dims_;
  int level_ = 0;          // of the .at
  Part element_{0, 1, 1};  // of a union's member: its bytes, plan_.unit of them
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VIEW_AFFINE_H_
