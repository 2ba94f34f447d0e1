#include "emu/run/agents/spin.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/registry/value_text.h"

namespace palladion::agents {

// ---- what is done to memory

void SpinWatch::SetCurrent(Spin* spin, scheduler::AgentOrdinal agent) {
  current_ = spin;
  agent_ = agent;
  knows_writers_ &= agent.valid();
}

void SpinWatch::Alloc(const Who&, BufferId) {
  if (current_ != nullptr) current_->Changed();
}

void SpinWatch::Free(const Who&, BufferId buffer) {
  if (current_ != nullptr) current_->Changed();
  if (buffer.index() >= lives_.size()) lives_.resize(buffer.index() + 1);
  ++lives_[buffer.index()];
}

void SpinWatch::Poison(const Who&, BufferId) {
  if (current_ != nullptr) current_->Changed();
}

void SpinWatch::Issued(const Who&, const AsyncRequest&) {
  if (current_ != nullptr) current_->Changed();
}

void SpinWatch::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                    const std::byte* value) {
  if (!agent_.valid() || reach.empty || reach.none_copied) return;
  if (kind == AccessKind::kRead && (current_ == nullptr || !current_->logs())) return;
  const std::int64_t bytes = memory_.ElementSizeOf(access.buffer).value();
  const absl::Span<const std::int64_t> shape = memory_.ShapeOf(access.buffer);
  if (kind == AccessKind::kRead) {
    std::int64_t first = 0, last = 0;  // a run of elements
    const auto end_run = [&] {
      if (last > first) current_->Read(PlaceOf(access.buffer, first * bytes, (last - first) * bytes));
    };
    memory_model::VisitElements(access, reach, shape, [&](std::int64_t element, std::int64_t) {
      if (element != last || last == first) end_run(), first = element;
      last = element + 1;
    });
    return end_run();
  }
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
    elements *= reach.copy[d].end - reach.copy[d].begin;
  if (elements > kFew || value == nullptr) {
    std::int64_t size = bytes;
    for (const std::int64_t n : shape) size *= n;
    return StoredMany(PlaceOf(access.buffer, 0, size));
  }
  memory_model::VisitElements(access, reach, shape, [&](std::int64_t element, std::int64_t lane) {
    Stored(PlaceOf(access.buffer, element * bytes, bytes), value + lane * bytes);
  });
}

void SpinWatch::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (!agent_.valid()) return;
  const auto bytes = static_cast<std::int64_t>(access.piece_bytes);
  if (kind == AccessKind::kRead) {
    if (current_ == nullptr || !current_->logs()) return;
    memory_model::VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
      current_->Read(PlaceOf(access.buffer, first, last - first));
    });
    return;
  }
  if (static_cast<std::int64_t>(access.offset.size()) > kFew || value == nullptr) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    memory_model::VisitBytes(
        access, [&](std::int64_t a, std::int64_t b) { first = std::min(first, a), last = std::max(last, b); });
    if (last > 0) StoredMany(PlaceOf(access.buffer, first, last - first));
    return;
  }
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (!memory_model::Touches(access, p)) continue;
    const SpinPlace place = PlaceOf(access.buffer, access.offset[p], bytes);
    if (kind != AccessKind::kAtomic) {
      Stored(place, value + p * access.piece_bytes);
      continue;
    }
    pending_.push_back({place, pending_bytes_.size()});
    pending_bytes_.insert(pending_bytes_.end(), BytesAt(place), BytesAt(place) + bytes);
  }
}

// A store of what is there already counts as a look at it: once another agent changes it, the next store would be a
// change.
void SpinWatch::Stored(const SpinPlace& place, const std::byte* value) {
  const bool same = std::memcmp(BytesAt(place), value, static_cast<std::size_t>(place.bytes)) == 0;
  if (!same) return Wrote(place);
  if (current_ != nullptr && current_->logs()) current_->Read(place);
}

void SpinWatch::SettleAll() {
  for (const Pending& pending : std::exchange(pending_, {})) {
    const std::byte* before = pending_bytes_.data() + pending.before;
    Stored(pending.place, before);
  }
  pending_bytes_.clear();
}

void SpinWatch::Wrote(const SpinPlace& place) {
  constexpr std::size_t kMaxPlaces = std::size_t{1} << 20;
  if (current_ != nullptr) current_->Changed();
  const std::int64_t element = place.first / memory_.ElementSizeOf(place.buffer).value();
  const std::tuple key(place.buffer.value, place.life, element);
  if (last_.size() < kMaxPlaces || last_.contains(key)) {
    last_[key] = {agent_, ++writes_};
  } else {
    knows_writers_ = false;
  }
}

void SpinWatch::StoredMany(const SpinPlace& around) {
  constexpr std::size_t kKept = 64;
  if (current_ != nullptr) current_->Changed();
  if (many_.size() < kKept) many_.resize(kKept);
  ManyWritten& slot = many_[next_many_++ % kKept];
  if (slot.written.by.valid()) knows_writers_ = false;  // it is forgotten
  slot = {around, {agent_, ++writes_}};
}

