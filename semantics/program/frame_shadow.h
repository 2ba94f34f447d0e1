// Which elements of a frame's values are undefined: beside every slot a flag, and marks (one byte per element, see
// Definedness in machine.h) where it is set. While no slot has an undefined element a step costs one test. Based on:
// Memcheck's and MSan's shadow values, per element. It does not decide what is wrong: uses that matter (a branch, an
// index) ask here and are reported by the machine.
#ifndef PALLADION_SEMANTICS_PROGRAM_FRAME_SHADOW_H_
#define PALLADION_SEMANTICS_PROGRAM_FRAME_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"
#include "semantics/program/view.h"
#include "semantics/registry/shadow.h"

namespace palladion {

// The rules of a program's value steps: prepared once, when definedness is first asked for, so that plain runs do not
// pay for them. Immutable; runs share it.
class ShadowRules {
 public:
  // `kernel` is what the program was prepared from.
  static absl::StatusOr<std::shared_ptr<const ShadowRules>> Prepare(const Program& program, const Kernel& kernel);

  const ShadowKernel& OfStep(std::size_t step) const { return rules_[first_[step]]; }
  const ShadowKernel& OfStrip(std::size_t step, std::size_t op) const { return rules_[first_[step] + op]; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  std::vector<ShadowKernel> rules_;
  std::vector<std::size_t> first_;  // by step; steps that are no value operation have none
  std::size_t scratch_bytes_ = 0;
};

class FrameShadow {
 public:
  using Mark = std::uint8_t;

  // Both outlive it.
  FrameShadow(const Program& program, const ShadowRules& rules);

  bool any() const { return undefined_slots_ != 0; }
  bool any(SlotId slot) const { return entries_[slot.index()].any; }
  const Mark* Of(SlotId slot) const { return any(slot) ? entries_[slot.index()].marks : nullptr; }
  Definedness Get(SlotId slot) const { return {any(slot), entries_[slot.index()].marks}; }

  // What a slot's new value is. Every writer of a slot says so.
  void SetDefined(SlotId slot) { SetAny(slot, false); }
  void Set(SlotId slot, const Definedness& defined);
  Mark* Marks(SlotId slot) { return entries_[slot.index()].marks; }  // to be written, then SetAny
  void SetAny(SlotId slot, bool any) {
    Entry& entry = entries_[slot.index()];
    undefined_slots_ += static_cast<std::size_t>(any) - static_cast<std::size_t>(entry.any);
    entry.any = any;
  }
  void SetDefinedResults(const Step& step, const Frame& frame);
  void Merge(SlotId a, SlotId b, SlotId out);  // out is an elementwise result of the two

  // Values that move between slots without being copied.
  void Swap(SlotId a, SlotId b) { std::swap(entries_[a.index()], entries_[b.index()]); }
  // `part` becomes a window of n elements over `whole`, from element `first`: one that is read, or one to be written.
  void ReadWindow(SlotId whole, SlotId part, std::size_t first, std::size_t n);
  void WriteWindow(SlotId whole, SlotId part, std::size_t first);
  void CloseWindow(SlotId whole, SlotId part, std::size_t first, std::size_t n);  // what was written is the whole's

  // All that another shadow of the same program knows: of a warp, what its warpgroup's is.
  void CopyFrom(const FrameShadow& other);

  // The agent's next program: no value lives on.
  void Clear();

  // After the value step has run.
  void RunValue(std::size_t step, Frame& frame);
  const ShadowRules& rules() const { return *rules_; }
  std::byte* scratch() { return scratch_.get(); }

  // A use that needs every element of the slot to be defined: reported where one is not.
  void Use(SlotId slot, std::string_view use, const Step& step, Frame& frame) {
    ++uses_;
    if (any(slot)) ReportUse(slot, use, step, frame);
  }
  // The indices of a view. An index array's element counts where a lane that needs it takes part.
  void UseIndices(const ViewPlan& view, const Mask& mask, const Step& step, Frame& frame);

  std::int64_t uses() const { return uses_; }  // so far

 private:
  struct Entry {
    Mark* marks = nullptr;  // constants and windows that are not open: nullptr
    bool any = false;
  };
  struct Free {
    void operator()(std::byte* p) const;
  };

  std::size_t Elements(SlotId slot) const { return program_->slots[slot.index()].elements; }
  void RunRule(const ShadowKernel& rule, const Step& step, Frame& frame);
  void ReportUse(SlotId slot, std::string_view use, const Step& step, Frame& frame);
  Mark FirstMark(SlotId slot) const;  // of a slot with one
  // The first mark of an index that a lane of the mask needs; 0: none does.
  Mark IndexUnder(const Mask& mask, const IndexValue& index, const WalkStep& at) const;

  const Program* program_;
  const ShadowRules* rules_;
  std::unique_ptr<std::byte[], Free> marks_;  // laid out as the frame's arena: a slot's marks where its value is
  std::unique_ptr<std::byte[], Free> scratch_;
  std::vector<Entry> entries_;
  std::size_t undefined_slots_ = 0;
  std::int64_t uses_ = 0;
};

// Is one of n marks not 0?
bool AnyMark(const std::uint8_t* marks, std::size_t n);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_FRAME_SHADOW_H_
