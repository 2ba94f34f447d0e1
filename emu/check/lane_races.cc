#include "emu/check/lane_races.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_join.h"
#include "emu/run/launch/equal_writes.h"
#include "emu/run/threads/thread_machine.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion::check {
namespace {

using memory_model::Lane;
using memory_model::LaneAccess;
using memory_model::LaneConflict;
using memory_model::LaneHistory;

bool IsTriton(const kernel::PreparedKernelState& kernel) {
  return kernel.program().target.backend == TargetBackend::kTriton;
}

std::string_view Did(AccessKind kind) {
  return kind == AccessKind::kRead ? "reads" : kind == AccessKind::kAtomic ? "updates" : "writes";
}

std::string PlaceIn(Lane lane) { return Cat("place ", lane.place, " of ", lane.of); }

const legality::LanesOfAccesses& LanesOf(const kernel::PreparedKernelState& kernel) {
  return kernel.Kept<legality::LanesOfAccesses>([&] {
    return IsTriton(kernel) ? legality::LanesOfAccesses::OfTriton(kernel.text())
                            : legality::LanesOfAccesses::OfMosaicGpu(kernel.text());
  });
}

}  // namespace

bool LaneRaces::Looks(const kernel::PreparedKernelState& kernel) {
  switch (kernel.program().target.backend) {
    case TargetBackend::kTriton:
      return true;
    case TargetBackend::kMosaicGpu:
      return !kernel.automatic_barriers();
    case TargetBackend::kGeneric:
    case TargetBackend::kMosaicTpu:
      break;
  }
  return false;
}

LaneRaces::LaneRaces(const kernel::PreparedKernelState& kernel, launch::ExecutionMode mode)
    : kernel_(kernel),
      triton_(IsTriton(kernel)),
      in_order_(mode == launch::ExecutionMode::kInOrder),
      lanes_(LanesOf(kernel)) {}

// ---- the agent that runs, and its machine

void LaneRaces::Begun(const threads::ThreadMachine& machine) { machine_ = &machine; }

void LaneRaces::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  const std::vector<OperandInfo>& operands = kernel_.program().operand_infos;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].valid()) continue;
    globals_.insert(arrays[i]);
    if (operands[i].role == Role::kOut || operands[i].written) arrays_.insert(arrays[i]);
  }
}

void LaneRaces::Running(const RunningAgent& now) {
  index_.assign(now.index.begin(), now.index.end());
  if (now.begins && in_order_) LanesMet({.agent = now.id});  // what the last program did is not its own
  if (!triton_ && machine_ != nullptr && machine_->model().agents().RoleOf(now.id) == AgentRole::kWarp)
    Unseen("a thread without automatic barriers forks warps");
}

LaneRaces::Agent& LaneRaces::Of(AgentId id) {
  const std::int32_t key = in_order_ ? 0 : id.value;
  if (last_ != nullptr && last_id_ == key) return *last_;
  std::unique_ptr<Agent>& agent = agents_[key];
  if (agent == nullptr) agent = std::make_unique<Agent>();
  last_ = agent.get();
  last_id_ = key;
  return *agent;
}

bool LaneRaces::Watches(const Who& who, BufferId buffer) const {
  if (triton_) return arrays_.count(buffer) > 0;
  return machine_ != nullptr && !who.of_engine() && machine_->model().Tracks(buffer);
}

// Memory of a later scope may have the bytes of this one.
void LaneRaces::Free(const Who&, BufferId buffer) {
  for (auto& [id, agent] : agents_) {
    const auto at = agent->memory.find(buffer.value);
    if (at == agent->memory.end()) continue;
    if (at->second->HoldsSince(agent->met)) agent->left_at = std::max<std::int64_t>(1, allocations_);
    agent->memory.erase(at);
  }
}

