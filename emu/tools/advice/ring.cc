#include "emu/tools/advice/ring.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "emu/tools/advice/known_numbers.h"
#include "emu/tools/advice/slot_uses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

namespace palladion::advice {
namespace {

constexpr OpId kComparisons[] = {OpId::kLt, OpId::kLe, OpId::kGt, OpId::kGe, OpId::kEq, OpId::kNe};

bool IsComparison(const Instr& instr) {
  return instr.args.size() == 2 && std::any_of(std::begin(kComparisons), std::end(kComparisons),
                                               [&](OpId comparison) { return Is(instr, comparison); });
}

// The arrays that share what indexes them, before the numbers are known.
struct Group {
  std::vector<const SlotArray*> arrays;
  std::set<ValueId> remainders, counters;
};

// The numbers of one ring.
class RingNumbers {
 public:
  RingNumbers(Module& module, const Origins& origins, const Group& group)
      : module_(module), kernel_(module.kernels[0]), origins_(origins), group_(group) {}

  Ring Take() {
    const SlotArray& first = *group_.arrays[0];
    ring_.slots = TypeOf(first.value).shape[0];
    ring_.text_line = first.text_line;
    ring_.loc = first.loc;
    for (const SlotArray* array : group_.arrays) {
      ring_.arrays.push_back(array->value);
      ring_.arrays.insert(ring_.arrays.end(), array->aliases.begin(), array->aliases.end());
    }
    ring_.names = Names();
    CheckArrays();
    for (const ValueId id : group_.remainders) OfRemainder(id);
    FindSteps();
    OfSlotCounters();
    for (const auto& [root, offsets] : roots_) OfRoot(root, offsets);
    if (!roots_.empty()) OfComparisons();
    return std::move(ring_);
  }

 private:
  const Type& TypeOf(ValueId id) const { return kernel_.values[id.index()].type; }

  std::string Names() const {
    std::string memory, barriers;
    for (const SlotArray* array : group_.arrays) {
      const ValueInfo& info = kernel_.values[array->value.index()];
      std::string& names = info.type.element == ElementKind::kData ? memory : barriers;
      Append(&names, names.empty() ? "" : ", ", info.label.empty() ? info.name : info.label);
    }
    return memory.empty() ? barriers : memory;
  }

  void Unsure(const Instr& instr, std::string_view why) {
    if (ring_.unsure.empty()) ring_.unsure = Cat(PlaceText(module_, instr.loc, instr.text_line), " ", why);
  }

  void Add(NumberRef number, int sign) {
    const bool there = std::any_of(ring_.numbers.begin(), ring_.numbers.end(),
                                   [&](const SlotNumber& one) { return one.number == number; });
    if (!there) ring_.numbers.push_back({number, sign});
  }

  // Each use of each array is of one slot, which is known to be any of them.
  void CheckArrays() {
    for (const SlotArray* array : group_.arrays) {
      const ValueInfo& info = kernel_.values[array->value.index()];
      const std::string& name = info.label.empty() ? info.name : info.label;
      for (const SlotUse& use : array->uses) {
        if (use.slot == nullptr) {
          Unsure(*use.instr, Cat("uses ", name, " as a whole, not one slot of it"));
        } else if (use.slot->kind == Arg::Kind::kLiteral) {
          Unsure(*use.instr, Cat("names a slot of ", name, " by its number"));
        } else if (group_.remainders.count(use.slot->value) == 0 && group_.counters.count(use.slot->value) == 0) {
          Unsure(*use.instr, Cat("has a slot of ", name, " that is no remainder of a step by a number"));
        } else if (info.type.shape[0] != ring_.slots) {
          Unsure(*use.instr, Cat("has one slot for ", name, " and others, which have ", ring_.slots, " slots and not ",
                                 info.type.shape[0]));
        }
      }
    }
  }

  // Code that computes with the number of a slot may know how many there are.
  void OfRemainder(ValueId id) {
    Instr& instr = *origins_.Of(id).instr;
    const std::optional<NumberRef> by = NumberOf(instr.args[1]);
    if (by->Get() != ring_.slots) {
      Unsure(instr, Cat("takes the remainder by ", by->Get(), " of what has ", ring_.slots, " slots"));
      return;
    }
    Add(*by, 1);
    for (const auto& [user, arg] : UsesOf(kernel_, id)) {
      const bool slot =
          std::any_of(group_.arrays.begin(), group_.arrays.end(), [&, &use = arg](const SlotArray* array) {
            return std::any_of(array->uses.begin(), array->uses.end(),
                               [&](const SlotUse& one) { return one.slot == use; });
          });
      if (!slot) Unsure(*user, "computes with the number of a slot, or has it for what is no ring in shared memory");
    }
    const std::optional<Affine> step = origins_.AffineOf(instr.args[0]);
    if (!step.has_value()) {
      Unsure(instr, "takes the slot of what is no step");
      return;
    }
    roots_[step->root].push_back(*step);
  }

