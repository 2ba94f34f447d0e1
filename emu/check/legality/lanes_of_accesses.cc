#include "emu/check/legality/lanes_of_accesses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check/legality/index_expressions.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/layout_walk.h"
#include "emu/chip/layouts/register_layouts.h"
#include "emu/chip/layouts/triton_memory.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

template <class Visit>
void VisitAccesses(const Region& region, const Visit& visit) {
  for (const Instr& op : region.body) {
    if (RowOf(op).access != RefAccess::kNone) visit(op);
    for (const Region& inner : op.regions) VisitAccesses(inner, visit);
  }
}

// Sums and bits of integers are the same in every order, where no result in between is used.
std::uint32_t UpdateOf(const Kernel& kernel, const Instr& op, bool is_seen) {
  constexpr std::array<std::string_view, 6> kOperations = {"add", "max", "min", "and", "or", "xor"};
  const OpRow& row = RowOf(op);
  if (row.access != RefAccess::kAtomic || is_seen || row.stored >= op.args.size()) return 0;
  const DType dtype = TypeOfArg(kernel, op.args[row.stored]).dtype;
  const std::string word = layouts::WordOf(op.attrs, "op"),
                    name = word.empty() ? layouts::WordOf(op.attrs, "atomic_type") : word;
  const auto at = std::find(kOperations.begin(), kOperations.end(), name);
  if (!IsInteger(dtype) || at == kOperations.end()) return 0;
  const auto number = static_cast<std::uint32_t>(at - kOperations.begin());
  return 1 + number + static_cast<std::uint32_t>(kOperations.size()) * static_cast<std::uint32_t>(dtype);
}

// What becomes of each value of a Triton kernel: nothing, it goes into stores that are all spread alike, or lanes
// beyond the one that stores it have to have it right. From the end to the beginning.
class UsesOfCopies {
 public:
  UsesOfCopies(const Kernel& kernel, const std::map<const Instr*, std::uint32_t>& expressions)
      : kernel_(kernel), expressions_(expressions), uses_(kernel.values.size(), kNone) {
    for (const Body& body : kernel.bodies) Walk(body.region);
    for (const Operand& operand : kernel.operands) {
      if (operand.block.has_value()) Walk(operand.block->map);
    }
  }

  bool AreSeen(const Instr& op) const {
    return std::any_of(op.results.begin(), op.results.end(),
                       [&](ValueId value) { return value.valid() && uses_[value.index()] != kNone; });
  }

  bool AllMatter(const Instr& load) const {
    return std::any_of(load.results.begin(), load.results.end(), [&](ValueId value) {
      if (!value.valid() || uses_[value.index()] == kNone) return false;
      const bool one = NumElements(kernel_.values[value.index()].type.shape) == 1;
      return uses_[value.index()] != (one ? kFirstLane : expressions_.at(&load));
    });
  }

 private:
  static constexpr std::uint32_t kNone = 0, kAll = std::numeric_limits<std::uint32_t>::max(), kFirstLane = kAll - 1;

  void Walk(const Region& region) {
    for (const Arg& arg : region.results) Use(arg, kAll);
    for (auto op = region.body.rbegin(); op != region.body.rend(); ++op) Step(*op);
  }

  void Step(const Instr& op) {
    for (const Region& region : op.regions) Walk(region);
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      UseView(op.args[i]);
      if (!layouts::IsRefArg(kernel_, op.args[i])) Use(op.args[i], UseBy(op, i));
    }
  }

  std::uint32_t UseBy(const Instr& op, std::size_t i) const {
    const OpRow& row = RowOf(op);
    const Shape shape = TypeOfArg(kernel_, op.args[i]).shape;
    const bool stores =
        row.access == RefAccess::kStore || row.access == RefAccess::kAdd || row.access == RefAccess::kAtomic;
    if (stores && i == row.stored) return NumElements(shape) == 1 ? kFirstLane : expressions_.at(&op);
    if (!op.regions.empty() || row.prepare == nullptr || op.results.size() != 1 || op.types[0].shape != shape)
      return kAll;
    switch (row.flow) {
      case Flow::kElementwise:
      case Flow::kConvert:
      case Flow::kMask:
      case Flow::kSelect:
        return op.results[0].valid() ? uses_[op.results[0].index()] : kNone;
      default:
        return kAll;
    }
  }

  void Use(const Arg& arg, std::uint32_t by) {
    if (arg.kind != Arg::Kind::kValue || by == kNone) return;
    std::uint32_t& use = uses_[arg.value.index()];
    use = use == kNone || use == by ? by : kAll;
  }
  void UseView(const Arg& arg) {
    for (const Transform& transform : arg.transforms) {
      for (const Index& index : transform.indices) Use(index.start, kAll), Use(index.size, kAll);
    }
    for (const Arg& choice : arg.select) Use(choice, kAll), UseView(choice);
  }

  const Kernel& kernel_;
  const std::map<const Instr*, std::uint32_t>& expressions_;
  std::vector<std::uint32_t> uses_;  // by value
};

