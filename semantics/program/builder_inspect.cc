// Builder: what a run has to look at beside its work: operands that may break a rule, refs whose life has ended.
#include <algorithm>
#include <memory>

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/registry/inspect.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

bool KeepsRule(const Inspector& inspector, const std::byte* constant) {
  Scan scan;
  inspector.run(inspector.params.get(), constant, nullptr, static_cast<std::size_t>(NumElements(inspector.type.shape)),
                scan);
  return scan.count == 0;
}

}  // namespace

const Inspected* Builder::Inspect(const Instr& op, const ValueTypes& types, const std::vector<SlotId>& in) {
  auto inspected = std::make_shared<Inspected>(Inspected{.op = op.name, .loc = op.loc, .text_line = op.text_line});
  for (Inspector& inspector : op.row->inspect(op, types)) {
    const std::byte* constant = program_.slots[in[inspector.operand].index()].constant;
    if (constant != nullptr && KeepsRule(inspector, constant)) continue;
    inspector.site = program_.inspectors++;
    inspected->inspectors.push_back(std::move(inspector));
  }
  if (inspected->inspectors.empty()) return nullptr;
  program_.owned.push_back(inspected);
  return inspected.get();
}

namespace {

struct AliveParams {
  RefId ref;
};

absl::Status RunExpectAlive(const void* params, const Step& step, Frame& frame) {
  const RefId ref = static_cast<const AliveParams*>(params)->ref;
  const Step* ended = frame.ref(ref).ended;
  if (ended == nullptr) return absl::OkStatus();
  const std::string& name = frame.program().refs[ref.index()].name;
  const std::string agent = AgentName(NamingOf(frame.program()), frame.grid_index);
  frame.machine().Report({.code = FindingCode::kUseAfterScope,
                          .severity = Severity::kDefect,
                          .message = Cat("'", name, "' is used", AtAgent(NamingOf(frame.program()), frame.grid_index),
                                         " after freeze has ended its life"),
                          .loc = step.loc,
                          .text_line = step.text_line,
                          .first = FindingAccess{AccessKind::kFree, agent, name, "", ended->loc, ended->text_line},
                          .fix = "use the value that freeze returned"});
  return absl::OkStatus();
}

}  // namespace

bool Builder::Freezes(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return op.row->allocates == Allocates::kEnds || std::any_of(op.regions.begin(), op.regions.end(), Freezes);
  });
}

void Builder::EmitExpectAlive(RefId ref) {
  if (freezes_) Emit(RunExpectAlive, AliveParams{ref});
}

}  // namespace palladion
