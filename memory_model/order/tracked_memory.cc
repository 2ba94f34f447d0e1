#include "memory_model/order/tracked_memory.h"

#include <algorithm>

#include "memory_model/sets/operand_set.h"

namespace palladion::memory_model {

const std::string* Tracked::PastName(const AccessEvent& event) const {
  const auto at = std::find_if(past.begin(), past.end(), [&](const auto& of) { return of.first == event; });
  return at == past.end() ? nullptr : &at->second;
}

AccessSet Tracked::Whole() const { return SetOfAll(info.shape, info.element_size); }

AccessSet Tracked::SetOf(const AsyncOperand& operand) const {
  return SetOfOperand(operand, info.shape, info.element_size);
}

const Tracked::NotedRead* Tracked::Find(const AccessEvent& read) const {
  const AgentId who = IsOperation(read.who) ? AgentId() : read.who;
  const auto at = std::find_if(reads_.begin(), reads_.end(), [&](const NotedRead& noted) {
    return noted.loc == read.loc && noted.text_line == read.text_line && noted.who == who;
  });
  return at == reads_.end() ? nullptr : &*at;
}

void Tracked::NoteRead(const AccessEvent& event, const AccessSet& set) {
  constexpr std::size_t kMostReads = 64;
  if (!info.holds_nothing || reads_.size() == kMostReads || Find(event) != nullptr) return;
  bool written = false;
  history.ForEachUse([&](const AccessEvent& use, const AccessSet& of) {
    written = written || (use.writes() && !use.lifetime() && PastName(use) == nullptr &&
                          !InCommon(of, set, info.shape, info.element_size).empty());
  });
  const AgentId who = IsOperation(event.who) ? AgentId() : event.who;
  reads_.push_back({.who = who, .loc = event.loc, .text_line = event.text_line, .early = !written});
}

bool Tracked::ReadTooEarly(const AccessEvent& read) const {
  const NotedRead* const noted = Find(read);
  return noted != nullptr && noted->early;
}

Tracked& TrackedMemory::Begin(BufferId id, TrackedBuffer buffer) {
  if (id.index() >= buffers_.size()) buffers_.resize(id.index() + 1);
  return buffers_[id.index()].emplace(std::move(buffer));
}

void TrackedMemory::Adopt(BufferId id, TrackedBuffer buffer) {
  Tracked& tracked = Begin(id, std::move(buffer));
  const TrackedBuffer& info = tracked.info;
  const auto arena = arenas_.find(info.arena);
  if (arena == arenas_.end()) return;
  for (ArenaPast::Use& use : arena->second.Take(info.layout())) {
    tracked.history.Remember(use.event, use.set);
    tracked.past.emplace_back(use.event, std::move(use.object));
  }
}

absl::Span<const AccessConflict> TrackedMemory::Access(Tracked* buffer, const AccessEvent& event, const AccessSet& set,
                                                       const Vantage& vantage) {
  conflicts_.clear();
  if (buffer->freed.has_value()) {
    conflicts_.push_back({*buffer->freed, Ordering::kUnordered, ""});
  } else {
    if (event.kind == AccessKind::kRead) buffer->NoteRead(event, set);
    buffer->history.Apply(event, set, vantage, &conflicts_);
  }
  return conflicts_;
}

absl::Span<const AccessConflict> TrackedMemory::Free(Tracked* buffer, const AccessEvent& event, const Vantage& vantage,
                                                     std::string freed_by) {
  buffer->freed_by = std::move(freed_by);
  if (buffer->info.arena >= 0 && buffer->freed_by.empty()) KeepPast(*buffer, vantage);
  const absl::Span<const AccessConflict> conflicts = Access(buffer, event, buffer->Whole(), vantage);
  buffer->freed = event;
  buffer->history = AccessHistory(buffer->info.shape, buffer->info.element_size);
  return conflicts;
}

// Accesses that its end is not ordered after are reported at the end itself.
void TrackedMemory::KeepPast(const Tracked& buffer, const Vantage& vantage) {
  std::vector<ArenaPast::Use> uses;
  buffer.history.ForEachUse([&](const AccessEvent& event, const AccessSet& set) {
    if (!IsOrdered(vantage.Order(event))) return;
    const std::string* past = buffer.PastName(event);
    uses.push_back({event, set, past == nullptr ? buffer.info.name : *past});
  });
  arenas_[buffer.info.arena].Add(buffer.info.layout(), std::move(uses));
}

std::size_t TrackedMemory::known() const {
  const auto known = std::count_if(buffers_.begin(), buffers_.end(), [](const auto& b) { return b.has_value(); });
  return static_cast<std::size_t>(known);
}

}  // namespace palladion::memory_model
