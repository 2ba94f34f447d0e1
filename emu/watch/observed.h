// What the observers of a run share: several at once, the kernel of a program, places and values in words.
#ifndef PALLADION_EMU_WATCH_OBSERVED_H_
#define PALLADION_EMU_WATCH_OBSERVED_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/agents/prepared_kernel.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/mark.h"

namespace palladion {

const Kernel& KernelOf(const PreparedKernelState& state);

// "program (2, 0)"; where threads run, "thread 1 of block (2, 0)", "warp 3 of thread 1 of block (2, 0)".
std::string NameOfAgent(const Frame& frame);

// The user's line without its callers; "" where the text has none.
std::string SourceText(const Module& module, LocId loc);

// "dot_general", "mgpu.load"
std::string OpName(const Instr& instr);

// Of operand i of a finished instruction, those that index its views included.
Type OperandType(const Kernel& kernel, const Mark& mark, std::size_t i);

// One element of a value, as kernel text writes it without its type.
std::string ElementValueText(const Type& type, const std::byte* value, std::int64_t element);

// The elements inside the array that an unmasked box touches.
std::int64_t ElementsOf(const BoxAccess& access, const BoxReach& reach);

// Looks over a program's shoulder, and at its memory.
class RunObserver : public StepHooks, public AccessObserver {
 public:
  // LaunchOptions::bound.
  virtual void Bound(Memory&, absl::Span<const BufferId> /*arrays*/) {}
  void Box(AccessKind, const BoxAccess&, const BoxReach&, const std::byte*) override {}
  void Points(AccessKind, const PointAccess&, const std::byte*) override {}
};

class RunObservers final : public StepHooks {
 public:
  void Add(RunObserver* observer) { observers_.push_back(observer); }
  absl::Span<RunObserver* const> all() const { return observers_; }
  void Before(const Step& step, Frame& frame) override {
    for (RunObserver* observer : observers_) observer->Before(step, frame);
  }
  void After(const Step& step, Frame& frame) override {
    for (RunObserver* observer : observers_) observer->After(step, frame);
  }

 private:
  std::vector<RunObserver*> observers_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_WATCH_OBSERVED_H_
