#include "semantics/program/ended_refs.h"

#include <algorithm>
#include <string>

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

bool FreezesIn(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return op.row->allocates == Allocates::kEnds || std::any_of(op.regions.begin(), op.regions.end(), FreezesIn);
  });
}

struct AliveParams {
  RefId ref;
};

absl::Status RunExpectAlive(const void* params, const Step& step, Frame& frame) {
  const RefId ref = static_cast<const AliveParams*>(params)->ref;
  const Step* ended = frame.ref(ref).ended;
  if (ended == nullptr) return absl::OkStatus();
  const std::string& name = frame.program().refs[ref.index()].name;
  const std::string agent = AgentName(NamingOf(frame.program()), frame.grid_index());
  frame.machine().Report({.code = FindingCode::kUseAfterScope,
                          .severity = Severity::kDefect,
                          .message = Cat("'", name, "' is used", AtAgent(NamingOf(frame.program()), frame.grid_index()),
                                         " after freeze has ended its life"),
                          .loc = step.loc,
                          .text_line = step.text_line,
                          .first = FindingAccess{AccessKind::kFree, agent, name, "", ended->loc, ended->text_line},
                          .fix = "use the value that freeze returned"});
  return absl::OkStatus();
}

}  // namespace

bool Freezes(const Kernel& kernel) {
  return std::any_of(kernel.bodies.begin(), kernel.bodies.end(),
                     [](const Body& body) { return FreezesIn(body.region); });
}

void EmitExpectAlive(RefId ref, Builder& builder) { builder.Emit(RunExpectAlive, AliveParams{ref}); }

}  // namespace palladion
