// The registry of operations: one row for each primitive, with named fields. Everything that lists, verifies, prepares,
// documents or counts operations reads these rows; what is not done is a row with a reason, never a missing row.
#ifndef PALLADION_SEMANTICS_REGISTRY_OP_ROW_H_
#define PALLADION_SEMANTICS_REGISTRY_OP_ROW_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/ir/module.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

class Builder;     // semantics/program/builder.h
struct Inspector;  // semantics/registry/inspect.h

// What a verify function sees. An operand's type is its array type; of a view, the array type of an access through it.
struct VerifyContext {
  const Module& module;
  const Kernel& kernel;
  std::vector<Type> in;
};

// InvalidArgument when the instruction breaks a rule of its spec paragraph. The verifier adds the place.
using VerifyFn = absl::Status (*)(const Instr& op, const VerifyContext& context);

// Operations on values only: the types are known, so everything that does not depend on values is chosen here.
using PrepareFn = absl::StatusOr<ValueKernel> (*)(const Instr& op, const ValueTypes& types);

// Operations on refs and control flow: they append steps to the program.
using LowerFn = absl::Status (*)(const Instr& op, Builder& builder);

// Operations on values: what a checked run looks for in their operands.
using InspectFn = std::vector<Inspector> (*)(const Instr& op, const ValueTypes& types);

enum class Backend : std::uint8_t { kMosaicTpu = 1, kMosaicGpu = 2, kTriton = 4 };
struct Backends {
  std::uint8_t bits = 0;
  constexpr bool accepts(Backend b) const { return (bits & static_cast<std::uint8_t>(b)) != 0; }
};
inline constexpr Backends kTpu{1}, kGpu{2}, kTriton{4}, kTpuGpu{3}, kTpuTriton{5}, kGpuTriton{6}, kAllBackends{7},
    kNoBackend{0};

// kDraws: changes what only its own core sees, the random generator or the matrix units.
enum class Effect : std::uint8_t {
  kPure,
  kReads,
  kWrites,
  kReadsWrites,
  kAllocates,
  kPrints,
  kDraws,
  kControl,
  kSynchronises
};
// kDivision: the vector unit, with several instructions for one of the text's. kLarger: the vector unit, by a
// comparison: the larger or the smaller of two, which chips may have beside integers.
enum class Unit : std::uint8_t {
  kNone,
  kScalar,
  kVector,
  kDivision,
  kTranscendental,
  kMatrix,
  kMemory,
  kControl,
  kLarger
};

// How an undefined element of an operand reaches the results; AllFlows() of shadow.h says each rule in words.
enum class Flow : std::uint8_t {
  kElementwise,
  kConvert,
  kMask,
  kSelect,
  kMove,
  kParts,
  kPlace,
  kCombine,
  kReduce,
  kPrefix,
  kSort,
  kDot,
  kAll
};

// ---- What others decide by: no one outside the registry and the operations knows an operation by its name. Of what
// synchronises, kUnsaid is the answer that proves least; OpTable.* tests that nothing of the kind is left unsaid.

// Does a step of it ask the machine's port (Program::uses_port)? kMay: where it names another block's memory, or
// allocates what others see.
enum class AsksPort : std::uint8_t { kNever, kMay, kAlways };
// May it stand still until others have done something: signalled at the barrier or semaphore that it names, ended
// asynchronous operations of its own thread, come to allocate together, ended as warps that it began, or ended as a
// kernel launched before.
enum class Waits : std::uint8_t { kUnsaid, kNever, kSignal, kEngine, kMeeting, kWarps, kLaunch };
// May it bring about what an agent waits for, at a barrier or semaphore that it names?
enum class Signals : std::uint8_t { kUnsaid, kNever, kMay };
// Is its result, or what it leaves, another where others came first? kReducing: where it reduces into its destination.
// kUnsaid of what does not synchronise: no more than of a plain access, whose races are found.
enum class Decides : std::uint8_t { kUnsaid, kNever, kReducing, kAlways };
// What it makes: the refs that its region begins with (kState: whose first values are its operands), the ref that it
// gives (kGrid: one for all blocks), or an end to the ref that it names.
enum class Allocates : std::uint8_t { kNothing, kScope, kState, kRef, kGrid, kEnds };
// What it does with the memory of the first ref that it names. kStore: gives what was there before, where that
// is used. kAdd: adds to it. kPrefetch: nothing that an agent sees. kCopy and kProduct: an engine does it, to the ref
// that is `written`. kAccumulator: an accumulator of matrix units, as a whole.
enum class RefAccess : std::uint8_t { kNone, kLoad, kStore, kAdd, kAtomic, kPrefetch, kCopy, kProduct, kAccumulator };
// How often it runs the regions that it has: each once, the one that its first operand says, its one region a number of
// times, the second while the first is true, or its one region in every warp. kUnsaid: in any way.
enum class Loops : std::uint8_t { kUnsaid, kOnce, kBranch, kTurns, kWhile, kWarps };
// Cluster launch control: it requests the work of blocks that have not begun, or reads the answer.
enum class ClusterLaunchControl : std::uint8_t { kNone, kRequests, kReads };
// Of an operation on values, what stands for it where floats are words of a ring (semantics/prepare/ring_module.h): a
// hash of its operands; itself, as the ring has it or because it only moves words; itself where its result is floats;
// or itself where its exponent is not negative. max and min are the same for their algebra: on words, too, they are
// associative, commutative and idempotent, so they do not make orders differ. kByFlow: itself where its `flow` moves or
// chooses, else a hash.
enum class InRing : std::uint8_t { kByFlow, kHash, kSame, kIntoFloats, kPower };

