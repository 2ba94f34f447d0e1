#include "emu/check/clock_races.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/run/launch/grid_checks.h"
#include "memory_model/sets/region.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"

namespace palladion::check {

ClockRaces::ClockRaces(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs)
    : kernel_(kernel), words_(kernel, launch::GridDims(kernel.program(), inputs)) {}

void ClockRaces::Attach(agents::LaunchOptions& launch) { launch.observers.push_back(this); }

void ClockRaces::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  const Program& program = kernel_.program();
  for (std::size_t i = arrays.size(); i-- > 0;) {  // an output before the input whose memory it shares
    const OperandInfo& info = program.operand_infos[i];
    const bool written = info.role == Role::kOut || (info.written && info.role != Role::kScratch);
    if (!arrays[i].valid() || !written || Find(arrays[i]) != nullptr) continue;
    const absl::Span<const std::int64_t> shape = memory.ShapeOf(arrays[i]);
    Shared shared{.id = arrays[i],
                  .operand = &info,
                  .name = program.refs[info.ref.index()].name,
                  .shape = {shape.begin(), shape.end()},
                  .element_size = memory.ElementSizeOf(arrays[i]),
                  .atomics = memory_model::AtomicOrder(memory.ElementSizeOf(arrays[i]))};
    model_.Adopt(shared.id, {.name = shared.name,
                             .shape = shared.shape,
                             .element_size = shared.element_size,
                             .space = memory_model::ProxySpace::kPlain,
                             .place = {}});
    shared_.push_back(std::move(shared));
  }
}

ClockRaces::Shared* ClockRaces::Find(BufferId id) {
  const auto at = std::find_if(shared_.begin(), shared_.end(), [id](const Shared& s) { return s.id == id; });
  return at == shared_.end() ? nullptr : &*at;
}

AgentId ClockRaces::TaskOf(absl::Span<const std::int64_t> index) {
  const std::vector<DimOrder>& order = kernel_.program().dim_order;
  task_.assign(index.begin(), index.end());
  for (std::size_t d = 0; d < task_.size(); ++d) {
    if (order[d] != DimOrder::kParallel) task_[d] = kAnyIndex;
  }
  const auto known = agents_.find(task_);
  if (known != agents_.end()) return known->second;
  std::vector<std::string> names;
  for (const std::int64_t at : task_) names.push_back(at == kAnyIndex ? "*" : Cat(at));
  const bool several = std::count(task_.begin(), task_.end(), kAnyIndex) > 0;
  const AgentId agent =
      model_.agents().Add(several ? Cat("programs (", absl::StrJoin(names, ", "), ")") : AgentName(task_),
                          memory_model::Place(), AgentRole::kProgram);
  agents_.emplace(task_, agent);
  return agent;
}

void ClockRaces::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                     const std::byte*) {
  const Shared* shared = reach.empty || reach.none_copied ? nullptr : Find(access.buffer);
  if (shared == nullptr) return;
  ++accesses_;
  model_.Touch(current_, shared->id, kind, memory_model::SetOf(shared->shape, shared->element_size, access, reach),
               CodeSite::Of(access.site));
}

void ClockRaces::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  Shared* shared = Find(access.buffer);
  if (shared == nullptr) return;
  ++accesses_;
  if (kind == AccessKind::kAtomic) shared->atomics.Acquire(current_, access, model_.agents());
  model_.Touch(current_, shared->id, kind, memory_model::SetOf(access), CodeSite::Of(access.site));
  if (kind == AccessKind::kAtomic) shared->atomics.Update(current_, access, model_.agents());
}

// Along dimensions in which the programs of a task follow one another, its side has any index.
launch::MeetingSide ClockRaces::SideOf(const FindingAccess& access) const {
  const auto task = std::find_if(agents_.begin(), agents_.end(),
                                 [&](const auto& one) { return model_.agents().NameOf(one.second) == access.agent; });
  return {access, task == agents_.end() ? std::vector<std::int64_t>() : task->first};
}

std::vector<Finding> ClockRaces::InWords(absl::Span<const Finding> found) const {
  launch::GridFindings all(/*one_of_array=*/false);  // in one schedule each pair counts, and may show elsewhere first
  for (const Finding& finding : found) {
    const auto shared = std::find_if(shared_.begin(), shared_.end(),
                                     [&](const Shared& one) { return one.name == finding.second->object; });
    all.Add(words_.Of({.rule = finding.code == FindingCode::kRaceReadWrite ? memory_model::ConflictRule::kReadWrite
                                                                           : memory_model::ConflictRule::kWriteWrite,
                       .operand = shared->operand,
                       .element = finding.second->box,
                       .first = SideOf(*finding.first),
                       .second = SideOf(*finding.second),
                       .count = finding.count,
                       .one_value = finding.code == FindingCode::kSameValue,
                       .missing = finding.why}));
  }
  return all.all();
}

}  // namespace palladion::check
