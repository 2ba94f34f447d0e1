// Views: a chain of transforms on a ref, planned once and resolved at each access. A chain whose indices are scalars
// and slices is one affine box; any other (index arrays, bitcasts to another width) is walked element by element. Based
// on: docs/spec/kernel-text.md, "Views and the shape of an access" and "Views through layouts".
#ifndef PALLADION_SEMANTICS_PROGRAM_VIEW_H_
#define PALLADION_SEMANTICS_PROGRAM_VIEW_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "semantics/port/machine.h"
#include "semantics/program/program.h"

namespace palladion {

// An index: a constant, or a scalar or array in a slot.
struct IndexValue {
  std::int64_t constant = 0;
  SlotId slot;  // valid: the value is read from the slot
  DType dtype = DType::kI32;
  Shape shape;  // of the slot's value
};

// Along one buffer dimension: elements base + sum(scale * floor(value / divisor)) + i*step, i < count, from the ref's
// origin.
struct AxisPlan {
  struct Term {
    IndexValue value;
    std::int64_t scale;
    std::int64_t divisor = 1;  // a tile: the value counts elements, and the buffer dimension tiles
  };
  std::int64_t base = 0;
  std::vector<Term> terms;
  std::int64_t count = 1;
  std::int64_t step = 1;
  IndexValue times;  // in a slot: a size known only at run time; there are count times so many
};

// One transform of a chain that is walked backwards, from the coordinates after it to those before it. Tiles and
// batches are a transposition and a reshape.
struct WalkStep {
  Transform::Kind kind = Transform::Kind::kAt;
  Shape before, after;                             // the view's shape before and after it
  std::vector<IndexValue> extents;                 // sizes of `after` that are kDynamicDim, in slots; empty: none is
  std::vector<Index::Kind> entries;                // kAt: per dimension before it
  std::vector<IndexValue> start;                   // kAt
  std::vector<std::int64_t> stride;                // kAt
  std::vector<std::int64_t> tile;                  // kAt: a start is rounded down to a multiple of it
  Shape point_shape;                               // kAt: P of the spec
  int point_position = 0;                          // kAt: where P stands in `after`
  std::vector<std::int64_t> perm;                  // kTranspose
  std::int64_t width_before = 1, width_after = 1;  // kBitcast: an element's bytes, or units; kAlias: places, bytes
  std::int64_t offset = 0;                         // kAlias: places
};

// An index whose range the box's own bounds do not check: below the first .at, or into a layout. Where it is wrong, the
// run says so and goes on with the address that comes out. A walk checks every range itself, but not the tiles.
struct ViewGuard {
  IndexValue value;
  std::int64_t size = 1;   // of the dimension it goes into
  std::int64_t reach = 0;  // from the first element of the slice to the last; -1 for none
  std::int64_t tile = 1;   // what a slice's start has to be a multiple of
  int dimension = 0;       // of what the chain shows at the .at
  int level = 1;           // of the .at in the chain
  IndexValue extent = {};  // in a slot: the slice's size, whose reach is one less
};

// Along a dimension of the cluster or of the devices, another block, or core, than the thread's own.
struct PeerIndex {
  std::size_t grid_dim = 0;
  IndexValue index;
  // Of a number that counts along several dimensions: its part along this one is floor(number / divisor) modulo `size`.
  std::int64_t divisor = 1;
  std::int64_t size = 0;  // 0: no modulus
};

struct ViewPlan {
  RefId ref;
  Type type;  // of the value of an access: the array type
  bool affine = true;
  std::vector<AxisPlan> axes;       // affine: per buffer dimension
  std::vector<std::uint8_t> order;  // affine: the value, row-major, runs over these buffer dimensions
  std::int64_t unit = 1;            // affine: so many elements of the box are one of the value (bytes of a union)
  std::vector<ViewGuard> guards;
  std::vector<PeerIndex> peer;      // whose memory: along these dimensions of the cluster, or the devices, another's
  std::vector<WalkStep> walk;       // not affine, or `unit` is not 1: then it is both
  std::vector<IndexValue> extents;  // of `walk`: sizes of the type that are kDynamicDim, in slots; empty: none is
  std::size_t piece_bytes = 0;      // of `walk`
  int unit_bits = 0;                // of `walk`: places count so many bits of what is stored; 0: they count bytes
  std::int64_t swizzle_mask = 0;    // of `walk`: swizzle_use.h
};

// Which block of the cluster `plan` names, where it names one: one coordinate for each entry of plan.peer.
absl::InlinedVector<PeerCoordinate, 3> PeerOf(const ViewPlan& plan, Frame& frame);

// The memory that the view is of.
BufferId BufferOf(const ViewPlan& plan, const Step& step, Frame& frame);

// Is a size that is known only at run time negative?
bool HasNegativeSize(const ViewPlan& plan, Frame& frame);

// Of a view that is walked, the value's shape.
Shape ShapeOf(const ViewPlan& plan, Frame& frame);

// Elements of the value: some sizes are known only at run time. One that is negative, or larger than any array, counts
// as 0 or as so large; what is done with the view finds that it is outside.
std::int64_t ElementsOf(const ViewPlan& plan, Frame& frame);

// Fills `box` (but for its mask) or `points` (whose offsets live in `frame.points()`). What a guard finds wrong is
// reported each time.
void ResolveBox(const ViewPlan& plan, const Step& step, Frame& frame, BoxAccess& box);
void ResolvePoints(const ViewPlan& plan, const Step& step, Frame& frame, PointAccess& points);

// Fills `box` where a view that is not affine is one all the same, because its index arrays hold runs; else false, and
// the access goes by ResolvePoints. No two elements of the box are one place.
bool ResolveRuns(const ViewPlan& plan, const Step& step, Frame& frame, BoxAccess& box);

// Reports the plan's indices that are wrong; `bounds`: those that are out of range too.
void CheckGuards(const ViewPlan& plan, bool bounds, const Step& step, Frame& frame);

// `b` is positive.
constexpr std::int64_t FloorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// An integer of any type; the bits of a u64.
std::int64_t ReadIndex(const std::byte* memory, DType dtype, std::int64_t element);

// Farther outside than any array is long, and near enough that sums with it do not overflow.
inline constexpr std::int64_t kFarOutside = std::int64_t{1} << 48;

// The same as a place: what lies beyond kFarOutside is there.
std::int64_t ReadPlace(const std::byte* memory, DType dtype, std::int64_t element);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VIEW_H_
