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

enum class Effect : std::uint8_t { kPure, kReads, kWrites, kReadsWrites, kAllocates, kPrints, kControl, kSynchronises };
enum class Unit : std::uint8_t { kNone, kScalar, kVector, kTranscendental, kMatrix, kMemory, kControl };

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

// May an operation bring about what somebody waits for, at a barrier or semaphore that it names? kUnsaid: perhaps.
enum class Signals : std::uint8_t { kUnsaid, kNever, kMay };
// Is its result, or what it leaves, another where others came first? kReducing: where it reduces into its destination.
// kUnsaid: no more than of a plain access, whose races are found.
enum class Chooses : std::uint8_t { kUnsaid, kNever, kReducing, kAlways };
// kMask: the defined element that decides the result whatever the other operand is.
enum class Decides : std::uint8_t { kZero, kOnes };

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
  Signals signals = Signals::kUnsaid;  // said of whatever synchronises, as is the next
  Chooses chooses = Chooses::kUnsaid;
  Flow flow = Flow::kAll;            // value operations
  Decides decides = Decides::kZero;  // kMask
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

absl::Span<const OpRow> AllOps();
const OpRow* FindOp(std::string_view dialect, std::string_view name);  // nullptr when there is none

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_OP_ROW_H_
