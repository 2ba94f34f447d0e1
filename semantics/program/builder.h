// Builds a Program: hands out slots and refs, plans views, appends steps, patches jumps. Operations on refs and control
// flow (semantics/ops) see the program only through this class.
// A value's memory is freed at its last use in the region that defines it, so a loop body needs what it holds at once.
#ifndef PALLADION_SEMANTICS_PROGRAM_BUILDER_H_
#define PALLADION_SEMANTICS_PROGRAM_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"
#include "semantics/program/slot_memory.h"
#include "semantics/program/strips.h"
#include "semantics/program/swizzle_use.h"
#include "semantics/program/view.h"

namespace palladion {

// A place in the step list, known once it is bound.
struct Label {
  std::shared_ptr<std::size_t> target = std::make_shared<std::size_t>(0);
};

Type TypeOf(const Kernel& kernel, const Arg& arg);  // of an array operand
struct MarkedValue;                                 // mark.h

class WalkSteps;

class Builder {
 public:
  Builder(const Module& module, const Kernel& kernel, Target target, const ProgramOptions& options = {});

  const Module& module() const { return module_; }
  const Kernel& kernel() const { return kernel_; }
  const Target& target() const { return program_.target; }
  Program& program() { return program_; }

  // Values. In(): the slot of an array operand; a literal or constant gets a slot of its own.
  const Type& TypeOf(ValueId value) const { return kernel_.values[value.index()].type; }
  Type TypeOf(const Arg& arg) const { return palladion::TypeOf(kernel_, arg); }
  absl::StatusOr<SlotId> In(const Arg& arg);
  SlotId Define(ValueId value);                   // new memory for a result
  void DefineAs(ValueId value, SlotId slot);      // a result that lives in a slot somebody else owns
  SlotId Result(const Instr& op, std::size_t i);  // Define, or memory nobody reads for `_`
  SlotId NewSlot(const Type& type);
  void FreeSlot(SlotId slot);
  void AliasSlot(ValueId value, SlotId slot, absl::Span<const SlotId> owned);  // frees `owned` with the value
  absl::StatusOr<SlotId> Broadcast(const Arg& arg,
                                   const Shape& shape);  // an operand broadcast to `shape` (NumPy's rule)

  // Refs.
  RefId NewRef(RefInfo info);
  void DefineRef(ValueId value, RefId ref);
  RefId RefOf(ValueId value) const;
  RefInfo WholeRef(const Type& type, std::string name) const;                           // a buffer of its own
  std::int64_t PlacesOfByte(ValueId ref) const { return swizzles_.PlacesOfByte(ref); }  // RefInfo::places_of_byte
  // In a kernel that freezes refs, both emit a step that reports USE_AFTER_SCOPE where the ref is one of them.
  absl::StatusOr<ViewPlan> PlanView(const Arg& view);
  absl::StatusOr<IndexValue> PlanIndex(const Arg& arg);  // an integer operand of an instruction, or an index
  absl::StatusOr<ViewPlan> PlanPoints(const Arg& view);  // never a box: for lanes that go one by one

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
  void SetWork(double work);  // of the last step: Step::work
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

  // True for a loop carry that the body returns unchanged.
  static bool ReturnsParam(const Region& region, std::size_t result, ValueId param);

  // Is a value of the region under way used in it, by an instruction or as a result?
  bool IsUsed(ValueId value) const;
  // Every value that an instruction, with its regions, or an operand reads.
  static void VisitUses(const Instr& op, const std::function<void(ValueId)>& visit);
  static void VisitUses(const Arg& arg, const std::function<void(ValueId)>& visit);

  absl::StatusOr<int> GridAxis(std::int64_t axis) const;        // program_id's numbering -> grid dimension
  absl::StatusOr<int> GridAxis(const std::string& name) const;  // a named grid dimension
  // The steps from here on are a warp's, whose axis has this name; "": a thread's again.
  void EnterWarps(std::string axis) { warp_axis_ = std::move(axis); }
  const std::string& warp_axis() const { return warp_axis_; }

  Program Finish() &&;

 private:
  // The refs that the instruction's views are of.
  struct Views {
    RefId ref;  // of the first
    bool several = false;
    double elements = 0;  // of all
    void Add(RefId other) {
      several |= ref.valid() && ref != other;
      ref = other;
    }
  };

