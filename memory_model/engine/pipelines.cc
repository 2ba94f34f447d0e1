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

bool Knows(const ClockBundle& clock, const Epoch& epoch) { return clock[ClockPart::kTensorCore].Covers(epoch); }

}  // namespace

Pipelines::Target Pipelines::TargetOf(const AsyncRequest& request) {
  std::vector<std::int64_t> target;
  target.push_back(request.destinations[0].buffer().value);
  const auto* const box = std::get_if<BoxAccess>(&request.destinations[0].where);
  for (std::size_t d = 0; box != nullptr && d < static_cast<std::size_t>(box->rank); ++d)
    target.insert(target.end(), {box->start[d], box->count[d], box->step[d]});
  if (const auto* const points = std::get_if<AsyncPoints>(&request.destinations[0].where))
    target.insert(target.end(), points->offset.begin(), points->offset.end());
  return {std::move(target), request.pipelined->kind};
}

std::vector<AgentId> Pipelines::Follow(const AsyncRequest& request, const Place& place, ClockBundle* fork) const {
  std::vector<AgentId> follows;
  const auto block = of_block_.find(BlockOf(place));
  if (request.pipelined->stage == Pipelined::Stage::kCopy || block == of_block_.end()) return follows;
  const auto follow = [&](const Earlier& earlier) {
    follows.push_back(earlier.operation);
    fork->Join(earlier.released);
  };
  for (const Earlier& copy : block->second.copies) {
    if (Knows(*fork, copy.issued)) follow(copy);
  }
  const auto products = block->second.products.find(TargetOf(request));
  if (products == block->second.products.end()) return follows;
  // From the latest on, for that has mostly followed the others.
  for (auto earlier = products->second.rbegin(); earlier != products->second.rend(); ++earlier) {
    if (!Knows(*fork, earlier->issued)) continue;
    if (!Knows(*fork, {earlier->operation, kDone})) follow(*earlier);
    if (earlier->last) break;
  }
  std::sort(follows.begin(), follows.end());
  return follows;
}

// The products that it follows remain: another thread may know of those, and not of it.
void Pipelines::Add(const AsyncRequest& request, const Issue& issue, ClockBundle released) {
  OfBlock& block = of_block_[BlockOf(issue.place)];
  const bool copy = request.pipelined->stage == Pipelined::Stage::kCopy;
  std::vector<Earlier>& all = copy ? block.copies : block.products[TargetOf(request)];
  const auto is_followed = [&](const Earlier& one) { return Knows(released, {one.operation, kDone}); };
  // What the latest one has followed, its followers have followed too.
  const bool last =
      !copy &&
      (all.empty() || (all.back().last ? is_followed(all.back()) : std::all_of(all.begin(), all.end(), is_followed)));
  all.push_back({issue.operation, issue.issued, issue.owner, std::move(released), last});
}

}  // namespace palladion::memory_model
