#include "emu/check/legality/call_place.h"

#include <algorithm>
#include <optional>

#include "emu/check/legality/legality.h"

namespace palladion::legality {
namespace {

// From the outermost frame to the innermost.
std::vector<LocId> Frames(const Module& module, LocId loc) {
  std::vector<LocId> frames;  // a hand-made module may link frames in a ring
  for (; loc.valid() && loc.index() < module.locs.size() && frames.size() < module.locs.size();
       loc = module.locs[loc.index()].via)
    frames.push_back(loc);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace

LocId CallPlace(const Module& module, const Kernel& kernel) {
  std::optional<std::vector<LocId>> common;
  LocId first;  // of the body
  const auto meet = [&](LocId loc) {
    if (!loc.valid()) return;
    std::vector<LocId> frames = Frames(module, loc);
    if (!common.has_value()) {
      common = std::move(frames);
      return;
    }
    const auto end = std::mismatch(common->begin(), common->end(), frames.begin(), frames.end()).first;
    common->erase(end, common->end());
  };
  for (const Operand& operand : kernel.operands) meet(operand.loc);
  for (const Body& body : kernel.bodies)
    ForEachInstr(body.region, [&](const Instr& op) {
      meet(op.loc);
      if (!first.valid()) first = op.loc;
    });
  return common.has_value() && !common->empty() ? common->back() : first;
}

void PlaceAtCall(const Module& module, const Kernel& kernel, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (!finding.loc.valid() && finding.text_line == kernel.text_line) finding.loc = CallPlace(module, kernel);
  }
}

}  // namespace palladion::legality
