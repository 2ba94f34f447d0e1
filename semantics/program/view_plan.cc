// Planning of views: Builder::PlanView.
#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/builder.h"

namespace palladion {
namespace {

bool IsPoint(const Index& index) { return index.kind == Index::Kind::kPoint; }
bool IsDynamic(const Arg& arg) { return arg.kind == Arg::Kind::kValue; }

std::int64_t LiteralInt(const Arg& arg) { return ReadIndex(arg.literal.bytes.data(), arg.literal.dtype, 0); }

bool IsArrayIndex(const Index& index, const Builder& builder) {
  return IsPoint(index) && index.start.kind != Arg::Kind::kLiteral && !builder.TypeOf(index.start).shape.empty();
}

// The shape the index arrays of one .at have together.
Shape PointShape(const std::vector<Index>& indices, const Builder& builder) {
  Shape points;
  for (const Index& index : indices) {
    if (!IsArrayIndex(index, builder)) continue;
    const Shape shape = builder.TypeOf(index.start).shape;
    if (shape.size() > points.size()) points.insert(points.begin(), shape.size() - points.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& d = points[points.size() - shape.size() + i];
      if (d == 1) d = shape[i];  // 1 and 0 broadcast to 0
    }
  }
  return points;
}

// Where the points' shape stands in the result: at the first point when all points are neighbours, else in front.
int PointPosition(const std::vector<Index>& indices) {
  int first = -1, last = -1, count = 0;
  for (int d = 0; d < static_cast<int>(indices.size()); ++d) {
    if (!IsPoint(indices[static_cast<std::size_t>(d)])) continue;
    if (first < 0) first = d;
    last = d;
    ++count;
  }
  if (count == 0 || last - first + 1 != count) return 0;
  return first;
}

absl::Status UnsupportedTransform() {
  return absl::UnimplementedError(
      "a view through unswizzle, untile, tile, swizzle, peer, multicast, cluster, alias or batch transforms needs the "
      "GPU "
      "machine, which is not modelled yet");
}

Shape ShapeAfterBitcast(Shape shape, std::int64_t before, std::int64_t after) {
  if (before != after) shape[shape.size() - 2] = shape[shape.size() - 2] * before / after;
  return shape;
}

}  // namespace

absl::StatusOr<IndexValue> Builder::PlanIndex(const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) return IndexValue{.constant = LiteralInt(arg)};
  IndexValue index;
  PALLADION_ASSIGN_OR_RETURN(index.slot, In(arg));
  const Type type = TypeOf(arg);
  index.dtype = type.dtype;
  index.shape = type.shape;
  return index;
}

// False when the chain is not one box; an index below the first .at that is only known at run time is not, so that each
// level's own bounds are checked.
absl::StatusOr<bool> Builder::PlanAffine(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = program_.refs[plan.ref.index()];
  std::vector<int> dims = info.kept;
  plan.axes.assign(info.window.size(), AxisPlan{});
  for (int axis : info.kept)
    plan.axes[static_cast<std::size_t>(axis)].count = info.window[static_cast<std::size_t>(axis)];
  DType dtype = info.dtype;
  bool first_at = true;
  for (const Transform& t : view.transforms) {
    if (t.kind == Transform::Kind::kTranspose) {
      std::vector<int> permuted;
      for (std::int64_t p : t.ints) permuted.push_back(dims[static_cast<std::size_t>(p)]);
      dims = permuted;
    } else if (t.kind == Transform::Kind::kBitcast) {
      if (StorageBytes(t.dtype) != StorageBytes(dtype)) return false;
      dtype = t.dtype;
    } else if (t.kind == Transform::Kind::kAt) {
      std::vector<int> kept;
      for (std::size_t d = 0; d < t.indices.size(); ++d) {
        const Index& index = t.indices[d];
        AxisPlan& axis = plan.axes[static_cast<std::size_t>(dims[d])];
        if (index.kind == Index::Kind::kFull) {
          kept.push_back(dims[d]);
          continue;
        }
        if (index.kind == Index::Kind::kRef || IsArrayIndex(index, *this)) return false;
        if (IsDynamic(index.start) && !first_at) return false;
        PALLADION_ASSIGN_OR_RETURN(IndexValue start, PlanIndex(index.start));
        if (start.slot.valid()) {
          axis.terms.push_back({start, axis.step});
        } else {
          axis.base += start.constant * axis.step;
        }
        const bool slice = index.kind == Index::Kind::kSlice;
        axis.count = slice ? LiteralInt(index.size) : 1;
        axis.step =
            slice && axis.count > 1 ? axis.step * index.stride : 1;  // the step of one element may be any number
        if (slice) kept.push_back(dims[d]);
      }
      dims = kept;
      first_at = false;
    } else {
      return false;
    }
  }
  plan.order.clear();
  plan.type = Type{.dtype = dtype};
  for (int axis : dims) {
    plan.order.push_back(static_cast<std::uint8_t>(axis));
    plan.type.shape.push_back(plan.axes[static_cast<std::size_t>(axis)].count);
  }
  return true;
}

