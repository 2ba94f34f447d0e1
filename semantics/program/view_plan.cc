// Planning of views: Builder::PlanView.
#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_layout.h"
#include "semantics/program/builder.h"
#include "semantics/program/view_affine.h"

namespace palladion {
namespace {

bool IsPoint(const Index& index) { return index.kind == Index::Kind::kPoint; }

bool HasMask(const Instr* op) {
  return op != nullptr && std::any_of(op->args.begin(), op->args.end(), [](const Arg& arg) {
           return arg.name == "mask" && arg.kind != Arg::Kind::kNone;
         });
}

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

// Layouts as transpositions and reshapes.
class LayoutSteps {
 public:
  LayoutSteps(Shape& shape, std::vector<WalkStep>& walk) : shape_(shape), walk_(walk) {}

  absl::Status Add(const Transform& t) {
    switch (t.kind) {
      case Transform::Kind::kUntile:
        Untile(t.ints);
        return absl::OkStatus();
      case Transform::Kind::kTile:
        Tile(t.ints);
        return absl::OkStatus();
      case Transform::Kind::kExpandBatch:
        ExpandBatch(t.ints);
        return absl::OkStatus();
      case Transform::Kind::kCollapseBatch:
        CollapseBatch();
        return absl::OkStatus();
      case Transform::Kind::kUnswizzle:
      case Transform::Kind::kSwizzle:
        return absl::OkStatus();  // memory is stored unswizzled
      default:
        return absl::UnimplementedError(Cat("a view through .", Name(t.kind), " is not modelled yet"));
    }
  }

  void Transpose(const std::vector<std::int64_t>& perm) {
    WalkStep step{.kind = Transform::Kind::kTranspose, .before = shape_};
    step.perm = perm;
    for (std::size_t i = 0; i < perm.size(); ++i) shape_[i] = step.before[static_cast<std::size_t>(perm[i])];
    Push(std::move(step));
  }

  void Reshape(const Shape& to) {
    WalkStep step{.kind = Transform::Kind::kReshape, .before = shape_};
    shape_ = to;
    Push(std::move(step));
  }

 private:
  void Push(WalkStep step) {
    step.after = shape_;
    walk_.push_back(std::move(step));
  }

  // (..., m/t0, n/t1, t0, t1) -> (..., m/t0, t0, n/t1, t1) -> (..., m, n)
  void Untile(const Shape& tile) {
    const std::size_t tiled = tile.size(), leading = shape_.size() - 2 * tiled;
    Shape perm, to(shape_.begin(), shape_.end() - static_cast<std::ptrdiff_t>(tiled));
    for (std::size_t d = 0; d < leading; ++d) perm.push_back(static_cast<std::int64_t>(d));
    for (std::size_t d = leading; d < leading + tiled; ++d) {
      perm.push_back(static_cast<std::int64_t>(d));
      perm.push_back(static_cast<std::int64_t>(d + tiled));
      to[d] *= shape_[d + tiled];
    }
    Transpose(perm);
    Reshape(to);
  }

  void Tile(const Shape& tile) {
    const std::size_t tiled = tile.size(), leading = shape_.size() - tiled;
    Shape perm, split(shape_.begin(), shape_.begin() + static_cast<std::ptrdiff_t>(leading));
    for (std::size_t i = 0; i < tiled; ++i) {
      split.push_back(shape_[leading + i] / tile[i]);
      split.push_back(tile[i]);
    }
    for (std::size_t d = 0; d < leading; ++d) perm.push_back(static_cast<std::int64_t>(d));
    for (std::size_t i = 0; i < 2 * tiled; ++i) {
      perm.push_back(static_cast<std::int64_t>(leading + (i < tiled ? 2 * i : 2 * (i - tiled) + 1)));
    }
    Reshape(split);
    Transpose(perm);
  }

  // (m, b*n) -> (m, *b, n) -> (*b, m, n)
  void ExpandBatch(const Shape& batch) {
    Shape split = {shape_[0]}, perm;
    split.insert(split.end(), batch.begin(), batch.end());
    split.push_back(shape_[1] / NumElements(batch));
    for (std::size_t i = 0; i < batch.size(); ++i) perm.push_back(static_cast<std::int64_t>(i) + 1);
    perm.push_back(0);
    perm.push_back(static_cast<std::int64_t>(batch.size()) + 1);
    Reshape(split);
    Transpose(perm);
  }

  void CollapseBatch() {
    const auto batches = static_cast<std::int64_t>(shape_.size()) - 2;
    Shape perm = {batches};
    for (std::int64_t i = 0; i < batches; ++i) perm.push_back(i);
    perm.push_back(batches + 1);
    Transpose(perm);
    Shape to = {shape_[0], 1};
    for (std::size_t d = 1; d < shape_.size(); ++d) to[1] *= shape_[d];
    Reshape(to);
  }

  Shape& shape_;
  std::vector<WalkStep>& walk_;
};

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

// False when the chain is not one box. On the targets whose lanes may be masked an index below the first .at that is
// only known at run time is not, so that each level's own bounds are checked.
absl::StatusOr<bool> Builder::PlanAffine(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = program_.refs[plan.ref.index()];
  const bool layouts = target().backend == TargetBackend::kMosaicGpu && !HasMask(current_);
  AffineView affine(info, layouts, plan);
  DType dtype = info.dtype;
  for (const Transform& t : view.transforms) {
    if (t.kind == Transform::Kind::kBitcast) {
      if (StorageBytes(t.dtype) != StorageBytes(dtype)) return false;
      dtype = t.dtype;
    } else if (t.kind == Transform::Kind::kAt) {
      std::vector<AffineEntry> entries;
      for (const Index& index : t.indices) {
        AffineEntry& entry = entries.emplace_back(AffineEntry{.kind = index.kind, .start = {}});
        if (index.kind == Index::Kind::kFull) continue;
        if (index.kind == Index::Kind::kRef || IsArrayIndex(index, *this)) return false;
        PALLADION_ASSIGN_OR_RETURN(entry.start, PlanIndex(index.start));
        if (index.kind != Index::Kind::kSlice) continue;
        entry.size = LiteralInt(index.size);
        entry.stride = index.stride;
      }
      if (!affine.At(entries)) return false;
    } else if (!affine.Layout(t)) {
      return false;
    }
  }
  plan.type = Type{.dtype = dtype};
  return affine.Finish();
}

absl::Status Builder::PlanWalk(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = program_.refs[plan.ref.index()];
  Shape shape;
  for (int axis : info.kept) shape.push_back(info.window[static_cast<std::size_t>(axis)]);
  DType dtype = info.dtype;
  plan.piece_bytes = StorageBytes(dtype) * info.words_per_element;
  LayoutSteps layouts(shape, plan.walk);
  for (const Transform& t : view.transforms) {
    WalkStep step{.kind = t.kind, .before = shape};
    switch (t.kind) {
      case Transform::Kind::kTranspose:
        layouts.Transpose(t.ints);
        continue;
      case Transform::Kind::kReshape:
        layouts.Reshape(t.ints);
        continue;
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
        PALLADION_RETURN_IF_ERROR(layouts.Add(t));
        continue;
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
