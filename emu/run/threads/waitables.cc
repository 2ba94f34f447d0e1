#include "emu/run/threads/waitables.h"

#include <algorithm>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

// Of ids with nothing behind them: an element that is not there, which a finding has reported. A loop that looks there
// never sees a change.
class NoObject : public Waitable {
 public:
  bool CanWait(AgentId, const WaitTarget&) const override { return true; }
  void Wait(AgentId, const WaitTarget&, const Site&) override {}
  absl::Status Arrive(const Asker&, const Arrival&) override { return absl::OkStatus(); }
  absl::StatusOr<std::int64_t> Poll(const Asker&, const WaitTarget&) override { return 0; }
  std::string Describe(AgentId, const WaitTarget&) const override { return "an element that does not exist"; }
  std::int64_t Object(AgentId, const WaitTarget&) const override { return kNoObject; }
  std::optional<bool> ThreadMaySignal(AgentId, const Other&) const override { return false; }

 private:
  static constexpr std::int64_t kNoObject = -2;  // no object's number, nor scheduler::Operation::kUnknown
};

// Of copies of blocks, which the memory has completed where they were issued.
class BlockCopies final : public NoObject {
  bool IsVisible() const override { return false; }
};

}  // namespace

absl::Status Waitable::Arrive(const Asker& asker, const Arrival& arrival) {
  return absl::InternalError(
      ToAbsl(Cat("no agent arrives at what ", Describe(asker.agent, arrival.at), " stands for")));
}

absl::StatusOr<std::int64_t> Waitable::Poll(const Asker& asker, const WaitTarget& target) {
  return absl::InternalError(ToAbsl(Cat(Describe(asker.agent, target), " can only be waited for")));
}

void Waitable::ReportTouches(AgentId thread, const WaitTarget& target, ThreadTouches* touches) const {
  touches->Object(Object(thread, target));
}

ShownArrival Waitable::ShowArrival(AgentId agent, const Arrival& arrival) const {
  const std::string name = Name(agent, arrival.at);
  return {.name = name, .words = Cat("arrives at ", name), .key = {Object(agent, arrival.at)}};
}

ShownWait Waitable::ShowWait(AgentId agent, const WaitTarget& target) const {
  const std::string name = Name(agent, target);
  return {.name = name, .words = Cat("waits for ", name), .keys = {{Object(agent, target)}}};
}

bool Completes(const AsyncRequest& request, std::int64_t object) {
  return std::any_of(request.completions.begin(), request.completions.end(),
                     [&](const Completion& completion) { return ObjectOf(completion) == object; });
}

std::string WordsFor(const memory_model::WaitRecord& wait) {
  return Cat(wait.object, " (needs ", wait.needs, ", has ", wait.has, ")");
}

std::unique_ptr<Waitable> AlwaysThere(const WaitableParts&) { return std::make_unique<NoObject>(); }
std::unique_ptr<Waitable> BlockCopyWaits(const WaitableParts&) { return std::make_unique<BlockCopies>(); }

Waitables::Waitables(const WaitableParts& parts) {
  for (const WaitableRow& row : kWaitables) of_[static_cast<std::size_t>(row.id)] = row.make(parts);
}

}  // namespace palladion::threads
