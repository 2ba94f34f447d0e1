// Records what each program of a launch does, instruction by instruction in the order of the text: what it read and
// wrote, and on request the first elements of what it computed. For the page that steps through a program
// (trace_page.h); the kernel must be observable (PrepareOptions). The steps of an agent are kept together, each with
// its place in the order in which the steps of all agents began. What it leaves out: steps past the limit, which are
// counted, and whether an element is defined: an undefined float is shown as the NaN that it holds.
#ifndef PALLADION_EMU_TOOLS_DEBUG_STEP_RECORDER_H_
#define PALLADION_EMU_TOOLS_DEBUG_STEP_RECORDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/watch/agent_states.h"

namespace palladion::debug {

struct StepLimits {
  std::size_t steps = 60000;
  std::size_t elements = 0;  // of values, of all steps together; 0: no values are wanted
};

// The first elements of a value: at most 8 rows and columns of its last two dimensions, of the others index 0.
struct ShownValue {
  std::string name;  // "%5"; "" of what has none
  std::string type;
  std::int64_t rows = 0, columns = 0;
  std::vector<std::string> elements;
};

struct StepAccess {
  AccessKind kind = AccessKind::kRead;
  std::string name, box;  // "x_ref", "[0:8, 3]"
};

struct RecordedStep {
  const Instr* instr = nullptr;  // nullptr: what is around the kernel's text, by `name`
  std::string name;
  int depth = 0;  // in regions: branches, loops
  bool by_engine = false;
  LocId loc;
  int text_line = 0;
  std::int64_t at = 0;  // it began before those of all agents with a larger number
  std::vector<StepAccess> accesses;
  std::vector<ShownValue> values;
};

class StepRecorder final : public run::Watcher {
 public:
  StepRecorder(const kernel::PreparedKernelState& kernel, const StepLimits& limits);

  // In the order in which the program began them; nullptr: it has none.
  const std::vector<RecordedStep>* StepsOf(const std::vector<std::int64_t>& program) const;
  std::int64_t dropped() const { return dropped_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kTurn, memory_model::EventKind::kAccess,
            memory_model::EventKind::kIssue};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId>) override { memory_ = &memory; }
  void Running(const RunningAgent& now) override {
    if (now.begins) begun_.insert({now.index.begin(), now.index.end()});
  }
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  // Where a step is: programs are never removed, and steps are only added.
  struct Place {
    std::vector<RecordedStep>* program = nullptr;
    std::size_t step = 0;
    RecordedStep* get() const { return program == nullptr ? nullptr : &(*program)[step]; }
  };
  struct Agent {
    watch::MarkWalk walk;
    bool in_body = false;
    std::vector<Place> current;  // instructions that have begun, the innermost last
  };

  Place Add(const std::vector<std::int64_t>& program, RecordedStep step);
  void OnMark(const Mark& mark, Agent& agent, Frame& frame);
  void Finish(const Mark& mark, RecordedStep& step, Frame& frame);
  bool AddValue(const std::string& name, const Type& type, const std::byte* value, RecordedStep& step);
  void Record(const Who& who, AccessKind kind, BufferId buffer, std::string box, const CodeSite& site);

  const kernel::PreparedKernelState& kernel_;
  StepLimits limits_;
  const memory_model::Memory* memory_ = nullptr;
  std::set<const Region*> maps_;  // of blocks: no instruction of theirs is the body's
  std::map<std::vector<std::int64_t>, std::vector<RecordedStep>> programs_;
  std::set<std::vector<std::int64_t>> begun_;           // programs
  std::vector<std::int64_t> program_;                   // whose steps these are
  std::map<AgentId, std::vector<std::int64_t>> index_;  // of agents, in the grid
  std::map<AgentId, std::string> issued_;               // operations in flight, by name
  std::map<AgentId, Place> operations_;
  watch::AgentStates<Agent> agents_;
  Place block_;  // the copy of a block that is complete at once
  std::size_t steps_ = 0, elements_ = 0;
  std::int64_t dropped_ = 0, begun_steps_ = 0;
};

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_STEP_RECORDER_H_