scheduler::AgentOrdinal SpinWatch::LastWriter(const SpinPlace& place) const {
  Written last;
  const std::int64_t bytes = memory_.ElementSizeOf(place.buffer).value();
  for (std::int64_t e = place.first / bytes; e * bytes < place.first + place.bytes; ++e) {
    const auto found = last_.find(std::tuple(place.buffer.value, place.life, e));
    if (found != last_.end() && found->second.number > last.number) last = found->second;
  }
  for (const ManyWritten& many : many_) {
    const bool meets = many.place.buffer == place.buffer && many.place.life == place.life &&
                       many.place.first < place.first + place.bytes &&
                       place.first < many.place.first + many.place.bytes;
    if (meets && many.written.number > last.number) last = many.written;
  }
  return last.by;
}

std::string SpinWatch::NameOf(const SpinPlace& place) const {
  const absl::Span<const std::int64_t> shape = memory_.ShapeOf(place.buffer);
  const std::int64_t bytes = memory_.ElementSizeOf(place.buffer).value();
  const std::int64_t elements = std::max<std::int64_t>(1, place.bytes / bytes);
  std::string name(memory_.NameOf(place.buffer));
  if (shape.empty()) return name;
  std::int64_t rest = place.first / bytes;
  std::string index;
  std::int64_t left = elements;
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
    const std::int64_t i = rest % shape[d];
    const bool several = d + 1 == shape.size() && elements > 1 && i + elements <= shape[d];
    if (several) left = 1;
    index = Cat(i, several ? Cat(":", i + elements) : "", index.empty() ? "" : ", ", index);
  }
  return Cat(name, "[", index, "]", left > 1 ? Cat(" and the ", left - 1, " elements after it") : "");
}

std::string SpinWatch::ValueAt(const SpinPlace& place) const {
  const DType dtype = memory_.DTypeOf(place.buffer);
  if (place.bytes != static_cast<std::int64_t>(StorageBytes(dtype))) return "";
  return ValueText(Type{.dtype = dtype}, BytesAt(place));
}

// ---- one agent

Spin::Spin(const SpinWatch* watch, const Program* program, const Port* port)
    : watch_(watch), program_(program), port_(port), visits_(program->loops.size()) {}

void Spin::Start(scheduler::AgentOrdinal agent) {
  *this = Spin(watch_, program_, port_);
  agent_ = agent;
}

bool Spin::MustWait(const Step& step, Frame& frame) {
  Visit& visit = visits_[static_cast<std::size_t>(step.loop)];
  const Loop& loop = program_->loops[static_cast<std::size_t>(step.loop)];
  if (*frame.slot(frame.in(step, 0)) == std::byte{0}) {
    Leave(visit);
    return false;
  }
  if (!visit.inside) {
    visit.inside = true;
    ++inside_;
    Save(visit, loop, frame);
    StartLog(visit);
  } else if (visit.changes != changes_) {
    StopLog(visit);
    visit.saved = false;
    visit.changes = changes_;
  } else if (!visit.saved) {
    Save(visit, loop, frame);
    StartLog(visit);
  } else if (!SameCarries(visit, loop, frame)) {
    if (std::exchange(visit.woken, false)) {
      Save(visit, loop, frame);
      StartLog(visit);
      visit.limit = 2;
    } else if (++visit.rounds >= visit.limit) {  // Brent: a cycle of any length is met
      Save(visit, loop, frame);
      visit.limit *= 2;
      StopLog(visit);
    }
  } else if (!visit.logged || ChangedSince(visit.first_look, visit.first_poll)) {
    StartLog(visit);
  } else {
    waits_ = step.loop;
    return true;
  }
  return false;
}

void Spin::Wake() {
  if (waits_ < 0) return;
  Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  visit.woken = true;
  StartLog(visit);
  waits_ = -1;
}

void Spin::Save(Visit& visit, const Loop& loop, Frame& frame) const {
  visit.saved = true;
  visit.rounds = 0;
  visit.changes = changes_;
  visit.carries.clear();
  for (const SlotId slot : loop.carries) {
    const std::byte* at = frame.slot(slot);
    visit.carries.insert(visit.carries.end(), at, at + program_->slots[slot.index()].bytes);
  }
}

bool Spin::SameCarries(const Visit& visit, const Loop& loop, Frame& frame) const {
  std::size_t at = 0;
  for (const SlotId slot : loop.carries) {
    const std::size_t bytes = program_->slots[slot.index()].bytes;
    if (std::memcmp(visit.carries.data() + at, frame.slot(slot), bytes) != 0) return false;
    at += bytes;
  }
  return true;
}

void Spin::Leave(Visit& visit) {
  if (!visit.inside) return;
  StopLog(visit);
  --inside_;
  visit.inside = visit.saved = visit.woken = false;
  visit.limit = 2;
}

void Spin::StartLog(Visit& visit) {
  StopLog(visit);
  if (logging_ == 0) StopLogs();  // no longer needed
  visit.logged = true;
  ++logging_;
  visit.first_look = looks_.size();
  visit.first_poll = polls_.size();
}

