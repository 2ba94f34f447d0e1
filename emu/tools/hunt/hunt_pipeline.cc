// The pipeline of a TPU kernel of the hunt, step by step. Rules: docs/spec/grid.md#residency, docs/spec/races.md#alias,
// and JAX's emit_pipeline (jax/_src/pallas/mosaic/pipeline.py), which fetches, waits, flushes and awaits in this order.
#include "emu/tools/hunt/hunt_tpu.h"

namespace palladion::hunt {
namespace {

// The blocks of one operand.
class Blocks {
 public:
  Blocks(const HuntKernel& kernel, const Blocked& blocked) : kernel_(kernel), blocked_(blocked) {}

  int Row(int step) const { return blocked_.Row(step, kernel_.rows); }
  bool IsNew(int step) const { return step == 0 || Row(step) != Row(step - 1); }
  bool IsLast(int step) const { return step + 1 == kernel_.steps || IsNew(step + 1); }
  // The slot changes when the row does.
  int Slot(int step) const {
    int changes = 0;
    for (int i = 1; i <= step; ++i) changes += IsNew(i);
    return blocked_.single ? 0 : changes % 2;
  }
  Instr Do(What what, int step) const { return {.what = what, .place = Row(step), .slot = Slot(step)}; }

 private:
  const HuntKernel& kernel_;
  const Blocked& blocked_;
};

}  // namespace

std::vector<Instr> PipelineBefore(const HuntKernel& kernel, int step) {
  std::vector<Instr> code;
  const Blocks in(kernel, kernel.in_block), out(kernel, kernel.out_block);
  if (kernel.in_block.on) {
    const bool single = kernel.in_block.single;
    if (single ? in.IsNew(step) : step == 0) code.push_back(in.Do(What::kFetchStart, step));
    if (!single && step + 1 < kernel.steps && in.IsNew(step + 1)) code.push_back(in.Do(What::kFetchStart, step + 1));
    if (in.IsNew(step)) code.push_back(in.Do(What::kFetchWait, step));
  }
  if (kernel.out_block.on && out.IsNew(step)) code.push_back(out.Do(What::kNewBlock, step));
  return code;
}

std::vector<Instr> PipelineAfter(const HuntKernel& kernel, int step) {
  std::vector<Instr> code;
  if (!kernel.out_block.on) return code;
  const Blocks out(kernel, kernel.out_block);
  const bool last = step + 1 == kernel.steps;
  if (out.IsLast(step)) code.push_back(out.Do(What::kFlushStart, step));
  if (step > 0 && out.IsNew(step)) code.push_back(out.Do(What::kFlushWait, step - 1));
  if (last || (kernel.out_block.single && out.IsLast(step))) code.push_back(out.Do(What::kFlushWait, step));
  return code;
}

}  // namespace palladion::hunt
