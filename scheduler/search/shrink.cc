#include "scheduler/search/shrink.h"

#include <algorithm>
#include <utility>

#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

using Oracle = std::function<absl::StatusOr<bool>(const std::vector<Move>&)>;

class Shrinker {
 public:
  Shrinker(const Oracle& fails, std::int64_t max_runs) : fails_(fails), max_runs_(max_runs) {}

  // `moves` fails, and is made smaller while it does.
  absl::Status Minimise(std::vector<Move>& moves) {
    PALLADION_ASSIGN_OR_RETURN(const bool empty_fails, Fails({}));
    if (empty_fails) moves.clear();
    std::size_t parts = 2;
    while (!moves.empty() && runs_ < max_runs_) {
      parts = std::min(parts, moves.size());
      PALLADION_ASSIGN_OR_RETURN(const bool reduced, DropOnePart(moves, parts));
      if (reduced) {
        parts = std::max<std::size_t>(2, parts - 1);
      } else if (parts == moves.size()) {
        minimal_ = true;
        return absl::OkStatus();
      } else {
        parts *= 2;
      }
    }
    minimal_ = moves.empty();
    return absl::OkStatus();
  }

  // One switch at any place to any agent, if that is at most what is left of the runs; the first that fails.
  absl::Status TrySingleMoves(const std::vector<std::int64_t>& operations, std::vector<Move>& moves) {
    const auto agents = static_cast<std::int64_t>(operations.size());
    std::int64_t places = 1;
    for (std::int64_t n : operations) places += n;
    if (moves.size() < 2 || agents < 2 || places > (max_runs_ - runs_) / agents) return absl::OkStatus();
    for (std::int32_t from = -1; from < agents; ++from) {
      const std::int64_t last = from < 0 ? 0 : operations[static_cast<std::size_t>(from)];
      for (std::int64_t at = from < 0 ? 0 : 1; at <= last; ++at) {
        for (std::int32_t to = 0; to < agents; ++to) {
          if (to == from) continue;
          std::vector<Move> single = {{AgentOrdinal{from}, at, AgentOrdinal{to}}};
          PALLADION_ASSIGN_OR_RETURN(const bool fails, Fails(single));
          if (!fails) continue;
          moves = std::move(single);
          return absl::OkStatus();
        }
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Fails(const std::vector<Move>& moves) {
    ++runs_;
    return fails_(moves);
  }
  std::int64_t runs() const { return runs_; }
  bool minimal() const { return minimal_; }

 private:
  absl::StatusOr<bool> DropOnePart(std::vector<Move>& moves, std::size_t parts) {
    for (std::size_t i = 0; i < parts && runs_ < max_runs_; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(moves.size() * i / parts);
      const auto last = static_cast<std::ptrdiff_t>(moves.size() * (i + 1) / parts);
      std::vector<Move> rest(moves.begin(), moves.begin() + first);
      rest.insert(rest.end(), moves.begin() + last, moves.end());
      PALLADION_ASSIGN_OR_RETURN(const bool fails, Fails(rest));
      if (!fails) continue;
      moves = std::move(rest);
      return true;
    }
    return false;
  }

  const Oracle& fails_;
  std::int64_t max_runs_;
  std::int64_t runs_ = 0;
  bool minimal_ = false;
};

}  // namespace

absl::StatusOr<Shrunk> Shrink(const std::vector<Move>& moves, const std::vector<std::int64_t>& operations,
                              const Oracle& fails, std::int64_t max_runs) {
  Shrinker shrinker(fails, max_runs);
  Shrunk shrunk{.moves = moves};
  PALLADION_ASSIGN_OR_RETURN(const bool at_all, shrinker.Fails(moves));
  if (at_all) {
    PALLADION_RETURN_IF_ERROR(shrinker.Minimise(shrunk.moves));
    if (shrinker.minimal()) PALLADION_RETURN_IF_ERROR(shrinker.TrySingleMoves(operations, shrunk.moves));
    PALLADION_ASSIGN_OR_RETURN(shrunk.reproduced, shrinker.Fails(shrunk.moves));
  }
  if (!shrunk.reproduced) shrunk.moves = moves;
  shrunk.minimal = shrunk.reproduced && shrinker.minimal();
  shrunk.runs = shrinker.runs();
  return shrunk;
}

}  // namespace palladion::scheduler
