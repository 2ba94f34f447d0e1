#include "emu/run/threads/shared_stack.h"

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

const SharedBuffer* SharedStack::FindLeft(const ObjectName& name) const {
  const auto found =
      std::find_if(retired_.begin(), retired_.end(), [&](const auto& left) { return left.first == name; });
  return found == retired_.end() ? nullptr : &found->second;
}

ByteCount SharedStack::Top() const {
  ByteCount top;
  for (const auto& [name, shared] : live_) {
    if (shared.reached) top = std::max(top, shared.offset + shared.bytes);
  }
  const std::int64_t alignment = alignment_.value();
  return ByteCount((top.value() + alignment - 1) / alignment * alignment);
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
  for (auto& [of, old] : retired_) {
    if (!overlaps(old)) continue;
    free(old);
    replaced.gone.push_back(old.buffer);
  }
  std::erase_if(retired_, [&](const auto& left) { return overlaps(left.second); });
  live_[name] = shared;
  return replaced;
}

void SharedStack::Leave(const ObjectName& name) {
  SharedBuffer* const shared = Find(name);
  if (shared != nullptr && --shared->users == 0) Retire(name);
}

void SharedStack::Retire(const ObjectName& name) {
  const auto at = live_.find(name);
  retired_.push_back(*at);
  live_.erase(at);
}

std::vector<SharedBuffer> SharedStack::End() {
  std::vector<SharedBuffer> left;
  for (const auto& [name, shared] : std::exchange(retired_, {})) left.push_back(shared);
  for (const auto& [name, shared] : std::exchange(live_, {})) left.push_back(shared);
  return left;
}

}  // namespace palladion::threads
