// Program order and its reverse: no chance at all.
#include "scheduler/policies/policies.h"

namespace palladion::scheduler {
namespace {

class ProgramOrder final : public Policy {
 public:
  const Candidate& Choose(const Choice& choice) override { return DefaultChoice(choice); }
};

class Reverse final : public Policy {
 public:
  const Candidate& Choose(const Choice& choice) override {
    if (choice.current != nullptr) return *choice.current;
    const Candidate* const before = choice.tired.valid() ? choice.candidates.Before(choice.tired) : nullptr;
    return before != nullptr ? *before : choice.candidates.back();
  }
};

}  // namespace

std::unique_ptr<Policy> MakeProgramOrder() { return MakeEnginesFirst(std::make_unique<ProgramOrder>()); }

std::unique_ptr<Policy> MakeReverse() { return std::make_unique<Reverse>(); }

}  // namespace palladion::scheduler
