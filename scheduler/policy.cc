#include "scheduler/policy.h"

namespace palladion::scheduler {

const Candidate& DefaultChoice(const Choice& choice) {
  if (choice.current != nullptr) return *choice.current;
  const Candidate* const after = choice.tired.valid() ? choice.candidates.After(choice.tired) : nullptr;
  return after != nullptr ? *after : choice.candidates.front();
}

}  // namespace palladion::scheduler
