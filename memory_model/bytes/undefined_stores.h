// Which stores wrote undefined elements to outputs, for findings: for every output element the last store that left it
// undefined, exactly. Costs memory only where there are such stores; entries that are no longer needed are dropped. It
// does not know the previous contents of the elements.
#ifndef PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_STORES_H_
#define PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_STORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "semantics/base/ids.h"

namespace palladion::memory_model {

struct UndefinedStore {
  std::uint8_t mark = 0;  // of what was stored
  LocId loc;
  int text_line = 0;
  std::vector<std::int64_t> program;  // that stored it
  std::vector<std::int64_t> met;      // the program that met the undefined data where it comes from
  bool operator==(const UndefinedStore&) const = default;
};

// The number of a store; 0: none.
using StoreNumber = std::uint32_t;

class UndefinedStores {
 public:
  // The number of a store: a new one, or that of an equal one made just now.
  StoreNumber Add(UndefinedStore store);
  const UndefinedStore& Of(StoreNumber number) const { return stores_[number]; }

  // Have so many been made that Forget is worth its time?
  bool crowded() const { return stores_.size() >= limit_; }
  // Only those stay that one of the elements names; the elements' numbers become their new ones.
  void Forget(const std::vector<std::vector<StoreNumber>*>& elements);

 private:
  static constexpr std::size_t kFirstLimit = std::size_t{1} << 16;
  std::vector<UndefinedStore> stores_ = std::vector<UndefinedStore>(1);
  std::size_t limit_ = kFirstLimit;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_STORES_H_