  static bool HasNone(const std::vector<Affine>& offsets) {
    return std::any_of(offsets.begin(), offsets.end(), [](const Affine& one) { return one.offset == 0; });
  }

  // How many steps the ring does: the turns of the longest loop whose counter is the step.
  void FindSteps() {
    for (const auto& [root, offsets] : roots_) {
      const std::optional<Counter> counter = origins_.CounterOf(root);
      if (!counter.has_value() || !HasNone(offsets)) continue;
      steps_ = std::max(steps_, counter->length.Get() + counter->first.Get());
    }
  }
  std::int64_t rest() const { return steps_ > ring_.slots ? steps_ - ring_.slots : 0; }  // 0: not known

  // A loop over the slots. Before a loop that is some steps ahead, it is over as many.
  void OfSlotCounters() {
    for (const ValueId id : group_.counters) {
      const std::optional<Counter> counter = origins_.CounterOf(id);
      if (roots_.count(id) != 0) {
        Unsure(*counter->loop, "has a counter that is a slot and a step");
      } else if (counter->first.Get() != 0 || counter->length.Get() > ring_.slots) {
        Unsure(*counter->loop, "has a counter that is a slot, and it does not run over the slots");
      } else if (counter->length.Get() == ring_.slots || counter->length.Get() == Ahead()) {
        Add(counter->length, 1);
        if (Fills(id)) filled_before_ = counter->length.Get();
      } else {
        Unsure(*counter->loop, Cat("has ", counter->length.Get(), " turns over ", ring_.slots, " slots"));
      }
    }
  }

  // Does what runs over the slots use memory of theirs, not barriers alone?
  bool Fills(ValueId counter) const {
    return std::any_of(group_.arrays.begin(), group_.arrays.end(), [&](const SlotArray* array) {
      return TypeOf(array->value).element == ElementKind::kData &&
             std::any_of(array->uses.begin(), array->uses.end(),
                         [&](const SlotUse& use) { return use.slot != nullptr && use.slot->value == counter; });
    });
  }

  // By how many steps a producer is ahead of the step itself; 0: none.
  std::int64_t Ahead() const {
    for (const auto& [root, offsets] : roots_) {
      if (!HasNone(offsets)) continue;
      for (const Affine& one : offsets) {
        if (one.offset > 0) return one.offset;
      }
    }
    return 0;
  }

  void OfRoot(ValueId root, const std::vector<Affine>& offsets) {
    const std::optional<Counter> counter = origins_.CounterOf(root);
    const bool plain = HasNone(offsets);
    bool over_slots = false;
    if (counter.has_value()) {
      const std::int64_t length = counter->length.Get();
      over_slots = !plain && length == ring_.slots;
      if (counter->first.Get() == ring_.slots && length == rest()) {
        Add(counter->first, 1);
        Add(counter->length, -1);
      } else if (over_slots) {
        Add(counter->length, 1);
      } else if (length == ring_.slots && steps_ == ring_.slots) {
        Unsure(*counter->loop, Cat("has as many turns as the ring has slots, ", length));
      } else if (length == rest() && (length != ring_.slots || filled_before_ == ring_.slots)) {
        Add(counter->length, -1);
      } else if (length == ring_.slots) {
        Unsure(*counter->loop, Cat("has ", length, " turns, which may be steps or slots"));
      }
    }
    for (const Affine& one : offsets) {
      if (one.offset != 0) OfOffset(root, one, over_slots);
      if (one.offset > 0 && plain && counter.has_value()) OfOtherCounts(*counter->loop, one.offset);
    }
  }

  // What counts the same turns and begins so many steps ahead: the block that is fetched, beside the step it is for.
  void OfOtherCounts(Instr& loop, std::int64_t ahead) {
    for (std::size_t carry = 0; carry < loop.args.size(); ++carry) {
      const std::optional<NumberRef> first = NumberOf(loop.args[carry]);
      if (loop.args[carry].name != "init" || !first.has_value() || first->Get() != ahead) continue;
      if (CountsUp(origins_, loop, carry)) Add(*first, 1);
    }
  }

  // A step that is so many before or after the loop's own.
  void OfOffset(ValueId root, const Affine& step, bool over_slots) {
    const std::int64_t offset = step.offset, slots = ring_.slots;
    if (offset < 0 || offset == steps_) return;
    const int sign = step.negated ? -1 : 1;
    if (offset == rest() && (offset != slots || over_slots)) {
      Add(*step.number, -sign);
    } else if (offset == slots || (offset < slots && (IsCompared(root, slots - offset) || filled_before_ == offset))) {
      Add(*step.number, sign);
    } else {
      const Origin& origin = origins_.Of(root);
      if (origin.instr != nullptr)
        Unsure(*origin.instr, Cat("has a step ", offset, " ahead of another, and how that follows from ", slots,
                                  " slots is not known"));
    }
  }

