#include "emu/chip/layouts/triton_memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/register_layouts.h"
#include "emu/chip/layouts/tiles.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::layouts {
namespace {

constexpr std::int64_t kUsualWarps = 4, kUsualStages = 3;

// Which instruction made each value, and in which loop it is.
class Makers {
 public:
  explicit Makers(const Kernel& kernel) { Walk(kernel.bodies[0].region, nullptr); }

  struct Made {
    const Instr* op = nullptr;
    const Instr* loop = nullptr;  // the innermost around it; nullptr: none
  };

  // The load that an operand of a product comes from, through transposes; no `op` where it comes from none.
  Made LoadOf(const Arg& arg) const {
    const auto found = arg.kind == Arg::Kind::kValue ? made_.find(arg.value.value) : made_.end();
    if (found == made_.end()) return {};
    const Made& made = found->second;
    if (RowOf(*made.op).access == RefAccess::kLoad) return made;
    if (RowOf(*made.op).flow == Flow::kMove && made.op->args.size() == 1) return LoadOf(made.op->args[0]);
    return {};
  }

  const std::vector<Made>& products() const { return products_; }
  const std::map<std::int32_t, std::vector<const Instr*>>& users() const { return users_; }

 private:
  void Use(const Arg& arg, const Instr* user) {
    if (arg.kind == Arg::Kind::kValue) users_[arg.value.value].push_back(user);
    for (const Arg& one : arg.select) Use(one, user);
    for (const Transform& transform : arg.transforms) {
      for (const Index& index : transform.indices) {
        Use(index.start, user);
        Use(index.size, user);
      }
    }
  }

  void Walk(const Region& region, const Instr* loop) {
    for (const Instr& op : region.body) {
      for (const Arg& arg : op.args) Use(arg, &op);
      for (const ValueId result : op.results) {
        if (result.valid()) made_[result.value] = {&op, loop};
      }
      if (RowOf(op).flow == Flow::kDot && !op.results.empty()) products_.push_back({&op, loop});
      for (const Region& inner : op.regions) Walk(inner, IsLoop(RowOf(op)) ? &op : loop);
    }
    for (const Arg& arg : region.results) Use(arg, nullptr);
  }

  std::map<std::int32_t, Made> made_;
  std::map<std::int32_t, std::vector<const Instr*>> users_;  // nullptr: leaves a region
  std::vector<Made> products_;
};

// Does nothing but products read it?
bool OnlyMultiplied(const Makers& makers, ValueId value) {
  const auto found = makers.users().find(value.value);
  if (found == makers.users().end()) return false;
  return std::all_of(found->second.begin(), found->second.end(), [&](const Instr* user) {
    if (user == nullptr) return false;
    if (RowOf(*user).flow == Flow::kDot) return true;
    return RowOf(*user).flow == Flow::kMove && user->results.size() == 1 && OnlyMultiplied(makers, user->results[0]);
  });
}

}  // namespace

std::int64_t LanesOfTriton(const Kernel& kernel) {
  return kLanesOfWarp * std::clamp<std::int64_t>(IntOf(kernel.params, "num_warps").value_or(kUsualWarps), 1, 64);
}

std::int64_t StagesOfTriton(const Kernel& kernel) {
  return std::clamp<std::int64_t>(IntOf(kernel.params, "num_stages").value_or(kUsualStages), 1, 64);
}

std::set<std::int32_t> NotInRegisters(const Kernel& kernel) {
  static const RuleRows kAdditions("add");
  const Makers makers(kernel);
  std::set<std::int32_t> values;
  const auto add = [&](ValueId value) {
    if (value.valid() && OnlyMultiplied(makers, value)) values.insert(value.value);
  };
  for (const Makers::Made& product : makers.products()) {
    const auto users = makers.users().find(product.op->results[0].value);
    if (users != makers.users().end() && users->second.size() == 1 && users->second[0] != nullptr &&
        kAdditions.Has(*users->second[0]))
      values.insert(product.op->results[0].value);
    for (const Arg& arg : product.op->args) {
      const Makers::Made load = makers.LoadOf(arg);
      if (load.op == nullptr) continue;
      add(load.op->results[0]);
      if (arg.value != load.op->results[0]) add(arg.value);
    }
  }
  return values;
}

std::vector<TritonOperands> SharedMemoryOfTriton(const Kernel& kernel) {
  const Makers makers(kernel);
  std::map<int, std::vector<TritonOperands>> of_loop;  // by its line; 0: outside of loops
  std::set<const Instr*> counted;                      // loads
  for (const Makers::Made& product : makers.products()) {
    for (std::size_t i = 0; i < 2 && i < product.op->args.size(); ++i) {
      const Makers::Made load = makers.LoadOf(product.op->args[i]);
      if (load.op == nullptr || load.op->types.empty() || !counted.insert(load.op).second) continue;
      const Type& type = load.op->types[0];
      const bool in_loop = load.loop != nullptr && load.loop == product.loop;
      const std::int64_t buffers = in_loop ? StagesOfTriton(kernel) : 1;
      of_loop[product.loop == nullptr ? 0 : product.loop->text_line].push_back(
          {.what = Cat(buffers == 1 ? "" : Cat(buffers, " buffers of "), Name(type.dtype), ToString(type.shape),
                       ", which is loaded and multiplied"),
           .bytes = SaturatingMultiply(buffers, DenseBytes(type, type.shape)),
           .text_line = product.op->text_line,
           .loc = product.op->loc});
    }
  }
  std::vector<TritonOperands> most;
  const auto sum = [](const std::vector<TritonOperands>& all) {
    std::int64_t bytes = 0;
    for (const TritonOperands& one : all) bytes = SaturatingAdd(bytes, one.bytes);
    return bytes;
  };
  for (auto& [line, operands] : of_loop) {
    if (sum(operands) > sum(most)) most = std::move(operands);
  }
  return most;
}

}  // namespace palladion::layouts
