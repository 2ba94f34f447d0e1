// Random kernels whose lanes touch memory, for the hunt: stores, loads and atomic updates by slices and arrays of
// indices, some of which name an element twice, with and without barriers between. They have a machine of their own
// (reference_lanes.h). Rules: docs/spec/races.md#lanes. Limits: one or two programs of Triton of one warp, which share
// no element, or a thread of Mosaic GPU without automatic barriers that loads and stores slices; i32; what is loaded is
// stored, and decides nothing.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_LANES_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_LANES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_oracle.h"

namespace palladion::hunt {

// Where the elements of an access lie in its program's part of an array.
struct LaneIndex {
  enum class Kind : std::uint8_t {
    kSlice,     // start, start + 1, ...
    kIota,      // the same by an array, `by` apart
    kReversed,  // the other way round
    kXor,       // start + (i ^ by)
    kModulo,    // start + (i & (by - 1)): elements are named several times
    kLoaded,    // start + p[by + i]
    kFrom,      // a slice that begins at start + p[by]
  };
  Kind kind = Kind::kSlice;
  int start = 0, by = 1;
  int turn = 0;  // so much further in the second turn of a loop
};

struct LaneOp {
  enum class What : std::uint8_t {
    kLoad,
    kStore,
    kAdd,       // atomic updates
    kExchange,  //
    kBarrier,   // debug_barrier, or commit_smem
    kLoop,      // `body`, twice
  };
  // What is stored or added: the number of the element times `slope`, plus `amount`; plus the last value that was
  // loaded, of as many elements, or a single one for all of them.
  enum class From : std::uint8_t { kNothing, kLast, kLastSingle };
  What what = What::kLoad;
  int array = 0, elements = 32;
  LaneIndex index = {};
  int keep = 0;  // a mask: the first so many; 0: there is none
  int slope = 0, amount = 0;
  From from = From::kNothing;
  std::vector<LaneOp> body = {};
};

struct LaneKernel {
  bool thread = false;  // a thread of Mosaic GPU without automatic barriers, which slices arrays; else it is Triton's
  int programs = 1, arrays = 1;  // array 0 first; what is loaded goes to the others
  std::vector<LaneOp> ops;
};

inline int LanesOf(const LaneKernel& kernel) { return kernel.thread ? 128 : 32; }
inline int PartOf(const LaneKernel& kernel) { return kernel.thread ? 256 : 64; }  // elements of each array, by program
std::int64_t InputOfLanes(int array, int element);
int InputOfP(int at);  // indices: of 32 each, turned by 8, as they are, in pairs the other way round, and eight of them

struct LaneText {
  std::string text;
  std::vector<std::pair<const LaneOp*, int>> lines;  // of the text, by access
};

LaneKernel RandomLanes(std::uint64_t seed);
LaneText WriteLanes(const LaneKernel& kernel);
HuntResult JudgeLanes(const LaneKernel& kernel, const HuntOptions& options);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_LANES_H_
