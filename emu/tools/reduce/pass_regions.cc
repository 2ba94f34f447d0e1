// Instructions with regions: replaced by one region, unused refs of regions removed, loops shortened.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/pass.h"
#include "emu/tools/reduce/shrink_number.h"
#include "semantics/registry/op_row.h"

namespace palladion::reduce {
namespace {

// Replaces an instruction by what one of its regions does, once. Parameters are the operands in their order; element 0
// stands for what goes over elements where it is a scalar: then it is zero.
class Inliner {
 public:
  Inliner(State& state, Chooser& chooser) : kernel_(state.kernel()), chooser_(chooser) {}

  void Run() {
    for (Body& body : kernel_.bodies) Visit(body.region);
    edit::Substitute(kernel_, substitution_);
  }

 private:
  void Visit(Region& region) {
    std::vector<Instr> kept;
    for (Instr& instr : region.body) {
      if (Region* chosen = Chosen(instr); chosen != nullptr) {
        Bind(instr, *chosen);
        std::move(chosen->body.begin(), chosen->body.end(), std::back_inserter(kept));
        continue;
      }
      for (Region& inner : instr.regions) Visit(inner);
      kept.push_back(std::move(instr));
    }
    region.body = std::move(kept);
  }

  Region* Chosen(Instr& instr) {
    Region* chosen = nullptr;
    for (Region& region : instr.regions) {
      const bool fits = region.params.size() <= instr.args.size() && region.results.size() >= instr.results.size();
      if (fits && chooser_.Take()) chosen = &region;
    }
    return chosen;
  }

  void Bind(const Instr& instr, const Region& region) {
    for (std::size_t i = 0; i < region.params.size(); ++i) {
      const ValueId id = region.params[i].value;
      const Type& type = kernel_.values[id.index()].type;
      const Arg& arg = instr.args[i];
      substitution_[id] = arg.name == "xs" && type.shape.empty() ? edit::LiteralArg(0, type) : arg;
    }
    for (std::size_t i = 0; i < instr.results.size(); ++i) {
      if (instr.results[i].valid()) substitution_[instr.results[i]] = region.results[i];
    }
  }

  Kernel& kernel_;
  Chooser& chooser_;
  edit::Substitution substitution_;
};

std::set<ValueId> UsedValues(Kernel& kernel) {
  std::set<ValueId> used;
  edit::ForEachArg(kernel, [&](Arg& arg) {
    if (arg.kind == Arg::Kind::kValue) used.insert(arg.value);
  });
  return used;
}

}  // namespace

void InlineRegions(State& state, Chooser& chooser) { Inliner(state, chooser).Run(); }

void DropRegionRefs(State& state, Chooser& chooser) {
  const std::set<ValueId> used = UsedValues(state.kernel());
  edit::ForEachInstr(state.kernel(), [&](Instr& instr) {
    if (RowOf(instr).allocates != Allocates::kScope) return;
    for (Region& region : instr.regions) {
      std::erase_if(region.params, [&](const Param& param) { return used.count(param.value) == 0 && chooser.Take(); });
    }
  });
}

void ShortenLoops(State& state, Chooser& chooser) {
  edit::ForEachInstr(state.kernel(), [&](Instr& instr) {
    if (!IsLoop(RowOf(instr))) return;
    for (AttrEntry& entry : instr.attrs) {
      auto* length = std::get_if<std::int64_t>(&entry.second.value);
      if (length != nullptr) ShrinkNumber(*length, 0, chooser);
    }
  });
}

}  // namespace palladion::reduce
