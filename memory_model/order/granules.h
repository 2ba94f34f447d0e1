// Access history of memory that has fragmented: for each 16 bytes, which agents accessed which of them. Pages on
// demand, so memory grows with the bytes touched. Based on the measurements in docs/explanation/memory-model.md:
// scattered accesses are twenty times as fast as in a list of boxes. The granule is never the unit of a report: byte
// masks keep overlap exact.
#ifndef PALLADION_MEMORY_MODEL_ORDER_GRANULES_H_
#define PALLADION_MEMORY_MODEL_ORDER_GRANULES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory_model/order/fence_rule.h"
#include "memory_model/sets/access_set.h"

namespace palladion::memory_model {

// Calls found(earlier, order, bytes) for each earlier access that needed an order with the new one and has none it can
// rely on; `bytes` is a part of their overlap. The same earlier access may be found more than once, for other bytes.
class Granules {
 public:
  static constexpr std::int64_t kBytes = 16;

  bool empty() const { return live_ == 0; }
  std::int64_t live() const { return live_; }        // pairs of a granule and an access
  std::int64_t dropped() const { return dropped_; }  // which a finding reports

  // One access: Begin, its ranges in any order, End.
  void Begin(const AccessEvent& event);
  template <class Found>
  void Apply(const ByteRange& range, const Vantage* vantage, const Found& found);
  void End();

  // An access of everything: looks at accesses instead of bytes. True if nothing is left that it does not replace; then
  // all is forgotten. False: nothing has been done.
  bool ApplyWhole(const AccessEvent& event, const Vantage& vantage);

  void Clear();

  // The recorded agents, each with its bytes.
  std::vector<std::pair<AccessEvent, AccessSet>> Uses() const;

  template <class F>
  void ForEachEvent(const F& f) const {
    for (const Shared& shared : events_) {
      if (shared.uses > 0) f(shared.event);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0;  // of events, entries and pages
  static constexpr std::int64_t kPerPage = 64;
  static constexpr int kCrowded = 32;  // accesses of one granule; from here on those that a finding reports are dropped
  struct Entry {
    std::uint32_t event = kNone;
    std::uint32_t next = kNone;  // in overflow_
    std::uint16_t mask = 0;      // bytes of the granule
  };
  using Page = std::array<Entry, kPerPage>;  // the first access of each granule
  struct Shared {
    AccessEvent event;
    std::int64_t uses = 0;  // entries
  };
  struct Judged {
    std::uint32_t event = kNone;
    Ordering order = Ordering::kOrdered;
  };

  Entry& HeadOf(std::int64_t granule);
  bool FillNewPage(std::int64_t granule);
  std::uint32_t Event();
  Ordering OrderOf(std::uint32_t event, const Vantage* vantage);
  void Add(Entry* head, std::uint16_t mask);
  void Release(std::uint32_t event);

  std::vector<std::uint32_t> page_of_;  // by page of the allocation: its index in pages_; kNone: not yet touched
  std::vector<Page> pages_{1};
  std::vector<Entry> overflow_{1};
  std::vector<std::uint32_t> free_overflow_;
  std::vector<Shared> events_{1};
  std::vector<std::uint32_t> free_events_;
  std::int64_t live_ = 0;
  std::int64_t dropped_ = 0;
  AccessEvent now_;
  std::uint32_t now_event_ = kNone;
  std::array<Judged, 4> judged_;  // neighbouring granules were touched by the same accesses
};

template <class Found>
void Granules::Apply(const ByteRange& range, const Vantage* vantage, const Found& found) {
  for (std::int64_t granule = range.begin / kBytes; granule * kBytes < range.end; ++granule) {
    const std::int64_t base = granule * kBytes;
    if (granule % kPerPage == 0 && range.begin <= base && base + kPerPage * kBytes <= range.end &&
        FillNewPage(granule)) {
      granule += kPerPage - 1;
      continue;
    }
    const std::int64_t first = std::max(range.begin - base, std::int64_t{0});
    const std::int64_t past = std::min(range.end - base, kBytes);
    const auto mask = static_cast<std::uint16_t>((0xffffu >> (kBytes - past)) & (0xffffu << first));
    Entry* head = &HeadOf(granule);
    int chain = 0;
    for (Entry *entry = head, *before = nullptr; entry != nullptr && entry->event != kNone;) {
      const auto both = static_cast<std::uint16_t>(entry->mask & mask);
      if (both != 0) {
        const AccessEvent& earlier = events_[entry->event].event;
        const Ordering order = OrderOf(entry->event, vantage);
        if (order != Ordering::kOrdered) {
          if (Conflict(earlier.kind, now_.kind)) {
            const std::int64_t low = base + __builtin_ctz(both);
            std::int64_t high = low;
            while (high - base < kBytes && (both >> (high - base) & 1) != 0) ++high;
            found(earlier, order, ByteRange{low, high});
            if (!IsOrdered(order) && chain >= kCrowded) {
              entry->mask = static_cast<std::uint16_t>(entry->mask & ~both);
              ++dropped_;
            }
          }
        }
        if (IsOrdered(order) && AtLeastAsStrong(now_.kind, earlier.kind)) {
          entry->mask = static_cast<std::uint16_t>(entry->mask & ~both);
        }
      }
      ++chain;
      Entry* next = entry->next == kNone ? nullptr : &overflow_[entry->next];
      if (entry->mask != 0) {
        before = entry;
        entry = next;
        continue;
      }
      Release(entry->event);
      --live_;
      if (before != nullptr) {  // unlink
        free_overflow_.push_back(before->next);
        before->next = entry->next;
        entry = next;
      } else if (next != nullptr) {  // the second becomes the head
        free_overflow_.push_back(head->next);
        *head = *next;
      } else {
        *head = {};
        entry = nullptr;
      }
    }
    Add(head, mask);
  }
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_GRANULES_H_
