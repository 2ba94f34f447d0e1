#include "memory_model/concurrency_model.h"

#include <algorithm>
#include <utility>

#include "memory_model/sets/set_of_bytes.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {

AccessEvent ConcurrencyModel::EventOf(AgentId agent, AccessKind kind, const CodeSite& site) const {
  return {.who = agent, .time = agents_.NowOf(agent), .kind = kind, .loc = site.loc, .text_line = site.text_line};
}

void ConcurrencyModel::Alloc(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site) {
  if (!tracks_accesses_) return;
  Begins(buffer);
  memory_.Begin(id, std::move(buffer));
  AllocatedAt(agents_.NowOf(agent), agent, id, site);
}

void ConcurrencyModel::AllocAtStart(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site) {
  if (!tracks_accesses_) return;
  Begins(buffer);
  memory_.Begin(id, std::move(buffer));
  AllocatedAt(/*time=*/1, agent, id, site);
}

void ConcurrencyModel::Reallocate(AgentId agent, BufferId id, const CodeSite& site) {
  if (Judged(id) != nullptr) AllocatedAt(agents_.NowOf(agent), agent, id, site);
}

void ConcurrencyModel::AllocatedAt(std::uint32_t time, AgentId agent, BufferId id, const CodeSite& site) {
  Tracked& tracked = *memory_.Find(id);
  agents_.Act(agent);
  AccessEvent event = EventOf(agent, AccessKind::kAlloc, site);
  event.time = time;
  const Vantage vantage = VantageOf(agent);
  Report(tracked, id, event, vantage, memory_.Access(&tracked, event, tracked.Whole(), vantage));
}

void ConcurrencyModel::Free(AgentId agent, BufferId id, const CodeSite& site) {
  Tracked* const buffer = Judged(id);
  if (buffer == nullptr) return;
  agents_.Act(agent);
  const AccessEvent event = EventOf(agent, AccessKind::kFree, site);
  const Vantage vantage = VantageOf(agent);
  Report(*buffer, id, event, vantage, memory_.Free(buffer, event, vantage, ""));
}

void ConcurrencyModel::FreeAfter(absl::Span<const AgentId> agents, std::string name, BufferId id,
                                 const CodeSite& site) {
  Tracked* const buffer = Judged(id);
  if (buffer == nullptr) return;
  ClockBundle clock;
  for (const AgentId agent : agents) {
    clock.Join(agents_.ClockOf(agent));
    agents_.Act(agent);
  }
  FreeAt({clock, agents.front(), std::move(name)}, buffer, id, site);
}

void ConcurrencyModel::FreeAt(AgentId end, std::string name, BufferId id, const CodeSite& site) {
  Tracked* const buffer = Judged(id);
  if (buffer != nullptr) FreeAt({agents_.ClockOf(end), end, std::move(name)}, buffer, id, site);
}

void ConcurrencyModel::FreeAt(LifeEnd end, Tracked* buffer, BufferId id, const CodeSite& site) {
  const AccessEvent event = EventOf(end.who, AccessKind::kFree, site);
  const Vantage vantage{end.known, ClockPart::kGeneric, end.who, Noted()};
  Report(*buffer, id, event, vantage, memory_.Free(buffer, event, vantage, std::move(end.name)));
}

void ConcurrencyModel::Touch(AgentId agent, BufferId id, AccessKind kind, const AccessSet& set, const CodeSite& site) {
  Tracked* const buffer = set.empty() ? nullptr : Judged(id);
  // Accesses to tensor memory are reported by its operations, loads among them.
  if (buffer == nullptr || buffer->info.space == ProxySpace::kTensor) return;
  agents_.Act(agent);
  const AccessEvent event = EventOf(agent, kind, site);
  const Vantage vantage = VantageOf(agent);
  Report(*buffer, id, event, vantage, memory_.Access(buffer, event, set, vantage));
}