void Spin::StopLog(Visit& visit) { logging_ -= std::exchange(visit.logged, false) ? 1 : 0; }

void Spin::StopLogs() {
  for (Visit& visit : visits_) visit.logged = false;
  logging_ = 0;
  looks_.clear();
  polls_.clear();
  found_.clear();
}

void Spin::Changed() {
  ++changes_;
  if (logging_ > 0) StopLogs();
}

void Spin::Read(const SpinPlace& place) {
  constexpr std::size_t kMaxLooks = std::size_t{1} << 16, kMaxBytes = std::size_t{1} << 22;
  if (!logs()) return;
  const auto bytes = static_cast<std::size_t>(place.bytes);
  if (looks_.size() >= kMaxLooks || found_.size() + bytes > kMaxBytes) return Changed();  // too much to keep
  looks_.push_back({place, found_.size()});
  const std::byte* at = watch_->BytesAt(place);
  found_.insert(found_.end(), at, at + bytes);
}

void Spin::Polled(const WaitTarget& target) {
  if (logs()) polls_.push_back({target, port_->look(target)});
}

// What is freed does not change any more.
bool Spin::ChangedSince(std::size_t first_look, std::size_t first_poll) const {
  const bool looks =
      std::any_of(looks_.begin() + static_cast<std::ptrdiff_t>(first_look), looks_.end(), [&](const Look& look) {
        return watch_->Lives(look.place) && std::memcmp(found_.data() + look.found, watch_->BytesAt(look.place),
                                                        static_cast<std::size_t>(look.place.bytes)) != 0;
      });
  return looks || std::any_of(polls_.begin() + static_cast<std::ptrdiff_t>(first_poll), polls_.end(),
                              [&](const Poll& poll) { return port_->look(poll.target) != poll.found; });
}

bool Spin::SomethingChanged() const {
  const Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  return ChangedSince(visit.first_look, visit.first_poll);
}

scheduler::Footprint Spin::footprint() const {
  const Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  scheduler::Footprint footprint;
  for (std::size_t i = visit.first_look; i < looks_.size(); ++i) {
    const SpinPlace& place = looks_[i].place;
    footprint.Add(
        {.object = place.buffer.value, .first = place.first, .last = place.first + place.bytes - 1, .writes = false});
  }
  for (std::size_t i = visit.first_poll; i < polls_.size(); ++i)
    footprint.Add({.object = port_->object(polls_[i].target), .writes = false});
  return footprint;
}

std::string Spin::Describe(const std::function<std::string(scheduler::AgentOrdinal)>& name_of) const {
  constexpr std::size_t kShown = 3;
  const Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  std::vector<std::string> parts;
  for (std::size_t i = visit.first_look; i < looks_.size(); ++i) {
    const SpinPlace& place = looks_[i].place;
    std::string held = watch_->ValueAt(place);
    if (!held.empty()) held = Cat("it holds ", held);
    if (const scheduler::AgentOrdinal writer = watch_->LastWriter(place); writer.valid()) {
      const std::string name = name_of(writer);  // "": an engine that is done
      Append(&held, held.empty() ? "" : ", which ",
             writer == agent_ ? "it"
             : name.empty()   ? "a copy"
                              : name,
             writer == agent_ ? " itself wrote last" : " wrote last");
    } else if (watch_->knows_writers()) {
      Append(&held, held.empty() ? "" : ", and ", "no agent has written it");
    }
    std::string part = Cat("'", watch_->NameOf(place), "' to change", held.empty() ? "" : Cat(" (", held, ")"));
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  }
  for (std::size_t i = visit.first_poll; i < polls_.size(); ++i) {
    std::string part = port_->describe(polls_[i].target);
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  }
  if (parts.empty()) return std::string(kEndlessLoop);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, parts.size()); ++i) Append(&text, i == 0 ? "" : " or ", parts[i]);
  if (parts.size() > kShown) Append(&text, " or ", parts.size() - kShown, " more places");
  return text;
}

bool Spin::MaySignal(scheduler::AgentOrdinal other) const {
  const Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  if (other == agent_) return false;
  if (looks_.size() > visit.first_look) return true;  // any agent may write
  return std::any_of(polls_.begin() + static_cast<std::ptrdiff_t>(visit.first_poll), polls_.end(),
                     [&](const Poll& poll) { return port_->may_signal(poll.target, other); });
}

// The last writer of what it looks at; of several places, the first that was written. Barriers and semaphores have
// none.
std::optional<scheduler::AgentOrdinal> Spin::Holder() const {
  const Visit& visit = visits_[static_cast<std::size_t>(waits_)];
  if (polls_.size() > visit.first_poll) return std::nullopt;
  for (std::size_t i = visit.first_look; i < looks_.size(); ++i) {
    const scheduler::AgentOrdinal writer = watch_->LastWriter(looks_[i].place);
    if (writer.valid()) return writer;
  }
  return scheduler::AgentOrdinal{};
}

}  // namespace palladion::agents
