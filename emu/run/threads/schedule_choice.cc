#include "emu/run/threads/schedule_choice.h"

#include <algorithm>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::threads {
namespace {

// A run shows whether others could have satisfied such a wait (CreditLayers): another fact.
bool WaitsForACount(const Kernel& kernel, const Instr& op) {
  return op.row->waits == Waits::kSignal && std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
           const Arg* one = &arg;
           while (one->kind == Arg::Kind::kSelect) one = &one->select[1];  // all are of one type
           if (one->kind != Arg::Kind::kValue) return false;
           const Type& type = kernel.values[one->value.index()].type;
           return type.element == ElementKind::kSem || type.element == ElementKind::kDmaSem ||
                  type.element == ElementKind::kBarrierSem;
         });
}

bool MayDecide(const Kernel& kernel, const Instr& op) {
  switch (op.row->decides) {
    case Decides::kNever:
      return false;
    case Decides::kAlways:
      return !WaitsForACount(kernel, op);
    case Decides::kUnsaid:
      return op.row->effect == Effect::kSynchronises;
    case Decides::kReducing:
      break;
  }
  for (const std::string_view name : {"reduction_op", "atomic"}) {
    const Attr* reduction = Find(op.attrs, name);
    if (reduction != nullptr && !std::holds_alternative<AttrNone>(reduction->value)) return true;
  }
  return false;
}

const Instr* FirstDeciding(const Kernel& kernel, const Region& region) {
  for (const Instr& op : region.body) {
    if (MayDecide(kernel, op)) return &op;
    for (const Region& inner : op.regions) {
      if (const Instr* found = FirstDeciding(kernel, inner)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::string ScheduleChoice(const Module& module, const Kernel& kernel) {
  for (const Body& body : kernel.bodies) {
    if (const Instr* op = FirstDeciding(kernel, body.region))
      return Cat("the ", op->name, " at ", PlaceText(module, op->loc, op->text_line));
  }
  return "";
}

}  // namespace palladion::threads
