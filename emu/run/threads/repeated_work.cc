#include "emu/run/threads/repeated_work.h"

#include <algorithm>
#include <utility>

#include "memory_model/sets/access_box.h"
#include "memory_model/sets/operand_set.h"
#include "semantics/registry/cluster_launch_control.h"

namespace palladion::threads {

bool RepeatedWork::May(const Kernel& kernel) { return ReadsAnswersTwice(kernel); }

void RepeatedWork::Bytes::Add(memory_model::ByteRange range) {
  auto next = end_of_.upper_bound(range.begin);
  if (next != end_of_.begin() && std::prev(next)->second >= range.begin) --next;
  while (next != end_of_.end() && next->first <= range.end) {
    range.begin = std::min(range.begin, next->first);
    range.end = std::max(range.end, next->second);
    next = end_of_.erase(next);
  }
  end_of_[range.begin] = range.end;
}

bool RepeatedWork::Bytes::Has(memory_model::ByteRange range) const {
  const auto next = end_of_.lower_bound(range.end);  // those before it begin before the range's end
  return next != end_of_.begin() && std::prev(next)->second > range.begin;
}

RepeatedWork::RepeatedWork(const memory_model::Memory& memory, ThreadMachine& machine,
                           std::function<bool(BufferId)> is_output)
    : memory_(memory), machine_(machine), is_output_(std::move(is_output)) {
  machine_.launch_control().OnRead([this](const AnswerReading& reading) { Read(reading); });
}

void RepeatedWork::Read(const AnswerReading& reading) {
  std::deque<Answer>& known = answers_[reading.thread.value];
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](const Answer& answer) { return answer.first.serial == reading.serial; });
  if (same == known.end()) {
    known.push_back({.first = reading, .again = std::nullopt, .written = {}});
    if (known.size() > kRemembered) known.pop_front();
  } else if (!same->again.has_value() && same->first.site.text_line != reading.site.text_line) {
    same->again = reading;
  }
}

void RepeatedWork::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                       const std::byte*) {
  if (kind == AccessKind::kRead || who.of_engine() || reach.empty || reach.none_copied) return;
  Write(who.agent, access.buffer,
        memory_model::SetOf(memory_.ShapeOf(access.buffer), memory_.ElementSizeOf(access.buffer), access, reach));
}

void RepeatedWork::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (kind == AccessKind::kRead || who.of_engine()) return;
  Write(who.agent, access.buffer, memory_model::SetOf(access));
}

void RepeatedWork::Issued(const Who& who, const AsyncRequest& request) {
  for (const AsyncOperand& operand : request.destinations) {
    const BufferId array = operand.buffer();
    Write(who.agent, array, memory_model::SetOfOperand(operand, memory_.ShapeOf(array), memory_.ElementSizeOf(array)));
  }
}

std::vector<memory_model::ByteRange> RepeatedWork::RangesOf(BufferId array, const memory_model::AccessSet& set) const {
  if (!set.is_box) return set.ranges;
  std::vector<memory_model::ByteRange> ranges;
  memory_model::ForEachRun(set.box, memory_.ShapeOf(array), memory_.ElementSizeOf(array),
                           [&](std::int64_t begin, std::int64_t end) {
                             ranges.push_back({begin, end});
                           });
  return ranges;
}

void RepeatedWork::Write(AgentId writer, BufferId array, const memory_model::AccessSet& set) {
  if (answers_.empty() || !is_output_(array)) return;
  if (machine_.model().agents().RoleOf(writer) == AgentRole::kLaunch) return;  // a copy of the launch before this one
  const std::vector<memory_model::ByteRange> ranges = RangesOf(array, set);
  WriteBy(writer, array, ranges);
  const Thread& thread = machine_.residents().Of(writer);
  if (thread.is_warp()) WriteBy(thread.parent, array, ranges);
}

void RepeatedWork::WriteBy(AgentId reader, BufferId array, absl::Span<const memory_model::ByteRange> ranges) {
  const auto known = answers_.find(reader.value);
  if (known == answers_.end()) return;
  for (Answer& answer : known->second) {
    Bytes& written = answer.written[array.value];
    for (const memory_model::ByteRange& range : ranges) {
      if (!answer.again.has_value()) {
        written.Add(range);
      } else if (written.Has(range)) {
        machine_.launch_control().ReportTwice(*answer.again, answer.first.site, memory_.NameOf(array));
        answer.written.clear();  // reported
        break;
      }
    }
  }
}

}  // namespace palladion::threads
