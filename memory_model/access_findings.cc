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

// Of one core's pipeline.
bool IsOfTwoFlushes(const UnorderedPair& pair, const AgentTable& agents) {
  const AgentId earlier = pair.conflict.earlier.who, later = pair.event.who;
  const BlockCopy *const a = agents.BlockOf(earlier), *const b = agents.BlockOf(later);
  return a != nullptr && b != nullptr && a->flush && b->flush && agents.PlaceOf(earlier) == agents.PlaceOf(later);
}

}  // namespace

bool IsRaceOfBlocks(const UnorderedPair& pair, const AgentTable& agents) {
  const AccessEvent &earlier = pair.conflict.earlier, &event = pair.event;
  if (pair.conflict.order != Ordering::kUnordered || earlier.lifetime() || event.lifetime()) return false;
  if (AgentTable::IsOperation(earlier.who) || AgentTable::IsOperation(event.who)) return false;
  return agents.PlaceOf(earlier.who) != agents.PlaceOf(event.who);
}

std::string NameOfPlace(const PlaceNamer& namer, const CodeSite& site) {
  return namer ? namer(site) : Cat("line ", site.text_line, " of the kernel text");
}

bool AccessFindings::Inside(const Place& place, const Place& memory) {
  for (std::size_t i = 0; i < kPlaceLevels; ++i) {
    if (memory.number[i] != Place::kNone && memory.number[i] != place.number[i]) return false;
  }
  return true;
}