void ConcurrencyModel::Report(const Tracked& buffer, BufferId id, const AccessEvent& event, const Vantage& vantage,
                              absl::Span<const AccessConflict> conflicts) {
  for (const AccessConflict& conflict : conflicts) {
    const UnorderedPair pair{buffer, event, vantage, conflict};
    if (!races_between_blocks_ && IsRaceOfBlocks(pair, agents_)) continue;
    const std::optional<AccessFindings::Sort> sort = Words().SortOf(pair);
    const AccessEvent& earlier = conflict.earlier;
    if (!sort.has_value()) continue;
    // What rests on equal bytes does not stand for a pair of the same places that does not.
    const std::int64_t object = sort->severity == Severity::kNote ? -2 - id.value : id.value;
    if (log_.IsNew({sort->code, {earlier.loc, earlier.text_line}, {event.loc, event.text_line}, object}))
      log_.Add(Words().Of(pair, *sort));
  }
}

BarrierId ConcurrencyModel::MakeBarrier(Barrier::Spec spec) {
  const BarrierId id = barriers_.Next();
  barriers_.Add(id, std::move(spec));
  return id;
}

void ConcurrencyModel::Arrive(AgentId agent, BarrierId id, const CodeSite& site) {
  barriers_[id].Arrive({agent, agents_.ClockOf(agent), site}, agents_, &log_);
  agents_.Tick(agent, site);
}

void ConcurrencyModel::Expect(AgentId agent, BarrierId id, const ExpectedBytes& expected, const CodeSite& site) {
  barriers_[id].Expect({agent, agents_.ClockOf(agent), site}, expected, agents_, &log_);
  agents_.Tick(agent, site);
}

bool ConcurrencyModel::Test(AgentId agent, BarrierId id, const CodeSite& site) {
  if (!CanWait(agent, id)) return false;
  Wait(agent, id, site);
  return true;
}

void ConcurrencyModel::JoinWarps(AgentId thread, absl::Span<const AgentId> warps) {
  for (const AgentId warp : warps) {
    if (rule_.automatic_barriers()) agents_.LanesMeet(warp);
    agents_.Join(thread, warp);
  }
  barriers_.ForEach([&](BarrierId, Barrier& barrier) {
    if (!barrier.ended()) barrier.Join(thread, warps, agents_);
  });
}

void ConcurrencyModel::End(BarrierId id, const CodeSite& site, Barrier::Ends ends) {
  Barrier* const barrier = barriers_.Find(id);
  if (barrier == nullptr || barrier->ended()) return;
  barrier->End(ends, site, agents_, &log_);
}

bool ConcurrencyModel::ArrivalsRace() const {
  bool race = arrivals_raced_;
  barriers_.ForEach([&](BarrierId, const Barrier& barrier) { race |= barrier.arrivals_race(); });
  return race;
}

SemaphoreId ConcurrencyModel::MakeSemaphore(SemaphoreSpec spec) {
  const SemaphoreId id = semaphores_.Next();
  Semaphore& semaphore = semaphores_.Add(id, std::move(spec));
  if (!tracks_accesses_) semaphore.DoNotJudgeWaits();
  return id;
}

void ConcurrencyModel::End(SemaphoreId id, const CodeSite& site) {
  Semaphore* const semaphore = semaphores_.Find(id);
  if (semaphore != nullptr && !semaphore->ended()) semaphore->End(site, agents_, &log_);
}

void ConcurrencyModel::Signal(AgentId agent, SemaphoreId id, const CodeSite& site, std::int64_t amount) {
  semaphores_[id].Signal(agent, agents_.ClockOf(agent), amount, site);
  if (rule_.automatic_barriers()) agents_.LanesMeet(agent);
  agents_.Tick(agent, site);
}

void ConcurrencyModel::HandOver(SemaphoreId id) {
  Semaphore& semaphore = semaphores_[id];
  semaphore.HandOver();
  semaphore.ForEachCredit([&](AgentId by, std::int64_t) { handed_over_.insert(by); });
}

void ConcurrencyModel::Wait(AgentId agent, SemaphoreId id, std::int64_t value, const SemaphoreWait& how) {
  SemaphoreWait wait = how;
  wait.acts = agents_.ActsOf(agent);
  wait.first = agents_.WaitsFirst(agent);
  semaphores_[id].Wait(agent, value, wait, &agents_);
  agents_.HasWaited(agent, wait.acts);
}

RendezvousId ConcurrencyModel::MakeRendezvous(std::string name, std::vector<AgentId> members) {
  const RendezvousId id = meetings_.Next();
  for (const AgentId member : members) meetings_of_[member.value].push_back(id);
  meetings_.Add(id, std::move(name), std::move(members));
  return id;
}

