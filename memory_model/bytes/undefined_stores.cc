#include "memory_model/bytes/undefined_stores.h"

#include <algorithm>
#include <utility>

namespace palladion::memory_model {

StoreNumber UndefinedStores::Add(UndefinedStore store) {
  constexpr std::size_t kRecent = 4;  // a loop's stores are equal
  for (std::size_t i = stores_.size(); i-- > 1 && i + kRecent >= stores_.size();) {
    if (stores_[i] == store) return static_cast<StoreNumber>(i);
  }
  stores_.push_back(std::move(store));
  return static_cast<StoreNumber>(stores_.size() - 1);
}

void UndefinedStores::Forget(const std::vector<std::vector<StoreNumber>*>& elements) {
  std::vector<StoreNumber> renumbered(stores_.size(), 0);
  std::vector<UndefinedStore> kept(1);
  for (std::vector<StoreNumber>* numbers : elements) {
    for (StoreNumber& number : *numbers) {
      if (number == 0) continue;
      if (renumbered[number] == 0) {
        renumbered[number] = static_cast<StoreNumber>(kept.size());
        kept.push_back(std::move(stores_[number]));
      }
      number = renumbered[number];
    }
  }
  stores_ = std::move(kept);
  limit_ = std::max(kFirstLimit, 2 * stores_.size());
}

}  // namespace palladion::memory_model
