#include "emu/threads/schedule_choice.h"

#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::threads {
namespace {

bool MayDecide(const Instr& op) {
  switch (op.row->decides) {
    case Decides::kNever:
      return false;
    case Decides::kAlways:
      return true;
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

const Instr* FirstDeciding(const Region& region) {
  for (const Instr& op : region.body) {
    if (MayDecide(op)) return &op;
    for (const Region& inner : op.regions) {
      if (const Instr* found = FirstDeciding(inner)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::string ScheduleChoice(const Module& module, const Kernel& kernel) {
  for (const Body& body : kernel.bodies) {
    if (const Instr* op = FirstDeciding(body.region))
      return Cat("the ", op->name, " at ", PlaceText(module, op->loc, op->text_line));
  }
  return "";
}

}  // namespace palladion::threads
