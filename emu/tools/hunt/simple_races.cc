#include "emu/tools/hunt/simple_races.h"

#include <algorithm>
#include <utility>

namespace palladion::hunt {
namespace {

constexpr int kAllOfIt = 99;  // a copy's time when it is over, and later than any of its accesses

}  // namespace

SimpleRaces::SimpleRaces(int agents, int shared, bool acquires, Mutation mutation, std::set<int> tensor)
    : agents_(agents), shared_(shared), acquires_(acquires), mutation_(mutation), tensor_(std::move(tensor)) {}

void SimpleRaces::Join(const Known& released, Known* to, bool tensor_core) {
  const auto join = [](const Clock& from, Clock* clock) {
    for (const auto& [who, time] : from) (*clock)[who] = std::max((*clock)[who], time);
  };
  join(released.all, &to->all);
  join(released.fenced, &to->fenced);
  if (tensor_core) join(released.tensor, &to->tensor);
}

void SimpleRaces::Touch(int who, Access access, const CellSpan& cells, int line) {
  const int time = Tick(who);
  touched_.push_back({who, time, line, access, cells, known_[who]});
}

// A copy knows what its agent knows now; its reading is its time 1, its writing its time 2.
void SimpleRaces::Issue(int agent, int copy, int queue) {
  Tick(agent);
  known_[agents_ + copy] = known_[agent];
  if (queue >= 0) copies_out_[queue].push_back(agents_ + copy);
  Tick(agent);
}

void SimpleRaces::Fence(int agent) {
  if (mutation_ == Mutation::kNoFences) return;
  Tick(agent);
  Known& known = known_[agent];
  for (const auto& [who, time] : known.all) known.fenced[who] = std::max(known.fenced[who], time);
}

void SimpleRaces::Arrive(int who, const Phase& at, bool tensor_core) {
  if (mutation_ == Mutation::kNoCompletions && IsCopy(who)) return;
  if (mutation_ == Mutation::kNoBarrierEdges && !IsCopy(who)) return;
  if (mutation_ == Mutation::kNoMeshes && at.barrier >= kMeshes) return;
  if (!IsCopy(who)) Tick(who);
  Join(known_[who], &phases_[at], tensor_core || mutation_ == Mutation::kAllOrderTensor);
}

void SimpleRaces::Wait(int agent, const Phase& at) { Join(phases_[at], &known_[agent]); }

void SimpleRaces::Signal(int agent, int semaphore, std::int64_t amount) {
  if (mutation_ == Mutation::kNoSemaphoreEdges) return;
  Tick(agent);
  Known released;
  Join(known_[agent], &released, false);
  credits_[semaphore].push_back({amount, std::move(released)});
}

void SimpleRaces::SemWait(int agent, int semaphore, std::int64_t amount, bool take) {
  std::deque<HeldCredit>& credits = credits_[semaphore];
  for (std::size_t i = 0; amount > 0 && i < credits.size();) {
    const std::int64_t taken = std::min(amount, credits[i].amount);
    if (!credits[i].copy || taken == credits[i].amount) Join(credits[i].known, &known_[agent]);
    amount -= taken;
    if (take) credits[i].amount -= taken;
    if (take && credits[i].amount == 0) {
      credits.pop_front();
    } else {
      ++i;
    }
  }
}

void SimpleRaces::SemRead(int agent, int semaphore) {
  for (const HeldCredit& credit : credits_[semaphore]) Join(credit.known, &known_[agent]);
}

// Its reading is its time 1, its writing its time 2.
void SimpleRaces::Credit(int copy, int halves, int semaphore, std::int64_t amount) {
  Known known = known_[CopyOf(copy)];
  known.all[CopyOf(copy)] = halves;
  if (mutation_ == Mutation::kNoCompletions) known = {};
  credits_[semaphore].push_back({amount, std::move(known), true});
}

void SimpleRaces::Await(int agent, int queue, int count, int halves) {
  if (mutation_ == Mutation::kNoCompletions) return;
  const std::vector<int>& copies = copies_out_[queue];
  for (int i = 0; i < count && i < static_cast<int>(copies.size()); ++i) {
    int& known = known_[agent].all[copies[static_cast<std::size_t>(i)]];
    known = std::max(known, halves);
  }
}

void SimpleRaces::Follow(int copy, int earlier) {
  if (mutation_ == Mutation::kNoPipelines) return;
  Known& known = known_[CopyOf(copy)];
  Join(known_[CopyOf(earlier)], &known);
  for (Clock* clock : {&known.all, &known.tensor}) (*clock)[CopyOf(earlier)] = kAllOfIt;
}

void SimpleRaces::Complete(int agent, int copy) {
  Known& known = known_[agent];
  for (Clock* clock : {&known.all, &known.tensor}) (*clock)[CopyOf(copy)] = kAllOfIt;
}

void SimpleRaces::Acquire(int agent, const CellSpan& cells) {
  for (int i = 0; acquires_ && i < cells.count; ++i) Join(released_[cells.cells[i]], &known_[agent]);
}

void SimpleRaces::Release(int agent, const CellSpan& cells) {
  for (int i = 0; acquires_ && i < cells.count; ++i) Join(known_[agent], &released_[cells.cells[i]]);
}

bool SimpleRaces::Knows(const Clock& clock, const Touched& touched) {
  const auto at = clock.find(touched.who);
  return at != clock.end() && at->second >= touched.time;
}

bool SimpleRaces::Meet(const Touched& a, const Touched& b, int first_cell) {
  if (a.who == b.who || (a.access == Access::kRead && b.access == Access::kRead)) return false;
  if (a.access == Access::kUpdate && b.access == Access::kUpdate) return false;
  for (int i = 0; i < a.cells.count; ++i) {
    for (int j = 0; j < b.cells.count; ++j) {
      if (a.cells.cells[i] == b.cells.cells[j] && a.cells.cells[i] >= first_cell) return true;
    }
  }
  return false;
}

std::set<LinePair> SimpleRaces::Races() const {
  std::set<LinePair> races;
  for (const Touched& a : touched_) {
    for (const Touched& b : touched_) {
      if (Race(a, b)) races.insert({std::min(a.line, b.line), std::max(a.line, b.line)});
    }
  }
  return races;
}

// Had the reader written all that the two have in common, and does that race with the write?
bool SimpleRaces::ReadsOwn(const Touched& read, const Touched& write) const {
  if (read.access != Access::kRead || write.access == Access::kRead) return false;
  const auto common = [&](int cell) {
    const auto has = [cell](const CellSpan& span) {
      return std::find(span.cells, span.cells + span.count, cell) != span.cells + span.count;
    };
    return has(read.cells) && has(write.cells);
  };
  std::set<int> left;
  for (int i = 0; i < read.cells.count; ++i) {
    if (common(read.cells.cells[i])) left.insert(read.cells.cells[i]);
  }
  for (const Touched& own : touched_) {
    if (&own == &read) break;
    if (own.who != read.who || own.access == Access::kRead || !Race(own, write)) continue;
    for (int i = 0; i < own.cells.count; ++i) left.erase(own.cells.cells[i]);
  }
  return left.empty();
}

std::set<int> SimpleRaces::LaterLines(OwnReads own) const {
  std::set<int> lines;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Touched &earlier = touched_[j], &later = touched_[i];
      if (!Meet(earlier, later) || Knows(later.known.all, earlier)) continue;
      if (own == OwnReads::kOut && (ReadsOwn(earlier, later) || ReadsOwn(later, earlier))) continue;
      lines.insert(later.line);
    }
  }
  return lines;
}

std::set<LinePair> SimpleRaces::Unfenced() const {
  std::set<LinePair> unfenced;
  for (const Touched& a : touched_) {
    for (const Touched& b : touched_) {
      const bool write_then_copy = !IsCopy(a.who) && IsCopy(b.who) && a.access != Access::kRead;
      if (!write_then_copy || !Meet(a, b, shared_) || !Knows(b.known.all, a) || Knows(b.known.fenced, a)) continue;
      unfenced.insert({std::min(a.line, b.line), std::max(a.line, b.line)});
    }
  }
  return unfenced;
}

// Only copies touch tensor memory.
std::set<LinePair> SimpleRaces::PlainlyOrdered() const {
  std::set<LinePair> plainly_ordered;
  for (const Touched& a : touched_) {
    for (const Touched& b : touched_) {
      if (!OfTensor(a) || !Meet(a, b)) continue;
      if (!Knows(b.known.all, a) || Knows(b.known.tensor, a)) continue;
      plainly_ordered.insert({std::min(a.line, b.line), std::max(a.line, b.line)});
    }
  }
  return plainly_ordered;
}

}  // namespace palladion::hunt
