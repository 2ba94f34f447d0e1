#include "emu/threads/block_windows.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

using memory_model::AccessSet;
using memory_model::AgentTable;
using memory_model::ByteRange;
using memory_model::ClockBundle;

bool BlockWindows::IsShared(BufferId array) const {
  return std::find(shared_.begin(), shared_.end(), array) != shared_.end();
}

// The flush of a program is awaited when the next one has ended.
void BlockWindows::Await(AgentId core, OfCore& state, std::int64_t last_step) {
  std::vector<Flushing>& under_way = state.under_way;
  const auto done = [&](const Flushing& flush) { return flush.step <= last_step; };
  for (const Flushing& flush : under_way) {
    if (done(flush)) base_.model.agents().Acquire(core, flush.told);
  }
  under_way.erase(std::remove_if(under_way.begin(), under_way.end(), done), under_way.end());
}

void BlockWindows::Begins(AgentId core) {
  if (shared_.empty()) return;
  OfCore& state = cores_[core.value];
  ++state.step;
  Await(core, state, state.step - 2);
  state.before = std::move(state.now);
  state.now = base_.model.agents().ClockOf(core);
  base_.model.agents().Act(core);
}

void BlockWindows::Ends(AgentId core) {
  const auto at = cores_.find(core.value);
  if (at == cores_.end()) return;
  OfCore state = std::move(at->second);
  cores_.erase(at);
  Await(core, state, state.step);
  for (const AgentId agent : {state.fetches, state.flushes, state.keeps}) {
    if (agent.valid()) base_.residents.RetirePipeline(agent);
  }
}

std::optional<BlockWindows::Copy> BlockWindows::Look(const AsyncRequest& request) const {
  if (shared_.empty()) return std::nullopt;
  const auto* source = std::get_if<BoxAccess>(&request.sources[0].where);
  const auto* destination = std::get_if<BoxAccess>(&request.destinations[0].where);
  const memory_model::Memory& memory = base_.memory;
  const bool flush = IsShared(destination->buffer);
  if (!flush && !IsShared(source->buffer)) return std::nullopt;
  const BoxAccess& access = flush ? *destination : *source;
  const BufferId array = access.buffer;
  if (!base_.model.Tracks(array)) return std::nullopt;
  const memory_model::BoxReach reach = memory_model::ReachOf(memory.ShapeOf(array), access);
  Copy copy{.array = array, .flush = flush, .moved = {}, .left_the_same = {}, .site = request.site};
  if (reach.empty || reach.none_copied) return copy;
  const AccessSet whole = memory_model::SetOf(memory.ShapeOf(array), memory.ElementSizeOf(array), access, reach);
  if (!flush) {
    copy.moved = whole;
    return copy;
  }
  // A block is its memory, whole, row-major.
  const std::int64_t bytes = memory.ElementSizeOf(array).value();
  const std::byte *old = memory.DataOf(array), *block = memory.DataOf(source->buffer);
  std::vector<ByteRange> changed, same;
  memory_model::VisitElements(access, reach, memory.ShapeOf(array), [&](std::int64_t element, std::int64_t lane) {
    const bool equal = std::memcmp(old + element * bytes, block + lane * bytes, static_cast<std::size_t>(bytes)) == 0;
    (equal ? same : changed).push_back({element * bytes, (element + 1) * bytes});
  });
  const auto set_of = [&](std::vector<ByteRange> part, const std::vector<ByteRange>& rest) {
    return rest.empty() && !part.empty() ? whole : AccessSet::Of(std::move(part));
  };
  copy.moved = set_of(changed, same);
  copy.left_the_same = set_of(same, changed);
  return copy;
}

// The flush is under way from where the core stands.
void BlockWindows::GoesOn(AgentId core, AgentId* pipeline, const Copy& copy, const AccessSet& written) {
  AgentTable& agents = base_.model.agents();
  OfCore& state = cores_[core.value];
  if (!pipeline->valid()) *pipeline = base_.residents.AddPipeline(core, /*keeps_bytes=*/pipeline == &state.keeps);
  agents.Acquire(*pipeline, agents.ClockOf(core));
  base_.model.GoesOn(*pipeline, copy.array, AccessKind::kWrite, written, copy.site);
  state.under_way.push_back({state.step, agents.ClockOf(*pipeline)});
  agents.Tick(*pipeline, copy.site);
}

void BlockWindows::Moved(AgentId core, const Copy& copy) {
  OfCore& state = cores_[core.value];
  AgentTable& agents = base_.model.agents();
  if (copy.flush) {
    Await(core, state, state.step - 1);
    GoesOn(core, &state.flushes, copy, copy.moved);
    if (!copy.left_the_same.empty()) GoesOn(core, &state.keeps, copy, copy.left_the_same);
    return;
  }
  // The first one comes before any body.
  if (!state.before.has_value()) return;
  if (!state.fetches.valid()) state.fetches = base_.residents.AddPipeline(core, /*keeps_bytes=*/false);
  ClockBundle known = *state.before;
  for (const AgentId own : {core, state.fetches, state.flushes, state.keeps}) {
    if (own.valid()) known.RaiseGeneric({own, agents.NowOf(own)});
  }
  base_.model.Touch({state.fetches, known}, copy.array, AccessKind::kRead, copy.moved, copy.site);
  agents.Acquire(core, agents.ClockOf(state.fetches));
  agents.Tick(state.fetches, copy.site);
}

}  // namespace palladion::threads