LaneHistory* LaneRaces::HistoryOf(Agent& agent, BufferId buffer) {
  std::unique_ptr<LaneHistory>& history = agent.memory[buffer.value];
  if (history == nullptr) {
    const memory_model::LaneCopies copies{.lanes = lanes_.lanes(), .one_stores = triton_};
    history = std::make_unique<LaneHistory>(*memory_, buffer, copies);
    const auto made = made_.find(buffer.value);
    if (agent.left_at != 0 && made != made_.end() && made->second > agent.left_at)
      Unseen("a scope may have the memory of one that a thread has left, and no barrier lies between");
  }
  return history.get();
}

// ---- what orders lanes

void LaneRaces::LanesMet(const Who& who) {
  Agent& agent = Of(who.agent);
  agent.met = ++agent.when;
  agent.times.clear();
  agent.left_at = 0;
}

void LaneRaces::LanesMetUntil(const Who& who, std::uint32_t time) {
  Agent& agent = Of(who.agent);
  const auto known = [time](const auto& entry) { return entry.first <= time; };
  const auto rest = std::find_if_not(agent.times.begin(), agent.times.end(), known);
  if (rest == agent.times.end() && !agent.times.empty()) return LanesMet(who);
  if (rest != agent.times.end()) agent.met = std::max(agent.met, rest->second);
  agent.times.erase(agent.times.begin(), rest);
}

LaneAccess LaneRaces::AccessOf(const Who& who, AccessKind kind, const Site& site, const std::byte* value) {
  ++accesses_;
  conflicts_.clear();
  Agent& agent = Of(who.agent);
  if (!triton_) {
    const std::uint32_t time = machine_->model().agents().NowOf(who.agent);
    if (agent.times.empty() || agent.times.back().first != time) agent.times.emplace_back(time, ++agent.when);
  }
  const legality::AccessLanes lanes = lanes_.At(site.text_line);
  return {.kind = kind,
          .site = CodeSite::Of(site),
          .when = agent.when,
          .met = agent.met,
          .value = value,
          .spread = lanes.spread,
          .all_copies = lanes.all_copies,
          .update = lanes.update};
}

// ---- what is not known

void LaneRaces::Unseen(const std::string& what) {
  if (unseen_.empty()) unseen_ = what;
}

void LaneRaces::Arrives(const Who& who, const Arrival& arrival) {
  if (machine_ == nullptr || !machine_->waitables().Of(arrival.at).OneLaneArrives()) return;
  if (!triton_ && HoldsUnordered(Of(who.agent)))
    Unseen("one lane of a thread signals a semaphore while others may not have done their part");
}

bool LaneRaces::HoldsUnordered(const Agent& agent) {
  return std::any_of(agent.memory.begin(), agent.memory.end(),
                     [&](const auto& entry) { return entry.second->HoldsSince(agent.met); });
}

std::string LaneRaces::PlaceOf(const CodeSite& site) const {
  return PlaceText(kernel_.module(), site.loc, site.text_line);
}

// Each lane of an atomic publishes what it has done itself. An element alone is the first lane's.
void LaneRaces::Publish(Agent& agent, const LaneAccess& access, bool of_one_element) {
  const bool atomic = access.kind == AccessKind::kAtomic;
  if (atomic && !in_order_ && (of_one_element ? agent.spread : agent.acted) >= agent.met)
    Unseen(Cat("the atomic at ", PlaceOf(access.site), " publishes what its own lane has done, with no ",
               "debug_barrier() between it and what other lanes of the program did before"));
  agent.acted = agent.when;
  if (!of_one_element || (access.kind == AccessKind::kRead && access.all_copies)) agent.spread = agent.when;
}

