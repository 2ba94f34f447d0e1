// A frame as a value: for exhaustive search, which returns to each choice once for every way on.
#include <algorithm>

#include "semantics/program/program.h"

namespace palladion {

struct Frame::Saved {
  std::vector<std::byte> arena;
  FrameState state;
};

std::shared_ptr<const Frame::Saved> Frame::Save() const {
  return std::make_shared<Saved>(Saved{.arena = {arena_.get(), arena_.get() + program_->arena_bytes}, .state = *this});
}

void Frame::Restore(const Saved& saved) {
  std::copy(saved.arena.begin(), saved.arena.end(), arena_.get());
  static_cast<FrameState&>(*this) = saved.state;
  charged_ = spent;
  look_at = 0;
}

void Frame::CopyTo(Frame& other) const {
  other.Restore(*Save());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (program_->slots[i].constant == nullptr) other.slots_[i] = other.arena_.get() + (slots_[i] - arena_.get());
  }
  other.grid_size = grid_size;
  other.walk = walk;
  other.back_edge_budget = back_edge_budget;
  other.control = control;
}

}  // namespace palladion
