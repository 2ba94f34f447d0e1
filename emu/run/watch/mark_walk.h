// The current position of an agent in the kernel's text: the enclosing instructions, and the iteration of each loop.
// For hooks on observable programs. emu/run/watch/agent_states.h keeps one for each agent.
#ifndef PALLADION_EMU_RUN_WATCH_MARK_WALK_H_
#define PALLADION_EMU_RUN_WATCH_MARK_WALK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "semantics/program/mark.h"

namespace palladion::watch {

class MarkWalk {
 public:
  struct Level {
    const Instr* instr;
    std::array<std::int64_t, 2> entered{};  // how often, of a loop's condition and body; of a scan the body is first
    std::size_t region = 0;                 // the current one
  };

  // Every mark, in order. A finished instruction is not current any more.
  void Pass(const Mark& mark);

  // The current instructions, outermost first.
  const std::vector<Level>& levels() const { return levels_; }

  // "2.0": the iterations of the current loops, outermost first, counted from 0; "" outside loops.
  std::string Iterations() const;

 private:
  std::vector<Level> levels_;
};

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_MARK_WALK_H_
