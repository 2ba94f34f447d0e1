// What is wrong with a kernel, as data. A run collects findings and goes on where that is safe; absl::Status is for
// what is wrong with the text, the request or us. Every code is one row of AllCodes(): its name, severity and rule.
#ifndef PALLADION_SEMANTICS_BASE_FINDING_H_
#define PALLADION_SEMANTICS_BASE_FINDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "semantics/base/ids.h"

namespace palladion {

enum class Severity : std::uint8_t { kNote, kWarning, kDefect };
std::string_view Name(Severity severity);  // "note", "warning", "defect"

enum class FindingCode : std::uint8_t {
  kOutOfBounds,
  kBlockOutOfBounds,
  kCheckFailed,
  // order
  kRaceWriteWrite,
  kRaceReadWrite,
  kRaceAsync,
  kSameValue,
  kGridOrder,
  kNondeterministic,
  kAlias,
  // definedness
  kUninitialised,
  kPaddingLeak,
  kOutMissing,
  kOutRevisit,
  // contracts
  kPromise,
  kIllegal,
  kCompiler,
  kCapacity,
  kIndexType,
  kDivZero,
  kShift,
  kFloatToInt,
  kUseAfterScope,
  // synchronisation
  kDeadlock,
  kLivelock,
  kStartOrder,
  kSemaphoreLeak,
  kNotAwaited,
  kBarrierDouble,
  kBarrierUnawaited,
  kBarrierPending,
  kBarrierPhaseSkip,
  kBarrierBytes,
  kCollectiveMismatch,
  kLaunchControl,
  // hardware that works asynchronously, peers
  kProxy,
  kProxyWar,
  kWgmmaOrder,
  kBarrierTensorOrder,
  kRaceCrossDevice,
  kPeerLifetime,
};

// What a finding of the code takes from a proof, whatever its severity: that all conflicting accesses are ordered, or
// that nothing undefined matters.
enum class Denies : std::uint8_t { kNothing, kOrder, kDefinedness };

struct CodeRow {
  FindingCode code;
  std::string_view name;  // "OOB"
  Severity severity;      // unless the finding itself says otherwise
  std::string_view rule;  // one sentence
  Denies denies = Denies::kNothing;
};
absl::Span<const CodeRow> AllCodes();  // in the order of the enumeration
const CodeRow& RowOf(FindingCode code);
std::optional<FindingCode> CodeFromName(std::string_view name);  // "OOB"
inline std::string_view Code(FindingCode code) { return RowOf(code).name; }

enum class AccessKind : std::uint8_t { kRead, kWrite, kAtomic, kAlloc, kFree };
std::string_view Name(AccessKind kind);  // "read", "write", ...

// One of the two sides of a finding.
struct FindingAccess {
  AccessKind kind = AccessKind::kRead;
  std::string agent;   // "program (3, 0)", "copy #2 issued by program (3, 0)"
  std::string object;  // the ref by the user's name: "o_ref"
  std::string box;     // "[0:64, 128:256]"; "" where it is all of it
  LocId loc;
  int text_line = 0;
};

enum class Confidence : std::uint8_t {
  kProved,           // it happens in this run, or for every order of it
  kPredicted,        // another order of this run would do it
  kPolicyDependent,  // only under some reading of the hardware's rules
};
std::string_view Name(Confidence confidence);  // "proved", "predicted", "policy-dependent"

// The fix as a change of the kernel, where it is one. The owner of the kernel makes text of it
// (emu/run/launch/mended.h), where it can be had; lines are of the kernel text.
struct Mend {
  enum class Kind : std::uint8_t {
    kNone,             // no change of a line or two
    kAwait,            // a wait for what `issue` starts, before `line`
    kAwaitAtEnd,       // a wait for what `issue` starts, at the end of its region
    kAwaitEarlier,     // a wait, after `issue`, for what its like have started before
    kFence,            // a fence for asynchronous accesses before `line`; 0: after `issue`
    kLanes,            // a barrier of the lanes before `line`
    kTensorOrder,      // the barrier `object` orders the tensor core
    kSystemScope,      // a wait between `issue` and `line` is for the signals of other devices too
    kArbitrary,        // dimension `amount` of the grid is no parallel one
    kZeros,            // zeros in all of `object` first: where dimension `amount` is 0, or everywhere (-1)
    kTakeRest,         // `amount` of the semaphore `object` is taken at the end of the region of `line`
    kAwaitCompletion,  // the barrier `object` is awaited at the end of the region of `line`
  };
  Kind kind = Kind::kNone;
  int line = 0, issue = 0;
  std::string object;  // by the user's name, with its element: "sem.at[1]"
  std::int64_t amount = 0;
  bool commits = false;   // of a wait for a group: it was not committed
  std::string await;      // the call that waits: "plgpu.wgmma_wait(0)"
  std::string otherwise;  // the order that is missing, without a call: the fix where no text can be had
};

struct Finding {
  FindingCode code = FindingCode::kOutOfBounds;
  Severity severity = Severity::kDefect;
  std::string message;     // the object by the user's name, the box, where: complete without the source
  LocId loc;               // the user's line, when the text has it
  int text_line = 0;       // the line of the kernel text
  std::int64_t count = 1;  // equal findings at one place are folded
  std::optional<FindingAccess> first, second;  // the later one is `second`, and loc is its place
  std::string why;                             // why the two are not ordered, or where undefined data came from
  std::string fix;                             // the smallest change that would mend it; "" where none is known
  Confidence confidence = Confidence::kProved;
  Mend mend = {};
};

// One finding seen twice? The same code at one place, or at two: another order meets a race the other way round.
bool SameFinding(const Finding& a, const Finding& b);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_FINDING_H_
