// Decides whether a race is the note SAME_VALUE, in every execution mode: all writers of an element of the array stored
// the same bytes there. A checker that finds two unordered writes runs the same launch once more with this observer, at
// a cost only to kernels with such writes, and then adds the result to the finding (races.md#findings). Programs with
// an order among themselves are one writer, and so is each thread; each write of an engine is a writer of its own.
//
//   EqualWrites equal;
//   LaunchOptions again = equal.Again(launch, program);
//   ... the same schedule with `again`, for no outputs ...
//   if (IsWriteWrite(finding) && equal.Of(finding)) SayEqual(finding, "; ");
//
// Limits: the values of one schedule with one set of operands; a check tests other operands (other_operands.h).
#ifndef PALLADION_EMU_RUN_LAUNCH_EQUAL_WRITES_H_
#define PALLADION_EMU_RUN_LAUNCH_EQUAL_WRITES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "emu/run/agents/launch_options.h"
#include "emu/run/events.h"
#include "memory_model/sweep/written_values.h"
#include "semantics/base/finding.h"
#include "semantics/program/program.h"

namespace palladion::launch {

class EqualWrites final : public run::Watcher {
 public:
  // `program` outlives the object.
  explicit EqualWrites(const Program& program) : program_(program) {}

  // The options of the second run, without other observers. Every written array of the call is compared.
  agents::LaunchOptions Again(const agents::LaunchOptions& launch);
  // The same for a run that has other observers too, and only for these arrays.
  void Watch(const memory_model::Memory& memory, BufferId array);

  // Did all writers of an element to which both lines of the kernel's text wrote store the same bytes there, defined
  // ones? By the user's name, of any array that has it: of the two sides of a finding.
  bool Of(BufferId array, int text_line, int other_line) const {
    return values_.AreEqual(array, text_line, other_line);
  }
  bool Of(const Finding& finding) const;
  // Is it a read of what the reader itself has written, in conflict with a write that is in conflict with that one
  // already, as another of the findings says?
  bool IsOfWrites(const Finding& finding, absl::Span<const Finding> found) const;
  // Did a write to the array store undefined elements, or under an undefined mask?
  bool AnyUndefined(BufferId array) const { return values_.AnyUndefined(array); }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess};
  }
  void Begun(const threads::ThreadMachine& machine) override { machine_ = &machine; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Running(const RunningAgent& now) override { SetProgram(now.index); }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  void SetProgram(absl::Span<const std::int64_t> index);
  memory_model::WriterId Writer(const Who& who);
  memory_model::WriterId NewWriter() { return {writers_++}; }

  const Program& program_;
  const threads::ThreadMachine* machine_ = nullptr;  // of agents that are more than programs
  std::int32_t writers_ = 1;
  std::vector<std::int64_t>
      parallel_;  // the program's index without the dimensions that order programs: memory is kept
  absl::flat_hash_map<std::vector<std::int64_t>, memory_model::WriterId> tasks_;
  std::map<AgentId, memory_model::WriterId> agents_;  // threads and warps
  memory_model::WriterId task_{0};                    // of the program that goes on, or is to be the first one
  std::vector<std::pair<std::string, BufferId>> arrays_;
  memory_model::WrittenValues values_;
};

// Do both sides write, so that it is worth asking? Of what a race check found, before it is put in terms of a target.
inline bool IsWriteWrite(const Finding& finding) { return finding.code == FindingCode::kRaceWriteWrite; }

// The finding becomes the note; `joint` stands between its message and what is said.
void SayEqual(Finding& finding, std::string_view joint);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_EQUAL_WRITES_H_