void ConcurrencyModel::Enter(AgentId agent, RendezvousId id, JointWork work, const CodeSite& site) {
  meetings_[id].Enter(agent, std::move(work), site, &agents_, &log_);
}

CollectiveId ConcurrencyModel::MakeCollective(std::string name, std::vector<std::string> members) {
  const CollectiveId id = collectives_.Next();
  collectives_.Add(id, std::move(name), std::move(members));
  return id;
}

// ---- asynchronous operations: what one is ordered after when it starts, and what its phases release

// Is every completion in the unit of its object?
absl::Status ConcurrencyModel::CheckUnits(const AsyncRequest& request) const {
  static constexpr std::string_view kUnits[] = {"arrivals", "counts", "bytes"};
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    const CompletionUnit expected =
        semaphore == nullptr ? CompletionUnit::kArrivals : UnitOf(semaphores_[*semaphore].spec().kind);
    const bool bytes_at_barrier = semaphore == nullptr && completion.unit == CompletionUnit::kBytes;
    if (completion.unit == expected || bytes_at_barrier) continue;
    return absl::InvalidArgumentError(ToAbsl(Cat("asynchronous ", request.name, ": a completion of ", completion.amount,
                                                 " ", kUnits[static_cast<std::size_t>(completion.unit)],
                                                 " at what takes ", kUnits[static_cast<std::size_t>(expected)])));
  }
  return absl::OkStatus();
}

absl::StatusOr<AgentId> ConcurrencyModel::Start(AgentId agent, AsyncRequest request, AgentId as) {
  if (absl::Status status = AsyncEngine::Check(request); !status.ok()) return status;
  if (absl::Status status = CheckUnits(request); !status.ok()) return status;
  if (agents_.NoMoreOperations() || (as.valid() && !agents_.GiveNext(as)))
    return absl::ResourceExhaustedError("too many asynchronous operations in one run");
  if (agents_.Crowded()) Sweep();
  if (request.expects_at.valid()) {  // with the clock of now, which ticks below
    const Barrier::Arrival arrival{agent, agents_.ClockOf(agent), request.site};
    barriers_[request.expects_at].Expect(arrival, request.expects, agents_, &log_);
  }
  if (LanesMeetBefore(agent, request)) agents_.LanesMeet(agent);
  const Epoch issued{agent, agents_.NowOf(agent)};
  const AgentId id =
      agents_.AddOperation(agent, request.name, request.site, request.block == nullptr ? started_++ : -1);
  agents_.SayAwait(id, std::move(request.await));
  for (const Completion& completion : request.completions) {
    if (const auto* semaphore = std::get_if<SemaphoreId>(&completion.object))
      agents_.SaySemaphore(id, completion.after, *semaphore);
  }
  const bool after_all =
      request.queue.valid() && (engine_.OrderOf(request.queue) == QueueOrder::kSerial || request.after_earlier);
  if (after_all) agents_.Fork(id).Join(queue_clocks_.Issued(request.queue));
  std::vector<AgentId> follows;
  if (request.pipelined.has_value())
    follows = Pipeline({id, issued, agents_.ThreadOf(agent), agents_.PlaceOf(agent)}, request);
  if (request.block != nullptr) agents_.SayBlock(id, request.block);
  for (std::size_t part = 1; part < request.parts(); ++part) agents_.AddPart(id);
  const ClockBundle& known = agents_.Fork(id);
  TouchOperands({id, 1, request.site, after_all, request}, request.sources, Half::kRead, known);
  std::optional<ClockBundle> landing;
  if (request.queue.valid() && engine_.OrderOf(request.queue) == QueueOrder::kLanding)
    landing.emplace(known).Join(queue_clocks_.Issued(request.queue));
  TouchOperands({id, request.parts(), request.site, after_all, request}, request.destinations, Half::kWrite,
                landing.has_value() ? *landing : known);
  ReportOverlap(id, request);
  if (request.queue.valid()) queue_clocks_.Issue(id, request.queue, agents_, after_all);
  engine_.Start(id, agent, std::move(request));
  if (!follows.empty()) engine_.Follow(id, std::move(follows));
  return id;
}

