#include "memory_model/order/granules.h"

namespace palladion::memory_model {

void Granules::Begin(const AccessEvent& event) {
  now_ = event;
  now_event_ = kNone;
  judged_ = {};
}

void Granules::End() { now_event_ = kNone; }

Granules::Entry& Granules::HeadOf(std::int64_t granule) {
  const std::size_t number = static_cast<std::size_t>(granule) / kPerPage;
  if (number >= page_of_.size()) page_of_.resize(number + 1, kNone);
  if (page_of_[number] == kNone) {
    page_of_[number] = static_cast<std::uint32_t>(pages_.size());
    pages_.emplace_back();
  }
  return pages_[page_of_[number]][static_cast<std::size_t>(granule) % kPerPage];
}

// All of the page that begins with this granule, if it is untouched. False: it is not.
bool Granules::FillNewPage(std::int64_t granule) {
  const std::size_t number = static_cast<std::size_t>(granule) / kPerPage;
  if (number < page_of_.size() && page_of_[number] != kNone) return false;
  HeadOf(granule);
  const std::uint32_t event = Event();
  pages_.back().fill({event, kNone, 0xffff});
  events_[event].uses += kPerPage;
  live_ += kPerPage;
  return true;
}

std::uint32_t Granules::Event() {
  if (now_event_ != kNone) return now_event_;
  if (free_events_.empty()) {
    now_event_ = static_cast<std::uint32_t>(events_.size());
    events_.push_back({now_, 0});
  } else {
    now_event_ = free_events_.back();
    free_events_.pop_back();
    events_[now_event_] = {now_, 0};
  }
  return now_event_;
}

Ordering Granules::OrderOf(std::uint32_t event, const Vantage* vantage) {
  if (vantage == nullptr) return Ordering::kUnordered;
  Judged& judged = judged_[event % judged_.size()];
  if (judged.event != event) judged = {event, vantage->Order(events_[event].event)};
  return judged.order;
}

void Granules::Release(std::uint32_t event) {
  if (--events_[event].uses > 0 || event == now_event_) return;
  free_events_.push_back(event);
  for (Judged& judged : judged_) {
    if (judged.event == event) judged = {};
  }
}

void Granules::Add(Entry* head, std::uint16_t mask) {
  const std::uint32_t event = Event();
  for (Entry* entry = head; entry->event != kNone; entry = &overflow_[entry->next]) {
    if (entry->event == event) {
      entry->mask = static_cast<std::uint16_t>(entry->mask | mask);
      return;
    }
    if (entry->next == kNone) break;
  }
  ++events_[event].uses;
  ++live_;
  if (head->event == kNone) {
    *head = {event, kNone, mask};
    return;
  }
  std::uint32_t at;
  if (free_overflow_.empty()) {
    at = static_cast<std::uint32_t>(overflow_.size());
    overflow_.emplace_back();
  } else {
    at = free_overflow_.back();
    free_overflow_.pop_back();
  }
  overflow_[at] = {event, head->next, mask};
  head->next = at;
}

bool Granules::ApplyWhole(const AccessEvent& event, const Vantage& vantage) {
  for (const Shared& shared : events_) {
    if (shared.uses == 0) continue;
    if (!AtLeastAsStrong(event.kind, shared.event.kind)) return false;
    if (vantage.Order(shared.event) != Ordering::kOrdered) return false;
  }
  Clear();
  return true;
}

std::vector<std::pair<AccessEvent, AccessSet>> Granules::Uses() const {
  std::vector<std::vector<ByteRange>> ranges(events_.size());
  for (std::size_t number = 0; number < page_of_.size(); ++number) {
    if (page_of_[number] == kNone) continue;
    const Page& page = pages_[page_of_[number]];
    for (std::size_t i = 0; i < page.size(); ++i) {
      const std::int64_t base = static_cast<std::int64_t>(number * kPerPage + i) * kBytes;
      for (const Entry* entry = &page[i]; entry != nullptr && entry->event != kNone;
           entry = entry->next == kNone ? nullptr : &overflow_[entry->next]) {
        for (std::int64_t low = 0, high = 0; low < kBytes; low = high + 1) {
          for (high = low; high < kBytes && (entry->mask >> high & 1) != 0;) ++high;
          if (low < high) ranges[entry->event].push_back({base + low, base + high});
        }
      }
    }
  }
  std::vector<std::pair<AccessEvent, AccessSet>> uses;
  for (std::size_t e = 0; e < events_.size(); ++e) {
    if (!ranges[e].empty()) uses.emplace_back(events_[e].event, AccessSet::Of(std::move(ranges[e])));
  }
  return uses;
}

void Granules::Clear() { *this = Granules(); }

}  // namespace palladion::memory_model
