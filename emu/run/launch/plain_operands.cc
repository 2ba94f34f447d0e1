#include "emu/run/launch/plain_operands.h"

#include <algorithm>
#include <vector>

#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

bool Stays(const Transform& transform) {
  switch (transform.kind) {
    case Transform::Kind::kAt:
    case Transform::Kind::kBitcast:
    case Transform::Kind::kReshape:
    case Transform::Kind::kTranspose:
      return true;
    default:
      return false;
  }
}

// A load or a store of the instruction's own of its first operand.
bool IsPlain(const Instr& op, std::size_t i) {
  const bool plain = op.row->access == RefAccess::kLoad || op.row->access == RefAccess::kStore;
  const std::vector<Transform>& view = op.args[i].transforms;
  return plain && i == 0 && op.args[i].kind == Arg::Kind::kValue && !op.row->named_refs &&
         op.row->asks_port != AsksPort::kAlways && op.row->effect != Effect::kSynchronises &&
         op.row->launch_control == ClusterLaunchControl::kNone && std::all_of(view.begin(), view.end(), Stays);
}

bool MayBePlain(const Kernel& kernel, const Operand& operand) {
  const bool in = operand.role == Role::kPrefetch || operand.role == Role::kIn || operand.role == Role::kScratch;
  const bool shared = std::any_of(kernel.operands.begin(), kernel.operands.end(),
                                  [&](const Operand& other) { return other.alias == operand.value; });
  return in && !shared && !operand.block.has_value();
}

}  // namespace

PlainOperands::PlainOperands(const Kernel& kernel) {
  if (kernel.bodies.size() != 1) return;
  NameParams(kernel);
  Look(kernel.bodies[0].region);
  for (const Operand& operand : kernel.operands) {
    if (operand.block.has_value()) Look(operand.block->map);
  }
}

void PlainOperands::NameParams(const Kernel& kernel) {
  const std::vector<Param>& params = kernel.bodies[0].region.params;
  const std::size_t axes = kernel.launch.grid.size();
  std::size_t param = 0, prefetched = 0;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (operand.role == Role::kBound) continue;
    const std::size_t in_map = axes + (operand.role == Role::kPrefetch ? prefetched++ : kernel.operands.size());
    const std::size_t in_body = param++;
    if (in_body >= params.size() || !params[in_body].view.empty() || !MayBePlain(kernel, operand)) continue;
    operand_of_.emplace(params[in_body].value.value, i);
    for (const Operand& other : kernel.operands) {
      if (!other.block.has_value() || in_map >= other.block->map.params.size()) continue;
      operand_of_.emplace(other.block->map.params[in_map].value.value, i);
    }
  }
}

std::optional<std::size_t> PlainOperands::Of(ValueId ref) const {
  const auto found = operand_of_.find(ref.value);
  return found == operand_of_.end() ? std::nullopt : std::optional(found->second);
}

void PlainOperands::Look(const Region& region) {
  for (const Instr& op : region.body) Look(op);
  for (const Arg& result : region.results) Drop(result);
}

void PlainOperands::Look(const Instr& op) {
  for (std::size_t i = 0; i < op.args.size(); ++i) IsPlain(op, i) ? LookAtViews(op.args[i]) : Drop(op.args[i]);
  for (const Region& region : op.regions) Look(region);
}

void PlainOperands::LookAtViews(const Arg& arg) {
  for (const Transform& transform : arg.transforms) {
    for (const Index& index : transform.indices) {
      Drop(index.start);
      Drop(index.size);
    }
    Drop(transform.peer);
  }
}

void PlainOperands::Drop(const Arg& arg) {
  if (arg.kind == Arg::Kind::kValue) {
    if (const std::optional<std::size_t> operand = Of(arg.value))
      std::erase_if(operand_of_, [&](const auto& one) { return one.second == *operand; });
  }
  LookAtViews(arg);
  for (const Arg& choice : arg.select) Drop(choice);
}

}  // namespace palladion::launch