// JAX puts a barrier of the warpgroup before a copy into shared memory; before that of a warp, and before a request of
// another kind that writes there, it puts none.
bool ConcurrencyModel::LanesMeetBefore(AgentId agent, const AsyncRequest& request) const {
  if (!rule_.automatic_barriers() || agents_.RoleOf(agent) != AgentRole::kThread) return false;
  if (request.function != nullptr || request.sources.empty()) return false;
  return std::any_of(request.destinations.begin(), request.destinations.end(), [this](const AsyncOperand& to) {
    const Tracked* const buffer = memory_.Find(to.buffer());
    return buffer != nullptr && buffer->info.space == ProxySpace::kShared;
  });
}

std::vector<AgentId> ConcurrencyModel::Pipeline(const Pipelines::Issue& issue, const AsyncRequest& request) {
  std::vector<AgentId> follows = pipelines_.Follow(request, issue.place, &agents_.Fork(issue.operation));
  pipelines_.Add(request, issue, agents_.Completion(issue.operation, static_cast<std::uint32_t>(Half::kWrite)));
  return follows;
}

void ConcurrencyModel::TouchOperands(const Issued& issued, const std::vector<AsyncOperand>& operands, Half half,
                                     const ClockBundle& known) {
  if (!tracks_accesses_) return;
  const CodeSite& site = issued.site;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const AsyncOperand& operand = operands[i];
    const AgentId operation = issued.parts > 1 ? AgentTable::PartOf(issued.operation, i) : issued.operation;
    const BufferId id = std::visit([](const auto& where) { return where.buffer; }, operand.where);
    Tracked* const buffer = memory_.Find(id);
    if (buffer == nullptr) continue;
    const AccessSet set = buffer->SetOf(operand);
    if (set.empty()) continue;
    const AccessKind kind = half == Half::kRead         ? AccessKind::kRead
                            : operand.reduce != nullptr ? AccessKind::kAtomic
                                                        : AccessKind::kWrite;
    const AccessEvent event{.who = operation,
                            .time = static_cast<std::uint32_t>(half),
                            .kind = kind,
                            .proxy = operand.proxy,
                            .loc = site.loc,
                            .text_line = site.text_line};
    const ClockPart part = FenceRule::PartFor(operand.proxy, buffer->info.space);
    const Vantage vantage{known, part, operation, issued.in_turn ? nullptr : Noted()};
    const AsyncRequest& request = issued.request;
    if (half == Half::kRead || request.keeps.empty()) {
      Report(*buffer, id, event, vantage, memory_.Access(buffer, event, set, vantage));
      continue;
    }
    AccessEvent keeps = event;
    keeps.keeps = true;
    const AccessSet same = request.changes.empty() ? set : SetOfBytes(request.keeps);
    Report(*buffer, id, keeps, vantage, memory_.Access(buffer, keeps, same, vantage));
    if (request.changes.empty()) continue;
    Report(*buffer, id, event, vantage, memory_.Access(buffer, event, SetOfBytes(request.changes), vantage));
  }
}

// An engine copies in chunks, in an order that is not specified: a copy must not write what it reads. (A function makes
// its results when it has read everything.)
void ConcurrencyModel::ReportOverlap(AgentId operation, const AsyncRequest& request) {
  if (!tracks_accesses_ || request.function != nullptr) return;
  for (std::size_t i = 0; i < request.sources.size(); ++i) {
    const AsyncOperand &source = request.sources[i], &destination = request.destinations[i];
    Tracked* const buffer = source.buffer() == destination.buffer() ? memory_.Find(source.buffer()) : nullptr;
    if (buffer == nullptr || IsSamePlace(source, destination)) continue;
    const std::string overlap =
        InCommon(buffer->SetOf(source), buffer->SetOf(destination), buffer->info.shape, buffer->info.element_size);
    if (overlap.empty()) continue;
    const FindingLog::Where here{request.site.loc, request.site.text_line};
    if (log_.IsNew(FindingLog::Key(FindingCode::kRaceAsync, here, here)))
      log_.Add(Words().CopyOverItself(operation, request.site, buffer->info.name, overlap));
  }
}

