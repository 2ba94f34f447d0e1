#include "emu/gpu/engine_agent.h"

namespace palladion {

EngineAgent::EngineAgent(GpuMachine& machine, AgentId operation, EngineHost& all)
    : machine_(machine),
      operation_(operation),
      all_(all),
      half_(request().sources.empty() ? Half::kWrite : Half::kRead),
      condition_(*this) {}

bool EngineAgent::HalfCondition::MaySignal(AgentOrdinal other) const {
  const EngineAgent* engine = agent_.all_.EngineOf(other);
  return engine != nullptr && engine->request().queue == agent_.request().queue;
}

Operation EngineAgent::Next() const {
  const AsyncRequest& asked = request();
  Operation next{.loc = asked.site.loc, .text_line = asked.site.text_line};
  if (asked.queue.valid()) {
    next.waits_for = &condition_;
    next.footprint.Add({.object = machine_.ObjectOf(asked.queue)});
  }
  if (half_ == Half::kRead) {
    for (const AsyncOperand& from : asked.sources) next.footprint.Add({.object = from.buffer().value, .writes = false});
    return next;
  }
  for (const AsyncOperand& to : asked.destinations) next.footprint.Add({.object = to.buffer().value});
  for (const Completion& completion : asked.completions) {
    next.footprint.Add({.object = GpuMachine::ObjectOf(completion)});
  }
  return next;
}

absl::Status EngineAgent::Resume(Gate& gate) {
  all_.Runs(ordinal_);
  while (gate.TakeGrant() || gate.MayGo(Next())) {
    machine_.Perform(operation_, half_);
    if (half_ == Half::kWrite) {
      all_.Ends(operation_);
      done_ = true;
      break;
    }
    half_ = Half::kWrite;
  }
  return absl::OkStatus();
}

}  // namespace palladion
