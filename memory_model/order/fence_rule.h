// When one access is ordered before another, given the clock of the later one's agent; and the fence rule: when an
// ordered access is still not visible to an asynchronous unit. Hardware's own documents leave part of that open, so the
// rule is a named policy. Based on the documentation of Pallas for GPUs and on PTX's proxies; where they do not decide,
// a finding says that it depends on the policy.
#ifndef PALLADION_MEMORY_MODEL_ORDER_FENCE_RULE_H_
#define PALLADION_MEMORY_MODEL_ORDER_FENCE_RULE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "memory_model/order/clock.h"
#include "memory_model/order/promises.h"
#include "semantics/base/finding.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

// Only the spaces that the fence rule treats differently. kPlain: memory without proxies (TPU, Triton).
enum class ProxySpace : std::uint8_t { kPlain, kShared, kGlobal, kTensor };

// One access, without what it touched.
struct AccessEvent {
  AgentId who;
  std::uint32_t time = 0;
  AccessKind kind = AccessKind::kRead;
  Proxy proxy = Proxy::kGeneric;
  bool keeps = false;  // of a write: the bytes stay what they were
  LocId loc;
  std::int32_t text_line = 0;

  Epoch epoch() const { return {who, time}; }
  bool writes() const { return kind != AccessKind::kRead; }
  bool lifetime() const { return kind == AccessKind::kAlloc || kind == AccessKind::kFree; }
  friend bool operator==(const AccessEvent& a, const AccessEvent& b) {
    return a.who == b.who && a.time == b.time && a.kind == b.kind && a.proxy == b.proxy && a.keeps == b.keeps &&
           a.loc == b.loc && a.text_line == b.text_line;
  }
};

// Two accesses of one byte that need an order.
inline bool Conflict(AccessKind a, AccessKind b) {
  if (a == AccessKind::kRead && b == AccessKind::kRead) return false;
  return !(a == AccessKind::kAtomic && b == AccessKind::kAtomic);
}
// Whatever conflicts with `earlier` conflicts with `later` too.
inline bool AtLeastAsStrong(AccessKind later, AccessKind earlier) {
  return later == earlier || (later != AccessKind::kRead && later != AccessKind::kAtomic);
}

// kPromised: by a promise of the documentation alone (promises.h). From the mildest to the worst.
enum class Ordering : std::uint8_t { kOrdered, kPromised, kUnfenced, kUnordered };
inline bool IsOrdered(Ordering order) { return order <= Ordering::kPromised; }

// Where an access looks back from.
struct Vantage {
  const ClockBundle& clock;
  ClockPart part;                      // what must be visible to it
  AgentId self;                        // whose access it is: an operation is not in the clock that it starts with
  const Promises* promises = nullptr;  // none: they hold

  Ordering Order(const AccessEvent& earlier) const {
    const Ordering order = OrderKept(earlier);
    if (promises == nullptr || order != Ordering::kOrdered) return order;
    return promises->Needs(earlier.who, clock[ClockPart::kGeneric]) ? Ordering::kPromised : order;
  }

 private:
  Ordering OrderKept(const AccessEvent& earlier) const {
    if (part != ClockPart::kGeneric) return OrderThere(earlier);
    const bool known = earlier.who == self || clock[ClockPart::kGeneric].Covers(earlier.epoch());
    return known ? Ordering::kOrdered : Ordering::kUnordered;
  }
  Ordering OrderThere(const AccessEvent& earlier) const {
    if (earlier.who == self && earlier.proxy != Proxy::kGeneric) return Ordering::kOrdered;
    if (!clock[ClockPart::kGeneric].Covers(earlier.epoch())) return Ordering::kUnordered;
    if (earlier.lifetime()) return Ordering::kOrdered;
    // An asynchronous access whose completion is known needs no fence; one to TMEM has to come the tensor core's way.
    const Proxy fenced = part == ClockPart::kTensorCore ? Proxy::kTensorCore : Proxy::kGeneric;
    if (earlier.proxy != fenced || clock[part].Covers(earlier.epoch())) return Ordering::kOrdered;
    return Ordering::kUnfenced;
  }
};

enum class FencePolicy : std::uint8_t { kPallas, kStrict, kLax };
std::string_view Name(FencePolicy policy);                              // "pallas", "strict", "lax"
std::optional<FencePolicy> FencePolicyFromName(std::string_view name);  // of --proxy

// What lies between a thread's read and the asynchronous write that overwrites what it read.
enum class Between : std::uint8_t {
  kNothing,  // one thread does both
  kArrival,  // the issuer of the write has waited for an arrival of the reader, which may be the same thread
  kBarrier,  // one thread does both, and its lanes have met in between, at one of JAX's automatic barriers
};

class FenceRule {
 public:
  // `automatic_barriers`: JAX has lowered the kernel without unsafe_no_auto_barriers, so the lanes of a thread meet
  // before it starts a copy into shared memory, before it signals a semaphore, and around its warps.
  explicit FenceRule(FencePolicy policy = FencePolicy::kPallas, bool automatic_barriers = false)
      : policy_(policy), automatic_barriers_(automatic_barriers) {}
  FencePolicy policy() const { return policy_; }
  bool automatic_barriers() const { return automatic_barriers_; }

  // What must be visible to an access of this kind. No fence of Pallas covers global memory, so there the order of
  // threads is all one can ask for.
  static ClockPart PartFor(Proxy proxy, ProxySpace space) {
    if (proxy == Proxy::kTensorCore) return ClockPart::kTensorCore;
    return proxy == Proxy::kAsync && space == ProxySpace::kShared ? ClockPart::kAsyncSmem : ClockPart::kGeneric;
  }

  struct Verdict {
    FindingCode code;
    Severity severity;
    Confidence confidence;
  };
  // Of a conflicting pair that is ordered but unfenced; nullopt: allowed.
  std::optional<Verdict> Judge(const AccessEvent& first, AccessKind second, ProxySpace space, Between between) const;

  // Does a wgmma that returns leave only itself in flight? And is it said where the order of two accesses needs that?
  bool WgmmaCompletesEarlier() const { return policy_ != FencePolicy::kStrict; }
  bool NotesPromises() const { return policy_ == FencePolicy::kPallas; }

 private:
  FencePolicy policy_;
  bool automatic_barriers_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_FENCE_RULE_H_
