#include "emu/tools/debug/trace_recorder.h"

#include <algorithm>

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/program/blocks.h"
#include "semantics/program/mark.h"

namespace palladion::debug {
namespace {

constexpr std::int64_t kElementsPerTick = 128;
constexpr std::size_t kRememberedStores = 64;  // of one buffer: a load looks among the newest

void NameLines(const Region& region, std::map<int, std::string>& names) {
  for (const Instr& op : region.body) {
    std::string& name = names[op.text_line];
    Append(&name, name.empty() ? "" : ", ", op.dialect, op.dialect.empty() ? "" : ".", op.name);
    for (const Region& inner : op.regions) NameLines(inner, names);
  }
}

std::string BoxText(const TraceAccess& access) {
  std::string text = Cat(Name(access.kind), " ", access.name, "[");
  for (std::size_t d = 0; d < access.start.size(); ++d) {
    const std::int64_t last = access.start[d] + (access.count[d] - 1) * access.step[d];
    Append(&text, d == 0 ? "" : ", ", access.start[d]);
    if (access.count[d] != 1) Append(&text, ":", last + 1);
    if (access.count[d] != 1 && access.step[d] != 1) Append(&text, ":", access.step[d]);
  }
  return text + "]";
}

}  // namespace

TraceRecorder::TraceRecorder(const kernel::PreparedKernelState& kernel, const TraceLimits& limits)
    : kernel_(kernel), limits_(limits) {
  for (const Kernel& k : kernel.module().kernels) {
    if (k.name != kernel.program().kernel_name) continue;
    for (const Body& body : k.bodies) NameLines(body.region, name_of_line_);
    for (const Operand& operand : k.operands) {
      if (operand.block.has_value()) NameLines(operand.block->map, name_of_line_);
    }
  }
  programs_.emplace_back();  // what happens before the first program
}

void TraceRecorder::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    // An aliased pair is one buffer: shown at its output, which comes later.
    if (arrays[i].valid()) operand_of_buffer_[arrays[i].value] = static_cast<int>(i);
  }
}

std::string TraceRecorder::NameOf(const Step& step) const {
  const auto operand = [&] {
    return kernel_.program().operand_infos[static_cast<const OperandParams*>(step.params)->operand].name;
  };
  switch (step.kind) {
    case StepKind::kFetch:
      return Cat("fetch ", operand());
    case StepKind::kFlush:
      return Cat("flush ", operand());
    case StepKind::kAwaitBlocks:
      return "wait for copies";
    case StepKind::kAllocBlock:
      return Cat("alloc ", operand());
    case StepKind::kFreeBlock:
      return Cat("free ", operand());
    case StepKind::kBindWindow:
      return Cat("block of ", operand());
    case StepKind::kOperation:
    case StepKind::kMark:
    case StepKind::kStrips:
    case StepKind::kSkip:
      break;
  }
  const auto found = name_of_line_.find(step.text_line);
  return found == name_of_line_.end() ? "step" : found->second;
}

void TraceRecorder::Running(const RunningAgent& now) {
  now.begins ? Begin(now.index) : Resume(now.index);
  program_of_[now.id] = program_;
}

void TraceRecorder::Begin(absl::Span<const std::int64_t> index) {
  // What comes before the first program, such as the copy of its first block, is shown as its own.
  if (programs_.size() == 1 && programs_[0].index.empty()) {
    programs_[0].index.assign(index.begin(), index.end());
  } else {
    program_ = static_cast<std::int64_t>(programs_.size());
    programs_.push_back({.index = {index.begin(), index.end()}, .accesses = {}});
  }
  for_next_ = false;
  std::vector<TraceAccess>& accesses = programs_.back().accesses;
  accesses.insert(accesses.end(), of_next_.begin(), of_next_.end());
  of_next_.clear();
  program_at_[programs_.back().index] = program_;
}

// Before an agent begins, events belong to the one before it.
void TraceRecorder::Resume(absl::Span<const std::int64_t> index) {
  if (programs_[static_cast<std::size_t>(program_)].index == index) return;
  const auto found = program_at_.find({index.begin(), index.end()});
  if (found != program_at_.end()) program_ = found->second;
}

