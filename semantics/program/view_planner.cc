#include "semantics/program/view_planner.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_layout.h"
#include "semantics/program/device_index.h"
#include "semantics/program/ended_refs.h"
#include "semantics/program/swizzle_use.h"
#include "semantics/program/view_affine.h"

namespace palladion {
namespace {

bool IsPoint(const Index& index) { return index.kind == Index::Kind::kPoint; }

// Is the slice's size known only at run time?
bool IsSized(const Index& index) { return index.kind == Index::Kind::kSlice && index.size.kind != Arg::Kind::kLiteral; }

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

// Memory whose bytes are seen both swizzled and not, or by two swizzles.
absl::Status CheckSwizzled(const RefInfo& info) {
  constexpr std::int64_t kRow = 128;
  const std::int64_t bytes =
      NumElements(info.buffer_shape) / info.places_of_byte * static_cast<std::int64_t>(StorageBytes(info.dtype));
  if (info.words_per_element != 1 || IsPacked(info.dtype)) {
    return absl::UnimplementedError(Cat("the views of '", info.name,
                                        "' swizzle it differently, so that its bytes matter as "
                                        "hardware packs ",
                                        Name(info.dtype), "; that is not modelled"));
  }
  if (bytes % kRow == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the views of '", info.name,
                                        "' swizzle it differently: expected a multiple of ", kRow,
                                        " bytes, which a swizzle permutes, found ", bytes));
}

// Starts of slices in a walk are rounded down as those of the box are.
void StartAtTiles(ViewPlan& plan) {
  int level = 0;
  for (WalkStep& step : plan.walk) {
    if (step.kind != Transform::Kind::kAt) continue;
    ++level;
    for (const ViewGuard& guard : plan.guards) {
      if (guard.level == level) step.tile[static_cast<std::size_t>(guard.dimension)] = guard.tile;
    }
  }
}

}  // namespace

absl::StatusOr<IndexValue> ViewPlanner::PlanIndex(const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) return IndexValue{.constant = LiteralInt(arg)};
  IndexValue index;
  PALLADION_ASSIGN_OR_RETURN(index.slot, builder_.In(arg));
  const Type type = builder_.TypeOf(arg);
  index.dtype = type.dtype;
  index.shape = type.shape;
  return index;
}

// False when the chain is not one box. On the targets whose lanes may be masked an index below the first .at that is
// only known at run time is not, so that each level's own bounds are checked.
absl::StatusOr<bool> ViewPlanner::Affine(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = builder_.program().refs[plan.ref.index()];
  const bool mosaic =
      builder_.target().backend == TargetBackend::kMosaicGpu || builder_.target().backend == TargetBackend::kMosaicTpu;
  const bool layouts = mosaic && !HasMask(builder_.current());
  AffineView affine(info, layouts, plan);
  DType dtype = info.dtype;
  for (const Transform& t : view.transforms) {
    if (t.kind == Transform::Kind::kBitcast) {
      if (Info(t.dtype).bits != Info(dtype).bits) return false;  // i4 and i8 are stored in as many bytes, and differ
      dtype = t.dtype;
    } else if (t.kind == Transform::Kind::kAt) {
      std::vector<AffineEntry> entries;
      for (const Index& index : t.indices) {
        AffineEntry& entry = entries.emplace_back(AffineEntry{.kind = index.kind, .start = {}});
        if (index.kind == Index::Kind::kFull) continue;
        if (index.kind == Index::Kind::kRef || IsArrayIndex(index, builder_)) return false;
        PALLADION_ASSIGN_OR_RETURN(entry.start, PlanIndex(index.start));
        if (index.kind != Index::Kind::kSlice) continue;
        entry.stride = index.stride;
        entry.size = IsSized(index) ? kDynamicDim : LiteralInt(index.size);
        PALLADION_ASSIGN_OR_RETURN(entry.extent, Extent(index));
      }
      if (!affine.At(entries)) return false;
    } else if (!affine.Layout(t)) {
      return false;
    }
  }
  plan.type = Type{.dtype = dtype};
  return affine.Finish();
}

