#include "memory_model/engine/pipelines.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace palladion::memory_model {
namespace {

Place BlockOf(const Place& place) {
  return place.With(PlaceLevel::kThread, Place::kNone).With(PlaceLevel::kWarp, Place::kNone);
}

constexpr std::uint32_t kDone = 2;  // both halves

}  // namespace

Pipelines::Target Pipelines::TargetOf(const AsyncRequest& request) {
  Target target;
  if (request.pipelined->stage == Pipelined::Stage::kCopy) return target;
  target.push_back(request.destinations[0].buffer().value);
  const auto* const box = std::get_if<BoxAccess>(&request.destinations[0].where);
  for (std::size_t d = 0; box != nullptr && d < static_cast<std::size_t>(box->rank); ++d)
    target.insert(target.end(), {box->start[d], box->count[d], box->step[d]});
  if (const auto* const points = std::get_if<AsyncPoints>(&request.destinations[0].where))
    target.insert(target.end(), points->offset.begin(), points->offset.end());
  return target;
}

std::vector<AgentId> Pipelines::Follow(const AsyncRequest& request, const Place& place, ClockBundle* fork) const {
  std::vector<AgentId> follows;
  const auto block = of_block_.find(BlockOf(place));
  if (request.pipelined->stage == Pipelined::Stage::kCopy || block == of_block_.end()) return follows;
  const Target target = TargetOf(request);
  for (const Earlier& earlier : block->second) {
    const bool copy = earlier.target.empty();
    const bool fits = copy || (earlier.target == target && earlier.kind == request.pipelined->kind);
    if (!fits || !(*fork)[ClockPart::kTensorCore].Covers(earlier.issued)) continue;
    follows.push_back(earlier.operation);
    fork->Join(earlier.told);
  }
  return follows;
}

void Pipelines::Add(const AsyncRequest& request, const Issue& issue, ClockBundle told) {
  std::vector<Earlier>& all = of_block_[BlockOf(issue.place)];
  Earlier now{issue.operation, issue.issued, issue.owner, TargetOf(request), request.pipelined->kind, std::move(told)};
  // Who follows it has followed the products before it.
  const auto is_followed = [&](const Earlier& one) {
    return !one.target.empty() && one.target == now.target && one.kind == now.kind &&
           now.told[ClockPart::kTensorCore].Covers(Epoch{one.operation, kDone});
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_followed), all.end());
  all.push_back(std::move(now));
}

}  // namespace palladion::memory_model
