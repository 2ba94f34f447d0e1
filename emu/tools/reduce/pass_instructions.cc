// Removes instructions. Uses of their results get zeros, or one of the operands, instead.
#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/pass.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_id.h"

namespace palladion::reduce {
namespace {

std::vector<int> UsesOf(Kernel& kernel) {
  std::vector<int> uses(kernel.values.size(), 0);
  edit::ForEachArg(kernel, [&](Arg& arg) {
    if (arg.kind == Arg::Kind::kValue && arg.value.valid()) ++uses[arg.value.index()];
  });
  return uses;
}

bool IsZero(const Literal& literal) {
  return std::all_of(literal.bytes.begin(), literal.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Arg Zero(const Type& type) { return edit::LiteralArg(0, type); }

// %zeros = broadcast_in_dim{shape=[2,3], dims=[]}(0.0:f32) : f32[2,3]
Instr Zeros(ValueId result, const Type& type) {
  AttrList shape(type.shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d].value = type.shape[d];
  Instr made = MakeInstr(OpId::kBroadcastInDim, {Zero(type)}, {});
  made.attrs = {{"shape", Attr{std::move(shape)}}, {"dims", Attr{AttrList{}}}};
  made.results = {result};
  made.types = {type};
  return made;
}

bool IsZeros(const Instr& instr) {
  return instr.regions.empty() && instr.args.size() == 1 && instr.args[0].kind == Arg::Kind::kLiteral &&
         IsZero(instr.args[0].literal);
}

// Goes over all regions and leaves out the instructions that `goes` says.
class Dropper {
 public:
  Dropper(Kernel& kernel, std::function<bool(Instr&)> goes)
      : kernel_(kernel), goes_(std::move(goes)), uses_(UsesOf(kernel)) {}

  void Run() {
    for (Operand& operand : kernel_.operands) {
      if (operand.block.has_value()) Visit(operand.block->map);
    }
    for (Body& body : kernel_.bodies) Visit(body.region);
    edit::Substitute(kernel_, substitution_);
  }

 private:
  // What stands where the instruction was, besides `zeros`; nothing where its results cannot be done without.
  std::optional<std::vector<Instr>> Instead(const Instr& instr, edit::Substitution& zeros) const {
    std::vector<Instr> instead;
    for (std::size_t i = 0; i < instr.results.size(); ++i) {
      const ValueId id = instr.results[i];
      if (!id.valid() || uses_[id.index()] == 0) continue;
      const Type& type = instr.types[i];
      if (!type.is_array() || !type.dynamic.empty() || IsZeros(instr)) return std::nullopt;
      if (type.shape.empty()) {
        zeros[id] = Zero(type);
      } else {
        instead.push_back(Zeros(id, type));
      }
    }
    return instead;
  }

  void Visit(Region& region) {
    std::vector<Instr> kept;
    for (Instr& instr : region.body) {
      edit::Substitution zeros;
      std::optional<std::vector<Instr>> instead = Instead(instr, zeros);
      if (instead.has_value() && goes_(instr)) {
        substitution_.merge(zeros);
        std::move(instead->begin(), instead->end(), std::back_inserter(kept));
        continue;
      }
      for (Region& inner : instr.regions) Visit(inner);
      kept.push_back(std::move(instr));
    }
    region.body = std::move(kept);
  }

  Kernel& kernel_;
  const std::function<bool(Instr&)> goes_;
  std::vector<int> uses_;
  edit::Substitution substitution_;
};

// The operands that can stand for the results; nothing where one of them has none.
std::optional<edit::Substitution> OperandsFor(const Kernel& kernel, const Instr& instr) {
  edit::Substitution found;
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    if (!instr.results[i].valid()) continue;
    const auto fits = [&](const Arg& arg) {
      return (arg.kind == Arg::Kind::kValue || arg.kind == Arg::Kind::kLiteral) && arg.transforms.empty() &&
             TypeOfArg(kernel, arg) == instr.types[i];
    };
    auto stands = i < instr.args.size() && fits(instr.args[i])
                      ? instr.args.begin() + static_cast<std::ptrdiff_t>(i)
                      : std::find_if(instr.args.begin(), instr.args.end(), fits);
    if (stands == instr.args.end()) return std::nullopt;
    found[instr.results[i]] = *stands;
  }
  if (found.empty()) return std::nullopt;
  return found;
}

void Forward(Kernel& kernel, Region& region, Chooser& chooser, edit::Substitution& substitution) {
  std::vector<Instr> kept;
  for (Instr& instr : region.body) {
    std::optional<edit::Substitution> operands = OperandsFor(kernel, instr);
    if (operands.has_value() && chooser.Take()) {
      substitution.merge(*operands);
      continue;
    }
    for (Region& inner : instr.regions) Forward(kernel, inner, chooser, substitution);
    kept.push_back(std::move(instr));
  }
  region.body = std::move(kept);
}

// Goes over all regions and lets the first visible value of a type stand for later ones.
class Reuser {
 public:
  Reuser(Kernel& kernel, Chooser& chooser) : kernel_(kernel), chooser_(chooser) {}

  void Visit(Region& region) {
    const std::size_t outside = visible_.size();
    for (const Param& param : region.params) visible_.push_back(param.value);
    for (Instr& instr : region.body) {
      for (Arg& arg : instr.args) Reuse(arg);
      for (Region& inner : instr.regions) Visit(inner);
      visible_.insert(visible_.end(), instr.results.begin(), instr.results.end());
    }
    for (Arg& arg : region.results) Reuse(arg);
    visible_.resize(outside);
  }

 private:
  void Reuse(Arg& whole) {
    edit::ForEachArg(whole, [&](Arg& arg) {
      if (arg.kind != Arg::Kind::kValue) return;
      const Type& type = kernel_.values[arg.value.index()].type;
      const auto first = std::find_if(visible_.begin(), visible_.end(), [&](ValueId id) {
        return id.valid() && kernel_.values[id.index()].type == type;
      });
      if (first != visible_.end() && *first != arg.value && chooser_.Take()) arg.value = *first;
    });
  }

  Kernel& kernel_;
  Chooser& chooser_;
  std::vector<ValueId> visible_;
};

}  // namespace

void DropInstructions(State& state, Chooser& chooser) {
  Dropper(state.kernel(), [&](Instr&) { return chooser.Take(); }).Run();
}

void DropWhere(Kernel& kernel, const std::function<bool(Instr&)>& goes) { Dropper(kernel, goes).Run(); }

void DropUsers(Kernel& kernel, ValueId value) {
  DropWhere(kernel, [&](Instr& instr) {
    bool found = false;
    for (Arg& whole : instr.args)
      edit::ForEachArg(whole,
                       [&](Arg& arg) { found = found || (arg.kind == Arg::Kind::kValue && arg.value == value); });
    return found;
  });
}

void ForwardOperands(State& state, Chooser& chooser) {
  edit::Substitution substitution;
  for (Body& body : state.kernel().bodies) Forward(state.kernel(), body.region, chooser, substitution);
  edit::Substitute(state.kernel(), substitution);
}

void ReuseValues(State& state, Chooser& chooser) {
  for (Body& body : state.kernel().bodies) Reuser(state.kernel(), chooser).Visit(body.region);
}

// Named arguments that an instruction can do without, and scalar operands that become zero.
void DropArguments(State& state, Chooser& chooser) {
  const auto visit = [&](Instr& instr) {
    std::erase_if(instr.args, [&](const Arg& arg) {
      const bool optional = !arg.name.empty() && arg.kind != Arg::Kind::kNone;
      return optional && chooser.Take();
    });
    for (Arg& whole : instr.args) {
      edit::ForEachArg(whole, [&](Arg& arg) {
        if (arg.kind != Arg::Kind::kValue) return;
        const Type& type = state.kernel().values[arg.value.index()].type;
        if (!type.is_array() || !type.shape.empty() || !chooser.Take()) return;
        const std::string name = arg.name;
        arg = Zero(type);
        arg.name = name;
      });
    }
  };
  edit::ForEachInstr(state.kernel(), visit);
}

}  // namespace palladion::reduce
