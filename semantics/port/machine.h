// The machine port: everything an operation may ask of memory. Operations describe accesses; whoever implements Machine
// (memory_model) checks them in a stated order (bounds first) and moves the bytes. One door, so a rule exists once.
// Limits: requests of asynchronous hardware other than block copies (signals, barriers, fences) are not here yet.
#ifndef PALLADION_SEMANTICS_PORT_MACHINE_H_
#define PALLADION_SEMANTICS_PORT_MACHINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/dtype.h"
#include "semantics/base/finding.h"
#include "semantics/base/ids.h"
#include "semantics/base/running_agent.h"

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

// Marks from kMovedMark on are of bytes that nobody wrote to an output and that were only moved since: the output they
// are of (3 bits) and the place in it that they come from (4 bits). Computing with them gives them the mark of that
// output's origin, so that bytes that went back to their own place are told from what was computed.
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
  bool is_output = false;  // an output, or a block of one: what nobody writes there is missing
  LocId loc;               // where it is asked for: for messages
  int text_line = 0;
};

// A copy by an engine: reads `source` and writes `destination` at some time before the wait for it returns.
struct CopyRequest {
  const BoxAccess& source;
  const BoxAccess& destination;
};

class Machine {
 public:
  virtual ~Machine() = default;

  // What follows, until the next call, is this agent's.
  virtual void Running(const RunningAgent& now) = 0;

  // New memory, poisoned. ResourceExhausted when there is not enough.
  virtual absl::StatusOr<BufferId> Alloc(const AllocRequest& request) = 0;
  virtual void Free(BufferId buffer) = 0;
  virtual void Poison(BufferId buffer) = 0;  // its contents are undefined from here on

  virtual void Load(const BoxAccess& access, std::byte* value) = 0;
  virtual void Load(const PointAccess& access, std::byte* value) = 0;
  virtual void Store(const BoxAccess& access, const std::byte* value) = 0;
  virtual void Store(const PointAccess& access, const std::byte* value) = 0;

  // Lanes one after another, in row-major order. `compare` and `old` may be null.
  virtual void Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
                      std::byte* old) = 0;

  // The elements where they lie, when they are dense, inside all bounds and unmasked; else nullptr, and the caller
  // loads. Valid until the next store, atomic or free.
  virtual const std::byte* Borrow(const BoxAccess& access) = 0;

  virtual void StartCopy(const CopyRequest& request) = 0;
  virtual void WaitCopies() = 0;  // until every copy that this agent started is complete

  virtual void Print(std::string line) = 0;
  virtual void Report(Finding finding) = 0;

  // A result for which hardware promises nothing, such as that of a division by zero: the mark that its elements carry.
  // The finding, whose place is the operation's, is told where one of them reaches a branch, an index or an output. 0:
  // definedness is not tracked.
  virtual std::uint8_t MarkOfValue(const Finding& finding, const Site& site) = 0;

  // Something that must be defined is not. `mark` is the undefined element's; `use` says what it is: "the predicate of
  // a branch".
  virtual void ReportUndefined(std::uint8_t mark, std::string_view use, const Site& site) = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_MACHINE_H_
