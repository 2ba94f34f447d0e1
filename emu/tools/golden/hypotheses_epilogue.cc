// What is done between the last product or load and the store: an operation of it that is left out, all of it after
// some value, or a sum with the other sign.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

constexpr std::size_t kMostValues = 48;  // of one store, on the way back from it

// Instructions by the order in which RewriteBodies meets them.
struct Met {
  std::vector<const Instr*> all;
  std::map<ValueId, std::size_t> maker;  // of a value

  void Visit(const Region& region) {
    for (const Instr& instr : region.body) {
      for (const Region& inner : instr.regions) Visit(inner);
      for (const ValueId result : instr.results) {
        if (result.valid()) maker[result] = all.size();
      }
      all.push_back(&instr);
    }
  }
};

bool IsEpilogue(const Instr& instr) {
  const Flow flow = RowOf(instr).flow;
  return instr.types.size() == 1 && instr.regions.empty() &&
         (flow == Flow::kElementwise || flow == Flow::kConvert || flow == Flow::kSelect);
}

// Arguments that could stand for the result: of its shape, and a number where it is one.
std::vector<std::size_t> Passing(const Instr& instr, const Kernel& kernel) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < instr.args.size(); ++i) {
    if (instr.args[i].kind != Arg::Kind::kValue) continue;
    const Type& type = kernel.values[instr.args[i].value.index()].type;
    if (type.is_array() && type.shape == instr.types[0].shape && IsFloat(type.dtype) == IsFloat(instr.types[0].dtype) &&
        type.dtype != DType::kBool)
      found.push_back(i);
  }
  return found;
}

bool Stores(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  return row.access == RefAccess::kStore && row.stored < instr.args.size() &&
         instr.args[row.stored].kind == Arg::Kind::kValue;
}

// The values on the way back from what is stored, the nearest first.
std::vector<ValueId> ValuesBefore(const Instr& store, const Met& met, const Kernel& kernel) {
  std::vector<ValueId> way = {store.args[RowOf(store).stored].value};
  for (std::size_t at = 0; at < way.size() && way.size() < kMostValues; ++at) {
    const auto made = met.maker.find(way[at]);
    if (made == met.maker.end() || !IsEpilogue(*met.all[made->second])) continue;
    const Instr& instr = *met.all[made->second];
    for (const std::size_t i : Passing(instr, kernel)) {
      if (std::find(way.begin(), way.end(), instr.args[i].value) == way.end()) way.push_back(instr.args[i].value);
    }
  }
  return way;
}

// Writes another instruction in the place of number `at`.
void Instead(Kernel& kernel, std::size_t at, const std::function<void(Instr&&, Writer&)>& write) {
  std::size_t number = 0;
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    if (number++ == at) return write(std::move(instr), writer);
    writer.Add(std::move(instr));
  });
}

void LeaveOut(Kernel& kernel, std::size_t at, std::size_t arg) {
  Instead(kernel, at, [arg](Instr&& instr, Writer& writer) {
    Arg passed = instr.args[arg];
    passed.name.clear();
    Define(instr.results[0], writer.Convert(passed, instr.types[0].dtype), writer);
  });
}

void StoreEarlier(Kernel& kernel, std::size_t at, ValueId value) {
  Instead(kernel, at, [value](Instr&& instr, Writer& writer) {
    Arg& stored = instr.args[RowOf(instr).stored];
    const std::string name = stored.name;
    stored = writer.Convert(ValueArg(value), writer.TypeOfArg(stored).dtype);
    stored.name = name;
    writer.Add(std::move(instr));
  });
}

void OtherSign(Kernel& kernel, std::size_t at, bool exchanged) {
  Instead(kernel, at, [exchanged](Instr&& instr, Writer& writer) {
    if (exchanged) {
      std::swap(instr.args[0], instr.args[1]);
      Become(OpId::kSub, instr);
    } else {
      Become(Is(instr, OpId::kSub) ? OpId::kAdd : OpId::kSub, instr);
    }
    writer.Add(std::move(instr));
  });
}

class Epilogue {
 public:
  Epilogue(const Module& module, std::vector<Hypothesis>& to) : module_(module), kernel_(module.kernels[0]), to_(to) {
    for (const Body& body : kernel_.bodies) met_.Visit(body.region);
  }

  void Add() {
    for (std::size_t at = 0; at < met_.all.size(); ++at) {
      if (Stores(*met_.all[at])) AddStore(at);
    }
  }

 private:
  std::string Place(const Instr& instr) const {
    return Cat(instr.name, " at ", PlaceText(module_, instr.loc, instr.text_line));
  }

  void AddStore(std::size_t store) {
    const std::vector<ValueId> way = ValuesBefore(*met_.all[store], met_, kernel_);
    std::set<ValueId> direct = {way[0]};  // what leaving out the last operation alone stores
    for (const ValueId value : way) {
      const auto made = met_.maker.find(value);
      if (made == met_.maker.end() || !IsEpilogue(*met_.all[made->second])) continue;
      const Instr& instr = *met_.all[made->second];
      if (value == way[0]) {
        for (const std::size_t i : Passing(instr, kernel_)) direct.insert(instr.args[i].value);
      }
      if (RowOf(instr).flow != Flow::kConvert && done_.insert(made->second).second) AddOperation(made->second);
    }
    for (const ValueId value : way) {
      if (direct.count(value) == 0) AddEarlier(store, value);
    }
  }

  void AddOperation(std::size_t at) {
    const Instr& instr = *met_.all[at];
    const std::vector<std::size_t> passing = Passing(instr, kernel_);
    for (const std::size_t arg : passing) {
      const bool negates = Is(instr, OpId::kNeg);
      to_.push_back({.kind = negates ? kSign : kEpilogue,
                     .what = Cat(Place(instr), " is left out",
                                 passing.size() > 1 ? Cat(": its operand ", arg, " passes through") : ""),
                     .edit = [at, arg](Module& edited) { LeaveOut(edited.kernels[0], at, arg); }});
    }
    if (instr.args.size() != 2 || (!Is(instr, OpId::kAdd) && !Is(instr, OpId::kSub))) return;
    if (!IsFloat(instr.types[0].dtype)) return;
    for (const bool exchanged : {false, true}) {
      to_.push_back({.kind = kSign,
                     .what = Cat(Place(instr), exchanged               ? " subtracts the first operand from the second"
                                               : Is(instr, OpId::kSub) ? " adds"
                                                                       : " subtracts the second operand"),
                     .edit = [at, exchanged](Module& edited) { OtherSign(edited.kernels[0], at, exchanged); }});
    }
  }

  void AddEarlier(std::size_t store, ValueId value) {
    const auto made = met_.maker.find(value);
    if (made == met_.maker.end()) return;
    to_.push_back({.kind = kEpilogue,
                   .what = Cat("what ", Place(*met_.all[made->second]), " gives is stored, and nothing is done to it"),
                   .edit = [store, value](Module& edited) { StoreEarlier(edited.kernels[0], store, value); }});
  }

  const Module& module_;
  const Kernel& kernel_;
  std::vector<Hypothesis>& to_;
  Met met_;
  std::set<std::size_t> done_;
};

}  // namespace

void AddEpilogueHypotheses(const Module& module, std::vector<Hypothesis>& to) { Epilogue(module, to).Add(); }

}  // namespace palladion::golden
