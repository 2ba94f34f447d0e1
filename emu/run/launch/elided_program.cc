#include "emu/run/launch/elided_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/oblivious.h"
#include "semantics/program/strips.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

struct SkipParams {
  std::size_t next;
};

absl::Status RunSkip(const void* params, const Step&, Frame& frame) {
  frame.JumpTo(static_cast<const SkipParams*>(params)->next);
  return absl::OkStatus();
}

bool OnlyValues(const Instr& op, const Obliviousness& facts) {
  return op.row->effect == Effect::kPure &&
         std::none_of(op.results.begin(), op.results.end(), [&](ValueId value) { return facts.Needs(value); });
}

class Elision {
 public:
  Elision(const Program& program, const Obliviousness& facts) : program_(program), facts_(facts) {}

  Program Take() && {
    for (std::size_t i = program_.steps.size(); i-- > 0;) {
      Step& step = program_.steps[i];
      if (step.kind == StepKind::kStrips) TrimStrips(step);
      const bool skips = step.value != nullptr ? step.op != nullptr && OnlyValues(*step.op, facts_)
                                               : step.kind == StepKind::kStrips && Ops(step).empty();
      if (skips) Skip(i);
    }
    program_.wants_threads = false;
    return std::move(program_);
  }

 private:
  static const std::vector<StripOp>& Ops(const Step& step) { return static_cast<const StripParams*>(step.params)->ops; }

  template <class P>
  void SetParams(Step& step, P params) {
    auto owned = std::make_shared<const P>(std::move(params));
    step.params = owned.get();
    program_.owned.push_back(std::move(owned));
  }

  void TrimStrips(Step& step) {
    StripParams params = *static_cast<const StripParams*>(step.params);
    std::erase_if(params.ops, [&](const StripOp& op) { return op.op != nullptr && OnlyValues(*op.op, facts_); });
    SetParams(step, std::move(params));
  }

  // A jump may end at any of several skipped steps, so each knows where to go on.
  void Skip(std::size_t i) {
    Step& step = program_.steps[i];
    std::size_t next = i + 1;
    if (next < program_.steps.size() && program_.steps[next].kind == StepKind::kSkip)
      next = static_cast<const SkipParams*>(program_.steps[next].params)->next;
    step.value = nullptr;
    step.fn = RunSkip;
    step.kind = StepKind::kSkip;
    step.work = 0;
    SetParams(step, SkipParams{next});
  }

  Program program_;
  const Obliviousness& facts_;
};

// Flushes of a block whose array the kernel also reads are judged by what they change.
bool LooksAtValues(const Program& program) {
  return std::any_of(program.operand_infos.begin(), program.operand_infos.end(),
                     [](const OperandInfo& info) { return info.mode == BlockMode::kResident && info.alias >= 0; });
}

bool Prints(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return op.row->effect == Effect::kPrints || std::any_of(op.regions.begin(), op.regions.end(), Prints);
  });
}

std::unique_ptr<const kernel::PreparedKernelState> Elided(const kernel::PreparedKernelState& kernel,
                                                          const Obliviousness& facts) {
  if (!facts.oblivious || LooksAtValues(kernel.program())) return nullptr;
  auto program = std::make_shared<const Program>(Elision(kernel.program(), facts).Take());
  return std::unique_ptr<const kernel::PreparedKernelState>(
      new kernel::PreparedKernelState(kernel.With(std::move(program))));
}

// Only arrays, and scratch that a launch makes, can move while others do not.
bool CanMove(const Program& program, const std::vector<bool>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] && program.operand_infos[i].mode != BlockMode::kWhole) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<const kernel::PreparedKernelState> ElidedKernel(const kernel::PreparedKernelState& kernel) {
  const bool threads = ExecutionModeOf(kernel.program(), {.purpose = Purpose::kSchedule}) == ExecutionMode::kThreads;
  return threads ? Elided(kernel, ObliviousnessOf(kernel.text())) : nullptr;
}

WithoutValues KernelWithoutValues(const kernel::PreparedKernelState& kernel) {
  const std::vector<Body>& bodies = kernel.text().bodies;
  if (std::any_of(bodies.begin(), bodies.end(), [](const Body& body) { return Prints(body.region); })) return {};
  const Obliviousness facts = ObliviousButForOperands(kernel.text());
  if (!CanMove(kernel.program(), facts.contents)) return {};
  return {.kernel = Elided(kernel, facts), .moved = facts.contents};
}

}  // namespace palladion::launch
