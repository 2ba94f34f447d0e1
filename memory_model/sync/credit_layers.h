// Are the waits of one semaphore determinate: does each take the same credits in every schedule that shares the order
// so far? They are if the signals form layers. A layer is what the next wait takes, and each signal of a later layer,
// or one that no wait takes, happens after every signal of the layer. As long as one signal of a layer is missing,
// there is none of a later layer, and the count is too small for the wait: no other credit can stand for the missing
// one. Waits that take credits must be ordered as well: each begins after the one before it, in happens-before. Waits
// of one agent with nothing between them that another agent, or an engine, could see are one wait for their sum: which
// of them took what has no effect. The argument: docs/explanation/checks.md. Limits: it is conservative. It looks at
// the credits that a run took, oldest first, and withholds the fact where other credits could have taken their place,
// whether or not that would have mattered.
#ifndef PALLADION_MEMORY_MODEL_SYNC_CREDIT_LAYERS_H_
#define PALLADION_MEMORY_MODEL_SYNC_CREDIT_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "memory_model/order/clock.h"

namespace palladion::memory_model {

class CreditLayers {
 public:
  // `done`: the signaller's own part of it, `known` all that it publishes.
  void Signal(const Epoch& done, const VectorClock& known, std::int64_t amount);

  // A wait that goes, before it learns anything.
  struct Wait {
    Epoch at;                  // the waiter's own time
    const VectorClock& known;  // what it knew
    std::uint64_t acts = 0;    // AgentTable::ActsOf
    bool first = true;         // no other wait since its last act
    std::int64_t value = 1;
    bool decrement = true;
    bool whole = false;  // a part of a credit cannot be distinguished
  };
  void Take(const Wait& wait);

  // What it knows is not enough to judge.
  void Withhold();

  // Could a wait so far have taken other credits?
  bool race() const;

  // f(agent) for each one of which it will ask whether a clock knows.
  template <class F>
  void ForEachAgent(const F& f) const {
    for (const Layer& layer : layers_) {
      for (const Credit& credit : layer.credits) f(credit.done.who);
    }
    for (const Credit& credit : open_) f(credit.done.who);
  }

 private:
  struct Credit {
    Epoch done;
    VectorClock known;
    std::int64_t amount = 0;
  };
  struct Layer {
    std::int64_t sum = 0;    // with all layers before
    std::int64_t least = 0;  // of its credits
    VectorClock done;        // of all of them
    std::vector<Credit> credits;
    // Does a wait for so much need each of them?
    bool NeedsAllFor(std::int64_t upto, bool whole) const;
  };
  static Layer FirstOf(std::deque<Credit>* credits, std::int64_t before, std::int64_t upto);
  static bool AllFollow(const std::deque<Credit>& credits, const Layer& layer);
  bool MayFollow(const Wait& wait) const;
  bool Settled();  // what has been taken ends a layer
  bool EndsAt(std::int64_t upto, bool whole);
  bool Divide(std::ptrdiff_t which, std::int64_t upto);

  bool race_ = false;
  bool takes_ = false, looks_ = false;  // waits with decrement, and without
  // Of waits with decrement: all that they took, which is looked at when the agent of the last one has acted.
  std::int64_t taken_ = 0;
  std::optional<Epoch> last_wait_;
  std::uint64_t acts_ = 0;
  bool whole_ = false;
  std::vector<Layer> layers_;  // where waits take, the last one
  std::deque<Credit> open_;    // after all layers, oldest first
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_CREDIT_LAYERS_H_
