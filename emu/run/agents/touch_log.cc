#include "emu/run/agents/touch_log.h"

#include <algorithm>
#include <variant>

#include "memory_model/sets/region.h"

namespace palladion::agents {

// Sorted and joined; of too many, the one that has them all.
void TouchLog::AddPieces(BufferId buffer, bool writes) {
  if (pieces_.empty()) return;
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
  std::size_t joined = 0;
  for (const Piece& piece : pieces_) {
    if (joined > 0 && piece.first <= pieces_[joined - 1].last + 1) {
      pieces_[joined - 1].last = std::max(pieces_[joined - 1].last, piece.last);
    } else {
      pieces_[joined++] = piece;
    }
  }
  if (joined > kPieces) {
    pieces_[0].last = pieces_[joined - 1].last;
    joined = 1;
  }
  for (std::size_t i = 0; i < joined; ++i)
    touched_.Add({{.object = buffer.value, .first = pieces_[i].first, .last = pieces_[i].last, .writes = writes}});
}

// From the last dimension to the first: as many copies of what there is as the dimension has indices.
void TouchLog::AddBox(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach) {
  if (reach.empty || reach.none_copied || !Counts(access.buffer)) return;
  const absl::Span<const std::int64_t> shape = memory_.ShapeOf(access.buffer);
  std::int64_t bytes = memory_.ElementSizeOf(access.buffer).value();
  pieces_.assign({{0, bytes - 1}});
  for (std::size_t d = shape.size(); d-- > 0;) {
    const memory_model::Range& range = reach.copy[d];
    const std::int64_t count = range.end - range.begin, step = access.step[d] * bytes;
    const std::int64_t begin = (access.start[d] + range.begin * access.step[d]) * bytes;
    const std::vector<Piece> inner = std::move(pieces_);
    pieces_.clear();
    const bool dense = inner.size() == 1 && inner[0].last - inner[0].first + 1 == step;
    if (dense || inner.size() * static_cast<std::size_t>(count) > kPieces) {
      const std::int64_t end = begin + (count - 1) * step;
      pieces_.push_back({std::min(begin, end) + inner.front().first, std::max(begin, end) + inner.back().last});
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        for (const Piece& piece : inner)
          pieces_.push_back({begin + i * step + piece.first, begin + i * step + piece.last});
      }
      std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
    }
    bytes *= shape[d];
  }
  AddPieces(access.buffer, kind != AccessKind::kRead);
}

void TouchLog::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                   const std::byte*) {
  AddBox(kind, access, reach);
}

void TouchLog::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (!Counts(access.buffer)) return;
  pieces_.clear();
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (!memory_model::Touches(access, p)) continue;
    pieces_.push_back({access.offset[p], access.offset[p] + static_cast<std::int64_t>(access.piece_bytes) - 1});
  }
  AddPieces(access.buffer, kind != AccessKind::kRead);
}

// What an engine will do is judged against what others do when it is asked for.
// A copy of a block that goes on beside the bodies touches nothing before its halves do.
void TouchLog::Issued(const Who&, const AsyncRequest& request) {
  if (request.block != nullptr) return;
  Operands(request.sources, /*writes=*/false);
  Operands(request.destinations, /*writes=*/true);
}

void TouchLog::Operands(const std::vector<AsyncOperand>& operands, bool writes) {
  const AccessKind kind = writes ? AccessKind::kWrite : AccessKind::kRead;
  for (const AsyncOperand& operand : operands) {
    if (const auto* box = std::get_if<BoxAccess>(&operand.where)) {
      AddBox(kind, *box, memory_model::ReachOf(memory_.ShapeOf(box->buffer), *box));
    } else {
      touched_.Add({{.object = operand.buffer().value, .writes = writes}});
    }
  }
}

}  // namespace palladion::agents