// An engine works between the steps of threads.
void TraceRecorder::EngineEvent(const Who& who, const TraceAccess& access) {
  std::int64_t elements = 1;
  for (std::int64_t count : access.count) elements *= count;
  const auto name = name_of_line_.find(access.text_line);
  const auto event = static_cast<std::int64_t>(events_.size());
  events_.push_back({.name = Cat(name == name_of_line_.end() ? "operation" : name->second, ": ", Name(access.kind)),
                     .begin = now_,
                     .ticks = 1 + elements / kElementsPerTick,
                     .program = ProgramOf(who),
                     .by_engine = true,
                     .loc = access.loc,
                     .text_line = access.text_line});
  std::vector<std::int64_t>& reads = reads_[who.operation];
  if (access.kind == AccessKind::kRead) return reads.push_back(event);
  for (const std::int64_t read : reads) {
    if (flows_.size() < limits_.flows) flows_.push_back({read, event});
  }
}

void TraceRecorder::HalfDone(const Who& who) {
  if (who.half == Half::kWrite) reads_.erase(who.operation);
}

// An operation is its issuer's, whichever agent runs while it is in flight.
std::int64_t TraceRecorder::ProgramOf(const Who& who) const {
  const auto found = who.of_engine() ? program_of_.find(who.agent) : program_of_.end();
  return found == program_of_.end() ? program_ : found->second;
}

void TraceRecorder::Before(const Step& step, Frame& frame) {
  Resume(frame.grid_index());
  // Index maps run before their program begins, and so does the copy of a block that the one before it has left.
  const bool begun = program_at_.count({frame.grid_index().begin(), frame.grid_index().end()}) != 0;
  for_next_ = !begun && step.kind != StepKind::kFlush;
  if (MarkOf(step) != nullptr) return;  // an observable kernel's, which does nothing
  elements_ = 0;
  for (std::size_t i = 0; i < step.n_out; ++i)
    elements_ += static_cast<std::int64_t>(kernel_.program().slots[frame.out(step, i).index()].bytes / 4);
  if (Full()) {
    ++dropped_;
    return;
  }
  events_.push_back(
      {.name = NameOf(step), .begin = now_, .program = program_, .loc = step.loc, .text_line = step.text_line});
}

void TraceRecorder::After(const Step& step, Frame&) {
  if (MarkOf(step) != nullptr) return;
  const std::int64_t ticks = 1 + elements_ / kElementsPerTick;
  if (!Full() && !events_.empty()) {
    // The step's own event is the last one that is no engine's.
    for (std::size_t i = events_.size(); i-- > 0;) {
      if (events_[i].by_engine) continue;
      events_[i].ticks = ticks;
      break;
    }
  }
  now_ += ticks;
}

void TraceRecorder::Issued(const Who& who, const AsyncRequest& request) {
  if ((!who.at_once && request.block == nullptr) || Full() || memory_ == nullptr) return;
  const auto& destination = std::get<BoxAccess>(request.destinations[0].where);
  const std::string from(memory_->NameOf(request.sources[0].buffer())), to(memory_->NameOf(destination.buffer));
  std::int64_t elements = 1;
  for (int d = 0; d < destination.rank; ++d) elements *= destination.count[static_cast<std::size_t>(d)];
  events_.push_back({.name = Cat("copy ", from == to ? from : Cat(from, " to ", to)),
                     .begin = now_,
                     .ticks = 1 + elements / kElementsPerTick,
                     .program = program_,
                     .by_engine = true,
                     .loc = request.site.loc,
                     .text_line = request.site.text_line});
  if (who.at_once) open_copies_.push_back(static_cast<std::int64_t>(events_.size()) - 1);
}

void TraceRecorder::Awaited(const Who&, const WaitTarget& target) {
  if (target.queue != AsyncQueue::kBlocks) return;
  std::int64_t end = now_;
  const auto wait = static_cast<std::int64_t>(events_.size()) - 1;
  for (std::int64_t copy : open_copies_) {
    const TraceEvent& event = events_[static_cast<std::size_t>(copy)];
    end = std::max(end, event.begin + event.ticks);
    if (!Full() && flows_.size() < limits_.flows) flows_.push_back({copy, wait});
  }
  open_copies_.clear();
  elements_ = (end - now_) * kElementsPerTick;
}

