#include "emu/threads/shared_stack.h"

#include <algorithm>
#include <utility>

namespace palladion::threads {

SharedBuffer* SharedStack::Find(const ObjectName& name) {
  return const_cast<SharedBuffer*>(std::as_const(*this).Find(name));
}

const SharedBuffer* SharedStack::Find(const ObjectName& name) const {
  const auto found = live_.find(name);
  return found == live_.end() ? nullptr : &found->second;
}

std::int64_t SharedStack::Top() const {
  std::int64_t top = 0;
  for (const auto& [name, shared] : live_) top = std::max(top, shared.reached ? shared.offset + shared.bytes : 0);
  return (top + kAlignment - 1) / kAlignment * kAlignment;
}

SharedStack::Replaced SharedStack::Place(const ObjectName& name, const SharedBuffer& shared) {
  Replaced replaced;
  const auto overlaps = [&](const SharedBuffer& old) {
    return old.offset < shared.offset + shared.bytes && shared.offset < old.offset + old.bytes;
  };
  const auto free = [&](SharedBuffer& old) {
    if (!std::exchange(old.freed, true)) replaced.freed.push_back(old.buffer);
  };
  // A peer may reach for the new memory before the block has left the scopes whose bytes it has.
  for (auto& [of, old] : live_) {
    if (overlaps(old)) free(old);
  }
  for (SharedBuffer& old : retired_) {
    if (!overlaps(old)) continue;
    free(old);
    replaced.gone.push_back(old.buffer);
  }
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(), overlaps), retired_.end());
  live_[name] = shared;
  return replaced;
}

void SharedStack::Leave(const ObjectName& name) {
  SharedBuffer* const shared = Find(name);
  if (shared != nullptr && --shared->users == 0) Retire(name);
}

void SharedStack::Retire(const ObjectName& name) {
  const auto at = live_.find(name);
  retired_.push_back(at->second);
  live_.erase(at);
}

std::vector<SharedBuffer> SharedStack::End() {
  for (const auto& [name, shared] : live_) retired_.push_back(shared);
  live_.clear();
  return std::exchange(retired_, {});
}

}  // namespace palladion::threads