// The value that an access reads or writes, with its layout; unknown where it does both in two.
std::pair<layouts::RegisterLayout, Shape> LayoutOf(const Kernel& kernel, const layouts::KernelLayouts& layouts,
                                                   const Instr& op) {
  const OpRow& row = RowOf(op);
  const bool loads = !op.results.empty() && op.results[0].valid();
  const bool stores = row.access != RefAccess::kLoad;
  if (stores && (row.stored >= op.args.size() || row.access != RefAccess::kStore)) return {};
  layouts::RegisterLayout stored, loaded;
  Shape shape;
  if (loads) loaded = layouts.values[op.results[0].index()], shape = op.types[0].shape;
  if (stores) stored = layouts.Of(op.args[row.stored]), shape = TypeOfArg(kernel, op.args[row.stored]).shape;
  if (loads && stores && !(loaded == stored)) return {};
  return {stores ? stored : loaded, shape};
}

bool IsEachOneLanes(const layouts::RegisterLayout& layout, const Shape& shape) {
  if (layout.kind == layouts::RegisterLayout::Kind::kStrided) return NumElements(shape) >= layouts::kLanesOfGroup;
  return layout.is_tiled() && !layout.tiled.HasCopies();
}

}  // namespace

void LanesOfAccesses::Add(int text_line, AccessLanes access) {
  const auto [at, is_new] = lines_.emplace(text_line, access);
  if (is_new) return;
  if (at->second.spread != access.spread) at->second.spread = 0;
  at->second.all_copies |= access.all_copies;
  if (at->second.update != access.update) at->second.update = 0;
}

LanesOfAccesses LanesOfAccesses::OfTriton(const Kernel& kernel) {
  LanesOfAccesses lanes(layouts::LanesOfTriton(kernel));
  const std::map<const Instr*, std::uint32_t> expressions = IndexExpressionsOf(kernel);
  const UsesOfCopies uses(kernel, expressions);
  for (const auto& [op, number] : expressions)
    lanes.Add(op->text_line, {number, uses.AllMatter(*op), UpdateOf(kernel, *op, uses.AreSeen(*op))});
  return lanes;
}

LanesOfAccesses LanesOfAccesses::OfMosaicGpu(const Kernel& kernel) {
  LanesOfAccesses lanes(layouts::kLanesOfGroup);
  const layouts::KernelLayouts layouts = layouts::LayoutsOf(kernel);
  std::vector<std::pair<layouts::RegisterLayout, Shape>> known;
  const auto add = [&](const Instr& op) {
    std::pair<layouts::RegisterLayout, Shape> layout = LayoutOf(kernel, layouts, op);
    AccessLanes access;
    const bool is_seen = std::any_of(op.results.begin(), op.results.end(), [](ValueId value) { return value.valid(); });
    access.update = UpdateOf(kernel, op, is_seen);
    if (IsEachOneLanes(layout.first, layout.second)) {
      const auto at = std::find(known.begin(), known.end(), layout);
      access.spread = static_cast<std::uint32_t>(at - known.begin()) + 1;
      if (at == known.end()) known.push_back(std::move(layout));
    }
    lanes.Add(op.text_line, access);
  };
  for (const Body& body : kernel.bodies) VisitAccesses(body.region, add);
  return lanes;
}

}  // namespace palladion::legality
