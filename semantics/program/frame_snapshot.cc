// A frame as a value: for exhaustive search, which returns to each choice once for every way on.
#include <algorithm>

#include "semantics/program/program.h"

namespace palladion {

struct Frame::Saved {
  std::vector<std::byte> arena;
  State state;
};

std::shared_ptr<const Frame::Saved> Frame::Save() const {
  return std::make_shared<Saved>(Saved{.arena = {arena_.get(), arena_.get() + program_->arena_bytes}, .state = state_});
}

void Frame::Restore(const Saved& saved) {
  std::copy(saved.arena.begin(), saved.arena.end(), arena_.get());
  state_ = saved.state;
  charged_ = state_.spent;
  look_at_ = 0;
}

void Frame::CopyTo(Frame& other) const {
  other.Restore(*Save());
  for (std::size_t i = 0; i < state_.slots.size(); ++i) {
    if (program_->slots[i].constant == nullptr)
      other.state_.slots[i] = other.arena_.get() + (state_.slots[i] - arena_.get());
  }
  other.grid_size_ = grid_size_;
  other.walk_ = walk_;
  other.equipment_.loop_budget = equipment_.loop_budget;
  other.equipment_.control = equipment_.control;
}

}  // namespace palladion
