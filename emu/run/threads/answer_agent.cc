#include "emu/run/threads/answer_agent.h"

#include <utility>

#include "emu/run/threads/footprints.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

AnswerAgent::AnswerAgent(ThreadMachine& machine, std::shared_ptr<Request> request, WorkChoice choice,
                         AgentsAround& around)
    : machine_(machine), request_(std::move(request)), choice_(choice), around_(around) {
  const AsyncRequest& async = machine_.model().RequestOf(request_->operation);
  next_ = {.footprint = FootprintOf(machine_, AnswerRequest{request_->operation}),
           .loc = async.site.loc,
           .text_line = async.site.text_line};
  const std::string request_name = machine_.model().agents().NameOf(request_->operation);
  name_ = Cat(request_name, choice.has_value() ? Cat(", answer ", *choice) : ", refused");
}

absl::Status AnswerAgent::Resume(scheduler::Gate& gate) {
  if (!gate.TakeGrant() && !gate.MayGo(next_)) return absl::OkStatus();
  done_ = true;
  if (machine_.touches() != nullptr) machine_.touches()->Everything();
  if (std::exchange(request_->answered, true)) return absl::OkStatus();
  around_.EngineResumes(ordinal_);
  machine_.launch_control().Answer(choice_);
  machine_.Perform(request_->operation, Half::kWrite);
  around_.EngineEnds(ordinal_);
  return absl::OkStatus();
}

}  // namespace palladion::threads