  struct RegionState {
    const Region* region;
    absl::flat_hash_map<std::int32_t, std::size_t> last_use;  // value -> index of the last instruction that uses it
    std::size_t position = 0;
    std::vector<ValueId> defined;
  };

  double LargestOf(const std::vector<SlotId>& in, const std::vector<SlotId>& out) const;  // in elements
  void AppendStep(Step step, std::shared_ptr<const void> owned, const std::vector<SlotId>& in,
                  const std::vector<SlotId>& out);
  // A value of the group under construction whose memory is not decided yet.
  struct Unplaced {
    SlotId slot;
    bool inside;  // its last use is inside the group
  };
  struct Range {
    std::size_t offset, bytes;
  };

  // What its row's inspectors have to look at in a run; nullptr: nothing, also where the constants among its operands
  // keep the rules.
  const Inspected* Inspect(const Instr& op, const ValueTypes& types, const std::vector<SlotId>& in);

  bool FitsStrips(const ValueKernel& kernel, const ValueTypes& types) const;
  void AddToStrips(const Instr& op, ValueKernel kernel, const ValueTypes& types, const std::vector<SlotId>& in,
                   const Inspected* inspected);
  bool ReadsStrips(const std::vector<SlotId>& in) const;  // a result of the group under construction
  bool ForgetUnplaced(SlotId slot);  // true: the slot was one of the group's, and nothing after the group reads it
  std::size_t PlaceInsideStrips(std::size_t parts);  // bytes of one part's strips
  void FlushStrips();                                // before any other step: a group's operations come before it

  // An operation on constants only (iota, a broadcast literal) is done here, once, instead of by every program: true
  // when its result is now a constant.
  bool FoldConstant(const Instr& op, const ValueKernel& kernel, const std::vector<SlotId>& in);
  std::byte* NewConstant(std::size_t bytes);  // the last slot; nullptr: too large, and there is no new slot
  void RunNow(const ValueKernel& kernel, const std::vector<SlotId>& in, std::byte* out) const;

  // Nothing unless the program is to be observable.
  absl::Status MarkInstr(const Instr& op, bool finished);
  absl::Status MarkRegion(const Region& region, bool entered);
  absl::Status MarkOperand(const Arg& arg, std::vector<MarkedValue>& marked);

  absl::Status LowerInstr(const Instr& op);
  absl::Status AtInstr(const absl::Status& status, const Instr& op) const;
  absl::Status LowerValueOp(const Instr& op);
  void FreeAfter(RegionState& state, std::size_t position);
  static bool Freezes(const Region& region);
  void EmitExpectAlive(RefId ref);
  absl::StatusOr<bool> PlanAffine(const Arg& view, ViewPlan& plan);
  absl::StatusOr<WalkStep> PlanWalkAt(const std::vector<Index>& indices, const WalkSteps& so_far, Shape& after);
  // Of a slice whose size is known only at run time; else in no slot.
  absl::StatusOr<IndexValue> PlanExtent(const Index& index);
  absl::Status PlanWalk(const Arg& view, ViewPlan& plan);
  absl::Status PlanPlace(const Arg& view, ViewPlan& plan);  // once, last

  const Module& module_;
  const Kernel& kernel_;
  const SwizzleUse swizzles_;
  Program program_;
  bool observable_;
  SlotMemory memory_;
  std::size_t folded_bytes_ = 0;
  std::vector<SlotId> slot_of_;                           // by ValueId
  std::vector<RefId> ref_of_;                             // by ValueId
  std::map<std::int32_t, std::vector<SlotId>> owned_by_;  // values that free other slots
  std::vector<bool> borrowed_slot_;                       // by ValueId: not memory of its own (DefineAs)
  std::vector<RegionState> regions_;
  std::vector<SlotId> temporaries_;  // freed after the current instruction
  StripGroup strips_;
  std::vector<Unplaced> unplaced_;
  std::vector<Range> pending_frees_;  // memory that the group under construction still reads
  const Instr* strips_place_ = nullptr;
  bool freezes_ = false;        // some instruction ends the life of a ref
  bool before_strips_ = false;  // the next step goes before the group under construction
  const Instr* current_ = nullptr;
  Views views_;  // of current_
  std::string warp_axis_;
  LocId place_loc_;
  int place_line_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BUILDER_H_
