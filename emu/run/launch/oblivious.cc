#include "emu/run/launch/oblivious.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "emu/run/launch/plain_operands.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

bool IsRef(const Kernel& kernel, ValueId value) { return kernel.values[value.index()].type.is_ref(); }

// From where values matter back to what they are computed from, until nothing new is found.
class Analysis {
 public:
  Analysis(const Kernel& kernel, PlainOperands plain) : kernel_(kernel), plain_(std::move(plain)) {
    result_.needed.resize(kernel.values.size());
    result_.contents.resize(kernel.operands.size());
    from_memory_.resize(kernel.values.size());
  }

  Obliviousness Run() {
    do {
      grew_ = false;
      for (const Body& body : kernel_.bodies) Visit(body.region);
      for (const Operand& operand : kernel_.operands) {
        if (!operand.block.has_value()) continue;
        Visit(operand.block->map);
        for (const Arg& at : operand.block->map.results) Need(at);
        Need(operand.block->view);
      }
    } while (grew_);
    result_.oblivious = !unsure_;
    for (std::size_t i = 0; i < from_memory_.size(); ++i) result_.oblivious &= !(from_memory_[i] && result_.needed[i]);
    return std::move(result_);
  }

 private:
  void Need(ValueId value) {
    if (result_.needed[value.index()]) return;
    result_.needed[value.index()] = true;
    grew_ = true;
  }

  void Need(const std::vector<Transform>& view) {
    for (const Transform& transform : view) {
      for (const Index& index : transform.indices) {
        unsure_ |= index.kind == Index::Kind::kRef;
        Need(index.start);
        Need(index.size);
      }
      Need(transform.peer);
    }
  }

  // The value of an operand, and where a view of a ref lies: the ref's own contents are no operand.
  void Need(const Arg& arg) {
    if (arg.kind == Arg::Kind::kValue && !IsRef(kernel_, arg.value)) Need(arg.value);
    NeedPlaces(arg);
  }
  void NeedPlaces(const Arg& arg) {
    Need(arg.transforms);
    for (std::size_t i = 0; i < arg.select.size(); ++i) Need(arg.select[i]);
  }

  void Visit(const Region& region) {
    for (const Param& param : region.params) Need(param.view);
    for (const Instr& op : region.body) Visit(op);
  }

  void Visit(const Instr& op) {
    if (op.row->allocates == Allocates::kState) NoteNumbers(op);
    for (const Region& region : op.regions) Visit(region);
    if (!op.regions.empty() || op.row->effect == Effect::kControl) return VisitControl(op);
    if (op.row->effect == Effect::kPure) {
      const bool wanted =
          std::any_of(op.results.begin(), op.results.end(), [&](ValueId value) { return result_.Needs(value); });
      for (const Arg& arg : op.args) wanted ? Need(arg) : NeedPlaces(arg);
      return;
    }
    op.row->access == RefAccess::kNone ? VisitOther(op) : VisitAccess(op);
  }

  // An instruction that synchronises, allocates, prints or draws: its operands matter. What it gives is the schedule's
  // doing, and not from tracked memory.
  void VisitOther(const Instr& op) {
    for (const Arg& arg : op.args) Need(arg);
    for (const ValueId value : op.results) unsure_ |= value.valid() && !IsRef(kernel_, value);
  }

  void VisitAccess(const Instr& op) {
    const RefAccess access = op.row->access;
    if (const Arg* const first = FirstOf(op); access == RefAccess::kLoad && first != nullptr) {
      if (result_.Needs(op.results[0])) Need(*first);
      return;
    }
    if (const std::optional<std::size_t> plain = op.args.empty() ? std::nullopt : plain_.Of(op.args[0].value))
      return VisitPlainAccess(op, *plain);
    unsure_ |= access == RefAccess::kAtomic;
    for (std::size_t i = 0; i < op.args.size(); ++i) IsData(op, i) ? NeedPlaces(op.args[i]) : Need(op.args[i]);
    for (const ValueId value : op.results) {
      if (value.valid()) from_memory_[value.index()] = true;
    }
  }

  // What is loaded matters: so does all that the operand's array holds. That matters: so does all that goes there.
  void VisitPlainAccess(const Instr& op, std::size_t operand) {
    const bool loaded =
        std::any_of(op.results.begin(), op.results.end(), [&](ValueId value) { return result_.Needs(value); });
    if (loaded && !result_.contents[operand]) grew_ = result_.contents[operand] = true;
    for (std::size_t i = 0; i < op.args.size(); ++i)
      IsData(op, i) && !result_.contents[operand] ? NeedPlaces(op.args[i]) : Need(op.args[i]);
  }

