#include "emu/run/agents/rounded_copies.h"

#include <algorithm>

#include "semantics/registry/op_id.h"

namespace palladion::agents {
namespace {

void CollectRounded(const Region& region, std::set<ValueId>& multiples, std::set<int>& lines) {
  const auto is_multiple = [&](const Index& index) {
    return index.kind == Index::Kind::kSlice && index.size.kind == Arg::Kind::kValue &&
           multiples.count(index.size.value) > 0;
  };
  for (const Instr& op : region.body) {
    if (Is(op, OpId::kMultipleOf)) multiples.insert(op.results.begin(), op.results.end());
    for (const Arg& arg : op.args) {
      for (const Transform& transform : arg.transforms) {
        if (op.text_line > 0 && std::any_of(transform.indices.begin(), transform.indices.end(), is_multiple))
          lines.insert(op.text_line);
      }
    }
    for (const Region& inner : op.regions) CollectRounded(inner, multiples, lines);
  }
}

}  // namespace

std::set<int> RoundedCopies(const Module& module, std::string_view kernel) {
  std::set<int> lines;
  for (const Kernel& one : module.kernels) {
    if (one.name != kernel) continue;
    std::set<ValueId> multiples;
    for (const Body& body : one.bodies) CollectRounded(body.region, multiples, lines);
  }
  return lines;
}

}  // namespace palladion::agents
