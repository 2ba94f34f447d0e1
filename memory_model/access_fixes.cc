// What would order two accesses: the missing wait, signal or fence, and its place in the kernel. A call is named only
// where it would fix the finding; else the text names the missing order, and no code.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "memory_model/access_findings.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

constexpr auto kRead = static_cast<std::uint32_t>(Half::kRead);

// A wait at a barrier. Of what one block stores in another one, the barrier is that one's.
bool IsAtBarrier(std::string_view await) { return await.starts_with("plgpu.barrier_wait("); }

}  // namespace

// " after the access at kernel.py:7"; "" where the access has no place of its own.
std::string AccessFindings::At(std::string before, const CodeSite& site) const {
  if (site.text_line <= 0) return "";
  return Cat(before, NameOfPlace(namer_, site));
}

// A read that comes before anything was written there is meant to come after the write, which is the later one here.
AccessFindings::Wanted AccessFindings::WantedOf(const UnorderedPair& pair) const {
  const AccessEvent &earlier = pair.conflict.earlier, &event = pair.event;
  const bool turned = earlier.kind == AccessKind::kRead && !event.lifetime() && pair.buffer.ReadTooEarly(earlier);
  const AccessEvent &first = turned ? event : earlier, &later = turned ? earlier : event;
  const bool issues = AgentTable::IsOperation(later.who);
  return {.buffer = pair.buffer,
          .first = first,
          .later = later,
          .there = At(" after the access at ", {first.loc, first.text_line}),
          .here = At(issues ? " before the issue at " : " before the access at ", {later.loc, later.text_line})};
}

std::string AccessFindings::AwaitOf(AgentId operation, std::uint32_t halves) const {
  if (IsRemote(operation) && halves == kRead) return "copy.wait_send()";
  std::string call = agents_.AwaitOf(operation);
  if (call.empty()) return Cat("wait for the completion of ", agents_.NameOf(operation));
  return engine_.IsUncommitted(operation) ? Cat("plgpu.commit_smem_to_gmem_group() and ", call) : call;
}

std::string AccessFindings::InReceiver(AgentId operation, std::uint32_t halves) const {
  return IsRemote(operation) && halves != kRead ? " in the receiver" : "";
}

// The wait that was to be for this copy was given the bytes of others that the same semaphore counts, or not all of its
// own: another wait like it would hang, or take the wrong ones again.
std::optional<std::string> AccessFindings::WhereAnotherWasTaken(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who, waiter = agents_.IssuerOf(wanted.later.who);
  const Half half = wanted.first.time == kRead && IsRemote(operation) ? Half::kRead : Half::kWrite;
  const Semaphore* const semaphore = parts_.semaphores.Find(agents_.SemaphoreOf(operation, half));
  const Semaphore::Taken* const taken = semaphore == nullptr ? nullptr : semaphore->LastTaken(waiter);
  if (taken == nullptr || taken->of.empty() || AgentTable::NumberOf(operation) >= taken->issued) return std::nullopt;
  const auto is = [operation](AgentId by) { return by == operation; };
  if (std::all_of(taken->of.begin(), taken->of.end(), is))
    return Cat("let the wait for ", agents_.NameOf(operation), " be for all of its bytes", wanted.here);
  const AgentId other = *std::find_if_not(taken->of.begin(), taken->of.end(), is);
  const bool before = AgentTable::NumberOf(other) < AgentTable::NumberOf(operation);
  const std::string first = agents_.OperationName(before ? other : operation);
  const std::string second = agents_.OperationName(before ? operation : other);
  bool same_place = false;
  wanted.buffer.history.ForEachEvent([&](const AccessEvent& event) { same_place |= event.who == other; });
  if (!same_place || !IsRemote(operation)) {
    return Cat("give ", first, " and ", second, " a DMA semaphore each, or wait for both", wanted.here, ": the wait",
               " there took the bytes of ", agents_.OperationName(other));
  }
  return Cat("a semaphore each for ", first, " and ", second, "; or, where they fill one place, ", "let the sender of ",
             second, " wait, before it issues that copy, for a signal that ", agents_.NameOf(waiter),
             " gives when it has done with ", first);
}