absl::Status Builder::PlanWalk(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = program_.refs[plan.ref.index()];
  Shape shape;
  for (int axis : info.kept) shape.push_back(info.window[static_cast<std::size_t>(axis)]);
  DType dtype = info.dtype;
  plan.piece_bytes = StorageBytes(dtype) * info.words_per_element;
  for (const Transform& t : view.transforms) {
    WalkStep step{.kind = t.kind, .before = shape};
    switch (t.kind) {
      case Transform::Kind::kTranspose:
        step.perm = t.ints;
        for (std::size_t i = 0; i < t.ints.size(); ++i) shape[i] = step.before[static_cast<std::size_t>(t.ints[i])];
        break;
      case Transform::Kind::kReshape:
        shape = t.ints;
        break;
      case Transform::Kind::kBitcast:
        step.width_before = static_cast<std::int64_t>(StorageBytes(dtype));
        step.width_after = static_cast<std::int64_t>(StorageBytes(t.dtype));
        if (Info(dtype).bits != Info(t.dtype).bits && (Info(dtype).bits < 8 || Info(t.dtype).bits < 8)) {
          return absl::UnimplementedError(Cat("a view that bitcasts ", Name(dtype), " to ", Name(t.dtype),
                                              " needs packed sub-byte memory, which is not modelled"));
        }
        shape = ShapeAfterBitcast(shape, step.width_before, step.width_after);
        dtype = t.dtype;
        plan.piece_bytes = std::min(plan.piece_bytes, StorageBytes(dtype));
        break;
      case Transform::Kind::kAt: {
        step.point_shape = PointShape(t.indices, *this);
        step.point_position = PointPosition(t.indices);
        Shape after;
        for (const Index& index : t.indices) {
          if (index.kind == Index::Kind::kRef)
            return absl::UnimplementedError("a ref as an index needs SparseCore, which is not modelled");
          step.entries.push_back(index.kind);
          IndexValue start;
          if (index.kind != Index::Kind::kFull) {
            PALLADION_ASSIGN_OR_RETURN(start, PlanIndex(index.start));
          }
          step.start.push_back(start);
          step.stride.push_back(index.kind == Index::Kind::kSlice && LiteralInt(index.size) > 1 ? index.stride : 1);
          if (index.kind == Index::Kind::kFull) after.push_back(shape[step.entries.size() - 1]);
          if (index.kind == Index::Kind::kSlice) after.push_back(LiteralInt(index.size));
        }
        after.insert(after.begin() + step.point_position, step.point_shape.begin(), step.point_shape.end());
        shape = after;
        break;
      }
      default:
        return UnsupportedTransform();
    }
    step.after = shape;
    plan.walk.push_back(std::move(step));
  }
  plan.type = Type{.dtype = dtype, .shape = shape};
  return absl::OkStatus();
}

absl::StatusOr<ViewPlan> Builder::PlanPoints(const Arg& view) {
  if (view.kind != Arg::Kind::kValue) {
    return absl::UnimplementedError(
        "a choice among refs (select) is only for asynchronous copies, which are not modelled yet");
  }
  ViewPlan plan;
  plan.ref = RefOf(view.value);
  if (!plan.ref.valid())
    return absl::InternalError(Cat("cannot happen: '%", kernel_.values[view.value.index()].name, "' is no ref"));
  plan.affine = false;
  views_.Add(plan.ref);
  PALLADION_RETURN_IF_ERROR(PlanWalk(view, plan));
  EmitExpectAlive(plan.ref);
  return plan;
}

absl::StatusOr<ViewPlan> Builder::PlanView(const Arg& view) {
  if (view.kind != Arg::Kind::kValue || !RefOf(view.value).valid()) return PlanPoints(view);  // for its errors
  ViewPlan plan;
  plan.ref = RefOf(view.value);
  views_.Add(plan.ref);
  PALLADION_ASSIGN_OR_RETURN(bool affine, PlanAffine(view, plan));
  if (!affine) return PlanPoints(view);
  EmitExpectAlive(plan.ref);
  return plan;
}

}  // namespace palladion
