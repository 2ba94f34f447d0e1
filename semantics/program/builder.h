// Builds a Program: appends the steps of regions in their order, and patches jumps. Operations on refs and control flow
// (semantics/ops) see the program through this class; ValueSlots decides where values lie, StripBuilder
// which operations share a group of strips, and ViewPlanner what a view of a ref is.
#ifndef PALLADION_SEMANTICS_PROGRAM_BUILDER_H_
#define PALLADION_SEMANTICS_PROGRAM_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"
#include "semantics/program/strip_builder.h"
#include "semantics/program/swizzle_use.h"
#include "semantics/program/uses.h"
#include "semantics/program/value_slots.h"
#include "semantics/program/view.h"

namespace palladion {

// A place in the step list, known once it is bound.
struct Label {
  std::shared_ptr<std::size_t> target = std::make_shared<std::size_t>(0);
};

class Builder {
 public:
  Builder(const Module& module, const Kernel& kernel, Target target, const ProgramOptions& options = {});

  const Module& module() const { return module_; }
  const Kernel& kernel() const { return kernel_; }
  const Target& target() const { return program_.target; }
  Program& program() { return program_; }

  const SwizzleUse& swizzles() const { return swizzles_; }
  const Instr* current() const { return current_; }  // the instruction whose steps are being made
  bool freezes() const { return freezes_; }          // some instruction ends the life of a ref

  // Values: value_slots.h.
  const Type& TypeOf(ValueId value) const { return slots_.TypeOf(value); }
  Type TypeOf(const Arg& arg) const { return palladion::TypeOf(kernel_, arg); }
  absl::StatusOr<SlotId> In(const Arg& arg) { return slots_.In(arg); }
  SlotId SlotOf(ValueId value) const { return slots_.Of(value); }
  SlotId Define(ValueId value) { return slots_.Define(value); }
  void DefineAs(ValueId value, SlotId slot) { slots_.DefineAs(value, slot); }
  SlotId Result(const Instr& op, std::size_t i);  // Define, or unused memory for `_`
  SlotId NewSlot(const Type& type) { return slots_.New(type); }
  SlotId NewTemporary(const Type& type);  // freed after the current instruction
  void FreeSlot(SlotId slot);
  void AliasSlot(ValueId value, SlotId slot, absl::Span<const SlotId> owned);  // frees `owned` with the value
  // The result of an operation on constants, now a constant; nullopt: it has to run.
  std::optional<SlotId> Fold(const ValueKernel& kernel, const std::vector<SlotId>& in, const Type& type);

  // Refs.
  RefId NewRef(RefInfo info);
  void DefineRef(ValueId value, RefId ref);
  RefId RefOf(ValueId value) const;
  RefInfo WholeRef(const Type& type, std::string name) const;                           // a buffer of its own
  std::int64_t PlacesOfByte(ValueId ref) const { return swizzles_.PlacesOfByte(ref); }  // RefInfo::places_of_byte
  // By ViewPlanner. In a kernel that freezes refs, both emit a step that reports USE_AFTER_SCOPE where the ref is one.
  absl::StatusOr<ViewPlan> PlanView(const Arg& view);
  absl::StatusOr<ViewPlan> PlanPoints(const Arg& view);  // never a box: for lanes that go one by one
  absl::StatusOr<IndexValue> PlanIndex(const Arg& arg);  // an integer operand of an instruction, or an index
  // The current instruction has a view of this ref, of that many elements; or of memory that is another agent's.
  void Views(RefId ref, const Shape& shape);
  void ViewsElsewhere() { views_.several = true; }

  // True when nothing writes memory between this load and the last use of its value, so the value may stay where it
  // lies.
  bool MayBorrow(ValueId value) const;

  // Steps. Parameters are owned by the program.
  template <class P>
  void Emit(StepFn fn, P params, const std::vector<SlotId>& in = {}, const std::vector<SlotId>& out = {}) {
    auto owned = std::make_shared<const P>(std::move(params));
    const void* pointer = owned.get();
    AppendStep({.fn = fn, .params = pointer}, std::move(owned), in, out);
  }
  // The same for a step outside instructions whose effect others can see; an instruction's row says it of its steps.
  template <class P>
  void EmitVisible(StepFn fn, P params) {
    Emit(fn, std::move(params));
    program_.steps.back().visible = true;
  }
  template <class P>
  void EmitAs(StepKind kind, StepFn fn, P params) {
    Emit(fn, std::move(params));
    program_.steps.back().kind = kind;
  }
  void SetPlace(LocId loc, int text_line) {
    place_loc_ = loc, place_line_ = text_line;
  }  // of steps outside instructions
  // `op`: the instruction whose kernel it is; nullptr where it moves elements one for one.
  void EmitValue(ValueKernel kernel, const std::vector<SlotId>& in, const std::vector<SlotId>& out,
                 const Instr* op = nullptr);
  void EmitMove(SlotId from, SlotId to, const Type& type);
  void SetWork(double work);  // of the last step (step_work.h)
  void Bind(const Label& label) {
    FlushStrips();
    *label.target = program_.steps.size();
  }
  void EmitJump(const Label& label);
  void EmitLoopJump(const Label& label);  // a back edge: counted against the budget

  // The last step goes on with a loop or leaves it: its first operand says which (a bool, true: on).
  void NumberLoop(std::vector<SlotId> carries);

  // The instructions of a region, then its results: each into the slot of `results`. A result that the region itself
  // computes is computed there; any other is copied.
  absl::Status LowerRegion(const Region& region, absl::Span<const SlotId> results);

  // Is a value of the current region used in it, by an instruction or as a result?
  bool IsUsed(ValueId value) const { return value.valid() && regions_.back().uses.Has(value); }

  absl::StatusOr<int> GridAxis(std::int64_t axis) const;        // program_id's numbering -> grid dimension
  absl::StatusOr<int> GridAxis(const std::string& name) const;  // a named grid dimension
  // The steps from here on are a warp's, whose axis has this name; "": a thread's again.
  void EnterWarps(std::string axis) { warp_axis_ = std::move(axis); }
  const std::string& warp_axis() const { return warp_axis_; }

  Program Finish() &&;

 private:
  // The refs that the instruction's views are of.
  struct ViewedRefs {
    RefId ref;  // of the first
    bool several = false;
    double elements = 0;  // of all
  };

  struct RegionState {
    const Region& region;
    LastUses uses;
    std::size_t position = 0;
    std::vector<ValueId> defined;
  };

  void AppendStep(Step step, std::shared_ptr<const void> owned, const std::vector<SlotId>& in,
                  const std::vector<SlotId>& out);
  void FlushStrips();  // before any other step: a group's operations come before it
  absl::Status LowerInstr(const Instr& op);
  absl::Status AtInstr(const absl::Status& status, const Instr& op) const;
  absl::Status LowerValueOp(const Instr& op);
  std::vector<bool> ResultsInPlace(const Region& region, const LastUses& uses, absl::Span<const SlotId> results);
  void FreeAfter(RegionState& state, std::size_t position);

  const Module& module_;
  const Kernel& kernel_;
  const SwizzleUse swizzles_;
  Program program_;
  ValueSlots slots_;
  StripBuilder strips_;
  const bool observable_;
  const bool freezes_;
  std::vector<RefId> ref_of_;  // by ValueId
  std::vector<RegionState> regions_;
  std::vector<SlotId> temporaries_;  // freed after the current instruction
  bool before_strips_ = false;       // the next step goes before the group under construction
  const Instr* current_ = nullptr;
  ViewedRefs views_;  // of current_
  std::string warp_axis_;
  LocId place_loc_;
  int place_line_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BUILDER_H_
