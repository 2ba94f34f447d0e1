#include "memory_model/access_findings.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

std::string_view Does(AccessKind kind) {
  constexpr std::string_view kVerbs[] = {"reads", "writes", "updates", "allocates", "frees"};
  return kVerbs[static_cast<std::size_t>(kind)];
}

// Is the place in the one that the memory belongs to?
bool Inside(const Place& place, const Place& memory) {
  for (std::size_t i = 0; i < kPlaceLevels; ++i) {
    if (memory.number[i] != Place::kNone && memory.number[i] != place.number[i]) return false;
  }
  return true;
}

}  // namespace

std::string NameOfPlace(const PlaceNamer& namer, const CodeSite& site) {
  return namer ? namer(site) : Cat("line ", site.text_line, " of the kernel text");
}

std::optional<AccessFindings::Sort> AccessFindings::SortOf(const UnorderedPair& pair) const {
  const Tracked& buffer = pair.buffer;
  const AccessEvent& event = pair.event;
  const AccessConflict& conflict = pair.conflict;
  const auto sort = [](FindingCode code) { return Sort{code, RowOf(code).severity}; };
  const AccessEvent& earlier = conflict.earlier;
  if (earlier.lifetime() || event.lifetime()) {
    const Place& place = buffer.info.place;
    const bool peer = !Inside(agents_.PlaceOf(earlier.who), place) || !Inside(agents_.PlaceOf(event.who), place);
    // With the kernel all that a device has begun itself is complete.
    const bool global = buffer.info.space == ProxySpace::kGlobal && place.at(PlaceLevel::kCluster) == Place::kNone;
    if (!peer && global) return std::nullopt;
    // What a thread of the block has begun in a group it alone could have waited for: that it has not is NOT_AWAITED,
    // once, or is allowed.
    const bool block_ends = event.kind == AccessKind::kFree && event.text_line == 0;
    if (!peer && block_ends && engine_.IsInGroup(earlier.who)) return std::nullopt;
    return sort(peer ? FindingCode::kPeerLifetime : FindingCode::kUseAfterScope);
  }
  if (conflict.order == Ordering::kUnfenced) {
    const auto verdict = rule_.Judge(earlier, event.kind, buffer.info.space, BetweenReadAndWrite(earlier, event.who));
    if (!verdict.has_value()) return std::nullopt;
    return Sort{verdict->code, verdict->severity, verdict->confidence};
  }
  constexpr auto kDevice = PlaceLevel::kDevice;
  if (agents_.PlaceOf(earlier.who).at(kDevice) != agents_.PlaceOf(event.who).at(kDevice)) {
    return sort(FindingCode::kRaceCrossDevice);
  }
  const bool writes = earlier.writes() && event.writes();
  const bool async = AgentTable::IsOperation(earlier.who) != AgentTable::IsOperation(event.who);
  Sort race = sort(async    ? FindingCode::kRaceAsync
                   : writes ? FindingCode::kRaceWriteWrite
                            : FindingCode::kRaceReadWrite);
  if (IsSameBeforeAndAfter(pair)) race.severity = Severity::kNote;
  return race;
}

// A thread and its warps are the same lanes. Warps beside each other are not: something else has ordered them.
Between AccessFindings::BetweenReadAndWrite(const AccessEvent& read, AgentId operation) const {
  const AgentId reader = read.who, issuer = agents_.IssuerOf(operation);
  if (AgentTable::IsOperation(reader) || agents_.ThreadOf(reader) != agents_.ThreadOf(issuer)) return Between::kArrival;
  if (agents_.LanesMetSince(reader, read.time)) return Between::kBarrier;
  const auto is_warp = [this](AgentId agent) { return agents_.RoleOf(agent) == AgentRole::kWarp; };
  const bool beside = reader != issuer && is_warp(reader) && is_warp(issuer) && agents_.Lives(reader);
  return beside || agents_.RoundTrip(reader, read.time) ? Between::kArrival : Between::kNothing;
}

std::string AccessFindings::Who(const Tracked& buffer, const AccessEvent& event) const {
  const bool nobody = event.kind == AccessKind::kFree && !buffer.freed_by.empty();
  return nobody ? buffer.freed_by : agents_.NameOf(event.who);
}

bool AccessFindings::IsKeptByScope(const UnorderedPair& pair) const {
  return agents_.IsKeptFrom(agents_.IssuerOf(pair.event.who), pair.conflict.earlier.epoch());
}

// What reads where a flush leaves the bytes as they are finds the same in any order; what writes there may be
// overwritten.
bool AccessFindings::IsSameBeforeAndAfter(const UnorderedPair& pair) const {
  return pair.conflict.order == Ordering::kUnordered && agents_.KeepsBytes(pair.conflict.earlier.who) &&
         !pair.event.writes() && !pair.event.lifetime();
}