// What the end of a phase releases: for a destination that completes by itself, nothing about the others.
ClockBundle ConcurrencyModel::Released(const PendingHalf& half, const AsyncEngine::Performed& performed,
                                       const Completion& completion) {
  const QueueId queue = performed.queue;
  const auto halves = static_cast<std::uint32_t>(half.half);
  const bool apart = half.half == Half::kWrite && performed.parts > 1;
  ClockBundle released = agents_.Completion(half.operation, apart ? static_cast<std::uint32_t>(Half::kRead) : halves);
  for (std::size_t part = 0; apart && part < performed.parts; ++part) {
    if (completion.of.value_or(part) == part)
      agents_.AddCompletionOf(AgentTable::PartOf(half.operation, part), halves, &released);
  }
  // A release by the tensor core itself (a commit) is fenced; a copy's arrival is not.
  if (!queue.valid() || engine_.OrderOf(queue) != QueueOrder::kIssued) released.ForgetTensorCore();
  if (half.half == Half::kRead || !queue.valid() || engine_.OrderOf(queue) != QueueOrder::kLanding) return released;
  return queue_clocks_.Land(queue, std::move(released));
}

void ConcurrencyModel::Perform(const PendingHalf& half, Machine* memory) {
  const AsyncEngine::Performed performed = engine_.Perform(half, memory);
  for (const Completion& completion : performed.due) {
    const ClockBundle released = Released(half, performed, completion);
    if (const auto* barrier = std::get_if<BarrierId>(&completion.object)) {
      const Barrier::Arrival by{half.operation, released, performed.site};
      const QueueId queue = performed.queue;
      if (!queue.valid() || engine_.OrderOf(queue) != QueueOrder::kIssued) barriers_[*barrier].TakesCopies();
      completion.unit == CompletionUnit::kBytes
          ? barriers_[*barrier].Land(by, {completion.amount, completion.sender}, agents_, &log_)
          : barriers_[*barrier].Arrive(by, agents_, &log_);
    } else {
      const SemaphoreId semaphore = std::get<SemaphoreId>(completion.object);
      if (performed.parts > 1) semaphores_[semaphore].DoNotJudgeWaits();  // signalled by parts, which have clocks apart
      semaphores_[semaphore].Signal(half.operation, released, completion.amount, performed.site);
    }
  }
}

void ConcurrencyModel::AwaitGroups(AgentId agent, QueueId queue, const GroupWait& wait) {
  const std::size_t groups = engine_.Groups(queue);
  for (const AgentId operation : engine_.GroupsBut(queue, wait.may_remain)) {
    agents_.AcquireCompletion(agent, operation, static_cast<std::uint32_t>(wait.half));
    if (wait.promised) promises_.Make(queue, operation, wait.site);
  }
  if (!wait.promised && wait.half == Half::kWrite) {
    const std::size_t of_these = wait.may_remain > groups ? wait.may_remain - groups : 0;
    promises_.Keep(queue, of_these, {agent, agents_.NowOf(agent)});
  }
  if (wait.half == Half::kWrite) engine_.DropGroupsBut(queue, wait.may_remain);
}

// ---- ends

void ConcurrencyModel::AgentEnds(AgentId agent) {
  const auto meetings = meetings_of_.find(agent.value);
  if (meetings == meetings_of_.end()) return;
  for (const RendezvousId id : meetings->second) {
    if (Rendezvous* meeting = meetings_.Find(id); meeting != nullptr) meeting->MemberEnds(agent, agents_, &log_);
  }
}

void ConcurrencyModel::End(const CodeSite& site) {
  barriers_.ForEach([&](BarrierId id, const Barrier&) { End(id, site); });
  semaphores_.ForEach([&](SemaphoreId id, const Semaphore&) { End(id, site); });
  agents_.NoteKnown();
  for (const auto& records : {engine_.finished(), engine_.Unfinished()}) {
    for (const AsyncEngine::Record& record : records) {
      if (handed_over_.contains(record.id)) continue;
      if (!agents_.KnownNow(record.id, record.awaited_halves())) ReportNotAwaited(record);
    }
  }
}

void ConcurrencyModel::ReportNotAwaited(const AsyncEngine::Record& operation) {
  const CodeSite& site = operation.site;
  if (log_.IsNew(FindingLog::Key::OfOne(FindingCode::kNotAwaited, {site.loc, site.text_line})))
    log_.Add(Words().NotAwaited(operation));
}

}  // namespace palladion::memory_model