  bool IsCompared(ValueId root, std::int64_t with) const {
    for (const auto& [instr, arg] : UsesOf(kernel_, root)) {
      if (!IsComparison(*instr)) continue;
      for (const Arg& other : instr->args) {
        Arg copy = other;
        const std::optional<NumberRef> number = NumberOf(copy);
        if (number.has_value() && number->Get() == with) return true;
      }
    }
    return false;
  }

  // Is this step one of the first, one of the last?
  void OfComparisons() {
    for (Body& body : kernel_.bodies) OfComparisons(body.region);
  }
  void OfComparisons(Region& region) {
    for (Instr& instr : region.body) {
      for (Region& inner : instr.regions) OfComparisons(inner);
      if (!IsComparison(instr)) continue;
      for (std::size_t side = 0; side < 2; ++side) {
        const std::optional<NumberRef> with = NumberOf(instr.args[side]);
        const std::optional<Affine> step = origins_.AffineOf(instr.args[1 - side]);
        if (with.has_value() && step.has_value() && roots_.count(step->root) != 0) OfComparison(instr, *with, *step);
      }
    }
  }
  void OfComparison(const Instr& instr, NumberRef with, const Affine& step) {
    if (step.offset == ring_.slots) Add(*step.number, step.negated ? -1 : 1);
    if (step.offset != 0) return;
    const bool slots = with.Get() == ring_.slots, rest = with.Get() == this->rest();
    if (slots && rest && !Is(instr, OpId::kGe)) {
      Unsure(instr, Cat("compares a step with ", with.Get(), ", which may be slots or steps"));
    } else if (slots) {
      Add(with, 1);
    } else if (rest) {
      Add(with, -1);
    }
  }

  const Module& module_;
  Kernel& kernel_;
  const Origins& origins_;
  const Group& group_;
  Ring ring_;
  std::map<ValueId, std::vector<Affine>> roots_;  // of the steps whose remainders are slots
  std::int64_t steps_ = 0;                        // 0: not known
  std::int64_t filled_before_ = 0;                // slots that a loop over them fills at the start
};

// Arrays that share an index, or whose indices share an array.
class Grouping {
 public:
  Grouping(const Origins& origins, const std::vector<SlotArray>& arrays) : origins_(origins), arrays_(arrays) {}

  std::vector<Group> Take() {
    for (const SlotArray& array : arrays_) {
      Group own{.arrays = {&array}, .remainders = {}, .counters = {}};
      for (const SlotUse& use : array.uses) AddIndex(use, own);
      if (!own.remainders.empty()) Join(std::move(own));
    }
    return std::move(groups_);
  }

 private:
  void AddIndex(const SlotUse& use, Group& own) const {
    if (use.slot == nullptr || use.slot->kind != Arg::Kind::kValue || !use.slot->value.valid()) return;
    const ValueId id = use.slot->value;
    const Instr* giver = origins_.Giver(id);
    if (giver != nullptr && Is(*giver, OpId::kRem) && giver->args.size() == 2 &&
        giver->args[1].kind == Arg::Kind::kLiteral && giver->args[1].literal.dtype == DType::kI32) {
      own.remainders.insert(id);
    } else if (origins_.CounterOf(id).has_value()) {
      own.counters.insert(id);
    }
  }

  static bool Share(const std::set<ValueId>& a, const std::set<ValueId>& b) {
    return std::any_of(a.begin(), a.end(), [&](ValueId id) { return b.count(id) != 0; });
  }

  void Join(Group own) {
    std::vector<Group> apart;
    for (Group& group : groups_) {
      if (!Share(group.remainders, own.remainders) && !Share(group.counters, own.counters)) {
        apart.push_back(std::move(group));
        continue;
      }
      group.arrays.insert(group.arrays.end(), own.arrays.begin(), own.arrays.end());
      group.remainders.insert(own.remainders.begin(), own.remainders.end());
      group.counters.insert(own.counters.begin(), own.counters.end());
      own = std::move(group);
    }
    apart.push_back(std::move(own));
    groups_ = std::move(apart);
  }

  const Origins& origins_;
  const std::vector<SlotArray>& arrays_;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<Ring> FindRings(Module& module) {
  Kernel& kernel = module.kernels[0];
  const Origins origins(kernel);
  WriteKnownStarts(kernel, origins);
  const std::vector<SlotArray> arrays = SlotArraysOf(kernel);
  std::vector<Group> groups = Grouping(origins, arrays).Take();
  std::vector<Ring> rings;
  for (Group& group : groups) {
    std::sort(group.arrays.begin(), group.arrays.end());  // in one list, so in the order of the text
    rings.push_back(RingNumbers(module, origins, group).Take());
  }
  std::stable_sort(rings.begin(), rings.end(), [](const Ring& a, const Ring& b) { return a.text_line < b.text_line; });
  return rings;
}

void SetSlots(Kernel& kernel, const Ring& ring, std::int64_t slots) {
  for (const ValueId id : ring.arrays) kernel.values[id.index()].type.shape[0] = slots;
  for (const SlotNumber& one : ring.numbers) one.number.Set(one.number.Get() + one.sign * (slots - ring.slots));
}

}  // namespace palladion::advice
