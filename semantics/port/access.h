// Requests to memory: sets of elements that a kernel reads, writes or allocates, and what is known of their values.
// They are data: the implementation of the port (machine.h) checks them in a stated order, bounds first, and moves the
// bytes.
#ifndef PALLADION_SEMANTICS_PORT_ACCESS_H_
#define PALLADION_SEMANTICS_PORT_ACCESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "semantics/base/dtype.h"
#include "semantics/base/finding.h"
#include "semantics/base/ids.h"
#include "semantics/port/places.h"

namespace palladion {

inline constexpr int kMaxBoxRank = 32;

// The place in the program that asks: for messages only.
struct Site {
  LocId loc;
  int text_line = 0;
  absl::Span<const std::int64_t> program;  // its index in the grid
};

// A line of the kernel, without the program that is there: what may be kept.
struct CodeSite {
  LocId loc;
  int text_line = 0;
  static CodeSite Of(const Site& site) { return {site.loc, site.text_line}; }
};

// What an element outside the array, but inside the ref's window, is.
enum class Outside : std::uint8_t {
  kPad,    // padding: loads give poison, stores are dropped (blocks, except on Triton)
  kError,  // out of bounds (a Triton block is a pointer; a whole buffer has no padding)
  kZero,   // loads give zeros, stores are dropped (TMA)
};

// Which lanes take part. A masked-off lane is no access: a load gives `other`'s element there, or poison without one.
struct Mask {
  const std::uint8_t* lanes = nullptr;  // one bool per element of the value, row-major; nullptr: all
  const std::byte* other = nullptr;     // as many elements as the value; nullptr: none
  // Marks (see Definedness) of the two; nullptr: defined. A lane of which it is undefined whether it takes part is
  // itself undefined, wherever its bytes go.
  const std::uint8_t* lanes_undefined = nullptr;
  const std::uint8_t* other_undefined = nullptr;
};

// Which elements of an access's value are undefined: never written memory, padding, masked-off lanes without `other`. A
// mark is one byte for each element of the value, row-major: 0 defined, else the number of where it comes from. A store
// hands it over; a load sets it, and its marks are the machine's until the next request; an atomic does both: the
// operand's (or the compared value's) before, the old value's after.
struct Definedness {
  bool any = false;  // false: every element is defined, and `undefined` is not looked at
  const std::uint8_t* undefined = nullptr;
};

// The mark of what depends on two elements: the smaller that is not 0, so that the order of merges does not matter.
constexpr std::uint8_t MergeMarks(std::uint8_t a, std::uint8_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

// Marks from kMovedMark on are of unwritten bytes of an output that were only moved since: the output they
// are of (3 bits) and the place in it that they come from (4 bits). Computing with them gives them the mark of that
// output's origin, so that bytes that went back to their own place can be separated from computed ones.
inline constexpr std::uint8_t kMovedMark = 0x80;
constexpr std::uint8_t ComputedMark(std::uint8_t mark) {
  return mark < kMovedMark ? mark : static_cast<std::uint8_t>(1 + ((mark >> 4) & 7));
}

// An affine set of elements: index start[d] + i*step[d] of each buffer dimension d, for i < count[d]. Value dimension j
// runs over buffer dimension order[j]; the buffer dimensions that are not named have count 1. Only the first `rank`
// (`value_rank`) entries of the arrays are set.
struct BoxAccess {
  BufferId buffer;
  int rank = 0;
  int value_rank = 0;
  std::array<std::int64_t, kMaxBoxRank> start, count, step;
  std::array<std::int64_t, kMaxBoxRank> lower, upper;  // the ref's window in the buffer; what is outside is OOB
  std::array<std::uint8_t, kMaxBoxRank> order;
  Outside outside = Outside::kPad;
  Mask mask;
  Definedness* defined = nullptr;  // nullptr: not tracked in this run
  Site site;
};

// Any set of elements, in pieces: piece p of the value lies at byte offset[p] of the buffer, or nowhere.
struct PointAccess {
  static constexpr std::int64_t kPadding = -1;      // inside the window, outside the array
  static constexpr std::int64_t kOutOfBounds = -2;  // outside the window, or outside an array that is not padded
  BufferId buffer;
  absl::Span<const std::int64_t> offset;
  std::size_t piece_bytes = 1;
  std::size_t pieces_per_element = 1;
  Mask mask;  // per element
  Definedness* defined = nullptr;
  Site site;
};

// One lane of an atomic operation: result = f(old, operand), all of the buffer's element type.
using AtomicFn = void (*)(const std::byte* old, const std::byte* operand, const std::byte* compare, std::byte* result);

struct AllocRequest {
  std::string name;  // the user's name of the ref, for messages
  DType dtype = DType::kF32;
  std::size_t words_per_element = 1;  // PRNG keys: words of `dtype` in one element
  absl::Span<const std::int64_t> shape;
  bool is_output = false;  // an output, or a block of one: unwritten elements are missing
  LocId loc;               // where it is asked for: for messages
  int text_line = 0;
  std::optional<AllocationPlace> place =
      {};  // none: the agent's own memory, which no other agent and no schedule can see
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_ACCESS_H_