absl::StatusOr<IndexValue> ViewPlanner::Extent(const Index& index) {
  if (IsSized(index)) return PlanIndex(index.size);
  return IndexValue{};
}

absl::StatusOr<WalkStep> ViewPlanner::WalkAt(const std::vector<Index>& indices, const WalkSteps& so_far, Shape& after) {
  WalkStep step{.kind = Transform::Kind::kAt};
  step.point_shape = PointShape(indices, builder_);
  step.point_position = PointPosition(indices);
  for (const Index& index : indices) {
    if (index.kind == Index::Kind::kRef) {
      return absl::UnimplementedError(
          "a ref as an index needs SparseCore: it is a gather or scatter by DMA, which JAX refuses on a TensorCore; "
          "SparseCore is not modelled (docs/reference/sparsecore.md). Copy row by row, with an index that is a scalar");
    }
    step.entries.push_back(index.kind);
    IndexValue start;
    if (index.kind != Index::Kind::kFull) {
      PALLADION_ASSIGN_OR_RETURN(start, PlanIndex(index.start));
    }
    step.start.push_back(start);
    step.tile.push_back(1);
    const bool sized = IsSized(index), slice = index.kind == Index::Kind::kSlice;
    step.stride.push_back(slice && !sized && LiteralInt(index.size) > 1 ? index.stride : 1);
    if (IsPoint(index)) continue;
    const std::size_t axis = step.entries.size() - 1;
    after.push_back(sized ? kDynamicDim : slice ? LiteralInt(index.size) : so_far.shape()[axis]);
    PALLADION_ASSIGN_OR_RETURN(IndexValue extent, Extent(index));
    if (!slice && !so_far.extents().empty()) extent = so_far.extents()[axis];
    step.extents.push_back(std::move(extent));
  }
  after.insert(after.begin() + step.point_position, step.point_shape.begin(), step.point_shape.end());
  step.extents.insert(step.extents.begin() + step.point_position, step.point_shape.size(), IndexValue{});
  return step;
}

absl::Status ViewPlanner::Walk(const Arg& view, ViewPlan& plan) {
  const RefInfo& info = builder_.program().refs[plan.ref.index()];
  WalkSteps steps(info, plan);
  for (const Transform& t : view.transforms) {
    if (t.kind != Transform::Kind::kAt) {
      PALLADION_RETURN_IF_ERROR(steps.Add(t));
      continue;
    }
    Shape after;
    PALLADION_ASSIGN_OR_RETURN(WalkStep step, WalkAt(t.indices, steps, after));
    steps.Push(std::move(step), std::move(after));
  }
  plan.type = Type{.dtype = steps.dtype(), .shape = steps.shape()};
  plan.extents = steps.extents();
  if (!builder_.swizzles().Differs(view)) return absl::OkStatus();
  plan.swizzle_mask = SwizzleMask(view.transforms);
  return plan.swizzle_mask == 0 ? absl::OkStatus() : CheckSwizzled(info);
}

// Other devices know the address of what lies in global memory as long as the kernel runs: its arrays, and semaphores.
absl::Status ViewPlanner::PlaceOnDevice(const Arg& view, ViewPlan& plan) {
  if (std::any_of(view.transforms.begin(), view.transforms.end(),
                  [](const Transform& t) { return t.kind == Transform::Kind::kMulticast; })) {
    return absl::InvalidArgumentError(
        "a view of the memory of all devices (plgpu.multicast_ref) is the destination of copy_smem_to_gmem alone: use "
        "plgpu.multimem_store, or plgpu.remote_ref");
  }
  PALLADION_ASSIGN_OR_RETURN(plan.peer, PlanPeerView(view, builder_));
  if (plan.peer.empty()) return absl::OkStatus();
  const Type& type = builder_.kernel().values[view.value.index()].type;
  const std::vector<OperandInfo>& operands = builder_.program().operand_infos;
  const bool array = std::any_of(operands.begin(), operands.end(), [&](const OperandInfo& info) {
    return info.ref == plan.ref && info.role != Role::kScratch;
  });
  if (type.element == ElementKind::kData && !array) {
    return absl::InvalidArgumentError(Cat("'", builder_.program().refs[plan.ref.index()].name, "' in ",
                                          Name(type.space),
                                          " has no address on other devices: plgpu.remote_ref is of the kernel's "
                                          "arrays in gmem, and of semaphores"));
  }
  builder_.program().uses_port = true;
  builder_.ViewsElsewhere();
  return absl::OkStatus();
}