void LaneRaces::TakeDoubt(Agent& agent, BufferId buffer) {
  const std::optional<memory_model::LaneDoubt> doubt = HistoryOf(agent, buffer)->TakeDoubt();
  if (!doubt.has_value() || !unseen_.empty()) return;
  const std::string first = PlaceOf(doubt->first), second = PlaceOf(doubt->second);
  const std::string at =
      Cat("'", memory_->NameOf(buffer), "' at ", first, first == second ? "" : " and ", first == second ? "" : second);
  const std::string_view between = triton_ ? ", with no debug_barrier() between" : ", with no barrier between";
  const std::string_view whose = triton_ ? "program" : "thread";
  if (doubt->updates) {
    Unseen(Cat("lanes of one ", whose, " update elements of ", at, " one after another, and what they find or leave ",
               "shows which came first", between));
  } else if (doubt->copies) {
    Unseen(Cat("several lanes of one ", whose, " hold what it writes and reads in ", at, between));
  } else if (triton_) {
    Unseen(Cat("a program comes to elements of ", at, " by two index expressions, which Triton may spread over lanes ",
               "in two ways", between));
  } else {
    Unseen(Cat("a thread comes to elements of ", at, " in layouts of registers that may give an element to two lanes",
               between));
  }
}

// ---- accesses

void LaneRaces::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                    const std::byte* value) {
  if (!Watches(who, access.buffer)) return;
  const LaneAccess lanes = AccessOf(who, kind, access.site, value);
  Agent& agent = Of(who.agent);
  HistoryOf(agent, access.buffer)->Box(lanes, access, reach, &conflicts_);
  if (triton_) Publish(agent, lanes, memory_model::ElementsOf(access) == 1);
  Take(who, kind, access.buffer, access.site);
}

void LaneRaces::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (!Watches(who, access.buffer)) return;
  const LaneAccess lanes = AccessOf(who, kind, access.site, value);
  Agent& agent = Of(who.agent);
  HistoryOf(agent, access.buffer)->Points(lanes, access, &conflicts_);
  if (triton_) Publish(agent, lanes, access.offset.size() == access.pieces_per_element);
  Take(who, kind, access.buffer, access.site);
}

// One lane issues, whatever the others have come to. Of shared memory the fence rule says it: PROXY.
void LaneRaces::Issued(const Who& who, const AsyncRequest& request) {
  if (triton_ || who.at_once) return;
  Agent& agent = Of(who.agent);
  if (request.after_earlier && HoldsUnordered(agent))
    Unseen(Cat("one lane of a thread commits to a barrier at ", PlaceOf(request.site),
               ", while others may not have done their part"));
  const auto look = [&](AccessKind kind, const AsyncOperand& operand) {
    const auto* const box = std::get_if<BoxAccess>(&operand.where);
    if (box == nullptr || globals_.count(box->buffer) == 0 || !machine_->model().Tracks(box->buffer)) return;
    const Site site{.loc = request.site.loc, .text_line = request.site.text_line, .program = index_};
    const memory_model::BoxReach reach = memory_model::ReachOf(memory_->ShapeOf(box->buffer), *box);
    const LaneAccess lane = AccessOf(who, kind, site, nullptr);
    HistoryOf(agent, box->buffer)->BoxOfOne(lane, *box, reach, &conflicts_);
    Take(who, kind, box->buffer, site);
  };
  for (const AsyncOperand& source : request.sources) look(AccessKind::kRead, source);
  for (const AsyncOperand& destination : request.destinations) look(AccessKind::kWrite, destination);
}

// ---- findings

void LaneRaces::Take(const Who& who, AccessKind kind, BufferId buffer, const Site& site) {
  TakeDoubt(Of(who.agent), buffer);
  // Lanes that update one element by a load and a store: what one of them loads, the others overwrite. That is the same
  // mistake.
  const auto repeats = [](const LaneConflict& conflict) { return conflict.at_once && conflict.differ; };
  const bool repeated = std::any_of(conflicts_.begin(), conflicts_.end(), repeats);
  for (const LaneConflict& conflict : conflicts_) {
    if (repeated && conflict.earlier == AccessKind::kRead) continue;
    const CodeSite second = CodeSite::Of(site);
    const bool writes = kind != AccessKind::kRead && conflict.earlier != AccessKind::kRead;
    const Key key{std::string(memory_->NameOf(buffer)), writes,
                  Place{conflict.first.loc.value, conflict.first.text_line}, Place{second.loc.value, second.text_line},
                  conflict.at_once};
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const auto& one) { return one.first == key; });
    if (known == found_.end()) {
      found_.emplace_back(key, FindingOf({who, kind, buffer, second}, conflict));
      if (who.of_operation()) found_.back().second.why = "one lane issues the copy, and does not wait for the others";
      continue;
    }
    Finding& finding = known->second;
    const std::int64_t count = finding.count + 1;
    if (finding.code == FindingCode::kSameValue && conflict.differ)
      finding = FindingOf({who, kind, buffer, second}, conflict);
    finding.count = count;
  }
}

