#include "emu/gpu/schedule_choice.h"

#include <algorithm>
#include <string_view>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

// Operations whose result, or whose rounding, is another where others came first.
constexpr std::string_view kDeciding[] = {"barrier_test", "semaphore_wait", "semaphore_read", "try_cluster_cancel",
                                          "atomic_store", "atomic_rmw",     "atomic_cas",     "inline_mgpu"};

bool Decides(const Instr& op) {
  if (std::find(std::begin(kDeciding), std::end(kDeciding), op.name) != std::end(kDeciding)) return true;
  for (const std::string_view name : {"reduction_op", "atomic"}) {
    const Attr* reduction = Find(op.attrs, name);
    if (reduction != nullptr && !std::holds_alternative<AttrNone>(reduction->value)) return true;
  }
  return false;
}

const Instr* FirstDeciding(const Region& region) {
  for (const Instr& op : region.body) {
    if (Decides(op)) return &op;
    for (const Region& inner : op.regions) {
      if (const Instr* found = FirstDeciding(inner)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::string ScheduleChoice(const Kernel& kernel) {
  for (const Body& body : kernel.bodies) {
    if (const Instr* op = FirstDeciding(body.region))
      return Cat("the ", op->name, " at line ", op->text_line, " of the kernel text");
  }
  return "";
}

}  // namespace palladion