void TraceRecorder::Record(const Who& who, TraceAccess access, BufferId buffer) {
  const auto operand = operand_of_buffer_.find(buffer.value);
  if (operand != operand_of_buffer_.end()) access.operand = operand->second;
  access.name = memory_ == nullptr ? "" : std::string(memory_->NameOf(buffer));
  access.by_engine = who.of_operation();
  if (who.of_engine() && !Full()) EngineEvent(who, access);
  std::int64_t elements = 1;
  for (std::int64_t count : access.count) elements *= count;
  if (!access.by_engine) elements_ = std::max(elements_, elements);
  if (!Full() && !events_.empty()) {
    access.event = static_cast<std::int64_t>(events_.size()) - 1;
    std::string& what = events_.back().what;
    if (what.size() < 400) Append(&what, what.empty() ? "" : "; ", BoxText(access));
    Follow(access, buffer);
  }
  if (accesses_ >= limits_.accesses) {
    ++dropped_;
    return;
  }
  std::vector<TraceAccess>& known =
      for_next_ && !access.by_engine ? of_next_ : programs_[static_cast<std::size_t>(ProgramOf(who))].accesses;
  const bool again = std::any_of(known.rbegin(), known.rbegin() + std::min<std::ptrdiff_t>(32, std::ssize(known)),
                                 [&](const TraceAccess& a) {
                                   return a.kind == access.kind && a.name == access.name && a.start == access.start &&
                                          a.count == access.count && a.text_line == access.text_line;
                                 });
  if (again) return;
  ++accesses_;
  known.push_back(std::move(access));
}

// The newest store whose box meets the load's.
void TraceRecorder::Follow(const TraceAccess& access, BufferId buffer) {
  Stored here{.low = access.start, .high = access.start, .event = access.event};
  for (std::size_t d = 0; d < here.high.size(); ++d) here.high[d] += (access.count[d] - 1) * access.step[d] + 1;
  std::vector<Stored>& stores = stores_[buffer.value];
  if (access.kind != AccessKind::kWrite) {
    const auto meets = [&](const Stored& store) {
      for (std::size_t d = 0; d < here.low.size(); ++d) {
        if (here.low[d] >= store.high[d] || store.low[d] >= here.high[d]) return false;
      }
      return true;
    };
    const auto found = std::find_if(stores.rbegin(), stores.rend(), meets);
    if (found != stores.rend() && found->event != access.event && flows_.size() < limits_.flows)
      flows_.push_back({found->event, access.event});
  }
  if (access.kind == AccessKind::kRead) return;
  if (stores.size() == kRememberedStores) stores.erase(stores.begin());
  stores.push_back(std::move(here));
}

void TraceRecorder::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                        const std::byte*) {
  if (reach.empty) return;
  TraceAccess recorded{
      .kind = kind, .exact = access.mask.lanes == nullptr, .loc = access.site.loc, .text_line = access.site.text_line};
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    recorded.start.push_back(access.start[d]);
    recorded.count.push_back(access.step[d] == 0 ? 1 : access.count[d]);
    recorded.step.push_back(access.step[d] == 0 ? 1 : access.step[d]);
  }
  Record(who, std::move(recorded), access.buffer);
}

void TraceRecorder::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (memory_ == nullptr) return;
  const absl::Span<const std::int64_t> shape = memory_->ShapeOf(access.buffer);
  const std::int64_t bytes = memory_->ElementSizeOf(access.buffer).value();
  std::vector<std::int64_t> low(shape.size(), -1), high(shape.size(), -1);
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (!memory_model::Touches(access, p)) continue;
    std::int64_t element = access.offset[p] / bytes;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::int64_t i = element % shape[d];
      element /= shape[d];
      low[d] = low[d] < 0 ? i : std::min(low[d], i);
      high[d] = std::max(high[d], i);
    }
  }
  if (!shape.empty() && low[0] < 0) return;  // no lane touches the array
  TraceAccess recorded{.kind = kind, .exact = false, .loc = access.site.loc, .text_line = access.site.text_line};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    recorded.start.push_back(low[d]);
    recorded.count.push_back(high[d] - low[d] + 1);
    recorded.step.push_back(1);
  }
  Record(who, std::move(recorded), access.buffer);
}

}  // namespace palladion::debug
