#include "semantics/base/finding.h"

namespace palladion {
namespace {

using C = FindingCode;
constexpr Severity kNote = Severity::kNote, kWarning = Severity::kWarning, kDefect = Severity::kDefect;

constexpr CodeRow kRows[] = {
    {C::kOutOfBounds, "OOB", kDefect,
     "An access must stay inside its ref, and inside the array unless the array is padded."},
    {C::kBlockOutOfBounds, "OOB_BLOCK", kDefect, "At least one element of every block must lie inside its array."},
    {C::kCheckFailed, "CHECK", kDefect, "The predicate of a debug_check must hold."},
    {C::kRaceWriteWrite, "RACE_WW", kDefect, "Two writes of one element must be ordered by synchronisation.",
     Denies::kOrder},
    {C::kRaceReadWrite, "RACE_RW", kDefect, "A read and a write of one element must be ordered by synchronisation.",
     Denies::kOrder},
    {C::kRaceAsync, "RACE_ASYNC", kDefect,
     "What an asynchronous copy reads or writes must not be touched before its completion has been awaited.",
     Denies::kOrder},
    {C::kSameValue, "SAME_VALUE", kNote, "Unordered writes of one element that all store the same bytes do no harm.",
     Denies::kOrder},
    {C::kGridOrder, "GRID_ORDER", kDefect, "The result must not depend on the order of programs that nothing orders.",
     Denies::kOrder},
    {C::kNondeterministic, "NONDET", kDefect, "Every schedule must give the same outputs, up to rounding order.",
     Denies::kOrder},
    {C::kAlias, "ALIAS", kDefect, "A block of an aliased input must not be fetched while its memory may be rewritten.",
     Denies::kOrder},
    {C::kUninitialised, "UNINIT", kDefect, "Memory must be written before its contents reach a result or a decision.",
     Denies::kDefinedness},
    {C::kPaddingLeak, "PAD_LEAK", kDefect, "Padding of a block must not reach a result or a decision.",
     Denies::kDefinedness},
    {C::kOutMissing, "OUT_MISSING", kWarning, "Every element of an output must be written.", Denies::kDefinedness},
    {C::kOutRevisit, "OUT_REVISIT", kDefect, "The programs that share an output block must follow one another.",
     Denies::kOrder},
    {C::kPromise, "PROMISE", kDefect, "A promise to the compiler, such as multiple_of, must hold."},
    {C::kIllegal, "ILLEGAL", kDefect, "Shapes, types and layouts must be ones that the named backend accepts."},
    {C::kCompiler, "COMPILER", kWarning,
     "A kernel should do nothing that the target's compiler is known to refuse behind JAX's lowering."},
    {C::kCapacity, "CAPACITY", kDefect, "What a kernel holds at once must fit the memories of the named chip."},
    {C::kIndexType, "INDEX_TYPE", kDefect, "An index map must return integers that its index type can hold."},
    {C::kDivZero, "DIV_ZERO", kNote, "An integer division by zero has no portable result."},
    {C::kShift, "SHIFT", kNote, "A shift by as many bits as there are, or more, has no portable result."},
    {C::kFloatToInt, "F2I", kNote, "A float outside the range of the integer type has no portable conversion."},
    {C::kUseAfterScope, "USE_AFTER_SCOPE", kDefect, "Memory must not be used after its scope has ended.",
     Denies::kOrder},
    {C::kDeadlock, "DEADLOCK", kDefect, "Every wait must be one that some agent can still satisfy."},
    {C::kLivelock, "LIVELOCK", kDefect, "A kernel must end under every fair schedule."},
    {C::kStartOrder, "START_ORDER", kNote,
     "A kernel should not rely on the order in which blocks begin: chips begin them in order, but no document promises "
     "it."},
    {C::kSemaphoreLeak, "SEM_LEAK", kDefect, "Every semaphore must be zero again when the kernel ends."},
    {C::kNotAwaited, "NOT_AWAITED", kDefect, "Every asynchronous copy must be awaited before the kernel ends."},
    {C::kBarrierDouble, "BAR_DOUBLE", kDefect, "A barrier must be waited for between two of its completions."},
    {C::kBarrierUnawaited, "BAR_UNAWAITED", kDefect, "Every completion of a barrier must be waited for."},
    {C::kBarrierPending, "BAR_PENDING", kDefect, "A barrier must not end with arrivals of an incomplete phase."},
    {C::kBarrierPhaseSkip, "BAR_PHASE_SKIP", kDefect,
     "An agent that waits for a barrier must wait for each of its phases."},
    {C::kBarrierBytes, "BAR_BYTES", kDefect, "Bytes of a copy must land in the phase of a barrier that expects them."},
    {C::kCollectiveMismatch, "COLL_MISMATCH", kDefect, "All participants of a collective operation must do the same."},
    {C::kLaunchControl, "LAUNCH_CONTROL", kDefect,
     "Work that cluster launch control gives must be done exactly once, and a refused block must not request more."},
    {C::kProxy, "PROXY", kDefect,
     "A fence must lie between a thread's access of shared memory and an asynchronous access that depends on it.",
     Denies::kOrder},
    {C::kProxyWar, "PROXY_WAR", kNote,
     "Whether a read needs a fence before an asynchronous write, where a barrier orders the two, is not documented."},
    {C::kWgmmaOrder, "WGMMA_ORDER", kNote,
     "Pallas documents that a wgmma has completed the earlier ones when it returns; JAX's lowering waits for none of "
     "them."},
    {C::kBarrierTensorOrder, "BAR_TC_ORDER", kDefect,
     "Tensor memory must be handed over by a barrier that orders the tensor core.", Denies::kOrder},
    {C::kRaceCrossDevice, "RACE_XDEV", kDefect,
     "Accesses of one element by two devices must be ordered by synchronisation.", Denies::kOrder},
    {C::kPeerLifetime, "PEER_LIFETIME", kDefect, "A peer's memory must exist at each access to it."},
};

}  // namespace

absl::Span<const CodeRow> AllCodes() { return kRows; }

const CodeRow& RowOf(FindingCode code) { return kRows[static_cast<std::size_t>(code)]; }

std::optional<FindingCode> CodeFromName(std::string_view name) {
  for (const CodeRow& row : kRows) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

std::string_view Name(Severity severity) {
  constexpr std::string_view kNames[] = {"note", "warning", "defect"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string_view Name(AccessKind kind) {
  constexpr std::string_view kNames[] = {"read", "write", "atomic", "alloc", "free"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view Name(Confidence confidence) {
  constexpr std::string_view kNames[] = {"proved", "predicted", "policy-dependent"};
  return kNames[static_cast<std::size_t>(confidence)];
}

}  // namespace palladion
