#include "emu/timing/base/placed_steps.h"

#include "semantics/base/cat.h"
#include "semantics/program/mark.h"

namespace palladion::timing::base {

absl::StatusOr<std::vector<std::int32_t>> InstructionsOfSteps(
    const Program& program, const absl::flat_hash_map<const Instr*, std::int32_t>& number_of) {
  std::vector<std::int32_t> of_step, around = {kNoInstruction};
  for (const Step& step : program.steps) {
    const Mark* const mark = MarkOf(step);
    const bool of_instr = mark != nullptr && mark->instr != nullptr;
    if (of_instr && !number_of.contains(mark->instr))
      return absl::InternalError(Cat("a step of line ", mark->instr->text_line, " is of no instruction of the kernel"));
    if (of_instr && mark->kind == Mark::Kind::kBegin) around.push_back(number_of.at(mark->instr));
    of_step.push_back(of_instr ? number_of.at(mark->instr) : around.back());
    if (of_instr && mark->kind == Mark::Kind::kFinish) around.pop_back();
  }
  if (around.size() == 1) return of_step;
  return absl::InternalError("the marks of an observable program do not come in pairs; please report this kernel");
}

}  // namespace palladion::timing::base
