#include "emu/timing/triton/values.h"

#include <algorithm>

#include "emu/chip/layouts/triton_memory.h"
#include "semantics/program/uses.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {
namespace {

bool IsProduct(const Instr& op) { return RowOf(op).flow == Flow::kDot && !op.results.empty(); }
bool IsLoad(const Instr& op) { return RowOf(op).access == RefAccess::kLoad; }

// scf.for: a number of turns, or a counter that is compared with a bound.
bool HasCounter(const Instr& loop) {
  return RowOf(loop).loops == Loops::kTurns || (!loop.regions.empty() && loop.regions[0].body.size() == 1);
}

bool ByElement(const Instr& op) {
  const Flow flow = RowOf(op).flow;
  return flow == Flow::kElementwise || flow == Flow::kConvert || flow == Flow::kMask || flow == Flow::kSelect;
}

}  // namespace

TritonValues::TritonValues(const Kernel& kernel) : elsewhere_(layouts::NotInRegisters(kernel)) {
  const Region& body = kernel.bodies[0].region;
  Walk(body, nullptr);
  const bool stages = layouts::StagesOfTriton(kernel) > 1;
  for (const auto& [op, loop] : loop_of_) {
    if (IsLoad(*op) && !op->results.empty() && elsewhere_.contains(op->results[0].value)) only_multiplied_.insert(op);
    if (stages && IsProduct(*op) && loop != nullptr && HasCounter(*loop)) FindPrefetched(*op, loop);
  }
  FindProducts(body);
}

void TritonValues::Walk(const Region& region, const Instr* loop) {
  for (const Instr& op : region.body) {
    loop_of_[&op] = loop;
    for (const ValueId result : op.results) {
      if (result.valid()) made_[result.value] = {&op, loop};
    }
    for (const Region& inner : op.regions) Walk(inner, IsLoop(RowOf(op)) ? &op : loop);
  }
}

const TritonValues::Made* TritonValues::MadeOf(ValueId value) const {
  const auto found = made_.find(value.value);
  return found == made_.end() ? nullptr : &found->second;
}

const Instr* TritonValues::LoopOf(const Instr& instr) const {
  const auto found = loop_of_.find(&instr);
  return found == loop_of_.end() ? nullptr : found->second;
}

bool TritonValues::AddedUp(const Instr& product) const {
  return IsProduct(product) && elsewhere_.contains(product.results[0].value);
}

std::vector<const Instr*> TritonValues::ProductsOf(const Instr* loop) const {
  std::vector<const Instr*> products;
  for (const auto& [op, around] : loop_of_) {
    if (around == loop && IsProduct(*op)) products.push_back(op);
  }
  return products;
}

const Instr* TritonValues::LoadOf(const Arg& operand) const {
  const Made* const made = operand.kind == Arg::Kind::kValue ? MadeOf(operand.value) : nullptr;
  if (made == nullptr) return nullptr;
  if (IsLoad(*made->by)) return made->by;
  const bool moves = RowOf(*made->by).flow == Flow::kMove && made->by->args.size() == 1;
  return moves ? LoadOf(made->by->args[0]) : nullptr;
}

// All that the product depends on within its loop.
void TritonValues::FindPrefetched(const Instr& product, const Instr* loop) {
  std::vector<const Instr*> next = {&product};
  std::set<const Instr*> seen;
  while (!next.empty()) {
    const Instr* const op = next.back();
    next.pop_back();
    if (!seen.insert(op).second) continue;
    if (IsLoad(*op)) prefetched_.insert(op);
    VisitUses(*op, [&](ValueId value) {
      const Made* const made = MadeOf(value);
      if (made != nullptr && made->loop == loop && made->by->regions.empty()) next.push_back(made->by);
    });
  }
}

void TritonValues::FindProducts(const Region& region) {
  for (const Instr& op : region.body) {
    const auto as_product = [&](const Arg& arg) {
      return arg.kind == Arg::Kind::kValue && as_product_.contains(arg.value.value);
    };
    const bool takes = std::any_of(op.args.begin(), op.args.end(), as_product);
    if (IsProduct(op) || (ByElement(op) && takes)) {
      for (const ValueId result : op.results) {
        if (result.valid()) as_product_.insert(result.value);
      }
    }
    const auto added_up = [&](const Arg& arg) {
      if (arg.kind != Arg::Kind::kValue || !elsewhere_.contains(arg.value.value)) return false;
      const Made* const made = MadeOf(arg.value);
      return made != nullptr && IsProduct(*made->by);
    };
    if (std::any_of(op.args.begin(), op.args.end(), added_up)) joined_.insert(&op);
    for (const Region& inner : op.regions) FindProducts(inner);
  }
}

}  // namespace palladion::timing::triton
