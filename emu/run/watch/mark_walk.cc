#include "emu/run/watch/mark_walk.h"

#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::watch {

void MarkWalk::Pass(const Mark& mark) {
  switch (mark.kind) {
    case Mark::Kind::kBegin:
      levels_.push_back({.instr = mark.instr});
      return;
    case Mark::Kind::kEnter:
      if (mark.instr == nullptr) {
        levels_.clear();
        return;
      }
      levels_.back().region = static_cast<std::size_t>(mark.region - mark.instr->regions.data());
      if (IsLoop(*mark.instr->row)) ++levels_.back().entered[levels_.back().region];
      return;
    case Mark::Kind::kLeave:
      return;
    case Mark::Kind::kFinish:
      levels_.pop_back();
      return;
  }
}

std::string MarkWalk::Iterations() const {
  std::string text;
  for (const Level& level : levels_) {
    if (!IsLoop(*level.instr->row) || level.entered[level.region] == 0) continue;
    Append(&text, text.empty() ? "" : ".", level.entered[level.region] - 1);
  }
  return text;
}

}  // namespace palladion::watch