// The receiver waits for what arrives; a sender that is to know of it needs a signal back.
std::string AccessFindings::OrderAfterRemoteWrite(const Wanted& wanted) const {
  const AgentId waiter = agents_.IssuerOf(wanted.later.who);
  const std::string name = agents_.NameOf(waiter);
  const Place& memory = wanted.buffer.info.place;
  if (agents_.PlaceOf(waiter).at(PlaceLevel::kDevice) == memory.at(PlaceLevel::kDevice)) {
    if (std::optional<std::string> taken = WhereAnotherWasTaken(wanted)) return *std::move(taken);
    const std::string wait = Cat("copy.wait_recv() in ", name, ", the receiver,", wanted.here);
    if (!wanted.later.writes() || AgentTable::IsOperation(wanted.later.who)) return wait;
    // The receiver may write before anything is to arrive: then the sender is too early, and no wait of the receiver
    // orders the two.
    const std::string sender = agents_.NameOf(agents_.IssuerOf(wanted.first.who));
    return Cat(wait, ", where that is to come after what arrives; where it is to come before, ",
               "pl.semaphore_signal(..., device_id=...) in ", name,
               At(" after the access at ", {wanted.later.loc, wanted.later.text_line}), ", and pl.semaphore_wait in ",
               sender, At(" before the issue at ", {wanted.first.loc, wanted.first.text_line}));
  }
  return Cat("copy.wait_recv() in the receiver, a pl.semaphore_signal(..., device_id=...) from there to ", name,
             " once it has done with what came, and pl.semaphore_wait in ", name, wanted.here);
}

// A group is awaited by its issuer, a barrier by any thread of its block.
std::string AccessFindings::OrderAfterOperation(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who;
  const AgentId issuer = agents_.IssuerOf(operation), waiter = agents_.IssuerOf(wanted.later.who);
  const std::uint32_t halves = wanted.first.time;
  if (IsRemote(operation) && halves != kRead) return OrderAfterRemoteWrite(wanted);
  const std::string await = AwaitOf(operation, halves);
  const bool in_peer = halves != kRead && IsAtBarrier(agents_.AwaitOf(operation)) &&
                       !Inside(agents_.PlaceOf(issuer), wanted.buffer.info.place);
  const bool elsewhere = agents_.CompletesElsewhere(operation) || in_peer;
  const bool there = elsewhere && Inside(agents_.PlaceOf(waiter), wanted.buffer.info.place);
  if (elsewhere && !there)
    return Cat(await, " in the block where it lands, and a plgpu.ClusterBarrier from there", wanted.here);
  if (issuer == waiter || agents_.AwaitOf(operation).empty())
    return WhereAnotherWasTaken(wanted).value_or(await + wanted.here);
  if (in_peer && !agents_.CompletesElsewhere(operation))
    return Cat(await, " in ", agents_.NameOf(waiter), ", where it lands,", wanted.here);
  if (there)
    return Cat(await, wanted.here,
               ", and a plgpu.ClusterBarrier of the blocks that copy together before the next copy");
  const Place &from = agents_.PlaceOf(issuer), &to = agents_.PlaceOf(waiter);
  const bool far = from.at(PlaceLevel::kDevice) != to.at(PlaceLevel::kDevice);
  if (!far && from.at(PlaceLevel::kCluster) != to.at(PlaceLevel::kCluster)) return OrderBlocks(wanted, await);
  return Cat(await, " in ", agents_.NameOf(issuer), ", and a ",
             far ? "semaphore's signal from there to " : "barrier from there to ", agents_.NameOf(waiter), wanted.here);
}

// Blocks of a grid have no barrier in common. Where they write at one place of the kernel, that place does not depend
// on the block.
std::string AccessFindings::OrderBlocks(const Wanted& wanted, const std::string& await) const {
  const std::string one = agents_.NameOf(agents_.IssuerOf(wanted.first.who));
  const std::string other = agents_.NameOf(agents_.IssuerOf(wanted.later.who));
  const bool one_place = wanted.first.text_line == wanted.later.text_line && wanted.first.text_line > 0;
  if (one_place && wanted.first.writes() && wanted.later.writes()) {
    return Cat("give each block elements of its own: ", one, " and ", other, " write the same ones of ",
               wanted.buffer.info.name, ", and blocks of a grid run in any order; an output of pl.pallas_call needs a ",
               "BlockSpec whose index map depends on the grid index");
  }
  return Cat("give each block elements of its own, or ", await, " and pl.semaphore_signal in ", one,
             " and pl.semaphore_wait in ", other, wanted.here, ", on one semaphore of the grid");
}

