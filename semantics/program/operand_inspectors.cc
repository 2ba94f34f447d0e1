#include "semantics/program/operand_inspectors.h"

#include <memory>
#include <utility>

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

const Inspected* InspectorsOf(const Instr& op, const ValueTypes& types, const std::vector<SlotId>& in,
                              Program& program) {
  if (op.row->inspect == nullptr) return nullptr;
  auto inspected = std::make_shared<Inspected>(Inspected{.op = op.name, .loc = op.loc, .text_line = op.text_line});
  for (Inspector& inspector : op.row->inspect(op, types)) {
    const std::byte* constant = program.slots[in[inspector.operand].index()].constant;
    if (constant != nullptr && KeepsRule(inspector, constant)) continue;
    inspector.site = program.inspectors++;
    inspected->inspectors.push_back(std::move(inspector));
  }
  if (inspected->inspectors.empty()) return nullptr;
  program.owned.push_back(inspected);
  return inspected.get();
}

}  // namespace palladion
