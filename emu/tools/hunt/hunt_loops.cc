#include "emu/tools/hunt/hunt_loops.h"

namespace palladion::hunt {

// The flag: of programs an element that is exchanged and updated by nothing, of others a semaphore that is read.
void WaitInALoop(scheduler::Random* random, HuntKernel* kernel, std::vector<Op>* from, std::vector<Op>* to) {
  const auto below = [&](int n) { return static_cast<int>(random->Below(static_cast<std::uint64_t>(n))); };
  const int row = below(kernel->rows), flag = (row + 1) % kernel->rows;
  const bool programs = kernel->family == Family::kPrograms;
  const bool block = kernel->family == Family::kThreads && kernel->blocks == 1;
  const Array array = block && below(2) == 0 ? Array::kShared : Array::kM;
  const std::int64_t amount = programs ? 700 + below(90) : 1 + below(2), stored = 800 + below(90);
  if (!programs && (kernel->semaphores == 0 || (kernel->semaphores == 1 && below(2) == 0))) ++kernel->semaphores;
  const int semaphore = programs ? 0 : below(kernel->semaphores);
  from->push_back({.what = What::kStore, .array = array, .row = row, .amount = stored});
  if (programs) {
    from->push_back({.what = What::kExchange, .part = Part::kFirst, .row = flag, .amount = amount});
  } else {
    from->push_back({.what = What::kSignal, .object = semaphore, .amount = amount});
  }
  to->push_back({.what = What::kSpin, .part = Part::kFirst, .object = semaphore, .row = flag, .amount = amount});
  if (!programs && below(2) == 0) to->push_back({.what = What::kSemWait, .object = semaphore, .amount = amount});
  to->push_back({.what = What::kLoad, .array = array, .row = row});
}

}  // namespace palladion::hunt
