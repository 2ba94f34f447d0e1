// Program order and its reverse: no chance at all.
#include "scheduler/policies/policies.h"

namespace palladion::scheduler {
namespace {

class ProgramOrder final : public Policy {
 public:
  std::size_t Choose(const Choice& choice) override { return DefaultChoice(choice); }
};

class Reverse final : public Policy {
 public:
  std::size_t Choose(const Choice& choice) override {
    if (choice.current != Choice::kNone) return choice.current;
    std::size_t last = choice.candidates.size() - 1;
    if (!choice.tired.valid()) return last;
    for (std::size_t i = last + 1; i-- > 0;) {
      if (choice.candidates[i].id < choice.tired) return i;
    }
    return last;
  }
};

}  // namespace

std::unique_ptr<Policy> MakeProgramOrder() { return MakeEnginesFirst(std::make_unique<ProgramOrder>()); }

std::unique_ptr<Policy> MakeReverse() { return std::make_unique<Reverse>(); }

}  // namespace palladion::scheduler