std::string AccessFindings::OrderAgents(const Wanted& wanted) const {
  const auto& [buffer, first, later, there, here] = wanted;
  const AgentId waiter = agents_.IssuerOf(later.who);
  const std::string one = agents_.NameOf(first.who), other = agents_.NameOf(waiter);
  const Place &from = agents_.PlaceOf(first.who), &to = agents_.PlaceOf(waiter);
  const auto same = [&](PlaceLevel level) { return from.at(level) == to.at(level); };
  if (from.at(PlaceLevel::kBlock) == Place::kNone)
    return Cat("let ", one, " signal", there, ", and ", other, " wait for that", here);
  if (first.text_line == later.text_line && first.text_line > 0)
    return Cat("give each of ", one, " and ", other, " elements of its own, or let only one of them do it");
  if (!agents_.proxies()) {  // a TPU
    const std::string_view whom = same(PlaceLevel::kDevice) ? "core_index" : "device_id";
    return Cat("pl.semaphore_signal(..., ", whom, "=...) in ", one, there, ", and pl.semaphore_wait in ", other, here);
  }
  if (!same(PlaceLevel::kDevice))
    return Cat("pl.semaphore_signal(..., device_id=...) in ", one, there, ", and pl.semaphore_wait in ", other, here);
  if (!same(PlaceLevel::kCluster)) {
    return Cat("give each block elements of its own, or pl.semaphore_signal in ", one, there,
               " and pl.semaphore_wait in ", other, here, ", on one semaphore of the grid");
  }
  return Cat("plgpu.barrier_arrive in ", one, there, " and plgpu.barrier_wait in ", other, here, ", on one plgpu.",
             same(PlaceLevel::kBlock) ? "Barrier" : "ClusterBarrier");
}

// Where one barrier orders the two it may do the same for the tensor core, unless copies arrive there, which JAX
// refuses of such a barrier. Of any other order only that it is missing is known.
std::string AccessFindings::BarrierBetween(const Wanted& wanted) const {
  const AgentId from = agents_.IssuerOf(wanted.first.who), to = agents_.IssuerOf(wanted.later.who);
  std::string name;
  parts_.barriers.ForEach([&](BarrierId, const Barrier& barrier) {
    const bool own = barrier.Hands(wanted.first.epoch(), from, to) && !barrier.spec().orders_tensor_core;
    if (own && !barrier.takes_copies() && name.empty()) name = barrier.spec().name;
  });
  return name;
}

std::string AccessFindings::OrderTensorCore(const Wanted& wanted) const {
  const AgentId from = agents_.IssuerOf(wanted.first.who), to = agents_.IssuerOf(wanted.later.who);
  const std::string name = BarrierBetween(wanted);
  if (!name.empty()) return Cat("orders_tensor_core=True for the plgpu.Barrier of ", name);
  return Cat("plgpu.barrier_arrive in ", agents_.NameOf(from), wanted.there, " and plgpu.barrier_wait in ",
             agents_.NameOf(to), wanted.here,
             ", on a plgpu.Barrier(orders_tensor_core=True) of their own, at which no copy arrives");
}

std::string AccessFindings::Order(const Wanted& wanted) const {
  return AgentTable::IsOperation(wanted.first.who) ? OrderAfterOperation(wanted) : OrderAgents(wanted);
}

// " the issue at kernel.py:7"
std::string AccessFindings::Issue(const AccessEvent& operation) const {
  return At(" the issue at ", {operation.loc, operation.text_line});
}

// Only its issuer can wait for it, and another agent ends the scope: a wait where the scope ends comes after what
// orders the two.
bool AccessFindings::IsAwaitedAtOnce(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who, issuer = agents_.IssuerOf(operation);
  const bool by_another = wanted.later.who != issuer && wanted.buffer.freed_by.empty();  // not by its block's end
  return wanted.later.text_line > 0 && by_another && engine_.IsInGroup(operation) &&
         Inside(agents_.PlaceOf(issuer), wanted.buffer.info.place);
}

// Whose memory it is has to know of the completion.
std::string AccessFindings::OrderBeforeEnd(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who, issuer = agents_.IssuerOf(operation);
  const std::string call = Cat(AwaitOf(operation, wanted.first.time), InReceiver(operation, wanted.first.time));
  const std::string& name = wanted.buffer.info.name;
  const bool own = Inside(agents_.PlaceOf(issuer), wanted.buffer.info.place);
  if (IsAwaitedAtOnce(wanted)) return Cat(call, " in ", agents_.NameOf(issuer), " right after", Issue(wanted.first));
  if (own || !InReceiver(operation, wanted.first.time).empty())
    return Cat(call, " before the scope of '", name, "' ends");
  if (wanted.first.time != kRead && IsAtBarrier(agents_.AwaitOf(operation)))
    return Cat(call, " in the block where it lands, before the scope of '", name, "' ends");
  return Cat(call, " in ", agents_.NameOf(issuer), ", and a signal or an arrival from there that is awaited where '",
             name, "' is, before its scope ends");
}

