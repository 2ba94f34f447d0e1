// Sums in another order, or in a narrower type: a contraction or reduction is split into parts, which are added one
// after the other or in pairs, each sum rounded to the type.
#include <algorithm>
#include <utility>

#include "emu/tools/golden/error_kernel.h"
#include "emu/tools/golden/error_rules.h"
#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

constexpr std::int64_t kMostParts = 512;  // of one sum, each of which is some instructions

enum class Order { kForward, kBackward, kPairs, kFused };

struct Split {
  std::int64_t length = 1;  // elements of each part
  Order order = Order::kForward;
  DType sum = DType::kF32;
};

// The dimension that is summed, of each operand.
std::vector<std::int64_t> SummedAxes(const Instr& instr) {
  const auto first = [](const Attr* attr) -> std::int64_t {
    const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
    const auto* axis = list == nullptr || list->size() != 1 ? nullptr : std::get_if<std::int64_t>(&(*list)[0].value);
    return axis == nullptr ? -1 : *axis;
  };
  if (RowOf(instr).flow == Flow::kReduce) return {first(Find(instr.attrs, "axes"))};
  const Attr* contract = Find(instr.attrs, "contract");
  const auto* sides = contract == nullptr ? nullptr : std::get_if<AttrList>(&contract->value);
  if (sides == nullptr || sides->size() != 2) return {-1};
  return {first(&(*sides)[0]), first(&(*sides)[1])};
}

bool IsSum(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  const bool sums =
      row.flow == Flow::kDot || (row.flow == Flow::kReduce && row.in_ring == InRing::kSame && !GivesAnElement(instr));
  if (!sums || instr.types.size() != 1 || !IsFloat(instr.types[0].dtype)) return false;
  const std::vector<std::int64_t> axes = SummedAxes(instr);
  return std::none_of(axes.begin(), axes.end(), [](std::int64_t axis) { return axis < 0; });
}

Arg PartOf(const Arg& x, std::int64_t axis, std::int64_t start, std::int64_t length, Writer& writer) {
  const Type type = writer.TypeOfArg(x);
  std::vector<std::int64_t> from(type.shape.size(), 0), to(type.shape), steps(type.shape.size(), 1);
  const auto d = static_cast<std::size_t>(axis);
  from[d] = start;
  to[d] = std::min(start + length, type.shape[d]);
  Type part = ArrayType(type.dtype, type.shape);
  part.shape[d] = to[d] - from[d];
  return writer.Apply(OpId::kSlice, {x}, part,
                      {{"start", IntsAttr(from)}, {"limit", IntsAttr(to)}, {"strides", IntsAttr(steps)}});
}

class Splitter {
 public:
  Splitter(const Split& split, Writer& writer) : split_(split), writer_(writer) {}

  // The instruction's result as a sum of parts.
  void Write(Instr instr) {
    const std::vector<std::int64_t> axes = SummedAxes(instr);
    const std::int64_t n = writer_.TypeOfArg(instr.args[0]).shape[static_cast<std::size_t>(axes[0])];
    if (n <= split_.length || n / split_.length > kMostParts) return writer_.Add(std::move(instr));
    std::vector<Arg> parts;
    for (std::int64_t start = 0; start < n; start += split_.length) parts.push_back(Part(instr, axes, start));
    if (split_.order == Order::kBackward) std::reverse(parts.begin(), parts.end());
    const Arg sum = split_.order == Order::kPairs ? InPairs(parts, 0, parts.size()) : InTurn(parts);
    Define(instr.results[0], writer_.Convert(sum, instr.types[0].dtype), writer_);
  }

 private:
  // Fused: the part is not rounded before it is added.
  Arg Part(const Instr& instr, const std::vector<std::int64_t>& axes, std::int64_t start) {
    const DType type = split_.order == Order::kFused ? DType::kF64 : instr.types[0].dtype;
    std::vector<Arg> args;
    for (std::size_t i = 0; i < axes.size(); ++i)
      args.push_back(writer_.Convert(PartOf(instr.args[i], axes[i], start, split_.length, writer_),
                                     type == DType::kF64 ? type : writer_.TypeOfArg(instr.args[i]).dtype));
    AttrMap attrs = instr.attrs;
    for (AttrEntry& entry : attrs) {
      if (entry.first == "preferred") entry.second = IdentAttr(Name(type));
    }
    return Rounded(writer_.Again(instr, args, ArrayType(type, instr.types[0].shape), attrs));
  }

  Arg Rounded(const Arg& x) {
    if (split_.order == Order::kFused) return x;
    return writer_.Convert(x, split_.sum);
  }

  Arg Sum(const Arg& x, const Arg& y) {
    if (split_.order != Order::kFused) return writer_.Plus(x, y);
    return writer_.Convert(writer_.Convert(writer_.Plus(x, y), split_.sum), DType::kF64);
  }

  Arg InTurn(const std::vector<Arg>& parts) {
    Arg sum =
        split_.order == Order::kFused ? writer_.Convert(writer_.Convert(parts[0], split_.sum), DType::kF64) : parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum = Sum(sum, parts[i]);
    return sum;
  }

