#include "memory_model/sweep/sweep.h"

#include <algorithm>
#include <numeric>

#include "semantics/tensor/element_index.h"

namespace palladion::memory_model {

TaskClock::TaskClock(std::vector<TaskDim> dims, bool take_turns)
    : dims_(std::move(dims)), returns_(take_turns), take_turns_(take_turns) {
  for (const TaskDim& dim : dims_) {
    if (dim.size <= 1) continue;
    returns_ |= dim.parallel && several_;
    several_ |= !dim.parallel;
    constexpr std::int64_t kMany = std::int64_t{1} << 62;
    if (dim.parallel) tasks_ = dim.size > kMany / tasks_ ? kMany : tasks_ * dim.size;
  }
}

bool TaskClock::SameTask(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const {
  if (a.size() != b.size()) return false;  // index maps read prefetched arrays before the first program begins
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (dims_[d].parallel && a[d] != b[d]) return false;
  }
  return true;
}

bool TaskClock::Begin(absl::Span<const std::int64_t> grid_index) {
  wrapped_ = false;
  const bool another = begun_ == 0 || !SameTask(program_, grid_index);
  program_.assign(grid_index.begin(), grid_index.end());
  if (!another) return false;
  ++begun_;
  if (!returns_) {
    wrapped_ = task_ == UnitOwners::kMaxTask;
    task_ = wrapped_ ? UnitOwners::kFirstTask : task_ + 1;
    return true;
  }
  std::int64_t number = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].parallel) number = number * dims_[d].size + grid_index[d];
  }
  task_ = static_cast<std::uint32_t>(UnitOwners::kFirstTask + number);
  return true;
}

// Of a task that goes on it is the program that began last: the copies of its blocks belong to it until the next one.
bool TaskClock::Runs(const RunningAgent& now) {
  if (!take_turns_) return now.begins && Begin(now.index);
  const bool another = Begin(now.index);
  if (!several_) return another;
  std::vector<std::int64_t>& last = last_[task_];
  if (now.begins || last.empty()) last = program_;
  program_ = last;
  return another;
}

namespace {

constexpr std::size_t kRead = 0, kWrite = 1, kAtomic = 2;

std::size_t NumberOf(AccessKind kind) {
  return kind == AccessKind::kRead ? kRead : kind == AccessKind::kAtomic ? kAtomic : kWrite;
}

std::int64_t ElementOf(absl::Span<const std::int64_t> shape, const ElementBox& corner) {
  std::int64_t element = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + corner.low[d];
  return element;
}

// The elements first <= e < last as a box, where they are one.
bool BoxOfRun(absl::Span<const std::int64_t> shape, std::int64_t first, std::int64_t last, ElementBox* box) {
  box->rank = std::max(1, static_cast<int>(shape.size()));
  box->low[0] = 0;
  box->high[0] = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t row = first / shape[d], end = last / shape[d];
    box->low[d] = first % shape[d];
    if (box->low[d] == 0 && last % shape[d] == 0) {
      box->high[d] = shape[d];
      first = row;
      last = end;
      continue;
    }
    if ((last - 1) / shape[d] != row) return false;
    box->high[d] = box->low[d] + (last - first);
    first = row;
    last = row + 1;
  }
  return true;
}

}  // namespace

void Sweep::Watch(const Memory& memory, BufferId buffer, Sharing sharing) {
  if (Find(buffer) != nullptr) return;
  Watched watched{.id = buffer, .sharing = sharing};
  watched.shape.assign(memory.ShapeOf(buffer).begin(), memory.ShapeOf(buffer).end());
  for (std::int64_t size : watched.shape) watched.elements = size * watched.elements;
  watched.element_size = watched.unit_size = memory.ElementSizeOf(buffer);
  const BoxList none(std::max(1, static_cast<int>(watched.shape.size())));
  watched.theirs.assign(3, none);
  watched.mine.assign(3, none);
  if (clock_.returns()) watched.owners = std::make_unique<UnitOwners>(watched.elements.value(), clock_.returns());
  watched_of_.resize(std::max(watched_of_.size(), buffer.index() + 1), -1);
  watched_of_[buffer.index()] = static_cast<int>(watched_.size());
  watched_.push_back(std::move(watched));
}

