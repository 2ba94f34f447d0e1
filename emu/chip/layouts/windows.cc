#include "emu/chip/layouts/windows.h"

#include <algorithm>
#include <variant>

namespace palladion::layouts {
namespace {

// Which values of an index map change with one dimension of the grid.
class Changing {
 public:
  Changing(const Kernel& kernel, ValueId index) : changes_(kernel.values.size()) { Mark(index); }

  // Does anything in the region change?
  bool Walk(const Region& region) {
    bool any = false;
    for (const Instr& op : region.body) {
      bool changes = Any(op.args);
      for (const Region& inner : op.regions) {
        if (changes) {
          for (const Param& param : inner.params) Mark(param.value);
        }
        changes = Walk(inner) || Any(inner.results) || changes;
      }
      if (!changes) continue;
      any = true;
      for (const ValueId result : op.results) Mark(result);
    }
    return any;
  }

  bool Any(const std::vector<Arg>& args) const {
    return std::any_of(args.begin(), args.end(), [&](const Arg& arg) { return Of(arg); });
  }

  bool Of(const Arg& arg) const {
    if (arg.kind == Arg::Kind::kSelect) return Any(arg.select);
    if (arg.kind != Arg::Kind::kValue) return false;
    if (arg.value.valid() && changes_[arg.value.index()]) return true;
    return std::any_of(arg.transforms.begin(), arg.transforms.end(), [&](const Transform& view) {
      return Of(view.peer) || std::any_of(view.indices.begin(), view.indices.end(),
                                          [&](const Index& index) { return Of(index.start) || Of(index.size); });
    });
  }

 private:
  void Mark(ValueId value) {
    if (value.valid()) changes_[value.index()] = true;
  }

  std::vector<bool> changes_;
};

}  // namespace

Space SpaceOf(const Kernel& kernel, std::size_t operand) {
  const Operand& declared = kernel.operands[operand];
  if (declared.role == Role::kPrefetch) return Space::kSmem;
  if (declared.space.has_value()) return *declared.space;
  const auto has_ref = [](const Operand& one) { return one.role != Role::kBound; };
  const auto param = static_cast<std::size_t>(
      std::count_if(kernel.operands.begin(), kernel.operands.begin() + static_cast<std::ptrdiff_t>(operand), has_ref));
  const std::vector<Param>& params = kernel.bodies[0].region.params;
  if (!has_ref(declared) || param >= params.size()) return Space::kDefault;
  return kernel.values[params[param].value.index()].type.space;
}

bool GridMoves(const Kernel& kernel, std::size_t dimension) {
  const GridDim& dim = kernel.launch.grid[dimension];
  return dim.bound.valid() || dim.size != 1;
}

std::vector<std::size_t> ResultsOf(const Kernel& kernel, const BlockSpec& block, std::size_t dimension) {
  std::vector<std::size_t> results;
  if (dimension >= block.map.params.size()) return results;
  Changing changing(kernel, block.map.params[dimension].value);
  changing.Walk(block.map);
  for (std::size_t k = 0; k < block.map.results.size(); ++k) {
    if (changing.Of(block.map.results[k])) results.push_back(k);
  }
  return results;
}

std::vector<std::size_t> DependsOn(const Kernel& kernel, const BlockSpec& block) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < kernel.launch.grid.size(); ++d) {
    if (!ResultsOf(kernel, block, d).empty()) dimensions.push_back(d);
  }
  return dimensions;
}

WindowBuffers BuffersOf(const Kernel& kernel, const Operand& operand) {
  if (!operand.block.has_value()) return {1, "the whole array"};
  const std::vector<std::size_t> dimensions = DependsOn(kernel, *operand.block);
  if (std::none_of(dimensions.begin(), dimensions.end(), [&](std::size_t d) { return GridMoves(kernel, d); }))
    return {1, "its index cannot change over the grid"};
  if (!operand.block->buffered.has_value()) return {2, "the next block is fetched ahead"};
  const Attr* attr = Find(*operand.block->buffered, "buffer_count");
  const auto* count = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return {count == nullptr ? 2 : std::max<std::int64_t>(1, *count), "pipeline_mode=pl.Buffered"};
}

}  // namespace palladion::layouts