std::string LaneRaces::ElementAt(BufferId buffer, std::int64_t byte) const {
  const absl::Span<const std::int64_t> shape = memory_->ShapeOf(buffer);
  if (shape.empty()) return "";
  std::int64_t element = byte / memory_->ElementSizeOf(buffer).value();
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  return Cat("[", absl::StrJoin(index, ", "), "]");
}

Finding LaneRaces::FindingOf(const Later& later, const LaneConflict& conflict) const {
  const auto& [who, kind, buffer, site] = later;
  const bool writes = kind != AccessKind::kRead && conflict.earlier != AccessKind::kRead;
  const std::string agent =
      machine_ == nullptr ? AgentName(NamingOf(kernel_.program()), index_) : machine_->NameOf(who.agent);
  const std::string name(memory_->NameOf(buffer)), element = ElementAt(buffer, conflict.byte);
  const std::string_view whose = triton_ ? "program" : "thread";
  Finding finding;
  finding.code = writes ? FindingCode::kRaceWriteWrite : FindingCode::kRaceReadWrite;
  finding.severity = RowOf(finding.code).severity;
  finding.loc = site.loc, finding.text_line = site.text_line;
  const auto side = [&](AccessKind did, const CodeSite& at) {
    return FindingAccess{.kind = did,
                         .agent = Cat("a lane of ", agent),
                         .object = name,
                         .box = element,
                         .loc = at.loc,
                         .text_line = at.text_line};
  };
  finding.first = side(conflict.earlier, conflict.first);
  finding.second = side(kind, site);
  const bool alike = kind == conflict.earlier;
  finding.message = conflict.at_once
                        ? Cat("'", name, "'", element, ": several lanes of ", agent, " write it in one store")
                        : Cat("'", name, "'", element, ": one lane of ", agent, " ", Did(conflict.earlier),
                              " it, another one ", Did(kind), alike ? " it too" : " it");
  if (writes && !conflict.differ) {
    launch::SayEqual(finding, ", and ");
  } else {
    finding.message += conflict.at_once ? ", and which value stays is not defined" : "; the two have no order";
  }
  const std::string_view second = conflict.at_once ? " and again at " : " in the first access and at ";
  finding.why = Cat("it is at ", PlaceIn(conflict.before), second, PlaceIn(conflict.now),
                    conflict.at_once ? "" : " in the second", "; lanes of one ", whose,
                    " have no order without a barrier between");
  finding.fix = conflict.at_once ? "let each element be named once, or use an atomic update"
                : triton_        ? "plt.debug_barrier() between the two accesses, or let both go over the elements "
                                   "in the same order"
                                 : "plgpu.commit_smem() between the two accesses, or leave out unsafe_no_auto_barriers";
  if (!conflict.at_once && conflict.first.text_line < site.text_line)
    finding.mend = {.kind = triton_ ? Mend::Kind::kLanes : Mend::Kind::kFence, .line = site.text_line, .object = {}};
  return finding;
}

std::vector<Finding> LaneRaces::Found() const {
  std::vector<Finding> findings;
  for (const auto& [key, finding] : found_) findings.push_back(finding);
  return findings;
}

}  // namespace palladion::check