absl::Status ViewPlanner::Place(const Arg& view, ViewPlan& plan) {
  builder_.Views(plan.ref, plan.type.shape);
  PALLADION_RETURN_IF_ERROR(PlaceOnDevice(view, plan));
  for (const Transform& t : view.transforms) {
    if (t.kind != Transform::Kind::kCluster) continue;
    PALLADION_ASSIGN_OR_RETURN(const ClusterPlace place, ParseCluster(t));
    for (std::size_t i = 0; i < place.dims.size(); ++i) {
      PALLADION_ASSIGN_OR_RETURN(const int dim, builder_.GridAxis(place.dims[i]));
      PALLADION_ASSIGN_OR_RETURN(IndexValue index, PlanIndex(place.indices[i]));
      plan.peer.push_back({static_cast<std::size_t>(dim), std::move(index)});
    }
    builder_.program().uses_port = true;
    builder_.ViewsElsewhere();  // another block's memory is not the ref's
  }
  if (builder_.freezes()) EmitExpectAlive(plan.ref, builder_);
  return absl::OkStatus();
}

absl::StatusOr<ViewPlan> ViewPlanner::Points(const Arg& view) {
  if (view.kind != Arg::Kind::kValue) {
    return absl::UnimplementedError("a choice among refs (select) is modelled in a TPU's asynchronous copies only");
  }
  ViewPlan plan;
  plan.ref = builder_.RefOf(view.value);
  if (!plan.ref.valid())
    return absl::InternalError(
        Cat("cannot happen: '%", builder_.kernel().values[view.value.index()].name, "' is no ref"));
  plan.affine = false;
  if (packed_) plan.unit_bits = UnitBits(view, builder_.program().refs[plan.ref.index()]);
  PALLADION_RETURN_IF_ERROR(Walk(view, plan));
  PALLADION_RETURN_IF_ERROR(Place(view, plan));
  return plan;
}

// The bits of the narrowest elements that the chain shows, where it bitcasts to or from less than a byte; else 0. Not
// of unions, whose members have places of their own.
int ViewPlanner::UnitBits(const Arg& view, const RefInfo& info) const {
  DType dtype = info.dtype;
  int narrowest = Info(dtype).bits;
  bool packed = false;
  for (const Transform& t : view.transforms) {
    if (t.kind == Transform::Kind::kAlias) return 0;
    if (t.kind != Transform::Kind::kBitcast) continue;
    packed |= Info(t.dtype).bits != Info(dtype).bits && (IsPacked(t.dtype) || IsPacked(dtype));
    dtype = t.dtype;
    narrowest = std::min(narrowest, Info(dtype).bits);
  }
  return packed ? narrowest : 0;
}

absl::StatusOr<ViewPlan> ViewPlanner::Packed(const Arg& view) {
  packed_ = true;
  return View(view);
}

absl::StatusOr<ViewPlan> ViewPlanner::View(const Arg& view) {
  if (view.kind != Arg::Kind::kValue || !builder_.RefOf(view.value).valid()) return Points(view);  // for its errors
  ViewPlan plan;
  plan.ref = builder_.RefOf(view.value);
  PALLADION_ASSIGN_OR_RETURN(const bool affine, Affine(view, plan));
  if (!affine) return Points(view);
  plan.affine = SwizzleMask(view.transforms) == 0 || !builder_.swizzles().Differs(view);
  if (!plan.affine || plan.unit != 1) {
    PALLADION_RETURN_IF_ERROR(Walk(view, plan));
    StartAtTiles(plan);
  }
  if (!plan.affine) {
    plan.axes.clear();
    plan.order.clear();
    plan.unit = 1;
  }
  PALLADION_RETURN_IF_ERROR(Place(view, plan));
  return plan;
}

}  // namespace palladion
