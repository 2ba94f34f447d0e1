// Products whose operands are narrower than declared: f32 multiplied as bf16 or TF32, in one pass or in three. The
// backend's order of summation is unknown, so these are compared by values, not bits.
#include <array>
#include <utility>

#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

// TF32 keeps 10 bits of the significand. Hardware's conversions differ: to nearest, ties away, or the rest is ignored.
enum class Narrow { kBF16, kTF32, kTF32Cut, kTF32TiesAway };

constexpr std::array<Narrow, 4> kAll = {Narrow::kBF16, Narrow::kTF32, Narrow::kTF32Cut, Narrow::kTF32TiesAway};

std::string_view NarrowText(Narrow to) {
  constexpr std::string_view kNames[] = {"bf16", "TF32", "TF32 toward zero", "TF32 with ties away from zero"};
  return kNames[static_cast<std::size_t>(to)];
}

Arg RoundedTo(Narrow to, const Arg& x, Writer& writer) {
  if (to == Narrow::kBF16) return writer.Convert(writer.Convert(x, DType::kBF16), DType::kF32);
  if (to == Narrow::kTF32) {  // Veltkamp's splitting
    const Arg large = writer.Times(x, FloatLiteral(DType::kF32, 8193));
    return writer.Minus(large, writer.Minus(large, x));
  }
  Arg bits = writer.Bits(x, DType::kU32);
  if (to == Narrow::kTF32TiesAway) bits = writer.Plus(bits, IntLiteral(DType::kU32, 1 << 12));
  bits = writer.Binary(OpId::kAnd, bits, IntLiteral(DType::kU32, 0xffffe000));
  return writer.Bits(bits, DType::kF32);
}

bool IsF32(const Arg& arg, const Writer& writer) {
  return arg.kind == Arg::Kind::kValue && writer.TypeOfArg(arg).is_array() &&
         writer.TypeOfArg(arg).dtype == DType::kF32;
}

bool IsProduct(const Instr& instr, const Writer& writer) {
  return RowOf(instr).flow == Flow::kDot && instr.args.size() >= 2 && instr.types.size() == 1 &&
         instr.results[0].valid() && IsF32(instr.args[0], writer) && IsF32(instr.args[1], writer);
}

// Sides: bit 0 the left operand, bit 1 the right one.
void RoundOperands(Kernel& kernel, Narrow to, int sides) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    for (std::size_t side = 0; side < 2 && IsProduct(instr, writer); ++side) {
      if ((sides >> side & 1) == 0) continue;
      const std::string name = instr.args[side].name;
      instr.args[side] = RoundedTo(to, instr.args[side], writer);
      instr.args[side].name = name;
    }
    writer.Add(std::move(instr));
  });
}

// a b as the sum of three products of halves: high high, high low and low high.
void ThreePasses(Kernel& kernel, Narrow to) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    if (!IsProduct(instr, writer) || instr.args.size() != 2 || instr.types[0].dtype != DType::kF32)
      return writer.Add(std::move(instr));
    std::array<std::array<Arg, 2>, 2> half;  // of each operand: high, low
    for (std::size_t side = 0; side < 2; ++side) {
      half[side][0] = RoundedTo(to, instr.args[side], writer);
      half[side][1] = RoundedTo(to, writer.Minus(instr.args[side], half[side][0]), writer);
    }
    const auto product = [&](std::size_t left, std::size_t right) {
      return writer.Again(instr, {half[0][left], half[1][right]}, instr.types[0], instr.attrs);
    };
    const Arg small = writer.Plus(product(0, 1), product(1, 0));
    Define(instr.results[0], writer.Plus(product(0, 0), small), writer);
  });
}

constexpr double kEnlarged = 4096;  // far above roundings, far below the result

// a b less the error of three passes, enlarged: what they leave out is low low, and what the low halves are rounded by.
void EnlargeThreePasses(Kernel& kernel, Narrow to) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    if (!IsProduct(instr, writer) || instr.args.size() != 2 || instr.types[0].dtype != DType::kF32)
      return writer.Add(std::move(instr));
    std::array<Arg, 2> high, low, rest;  // of each operand; the rest is of rounding the low half
    for (std::size_t side = 0; side < 2; ++side) {
      high[side] = RoundedTo(to, instr.args[side], writer);
      low[side] = writer.Minus(instr.args[side], high[side]);
      rest[side] = writer.Minus(low[side], RoundedTo(to, low[side], writer));
    }
    const auto product = [&](const Arg& left, const Arg& right) {
      return writer.Again(instr, {left, right}, instr.types[0], instr.attrs);
    };
    Arg error = writer.Plus(product(high[0], rest[1]), product(rest[0], high[1]));
    error = writer.Plus(error, product(low[0], low[1]));
    const Arg all = product(instr.args[0], instr.args[1]);
    Define(instr.results[0], writer.Minus(all, writer.Times(error, FloatLiteral(DType::kF32, kEnlarged))), writer);
  });
}

void RoundLoads(Kernel& kernel, Narrow to) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    const bool loads = RowOf(instr).access == RefAccess::kLoad && instr.types.size() == 1 && instr.results[0].valid() &&
                       instr.types[0].is_array() && instr.types[0].dtype == DType::kF32;
    if (!loads) return writer.Add(std::move(instr));
    const ValueId result = RenameResult(instr, 0, kernel);
    const Arg loaded = ValueArg(instr.results[0]);
    writer.Add(std::move(instr));
    Define(result, RoundedTo(to, loaded, writer), writer);
  });
}

bool HasProduct(const Region& region) {
  for (const Instr& instr : region.body) {
    if (RowOf(instr).flow == Flow::kDot) return true;
    for (const Region& inner : instr.regions) {
      if (HasProduct(inner)) return true;
    }
  }
  return false;
}

}  // namespace

void AddOperandHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  bool products = false;
  for (const Body& body : module.kernels[0].bodies) products |= HasProduct(body.region);
  for (const Narrow narrow : kAll) {
    if (!products) {
      to.push_back({.kind = kOperands,
                    .what = Cat("f32 that is loaded is rounded to ", NarrowText(narrow)),
                    .edit = [narrow](Module& edited) { RoundLoads(edited.kernels[0], narrow); },
                    .of_width = true});
      continue;
    }
    for (const int sides : {3, 1, 2}) {
      to.push_back({.kind = kOperands,
                    .what = Cat(sides == 3   ? "both operands of each product are"
                                : sides == 1 ? "the left operand of each product is"
                                             : "the right operand of each product is",
                                " rounded to ", NarrowText(narrow)),
                    .edit = [narrow, sides](Module& edited) { RoundOperands(edited.kernels[0], narrow, sides); },
                    .of_width = true});
    }
    if (narrow == Narrow::kTF32TiesAway) continue;
    to.push_back({.kind = kPasses,
                  .what = Cat("each product of f32 is three products of halves in ", NarrowText(narrow)),
                  .edit = [narrow](Module& edited) { ThreePasses(edited.kernels[0], narrow); },
                  .of_width = true});
    if (narrow == Narrow::kBF16) continue;  // of which single elements show it
    to.push_back({.kind = kPasses,
                  .what = Cat("each product of f32 is three products of halves in ", NarrowText(narrow),
                              ", whose error is in that of all elements together"),
                  .edit = [narrow](Module& edited) { EnlargeThreePasses(edited.kernels[0], narrow); },
                  .enlarged = kEnlarged});
  }
}

}  // namespace palladion::golden
