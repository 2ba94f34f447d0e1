#include "emu/chip/layouts/tmem_members.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emu/chip/layouts/gpu_facts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::layouts {
namespace {

// The ref that is shared, and which member of it: members are distinguished by where they begin and what they are.
using Member = std::pair<ValueId, std::string>;

Member MemberOf(const Arg& arg) {
  std::string key;
  for (const AttrEntry& entry : arg.transforms.front().attrs) key += Cat(entry.first, "=", ToString(entry.second), " ");
  return {arg.value, std::move(key)};
}

// Values, and members, that have one layout if any: those that an operation takes and gives.
class Connected {
 public:
  explicit Connected(const Kernel& kernel) : kernel_(kernel), parents_(kernel.values.size()) {
    for (std::size_t i = 0; i < parents_.size(); ++i) parents_[i] = i;
    said_.resize(parents_.size());
    Walk(kernel.bodies[0].region);
  }

  bool HasLayout(const Arg& member) {
    const auto it = members_.find(MemberOf(member));
    return it == members_.end() || said_[RootOf(it->second)];
  }

 private:
  std::size_t RootOf(std::size_t node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  void Join(std::size_t a, std::size_t b) {
    a = RootOf(a);
    b = RootOf(b);
    if (a == b) return;
    said_[a] = said_[a] || said_[b];
    parents_[b] = a;
  }
  std::size_t NodeOf(const Member& member) {
    const auto [it, made] = members_.emplace(member, parents_.size());
    if (made) {
      parents_.push_back(it->second);
      said_.push_back(false);
    }
    return it->second;
  }

  // Operations that leave the layout of what they move to the others; any other operation may choose one.
  static bool LeavesItOpen(const Instr& op) {
    static const RuleRows kMoves("async_load_tmem", "async_store_tmem", "broadcast_in_dim", "swap", "debug_print");
    const Flow flow = RowOf(op).flow;
    return kMoves.Has(op) || flow == Flow::kElementwise || flow == Flow::kConvert;
  }

  bool HasTiles(const Arg& arg) const {
    const GpuView view = GpuViewOf(kernel_, arg);
    return !view.tile.empty() || view.swizzle().has_value();
  }

  void Look(const Instr& op) {
    std::vector<std::size_t> nodes;
    bool said = !LeavesItOpen(op);
    for (const Arg& arg : op.args) {
      if (IsRefArg(kernel_, arg)) {
        if (IsMember(arg)) nodes.push_back(NodeOf(MemberOf(arg)));
        said = said || HasTiles(arg);
      } else if (arg.kind == Arg::Kind::kValue && !kernel_.values[arg.value.index()].type.shape.empty()) {
        nodes.push_back(arg.value.index());
      }
    }
    for (const ValueId result : op.results) {
      if (result.valid()) nodes.push_back(result.index());
    }
    for (const Region& inner : op.regions) {
      for (const Param& param : inner.params) nodes.push_back(param.value.index());
      for (const Arg& given : inner.results) {
        if (given.kind == Arg::Kind::kValue) nodes.push_back(given.value.index());
      }
    }
    for (const std::size_t node : nodes) {
      Join(nodes.front(), node);
      if (said) said_[RootOf(node)] = true;
    }
  }

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      Look(op);
      for (const Region& inner : op.regions) Walk(inner);
    }
  }

  const Kernel& kernel_;
  std::vector<std::size_t> parents_;  // by value, then by member
  std::vector<bool> said_;            // by root
  std::map<Member, std::size_t> members_;
};

}  // namespace

bool IsMember(const Arg& arg) {
  return !arg.transforms.empty() && arg.transforms.front().kind == Transform::Kind::kAlias;
}

bool HasLayout(const Kernel& kernel, const Arg& member) { return Connected(kernel).HasLayout(member); }

}  // namespace palladion::layouts
