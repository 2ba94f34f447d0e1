// Every order of the reference machine: a search with nothing clever but a table of the states that were seen.
#include <unordered_set>
#include <utility>

#include "emu/tools/hunt/reference_machine.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

void AddNumber(std::string* out, std::int64_t n) { Append(out, n, ","); }

}  // namespace

std::string ReferenceMachine::State() const {
  std::string state;
  for (const int pc : pc_) AddNumber(&state, pc);
  for (const Value& sum : sums_) AddNumber(&state, 2 * sum.number + (sum.undefined ? 1 : 0));
  for (const std::int64_t result : results_) AddNumber(&state, result);
  for (const Value& cell : cells_) AddNumber(&state, 2 * cell.number + (cell.undefined ? 1 : 0));
  for (const BarrierState& barrier : barriers_) {
    AddNumber(&state, barrier.arrived);
    AddNumber(&state, barrier.completed);
    for (const int seen : barrier.seen) AddNumber(&state, seen);
  }
  for (const std::int64_t count : semaphores_) AddNumber(&state, count);
  for (const Copy& copy : copies_) {
    for (const std::int64_t part :
         {static_cast<std::int64_t>(copy.issuer), static_cast<std::int64_t>(copy.line),
          static_cast<std::int64_t>(copy.halves), static_cast<std::int64_t>(copy.into), copy.values[0], copy.values[1],
          copy.values[2], copy.values[3], static_cast<std::int64_t>(copy.undefined)})
      AddNumber(&state, part);
  }
  if (tensor_) AddTensorState(&state);
  AddClusterState(&state);
  for (const bool begun : begun_) Append(&state, begun ? "1" : "0");
  return Cat(state, leaked_ ? "u" : "", stale_ ? "s" : "");
}

bool ReferenceMachine::SpinEnds(int agent, const Op& op) const {
  if (!programs_) return semaphores_[static_cast<std::size_t>(SemaphoreOf(agent, op))] >= op.amount;
  return cells_[static_cast<std::size_t>(CellsOf({agent, false}, Array::kM, op.row, Part::kFirst).cells[0])].number ==
         op.amount;
}

// An atomic update by nothing, or a look at a semaphore.
void ReferenceMachine::Look(int agent) {
  const Instr& instr = *Next(agent);
  const Op& op = *instr.op;
  const bool ends = SpinEnds(agent, op);
  const int semaphore = programs_ ? 0 : SemaphoreOf(agent, op);
  const CellSpan cells = CellsOf({agent, false}, Array::kM, op.row, Part::kFirst);
  if (listener_ != nullptr && programs_) {
    listener_->Acquire(agent, cells);
    listener_->Touch(agent, Access::kUpdate, cells, instr.line);
    listener_->Release(agent, cells);
  } else if (listener_ != nullptr) {
    listener_->SemRead(agent, semaphore);
  }
  if (!ends) return;
  Add(agent, programs_ ? Read(cells) : Value{semaphores_[static_cast<std::size_t>(semaphore)], false});
  ++pc_[static_cast<std::size_t>(agent)];
  Settle(agent);
}

// m comes first, of each device that has one.
std::vector<std::int64_t> ReferenceMachine::CellsOfM() const {
  std::vector<std::int64_t> numbers;
  const int cells = rows_ * 4 * (tpu_ && !shares_ ? blocks_ : 1);
  for (int i = 0; i < cells; ++i) numbers.push_back(cells_[static_cast<std::size_t>(i)].number);
  return numbers;
}

std::string ReferenceMachine::Outcome() const {
  bool undefined = leaked_;
  for (std::size_t i = 0; i < CellsOfM().size(); ++i) undefined |= cells_[i].undefined;
  if (broken_) return "broken";
  if (stale_) return "stale";
  if (!Done()) return "deadlock";
  if (undefined) return "undefined";
  std::string outcome;
  for (const std::int64_t result : results_) Append(&outcome, result, ",");
  for (const std::int64_t number : CellsOfM()) Append(&outcome, number, ",");
  return outcome;
}

Reached ExploreFrom(const ReferenceMachine& start, std::int64_t max_states) {
  Reached explored;
  std::unordered_set<std::string> seen;
  std::vector<ReferenceMachine> stack = {start};
  stack.back().ListenWith(nullptr);
  seen.insert(stack.back().State());
  while (!stack.empty()) {
    if (++explored.states > max_states) {
      explored.complete = false;
      break;
    }
    const ReferenceMachine machine = std::move(stack.back());
    stack.pop_back();
    const std::vector<Choice> choices = machine.Choices();
    if (choices.empty()) {
      explored.outcomes.insert(machine.Outcome());
      explored.leaves |= machine.LeavesSemaphores();
    }
    for (const Choice& choice : choices) {
      ReferenceMachine next = machine;
      next.Do(choice);
      if (seen.insert(next.State()).second) stack.push_back(std::move(next));
    }
  }
  return explored;
}

}  // namespace palladion::hunt