void Sweep::Running(const RunningAgent& now) {
  if (!clock_.Runs(now)) return;
  EndTask();
  if (!clock_.wrapped()) return;
  for (Watched& watched : watched_) {
    if (watched.owners != nullptr) watched.owners->EndAllTasks();
  }
}

// What the task did is others' from here on.
void Sweep::EndTask() {
  for (Watched& watched : watched_) {
    if (!watched.touched) continue;
    watched.touched = false;
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t i = 0; watched.owners == nullptr && i < watched.mine[k].size(); ++i) {
        if (!watched.theirs[k].Add(watched.mine[k].At(i))) UseOwners(watched, UnitOwners::kSeveral);
      }
    }
    for (BoxList& list : watched.mine) list.clear();
  }
}

// From lists to one word for each element.
void Sweep::UseOwners(Watched& watched, std::uint32_t task_of_mine) {
  watched.owners = std::make_unique<UnitOwners>(watched.elements.value(), clock_.returns());
  Conflicts known;
  const auto move = [&](std::vector<BoxList>& lists, std::uint32_t task) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t i = 0; i < lists[k].size(); ++i) {
        VisitRuns(lists[k].At(i), watched.shape, [&](std::int64_t first, std::int64_t last) {
          if (watched.sharing == Sharing::kOwn) {
            if (k == kWrite) watched.owners->Overwrite(first, last, task);
          } else {
            watched.owners->Touch(first, last, task, KindSet{1} << k, &known);
          }
        });
      }
      lists[k].clear();
    }
  };
  move(watched.theirs, UnitOwners::kSeveral);
  move(watched.mine, task_of_mine);
}

// Some view sees smaller pieces than the elements.
void Sweep::Refine(Watched& watched, ElementSize unit_size) {
  if (watched.owners == nullptr) UseOwners(watched, clock_.task());
  watched.owners->Refine(static_cast<int>(watched.unit_size.value() / unit_size.value()));
  watched.unit_size = unit_size;
}

// False where the lists have become too long: nothing has been recorded then, and the owners are in use.
bool Sweep::TouchBox(Watched& watched, AccessKind kind, const ElementBox& box, Conflicts* conflicts) {
  const std::size_t number = NumberOf(kind);
  std::vector<BoxList>&mine = watched.mine, &theirs = watched.theirs;
  if (mine[kWrite].Covers(box) || mine[number].Covers(box)) return true;
  if (watched.sharing == Sharing::kOwn) {
    if (kind != AccessKind::kWrite && theirs[kWrite].Meets(box, nullptr)) {
      UseOwners(watched, clock_.task());  // which of the elements the task has written itself is for them to say
      return false;
    }
    if (kind == AccessKind::kRead || mine[kWrite].Add(box)) return true;
    UseOwners(watched, clock_.task());
    return false;
  }
  // Only what the task has not written itself is read from others; which elements that is, is for owners to say.
  const bool partly_written = kind == AccessKind::kRead && mine[kWrite].Meets(box, nullptr);
  ElementBox overlap;
  const auto met = [&](std::size_t k, std::int64_t* found) {
    if (*found < 0 && theirs[k].Meets(box, &overlap)) *found = ElementOf(watched.shape, overlap);
  };
  Conflicts found;
  std::int64_t* with_writes = number == kRead ? &found.read_write : &found.write_write;
  met(kWrite, with_writes);
  if (number != kAtomic) met(kAtomic, with_writes);
  if (number != kRead) met(kRead, &found.read_write);
  if (partly_written || !mine[number].Add(box)) {
    UseOwners(watched, clock_.task());
    return false;
  }
  *conflicts = found;
  return true;
}

void Sweep::TouchUnits(Watched& watched, AccessKind kind, std::int64_t first, std::int64_t last, Conflicts* conflicts) {
  const std::uint32_t task = clock_.task();
  if (watched.sharing != Sharing::kOwn) {
    watched.owners->Touch(first, last, task, KindSetOf(kind), conflicts);
    return;
  }
  if (kind != AccessKind::kWrite && conflicts->read_write < 0)
    conflicts->read_write = watched.owners->FirstInherited(first, last, task);
  if (kind != AccessKind::kRead) watched.owners->Overwrite(first, last, task);
}