// kMask: the defined element that settles the result whatever the other operand is.
enum class Absorbs : std::uint8_t { kZero, kOnes };

// What a compiler makes one instruction of floats: a product with the sum that alone uses it.
enum class Fuses : std::uint8_t { kNever, kProduct, kSum };

enum class OpStatus : std::uint8_t { kImplemented, kUnsupported };

struct OpRow {
  std::string_view dialect = {};  // "" for JAX's own primitives
  std::string_view name = {};
  std::string_view spec = {};  // "elementwise.md#add", under docs/spec/
  VerifyFn verify = nullptr;
  PrepareFn prepare = nullptr;  // exactly one of prepare and lower, when implemented
  LowerFn lower = nullptr;
  InspectFn inspect = nullptr;  // nullptr: nothing that a number could break
  Effect effect = Effect::kPure;
  AsksPort asks_port = AsksPort::kNever;
  Waits waits = Waits::kUnsaid;  // said of whatever synchronises or asks the port, as are the next two
  Signals signals = Signals::kUnsaid;
  Decides decides = Decides::kUnsaid;
  Allocates allocates = Allocates::kNothing;
  RefAccess access = RefAccess::kNone;
  std::uint8_t stored = 1;       // the operand that kStore, kAdd, kAtomic or a new ref puts into memory
  Loops loops = Loops::kUnsaid;  // said of all control
  ClusterLaunchControl launch_control = ClusterLaunchControl::kNone;
  Flow flow = Flow::kAll;            // value operations
  InRing in_ring = InRing::kByFlow;  // value operations
  Absorbs absorbs = Absorbs::kZero;  // kMask
  Fuses fuses = Fuses::kNever;
  std::uint8_t moved = 0;  // kMove: the first so many operands are moved, the others say where; 0: all are moved
  // Views of refs may stand in any operand, by name; the one of this name is written. Else only the first may.
  bool named_refs = false;
  std::string_view written = {};
  Backends backends = kAllBackends;
  Backends later = kNoBackend;  // that accept it besides since JAX 0.11
  Unit unit = Unit::kVector;
  OpStatus status = OpStatus::kImplemented;
  std::string_view reason = {};  // when unsupported: what is missing, for users
};

// Has it to do with other agents? Then what is unsaid of it is the worst.
constexpr bool MeetsOthers(const OpRow& row) {
  return row.effect == Effect::kSynchronises || row.asks_port != AsksPort::kNever;
}
constexpr bool MayWaitFor(const OpRow& row, Waits what) {
  return row.waits == what || (row.waits == Waits::kUnsaid && MeetsOthers(row));
}
constexpr bool IsLoop(const OpRow& row) { return row.loops == Loops::kTurns || row.loops == Loops::kWhile; }
// Its region begins with refs that live as long as it runs.
constexpr bool HasScope(const OpRow& row) {
  return row.allocates == Allocates::kScope || row.allocates == Allocates::kState;
}

absl::Span<const OpRow> AllOps();
const OpRow* FindOp(std::string_view dialect, std::string_view name);  // nullptr when there is none
// Of an instruction that the verifier may not have seen yet; of an unknown one, a row that says nothing.
const OpRow& RowOf(const Instr& op);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_OP_ROW_H_
