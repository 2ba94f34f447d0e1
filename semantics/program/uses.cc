#include "semantics/program/uses.h"

namespace palladion {

void VisitUses(const Arg& arg, const std::function<void(ValueId)>& visit) {
  if (arg.kind == Arg::Kind::kValue) visit(arg.value);
  for (const Transform& t : arg.transforms) {
    for (const Index& index : t.indices) {
      VisitUses(index.start, visit);
      VisitUses(index.size, visit);
    }
    VisitUses(t.peer, visit);
  }
  for (const Arg& choice : arg.select) VisitUses(choice, visit);
}

void VisitUses(const Instr& op, const std::function<void(ValueId)>& visit) {
  for (const Arg& arg : op.args) VisitUses(arg, visit);
  for (const Region& region : op.regions) {
    for (const Instr& inner : region.body) VisitUses(inner, visit);
    for (const Arg& result : region.results) VisitUses(result, visit);
  }
}

LastUses::LastUses(const Region& region) : region_(region) {
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    VisitUses(region.body[i], [&](ValueId value) { uses_[value.value].last = i; });
  }
  for (const Arg& result : region.results) {
    VisitUses(result, [&](ValueId value) {
      Use& use = uses_[value.value];
      use.last = region.body.size();
      ++use.returned;
    });
  }
}

bool LastUses::EndsBy(ValueId value, std::size_t position) const {
  const auto use = uses_.find(value.value);
  return use == uses_.end() || use->second.last <= position;
}

std::size_t LastUses::Last(ValueId value) const {
  const auto use = uses_.find(value.value);
  return use == uses_.end() ? region_.body.size() : use->second.last;
}

int LastUses::Returned(ValueId value) const {
  const auto use = uses_.find(value.value);
  return use == uses_.end() ? 0 : use->second.returned;
}

bool ReturnsParam(const Region& region, std::size_t result, ValueId param) {
  const Arg& arg = region.results[result];
  return arg.kind == Arg::Kind::kValue && arg.value == param;
}

}  // namespace palladion