std::string AccessFindings::FixFor(FindingCode code, const UnorderedPair& pair) const {
  const Wanted wanted = WantedOf(pair);
  const auto& [buffer, first, later, there, here] = wanted;
  switch (code) {
    case FindingCode::kWgmmaOrder:
      return Cat("plgpu.wgmma_wait(1) after the later plgpu.wgmma",
                 At(" at ", parts_.promises.MadeAt(pair.conflict.earlier.who)));
    case FindingCode::kProxy:
    case FindingCode::kProxyWar:
      return Cat("plgpu.commit_smem()", there, there.empty() || here.empty() ? "" : " and", here);
    case FindingCode::kBarrierTensorOrder:
      return OrderTensorCore(wanted);
    case FindingCode::kPeerLifetime:
    case FindingCode::kUseAfterScope:
      if (AgentTable::IsOperation(first.who)) return OrderBeforeEnd(wanted);
      return "let a barrier or semaphore order the access within the life of the memory";
    default:
      break;
  }
  if (BesideOwnPipeline(pair))
    return "pl.Buffered(1) for this block; or let bodies copy nothing of what the pipeline copies beside them";
  if (IsKeptByScope(pair)) {
    return Cat("memory_scope=\"sys\" for that wait in ", agents_.NameOf(agents_.IssuerOf(pair.event.who)));
  }
  return Order(wanted);
}

// A wait for an operation where its issuer alone has to wait, and has waited for no other one in its place.
Mend AccessFindings::MendOfWait(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who, waiter = agents_.IssuerOf(wanted.later.who);
  const std::string call = agents_.AwaitOf(operation);
  const bool written = wanted.first.time != kRead;
  const bool elsewhere = agents_.CompletesElsewhere(operation) ||
                         !Inside(agents_.PlaceOf(agents_.IssuerOf(operation)), wanted.buffer.info.place);
  const bool received = IsRemote(operation) && written;
  const bool own = agents_.IssuerOf(operation) == waiter && !IsRemote(operation) && !(elsewhere && IsAtBarrier(call));
  const bool receiver =
      received && agents_.PlaceOf(waiter).at(PlaceLevel::kDevice) == wanted.buffer.info.place.at(PlaceLevel::kDevice);
  if (call.empty() || wanted.here.empty() || !(own || receiver) || WhereAnotherWasTaken(wanted).has_value()) return {};
  return {.kind = Mend::Kind::kAwait,
          .line = wanted.later.text_line,
          .issue = wanted.first.text_line,
          .object = {},
          .commits = engine_.IsUncommitted(operation),
          .await = call,
          .otherwise = Cat("let the completion of ", agents_.NameOf(operation), " be awaited", wanted.here)};
}

// The same of what is to be complete before its memory goes.
Mend AccessFindings::MendOfEnd(const Wanted& wanted) const {
  const AgentId operation = wanted.first.who;
  if (!AgentTable::IsOperation(operation) || IsRemote(operation) || agents_.CompletesElsewhere(operation)) return {};
  if (!Inside(agents_.PlaceOf(agents_.IssuerOf(operation)), wanted.buffer.info.place)) return {};
  Mend mend = MendOfIssue(operation, wanted.first.text_line);
  if (IsAwaitedAtOnce(wanted)) mend.kind = Mend::Kind::kAwait;
  mend.otherwise += Cat(" before the scope of '", wanted.buffer.info.name, "' ends");
  return mend;
}

Mend AccessFindings::MendOfIssue(AgentId operation, int line) const {
  return {.kind = Mend::Kind::kAwaitAtEnd,
          .issue = line,
          .object = {},
          .commits = engine_.IsUncommitted(operation),
          .await = agents_.AwaitOf(operation),
          .otherwise = Cat("let the completion of ", agents_.NameOf(operation), " be awaited")};
}

Mend AccessFindings::MendFor(FindingCode code, const UnorderedPair& pair) const {
  const Wanted wanted = WantedOf(pair);
  switch (code) {
    case FindingCode::kWgmmaOrder:
      return {.kind = Mend::Kind::kAwaitEarlier,
              .issue = parts_.promises.MadeAt(pair.conflict.earlier.who).text_line,
              .object = {}};
    case FindingCode::kProxy:
    case FindingCode::kProxyWar:
      return {
          .kind = Mend::Kind::kFence, .line = wanted.later.text_line, .issue = wanted.first.text_line, .object = {}};
    case FindingCode::kBarrierTensorOrder:
      if (const std::string barrier = BarrierBetween(wanted); !barrier.empty())
        return {.kind = Mend::Kind::kTensorOrder, .object = barrier};
      return {};
    case FindingCode::kPeerLifetime:
    case FindingCode::kUseAfterScope:
      return MendOfEnd(wanted);
    default:
      break;
  }
  if (BesideOwnPipeline(pair)) return {};
  if (IsKeptByScope(pair)) return {.kind = Mend::Kind::kSystemScope, .object = {}};
  return AgentTable::IsOperation(wanted.first.who) ? MendOfWait(wanted) : Mend{};
}

}  // namespace palladion::memory_model
