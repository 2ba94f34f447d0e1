#include "memory_model/sweep/witness.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element_index.h"

namespace palladion::memory_model {
void Witness::Ask(const Memory& memory, const SweepConflict& conflict) {
  Question question{.buffer = conflict.buffer, .byte = conflict.byte};
  const ElementCount element = conflict.byte / memory.ElementSizeOf(conflict.buffer);
  question.index = IndexOfElement(memory.ShapeOf(conflict.buffer), element.value());
  question.program = conflict.program;
  question.kind = conflict.kind;
  question.text_line = conflict.text_line;
  const bool inherited = conflict.rule == ConflictRule::kInherited;
  question.latest = inherited && conflict.kind != AccessKind::kWrite;
  const bool reads = conflict.kind == AccessKind::kRead || question.latest;
  question.wanted = reads ? kWriteKind | kAtomicKind : kReadKind;
  if (conflict.rule == ConflictRule::kWriteWrite)
    question.wanted = conflict.kind == AccessKind::kAtomic ? kWriteKind : kWriteKind | kAtomicKind;
  questions_.push_back(std::move(question));
}

void Witness::AskFirstWriter(const Memory& memory, BufferId buffer, ByteCount byte,
                             absl::Span<const std::int64_t> program) {
  Question question{.buffer = buffer, .byte = byte};
  question.index = IndexOfElement(memory.ShapeOf(buffer), (byte / memory.ElementSizeOf(buffer)).value());
  question.program.assign(program.begin(), program.end());
  question.wanted = kWriteKind;
  question.same_task = true;
  questions_.push_back(std::move(question));
}

void Witness::Consider(Question& question, AccessKind kind, const Site& site, const std::string& box) {
  const bool same_task = clock_.SameTask(question.program, clock_.program());
  const bool is_later = !question.same_task && clock_.program() == question.program && kind == question.kind &&
                        site.text_line == question.text_line;
  // A read of what the same task wrote is in no conflict that the write is not in.
  const bool of_own = kind == AccessKind::kRead && question.written_by == clock_.task();
  if (kind != AccessKind::kRead) question.written_by = clock_.task();
  if (question.closed) return;
  if (is_later) {
    question.closed = true;
    if (of_own) question.answer.reset();
    return;
  }
  if (same_task != question.same_task || (KindSetOf(kind) & question.wanted) == 0 || of_own) return;
  if (question.answer.has_value() && !question.latest) return;
  const absl::Span<const std::int64_t> program = clock_.program();
  question.answer = WitnessAccess{.kind = kind,
                                  .program = {program.begin(), program.end()},
                                  .box = box,
                                  .loc = site.loc,
                                  .text_line = site.text_line};
}

void Witness::Box(const Who& who, AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte*) {
  if (who.of_engine() || reach.empty || reach.none_copied) return;
  for (Question& question : questions_) {
    if (question.buffer != access.buffer || !HoldsElement(access, reach, question.index)) continue;
    ElementBox box;
    ExtentOf(access, reach, &box);
    Consider(question, kind, access.site, ToString(box));
  }
}

void Witness::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (who.of_engine()) return;
  const ByteCount piece(static_cast<std::int64_t>(access.piece_bytes));
  for (Question& question : questions_) {
    if (question.buffer != access.buffer) continue;
    for (std::size_t p = 0; p < access.offset.size(); ++p) {
      const ByteCount offset(access.offset[p]);
      if (!Touches(access, p) || question.byte < offset || question.byte >= offset + piece) continue;
      Consider(question, kind, access.site, Cat("[", absl::StrJoin(question.index, ", "), "]"));
      break;
    }
  }
}

}  // namespace palladion::memory_model
