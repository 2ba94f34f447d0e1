#include "emu/run/launch/equal_writes.h"

#include <algorithm>

#include "emu/run/threads/thread_machine.h"
#include "semantics/base/cat.h"

namespace palladion::launch {

agents::LaunchOptions EqualWrites::Again(const agents::LaunchOptions& launch) {
  agents::LaunchOptions again = launch;
  again.observers = {this};
  again.ran = {};
  again.contracts = nullptr;
  again.definedness = true;  // what is undefined is equal to nothing
  again.found_before_error = nullptr;
  return again;
}

void EqualWrites::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const OperandInfo& info = program_.operand_infos[i];
    const bool written = info.role == Role::kOut || (info.written && info.role != Role::kScratch);
    if (arrays[i].valid() && written) Watch(memory, arrays[i]);
  }
}

void EqualWrites::Watch(const memory_model::Memory& memory, BufferId array) {
  values_.Watch(memory, array);
  arrays_.emplace_back(memory.NameOf(array), array);
}

bool EqualWrites::Of(const Finding& finding) const {
  return std::any_of(arrays_.begin(), arrays_.end(), [&](const auto& array) {
    return array.first == finding.second->object &&
           Of(array.second, finding.first->text_line, finding.second->text_line);
  });
}

bool EqualWrites::IsOfWrites(const Finding& finding, absl::Span<const Finding> found) const {
  if (finding.code != FindingCode::kRaceReadWrite) return false;
  const bool reads_first = finding.first->kind == AccessKind::kRead;
  const FindingAccess& read = reads_first ? *finding.first : *finding.second;
  const FindingAccess& write = reads_first ? *finding.second : *finding.first;
  // For the write that is reported with it, the other side is the reader's own.
  const auto is_own = [&](int own_line) {
    return std::any_of(arrays_.begin(), arrays_.end(), [&](const auto& array) {
      return array.first == write.object && values_.ReadsOwn(array.second, read.text_line, write.text_line, own_line);
    });
  };
  return std::any_of(found.begin(), found.end(), [&](const Finding& other) {
    const bool writes = IsWriteWrite(other) || other.code == FindingCode::kSameValue;
    if (!writes || other.second->object != write.object) return false;
    const int a = other.first->text_line, b = other.second->text_line;
    return (a == write.text_line && is_own(b)) || (b == write.text_line && is_own(a));
  });
}

void EqualWrites::SetProgram(absl::Span<const std::int64_t> index) {
  if (machine_ != nullptr) return;
  parallel_.clear();
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (program_.dim_order[d] == DimOrder::kParallel) parallel_.push_back(index[d]);
  }
  const auto [task, is_new] = tasks_.try_emplace(parallel_, task_);
  if (is_new && tasks_.size() > 1) task->second = NewWriter();
  task_ = task->second;
}

memory_model::WriterId EqualWrites::Writer(const Who& who) {
  if (machine_ == nullptr) return task_;
  if (who.of_engine()) return NewWriter();
  const auto [agent, is_new] = agents_.try_emplace(who.agent);
  if (is_new) agent->second = NewWriter();
  return agent->second;
}

void EqualWrites::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                      const std::byte* value) {
  if (kind == AccessKind::kRead) return values_.ReadBox(Writer(who), access, reach);
  values_.Box(Writer(who), kind, access, reach, value);
}

void EqualWrites::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (kind == AccessKind::kRead) return values_.ReadPoints(Writer(who), access);
  values_.Points(Writer(who), kind, access, value);
}

void SayEqual(Finding& finding, std::string_view joint) {
  finding.code = FindingCode::kSameValue;
  finding.severity = RowOf(finding.code).severity;
  Append(&finding.message, joint, "every write stores the same bytes");
}

}  // namespace palladion::launch