void Sweep::Box(const Who& who, AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte*) {
  Watched* watched = who.of_engine() ? nullptr : Find(access.buffer);
  if (watched == nullptr) return;
  ElementBox box;
  const Extent extent = ExtentOf(access, reach, &box);
  if (extent == Extent::kNothing) return;
  ++accesses_;
  watched->touched = true;
  Conflicts conflicts;
  if (extent == Extent::kScattered && watched->owners == nullptr) UseOwners(*watched, clock_.task());
  if (watched->owners != nullptr || !TouchBox(*watched, kind, box, &conflicts)) {
    const std::int64_t scale = watched->element_size.value() / watched->unit_size.value();
    const auto touch = [&](std::int64_t first, std::int64_t last) {
      TouchUnits(*watched, kind, first * scale, last * scale, &conflicts);
    };
    if (extent == Extent::kBox) {
      VisitRuns(box, watched->shape, touch);
    } else {
      std::int64_t first = 0, last = 0;
      VisitElements(access, reach, watched->shape, [&](std::int64_t element, std::int64_t) {
        if (element != last || first == last) {
          if (first != last) touch(first, last);
          first = element;
        }
        last = element + 1;
      });
      if (first != last) touch(first, last);
    }
  }
  if (conflicts.any()) Record(*watched, {kind, &box, access.site}, conflicts);
}

void Sweep::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  Watched* watched = who.of_engine() ? nullptr : Find(access.buffer);
  if (watched == nullptr) return;
  std::int64_t runs = 0, first_byte = 0, last_byte = 0, unit = watched->unit_size.value();
  VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
    if (runs++ == 0) first_byte = first, last_byte = last;
    unit = std::gcd(unit, std::gcd(first, last));
  });
  if (runs == 0) return;
  ++accesses_;
  watched->touched = true;
  if (unit != watched->unit_size.value()) Refine(*watched, ElementSize(unit));
  Conflicts conflicts;
  ElementBox box;
  const std::int64_t bytes = watched->element_size.value();
  const bool is_box =
      runs == 1 && watched->owners == nullptr && BoxOfRun(watched->shape, first_byte / bytes, last_byte / bytes, &box);
  if (watched->owners == nullptr && !is_box) UseOwners(*watched, clock_.task());
  if (watched->owners != nullptr || !TouchBox(*watched, kind, box, &conflicts)) {
    VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
      TouchUnits(*watched, kind, first / unit, last / unit, &conflicts);
    });
  }
  if (conflicts.any()) Record(*watched, {kind, is_box ? &box : nullptr, access.site}, conflicts);
}

void Sweep::Record(const Watched& watched, const Touch& touch, const Conflicts& conflicts) {
  const bool shared = watched.sharing == Sharing::kShared;
  const ElementSize unit = watched.owners == nullptr ? watched.element_size : watched.unit_size;
  const auto byte = [&](std::int64_t number) { return ElementCount(number) * unit; };
  // What each task reads only after writing it does not matter to others.
  if (shared && conflicts.write_write >= 0)
    RecordOne(watched, touch, ConflictRule::kWriteWrite, byte(conflicts.write_write));
  if (conflicts.read_write >= 0)
    RecordOne(watched, touch, shared ? ConflictRule::kReadWrite : ConflictRule::kInherited, byte(conflicts.read_write));
}

void Sweep::RecordOne(const Watched& watched, const Touch& touch, ConflictRule rule, ByteCount byte) {
  const auto& [kind, box_of_access, site] = touch;
  const ElementBox* box = box_of_access;
  for (SweepConflict& known : conflicts_) {
    if (known.rule != rule || known.buffer != watched.id || known.kind != kind || known.loc != site.loc ||
        known.text_line != site.text_line)
      continue;
    ++known.count;
    return;
  }
  const absl::Span<const std::int64_t> program = clock_.program();
  ElementBox element;
  const std::int64_t at = (byte / watched.element_size).value();
  if (box == nullptr && BoxOfRun(watched.shape, at, at + 1, &element)) box = &element;
  conflicts_.push_back({.rule = rule,
                        .buffer = watched.id,
                        .kind = kind,
                        .byte = byte,
                        .index = IndexOfElement(watched.shape, at),
                        .element = IndexText(watched.shape, at),
                        .box = ToString(*box),
                        .program = {program.begin(), program.end()},
                        .loc = site.loc,
                        .text_line = site.text_line});
}

}  // namespace palladion::memory_model