  Arg InPairs(const std::vector<Arg>& parts, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return parts[begin];
    const std::size_t middle = begin + (end - begin) / 2;
    return Sum(InPairs(parts, begin, middle), InPairs(parts, middle, end));
  }

  const Split split_;
  Writer& writer_;
};

void SplitSums(Kernel& kernel, const Split& split) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    if (IsSum(instr)) return Splitter(split, writer).Write(std::move(instr));
    writer.Add(std::move(instr));
  });
}

// What is kept between steps, in scratch or an output, is of the narrower type.
void NarrowStores(Kernel& kernel, DType to, bool sums) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    const OpRow& row = RowOf(instr);
    const auto wider = [&](DType dtype) { return IsFloat(dtype) && UnitRoundoff(dtype) < UnitRoundoff(to); };
    if (row.access == RefAccess::kStore && row.stored < instr.args.size() &&
        wider(writer.TypeOfArg(instr.args[row.stored]).dtype)) {
      const std::string name = instr.args[row.stored].name;
      const DType own = writer.TypeOfArg(instr.args[row.stored]).dtype;
      instr.args[row.stored] = writer.Convert(writer.Convert(instr.args[row.stored], to), own);
      instr.args[row.stored].name = name;
    }
    if (!sums || !IsSum(instr) || !instr.results[0].valid() || !wider(instr.types[0].dtype))
      return writer.Add(std::move(instr));
    const ValueId result = RenameResult(instr, 0, kernel);
    const Arg made = ValueArg(instr.results[0]);
    const DType own = instr.types[0].dtype;
    writer.Add(std::move(instr));
    Define(result, writer.Convert(writer.Convert(made, to), own), writer);
  });
}

std::string_view OrderText(Order order) {
  constexpr std::string_view kNames[] = {"one after the other", "from the last to the first", "in pairs",
                                         "one after the other with fused multiply-adds"};
  return kNames[static_cast<std::size_t>(order)];
}

void AddSplit(std::string_view kind, const Split& split, std::vector<Hypothesis>& to) {
  to.push_back({.kind = std::string(kind),
                .what = Cat("sums are of ", split.length, split.length == 1 ? " element" : " elements", " at a time, ",
                            OrderText(split.order), ", in ", Name(split.sum)),
                .edit = [split](Module& edited) { SplitSums(edited.kernels[0], split); },
                .of_numbers = true});
}

// Sums over steps of the grid: the blocks come in the other order.
void Backwards(Kernel& kernel, std::size_t axis) {
  for (Operand& operand : kernel.operands) {
    if (!operand.block.has_value() || operand.role == Role::kOut) continue;
    Region& map = operand.block->map;
    const ValueId param = map.params[axis].value;
    std::vector<Instr> first;
    Writer writer(kernel, first, operand.loc);
    const Arg other =
        writer.Apply(OpId::kSub, {IntLiteral(DType::kI32, kernel.launch.grid[axis].size - 1), ValueArg(param)},
                     ArrayType(DType::kI32, {}));
    const auto replace = [&](std::vector<Arg>& args) {
      for (Arg& arg : args) {
        if (arg.kind == Arg::Kind::kValue && arg.value == param) arg = other;
      }
    };
    for (Instr& instr : map.body) replace(instr.args);
    replace(map.results);
    map.body.insert(map.body.begin(), first.begin(), first.end());
  }
}

}  // namespace

void AddSumHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  for (const DType narrow : {DType::kBF16, DType::kF16}) {
    for (const bool sums : {true, false}) {
      to.push_back(
          {.kind = kPrecision,
           .what = Cat(sums ? "each contraction's result and " : "", "what is stored between steps is ", Name(narrow)),
           .edit = [narrow, sums](Module& edited) { NarrowStores(edited.kernels[0], narrow, sums); },
           .of_numbers = true});
    }
    for (const std::int64_t length : {1, 2, 4, 8, 16, 32})
      AddSplit(kPrecision, {.length = length, .order = Order::kForward, .sum = narrow}, to);
  }
  for (const Order order : {Order::kForward, Order::kFused, Order::kBackward, Order::kPairs}) {
    for (const std::int64_t length : {1, 2, 4, 8, 16, 32, 64, 128}) {
      if (order == Order::kFused && length > 1) continue;
      AddSplit(kOrder, {.length = length, .order = order, .sum = DType::kF32}, to);
    }
  }
  const Kernel& kernel = module.kernels[0];
  for (std::size_t d = 0; ProgramsOf(kernel) > 1 && d < kernel.launch.grid.size(); ++d) {
    if (kernel.launch.grid[d].size < 2) continue;
    to.push_back({.kind = kOrder,
                  .what = Cat("the blocks along dimension ", d, " of the grid come from the last to the first"),
                  .edit = [d](Module& edited) { Backwards(edited.kernels[0], d); },
                  .of_numbers = true});
  }
}

}  // namespace palladion::golden