bool AccessFindings::BesideOwnPipeline(const UnorderedPair& pair) const {
  const AgentId earlier = pair.conflict.earlier.who, later = pair.event.who;
  return (agents_.IsPipeline(earlier) || agents_.IsPipeline(later)) &&
         agents_.PlaceOf(earlier) == agents_.PlaceOf(later);
}

std::string AccessFindings::WhyUnordered(const UnorderedPair& pair) const {
  const auto& [buffer, event, vantage, conflict] = pair;
  const AgentId other = conflict.earlier.who;
  const std::string me = Who(buffer, event), you = Who(buffer, conflict.earlier);
  if (conflict.earlier.kind == AccessKind::kFree) return Cat("its life ended with ", you);
  if (BesideOwnPipeline(pair) && agents_.IsPipeline(event.who))
    return "a block with two buffers is fetched from before the body of the program before its own";
  if (BesideOwnPipeline(pair)) return "a block with two buffers goes back until after the body of the next program";
  if (conflict.order == Ordering::kUnfenced && buffer.info.space == ProxySpace::kTensor)
    return Cat(me, " is ordered after ", you, ", but by nothing that orders the tensor core");
  if (conflict.order == Ordering::kUnfenced) {
    return Cat(me, " is ordered after ", you, ", but no fence lies between: policy ", Name(rule_.policy()));
  }
  if (IsKeptByScope(pair)) {
    return Cat(me,
               " waited for a signal from after that access, but with memory_scope=\"gpu\", which orders nothing of ",
               "another device");
  }
  if (AgentTable::IsOperation(other)) {
    const bool read = vantage.clock[ClockPart::kGeneric].Covers(Epoch{other, 1});
    return Cat(me, read ? " knows that " : " does not know whether ", you,
               read ? " has read its source, not that it has written" : " is complete");
  }
  const AgentTable::Heard heard = agents_.LastHeard(vantage.clock, other);
  if (heard.time == 0) return Cat(me, " has never heard of ", you);
  if (!heard.known) return Cat("what ", me, " last heard of ", you, " is from before that access");
  return Cat("what ", me, " last heard of ", you, " is what it published", At(" at ", heard.site),
             ", before that access");
}

// " after the access at kernel.py:7"; "" where the access has no place of its own.
std::string AccessFindings::At(std::string before, const CodeSite& site) const {
  if (site.text_line <= 0) return "";
  return Cat(before, NameOfPlace(namer_, site));
}

std::string AccessFindings::AwaitOf(AgentId operation) const {
  std::string call = agents_.AwaitOf(operation);
  if (call.empty()) return Cat("wait for the completion of ", agents_.NameOf(operation));
  return engine_.IsUncommitted(operation) ? Cat("plgpu.commit_smem_to_gmem_group() and ", call) : call;
}

// A group is awaited by who issued it, a barrier by any thread of its block.
std::string AccessFindings::OrderAfterOperation(const Tracked& buffer, AgentId operation, AgentId later,
                                                const std::string& here) const {
  const AgentId issuer = agents_.IssuerOf(operation), waiter = agents_.IssuerOf(later);
  // A block's barrier is told of what lands in the block.
  const bool there = agents_.IsToldApart(operation) && Inside(agents_.PlaceOf(waiter), buffer.info.place);
  if (issuer == waiter || there || agents_.AwaitOf(operation).empty()) return AwaitOf(operation) + here;
  const bool far = agents_.PlaceOf(issuer).at(PlaceLevel::kDevice) != agents_.PlaceOf(waiter).at(PlaceLevel::kDevice);
  return Cat(AwaitOf(operation), " in ", agents_.NameOf(issuer), ", and a ",
             far ? "semaphore's signal from there to " : "barrier from there to ", agents_.NameOf(waiter), here);
}