std::optional<AccessFindings::Sort> AccessFindings::SortOf(const UnorderedPair& pair) const {
  const Tracked& buffer = pair.buffer;
  const AccessEvent& event = pair.event;
  const AccessConflict& conflict = pair.conflict;
  const auto sort = [](FindingCode code) { return Sort{code, RowOf(code).severity}; };
  const AccessEvent& earlier = conflict.earlier;
  if (earlier.lifetime() || event.lifetime()) {
    if (conflict.order == Ordering::kPromised) return std::nullopt;  // the next access there reports it
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
  if (conflict.order == Ordering::kPromised)
    return Sort{FindingCode::kWgmmaOrder, RowOf(FindingCode::kWgmmaOrder).severity, Confidence::kPolicyDependent};
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
  if (IsOfFlushAndFetch(pair)) {
    Sort alias = sort(FindingCode::kAlias);
    if (IsSameBeforeAndAfter(pair)) alias.severity = Severity::kNote;
    return alias;
  }
  // What another core's pipeline does is that core's own doing.
  const auto engine = [&](AgentId who) { return AgentTable::IsOperation(who) && agents_.BlockOf(who) == nullptr; };
  const bool async = BesideOwnPipeline(pair) || engine(earlier.who) != engine(event.who);
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
  const bool freed_by_scope = event.kind == AccessKind::kFree && !buffer.freed_by.empty();
  return freed_by_scope ? buffer.freed_by : agents_.NameOf(event.who);
}

bool AccessFindings::IsKeptByScope(const UnorderedPair& pair) const {
  return agents_.IsKeptFrom(agents_.IssuerOf(pair.event.who), pair.conflict.earlier.epoch());
}

// What reads where a flush leaves the bytes as they are finds the same in any order; what writes there may be
// overwritten.
bool AccessFindings::IsSameBeforeAndAfter(const UnorderedPair& pair) const {
  const AccessEvent &earlier = pair.conflict.earlier, &event = pair.event;
  return pair.conflict.order == Ordering::kUnordered &&
         ((earlier.keeps && event.kind == AccessKind::kRead) || (event.keeps && earlier.kind == AccessKind::kRead));
}

bool AccessFindings::IsPipelines(AgentId who, AgentId other) const {
  return agents_.BlockOf(who) != nullptr && agents_.PlaceOf(who) == agents_.PlaceOf(other);
}

bool AccessFindings::BesideOwnPipeline(const UnorderedPair& pair) const {
  const AgentId earlier = pair.conflict.earlier.who, later = pair.event.who;
  return IsPipelines(earlier, later) != IsPipelines(later, earlier);
}

bool AccessFindings::IsOfFlushAndFetch(const UnorderedPair& pair) const {
  const AgentId earlier = pair.conflict.earlier.who, later = pair.event.who;
  return IsPipelines(earlier, later) && IsPipelines(later, earlier) &&
         agents_.BlockOf(earlier)->flush != agents_.BlockOf(later)->flush;
}

std::string AccessFindings::WhyUnordered(const UnorderedPair& pair) const {
  const auto& [buffer, event, vantage, conflict] = pair;
  const AgentId other = conflict.earlier.who;
  const std::string me = Who(buffer, event), you = Who(buffer, conflict.earlier);
  if (conflict.earlier.kind == AccessKind::kFree) return Cat("its life ended with ", you);
  const BlockCopy *const now = agents_.BlockOf(event.who), *const before = agents_.BlockOf(other);
  if (BesideOwnPipeline(pair) && !(now != nullptr ? now : before)->flush)
    return "a block with two buffers is fetched from before the body of the program before its own";
  if (BesideOwnPipeline(pair)) return "a block with two buffers goes back until after the body of the next program";
  if (conflict.order == Ordering::kUnfenced && buffer.info.space == ProxySpace::kTensor)
    return Cat(me, " is ordered after ", you, ", but by nothing that orders the tensor core");
  if (conflict.order == Ordering::kUnfenced) {
    return Cat(me, " is ordered after ", you, ", but no fence lies between: policy ", Name(rule_.policy()));
  }
  if (conflict.order == Ordering::kPromised) {
    return Cat("a later wgmma", At(" at ", parts_.promises.MadeAt(other)),
               " is issued in between, and when it returns ", you,
               " is complete, as Pallas documents; JAX's lowering of wgmma only commits, and waits for none");
  }
  if (IsKeptByScope(pair)) {
    return Cat(me,
               " waited for a signal from after that access, but with memory_scope=\"gpu\", which orders nothing of ",
               "another device");
  }
  if (AgentTable::IsOperation(other)) {
    const bool read = vantage.clock[ClockPart::kGeneric].Covers(Epoch{other, 1});
    return read ? Cat(me, " is ordered after the reads of ", you, ", not after its writes")
                : Cat("nothing orders ", me, " after the completion of ", you);
  }
  const AgentTable::Acquired acquired = agents_.LastAcquired(vantage.clock, other);
  if (acquired.time == 0) return Cat("no synchronisation path leads from ", you, " to ", me);
  if (!acquired.known) return Cat("the last synchronisation path from ", you, " to ", me, " starts before that access");
  return Cat("the last synchronisation path from ", you, " to ", me, " starts", At(" at ", acquired.site),
             acquired.site.text_line > 0 ? ", before that access" : " before that access");
}

Finding AccessFindings::Of(const UnorderedPair& pair, const Sort& sort) const {
  if (sort.code == FindingCode::kAlias || IsOfTwoFlushes(pair, agents_)) return AliasOf(pair, sort);
  // A fetch that began before is for a later program.
  const BlockCopy* const before = agents_.BlockOf(pair.conflict.earlier.who);
  if (BesideOwnPipeline(pair) && before != nullptr && !before->flush) {
    const AccessConflict turned{pair.event, pair.conflict.order, pair.conflict.overlap};
    return Of({pair.buffer, pair.conflict.earlier, pair.vantage, turned}, sort);
  }
  const auto& [buffer, event, vantage, conflict] = pair;
  const AccessEvent& earlier = conflict.earlier;
  const AccessEvent& shown = event.text_line > 0 ? event : earlier;  // the end of a block has no line
  Finding finding{.code = sort.code,
                  .severity = sort.severity,
                  .loc = shown.loc,
                  .text_line = shown.text_line,
                  .confidence = sort.confidence};
  const std::string* const past = buffer.PastName(earlier);
  finding.message = Cat(
      Who(buffer, event), " ", Does(event.kind), " ", buffer.info.name, conflict.overlap, "; ", Who(buffer, earlier),
      " ", Does(earlier.kind), " ",
      past == nullptr ? "it" : Cat("'", *past, "' of an earlier scope, which had the same bytes,"),
      conflict.order == Ordering::kUnfenced && buffer.info.space == ProxySpace::kTensor
          ? " before, and what orders the two does not order the tensor core"
      : conflict.order == Ordering::kUnfenced ? " before, with no fence between"
      : conflict.order == Ordering::kPromised ? " before, and only the return of a later wgmma says that it is complete"
      : earlier.kind == AccessKind::kFree     ? ""
      : IsSameBeforeAndAfter(pair) ? " without changing a byte of it, with these operands, and nothing orders the two"
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
  finding.mend = MendFor(sort.code, pair);
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
                  .message = Cat("the kernel ends, and no agent has waited for ", read ? "the reads of " : "", name),
                  .loc = site.loc,
                  .text_line = site.text_line,
                  .fix = AwaitOf(operation.id, operation.awaited_halves()) +
                         InReceiver(operation.id, operation.awaited_halves()) + " before the kernel ends"};
  if (!IsRemote(operation.id)) {
    finding.mend = MendOfIssue(operation.id, site.text_line);
    finding.mend.otherwise += " before the kernel ends";
  }
  finding.first = FindingAccess{.kind = read ? AccessKind::kRead : AccessKind::kWrite,
                                .agent = name,
                                .loc = site.loc,
                                .text_line = site.text_line};
  return finding;
}

}  // namespace palladion::memory_model