  // A number of the thread's own that a scope begins with and that is only read there: the operand that it holds.
  const Arg* FirstOf(const Instr& op) const {
    const auto known = op.args.empty() ? first_.end() : first_.find(op.args[0].value.value);
    return known == first_.end() ? nullptr : known->second;
  }
  void NoteNumbers(const Instr& op) {
    const Region& region = op.regions[0];
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      const ValueId ref = region.params[i].value;
      const Type& type = kernel_.values[ref.index()].type;
      const bool number = type.shape.empty() && type.space == Space::kDefault && op.args[i].kind != Arg::Kind::kNone;
      if (number && OnlyLoads(region, ref)) first_.emplace(ref.value, &op.args[i]);
    }
  }
  static bool OnlyLoads(const Region& region, ValueId ref) {
    return std::all_of(region.body.begin(), region.body.end(), [&](const Instr& op) {
      for (std::size_t i = 0; i < op.args.size(); ++i) {
        const bool loads = i == 0 && op.args.size() == 1 && op.row->access == RefAccess::kLoad;
        if (Names(op.args[i], ref) && !(loads && op.args[i].transforms.empty())) return false;
      }
      return std::all_of(op.regions.begin(), op.regions.end(), [&](const Region& r) { return OnlyLoads(r, ref); });
    });
  }
  static bool Names(const Arg& arg, ValueId ref) {
    if (arg.kind == Arg::Kind::kValue && arg.value == ref) return true;
    return std::any_of(arg.select.begin(), arg.select.end(), [&](const Arg& choice) { return Names(choice, ref); });
  }

  // Does the operand's value go to memory, or to the result, and nowhere else?
  static bool IsData(const Instr& op, std::size_t i) {
    constexpr std::string_view kMultiplied = "a", kMaskedOff = "other";
    switch (op.row->access) {
      case RefAccess::kStore:
      case RefAccess::kAdd:
        return i == op.row->stored || op.args[i].name == kMaskedOff;
      case RefAccess::kLoad:
        return op.args[i].name == kMaskedOff;
      case RefAccess::kAccumulator:
        return op.row->effect == Effect::kWrites && i == op.row->stored;
      case RefAccess::kProduct:
        return op.args[i].name == kMultiplied;
      default:
        return false;
    }
  }

  // ---- control

  void VisitControl(const Instr& op) {
    switch (op.row->loops) {
      case Loops::kBranch:
        Need(op.args[0]);
        for (const Region& branch : op.regions) PassResults(op, branch, 0);
        return;
      case Loops::kWhile:
        for (const Arg& condition : op.regions[0].results) Need(condition);
        for (std::size_t i = 0; i < op.args.size(); ++i) VisitCarry(op, i, op.regions[1]);
        return;
      case Loops::kTurns:
        return VisitTurns(op);
      case Loops::kOnce:
        return VisitOnce(op);
      case Loops::kWarps:
        for (const Arg& arg : op.args) Need(arg);
        for (const ValueId value : op.results) unsure_ |= value.valid();
        return;
      case Loops::kUnsaid:
        break;
    }
    unsure_ = true;
  }

  // Results of the instruction, from `first` on, are those of the region.
  void PassResults(const Instr& op, const Region& region, std::size_t first) {
    for (std::size_t i = first; i < op.results.size(); ++i) {
      if (result_.Needs(op.results[i])) Need(region.results[i]);
      NeedPlaces(region.results[i]);
    }
  }

  // What goes round: the operand, the parameter of each region, the body's result and the loop's.
  void VisitCarry(const Instr& op, std::size_t i, const Region& body) {
    bool wanted = result_.Needs(op.results[i]);
    for (const Region& region : op.regions) wanted |= result_.Needs(region.params[i].value);
    if (!wanted) return;
    Need(op.args[i]);
    Need(body.results[i]);
  }

  void VisitTurns(const Instr& op) {
    const Region& body = op.regions[0];
    std::size_t carries = 0;
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      if (op.args[i].name == "init") {
        VisitCarry(op, carries++, body);
      } else if (op.args[i].name == "xs") {
        if (result_.Needs(body.params[i].value)) Need(op.args[i]);
      } else {
        unsure_ = true;
      }
    }
    PassResults(op, body, carries);
  }

  // A call passes its operands on; a scope begins with refs, whose first contents are data and whose last are from
  // memory.
  void VisitOnce(const Instr& op) {
    const Region& region = op.regions[0];
    if (op.row->allocates == Allocates::kState) {
      for (const Arg& arg : op.args) NeedPlaces(arg);
      for (const ValueId value : op.results) {
        if (value.valid()) from_memory_[value.index()] = true;
      }
      return;
    }
    for (std::size_t i = 0; i < op.args.size() && !HasScope(*op.row); ++i)
      result_.Needs(region.params[i].value) ? Need(op.args[i]) : NeedPlaces(op.args[i]);
    PassResults(op, region, 0);
  }

  const Kernel& kernel_;
  const PlainOperands plain_;
  Obliviousness result_;
  std::vector<bool> from_memory_;             // by ValueId
  std::map<std::int32_t, const Arg*> first_;  // by ref: FirstOf
  bool grew_ = false, unsure_ = false;
};

}  // namespace

Obliviousness ObliviousnessOf(const Kernel& kernel) { return Analysis(kernel, PlainOperands()).Run(); }

Obliviousness ObliviousButForOperands(const Kernel& kernel) { return Analysis(kernel, PlainOperands(kernel)).Run(); }

}  // namespace palladion::launch
