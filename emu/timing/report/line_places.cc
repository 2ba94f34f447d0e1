#include "emu/timing/report/line_places.h"

#include "semantics/base/cat.h"

namespace palladion::timing::report {
namespace {

const Instr* InstrOf(const Region& region, int text_line) {
  for (const Instr& op : region.body) {
    if (op.text_line == text_line) return &op;
    for (const Region& inner : op.regions) {
      if (const Instr* found = InstrOf(inner, text_line); found != nullptr) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::string LineText(const Module& module, const Kernel& kernel, int text_line) {
  if (module.locs.empty()) return Cat("line ", text_line);
  for (const Body& body : kernel.bodies) {
    if (const Instr* op = InstrOf(body.region, text_line); op != nullptr) return PlaceText(module, op->loc, text_line);
  }
  return PlaceText(module, {}, text_line);
}

}  // namespace palladion::timing::report