std::string AccessFindings::OrderAgents(const AccessEvent& first, const AccessEvent& later, const std::string& there,
                                        const std::string& here) const {
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

std::string AccessFindings::FixFor(FindingCode code, const UnorderedPair& pair) const {
  const auto& [buffer, event, vantage, conflict] = pair;
  const AgentId earlier = conflict.earlier.who;
  const bool operation = AgentTable::IsOperation(earlier), issues = AgentTable::IsOperation(event.who);
  const std::string there = At(" after the access at ", {conflict.earlier.loc, conflict.earlier.text_line});
  const std::string here =
      At(issues ? " before the issue at " : " before the access at ", {event.loc, event.text_line});
  switch (code) {
    case FindingCode::kProxy:
    case FindingCode::kProxyWar:
      return Cat("plgpu.commit_smem()", there, there.empty() || here.empty() ? "" : " and", here);
    case FindingCode::kBarrierTensorOrder:
      return "plgpu.Barrier(orders_tensor_core=True)";
    case FindingCode::kPeerLifetime:
    case FindingCode::kUseAfterScope:
      if (operation) return Cat(AwaitOf(earlier), " before the scope of '", buffer.info.name, "' ends");
      return "let a barrier or semaphore order the access within the life of the memory";
    default:
      break;
  }
  if (BesideOwnPipeline(pair))
    return "pl.Buffered(1) for this block; or let bodies copy nothing of what the pipeline copies beside them";
  if (IsKeptByScope(pair)) {
    return Cat("memory_scope=\"sys\" for that wait in ", agents_.NameOf(agents_.IssuerOf(event.who)));
  }
  return operation ? OrderAfterOperation(buffer, earlier, event.who, here)
                   : OrderAgents(conflict.earlier, event, there, here);
}

Finding AccessFindings::Of(const UnorderedPair& pair, const Sort& sort) const {
  const auto& [buffer, event, vantage, conflict] = pair;
  const AccessEvent& earlier = conflict.earlier;
  const AccessEvent& shown = event.text_line > 0 ? event : earlier;  // the end of a block has no line
  Finding finding{.code = sort.code,
                  .severity = sort.severity,
                  .loc = shown.loc,
                  .text_line = shown.text_line,
                  .confidence = sort.confidence};
  const std::string* const past = buffer.PastName(earlier);
  finding.message = Cat(Who(buffer, event), " ", Does(event.kind), " ", buffer.info.name, conflict.overlap, "; ",
                        Who(buffer, earlier), " ", Does(earlier.kind), " ",
                        past == nullptr ? "it" : Cat("'", *past, "' of an earlier scope, which had the same bytes,"),
                        conflict.order == Ordering::kUnfenced && buffer.info.space == ProxySpace::kTensor
                            ? " before, and what orders the two does not order the tensor core"
                        : conflict.order == Ordering::kUnfenced ? " before, with no fence between"
                        : earlier.kind == AccessKind::kFree     ? ""
                        : IsSameBeforeAndAfter(pair)
                            ? ", where it leaves all bytes as they are with these operands, and nothing orders the two"
                            : ", and nothing orders the two");
  const auto side = [this, &pair](const AccessEvent& access) {
    const std::string* const was = pair.buffer.PastName(access);
    return FindingAccess{.kind = access.kind,
                         .agent = Who(pair.buffer, access),
                         .object = was == nullptr ? pair.buffer.info.name : *was,
                         .box = was == nullptr ? pair.conflict.overlap : "",
                         .loc = access.loc,
                         .text_line = access.text_line};
  };
  finding.first = side(earlier);
  finding.second = side(event);
  finding.why = WhyUnordered(pair);
  finding.fix = FixFor(sort.code, pair);
  return finding;
}

Finding AccessFindings::CopyOverItself(AgentId operation, const CodeSite& site, const std::string& object,
                                       const std::string& overlap) const {
  const std::string name = agents_.NameOf(operation);
  FindingAccess read{.kind = AccessKind::kRead,
                     .agent = name,
                     .object = object,
                     .box = overlap,
                     .loc = site.loc,
                     .text_line = site.text_line};
  FindingAccess write = read;
  write.kind = AccessKind::kWrite;
  return {.code = FindingCode::kRaceAsync,
          .message = Cat(name, " reads and writes ", object, overlap, ": its source and its destination overlap"),
          .loc = site.loc,
          .text_line = site.text_line,
          .first = std::move(read),
          .second = std::move(write),
          .why =
              "the engine copies in chunks, in an order that nothing promises: a chunk may be read after another one "
              "was written over it",
          .fix = "copy by way of other memory, or in parts whose source and destination lie apart"};
}

Finding AccessFindings::NotAwaited(const AsyncEngine::Record& operation) const {
  const CodeSite& site = operation.site;
  const std::string name = agents_.NameOf(operation.id);
  const bool read = operation.must_await == Half::kRead;
  Finding finding{.code = FindingCode::kNotAwaited,
                  .message = Cat("the kernel ends, and nobody has waited for ", read ? "the reads of " : "", name),
                  .loc = site.loc,
                  .text_line = site.text_line,
                  .fix = AwaitOf(operation.id) + " before the kernel ends"};
  finding.first = FindingAccess{.kind = read ? AccessKind::kRead : AccessKind::kWrite,
                                .agent = name,
                                .loc = site.loc,
                                .text_line = site.text_line};
  return finding;
}

}  // namespace palladion::memory_model
