// Results that are not rounded to nearest even, and subnormals that are flushed to zero. A rounding is done on bits:
// truncated, or half or nearly one unit added before. An operation is done in f64 first, so the narrower type's own
// rounding is all there is (but for double rounding, which needs a tie of a tie).
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element.h"

namespace palladion::golden {
namespace {

enum class Mode { kTowardZero, kAwayFromZero, kTiesAway };

std::string_view ModeText(Mode mode) {
  constexpr std::string_view kNames[] = {"toward zero", "away from zero", "to nearest, ties away from zero"};
  return kNames[static_cast<std::size_t>(mode)];
}

// Bits of the significand that a type keeps; 0: no mode is known for it.
int Kept(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 23;
    case DType::kBF16:
      return 7;
    case DType::kF16:
      return 10;
    default:
      return 0;
  }
}

// x, of f64 or f32, with only those bits, rounded in the mode. What is subnormal in f16 is rounded as if it were not.
Arg Cut(const Arg& x, int kept, Mode mode, Writer& writer) {
  const bool wide = writer.TypeOfArg(x).dtype == DType::kF64;
  const DType word = wide ? DType::kU64 : DType::kU32;
  const int dropped = (wide ? 52 : 23) - kept;
  const auto number = [&](std::uint64_t n) { return IntLiteral(word, static_cast<std::int64_t>(n)); };
  Arg bits = writer.Bits(x, word);
  if (mode == Mode::kAwayFromZero) bits = writer.Plus(bits, number((std::uint64_t{1} << dropped) - 1));
  if (mode == Mode::kTiesAway) bits = writer.Plus(bits, number(std::uint64_t{1} << (dropped - 1)));
  bits = writer.Binary(OpId::kAnd, bits, number(~((std::uint64_t{1} << dropped) - 1)));
  const Arg cut = writer.Bits(bits, wide ? DType::kF64 : DType::kF32);
  const Arg size = writer.Abs(x);
  const Arg finite =
      writer.Compare(OpId::kLt, size, FloatLiteral(writer.TypeOfArg(x).dtype, std::numeric_limits<double>::infinity()));
  return writer.Select(finite, x, cut);
}

bool IsFloatType(const Type& type) { return type.is_array() && IsFloat(type.dtype); }

// A conversion to a narrower float; `everything`: also what is computed.
bool Rounds(const Instr& instr, bool everything, const Writer& writer) {
  const OpRow& row = RowOf(instr);
  if (row.prepare == nullptr || instr.types.size() != 1 || !IsFloatType(instr.types[0])) return false;
  if (!instr.results[0].valid() || Kept(instr.types[0].dtype) == 0) return false;
  for (const Arg& arg : instr.args) {
    if (arg.kind == Arg::Kind::kNone || !IsFloat(writer.TypeOfArg(arg).dtype)) return false;
  }
  if (row.flow == Flow::kConvert) return Kept(writer.TypeOfArg(instr.args[0]).dtype) > Kept(instr.types[0].dtype);
  return everything && (row.flow == Flow::kElementwise || row.flow == Flow::kDot || row.flow == Flow::kReduce);
}

void RoundResults(Kernel& kernel, Mode mode, bool everything) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    if (!Rounds(instr, everything, writer)) return writer.Add(std::move(instr));
    const DType own = instr.types[0].dtype;
    if (RowOf(instr).flow == Flow::kConvert) {
      const Arg cut = Cut(writer.Convert(instr.args[0], DType::kF64), Kept(own), mode, writer);
      return Define(instr.results[0], writer.Convert(cut, own), writer);
    }
    std::vector<Arg> wide;
    for (const Arg& arg : instr.args) wide.push_back(writer.Convert(arg, DType::kF64));
    AttrMap attrs = instr.attrs;
    for (AttrEntry& entry : attrs) {
      if (entry.first == "preferred") entry.second = IdentAttr(Name(DType::kF64));
    }
    const Arg exact = writer.Again(instr, wide, ArrayType(DType::kF64, instr.types[0].shape), attrs);
    Define(instr.results[0], writer.Convert(Cut(exact, Kept(own), mode, writer), own), writer);
  });
}

double SmallestNormal(DType dtype) {
  return dtype == DType::kF16 ? 0x1p-14 : dtype == DType::kF64 ? 0x1p-1022 : 0x1p-126;
}

// A zero of the sign of x where that is subnormal.
Arg Flushed(const Arg& x, Writer& writer) {
  const DType own = writer.TypeOfArg(x).dtype;
  const Arg small = writer.Compare(OpId::kLt, writer.Abs(x), FloatLiteral(own, SmallestNormal(own)));
  return writer.Select(small, x, writer.Times(x, FloatLiteral(own, 0)));
}

void FlushResults(Kernel& kernel, bool operands, bool results) {
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    const OpRow& row = RowOf(instr);
    const bool computes = row.flow == Flow::kElementwise || row.flow == Flow::kDot || row.flow == Flow::kReduce ||
                          row.flow == Flow::kConvert;
    if (row.prepare == nullptr || !computes || instr.types.size() != 1 || !IsFloatType(instr.types[0]) ||
        !instr.results[0].valid() || (Kept(instr.types[0].dtype) == 0 && instr.types[0].dtype != DType::kF64))
      return writer.Add(std::move(instr));
    for (Arg& arg : instr.args) {
      const bool one = operands && arg.kind == Arg::Kind::kValue && IsFloatType(writer.TypeOfArg(arg));
      if (!one || (Kept(writer.TypeOfArg(arg).dtype) == 0 && writer.TypeOfArg(arg).dtype != DType::kF64)) continue;
      const std::string name = arg.name;
      arg = Flushed(arg, writer);
      arg.name = name;
    }
    if (!results) return writer.Add(std::move(instr));
    const ValueId result = RenameResult(instr, 0, kernel);
    const Arg made = ValueArg(instr.results[0]);
    writer.Add(std::move(instr));
    Define(result, Flushed(made, writer), writer);
  });
}

}  // namespace

void AddRoundingHypotheses(const Module&, std::vector<Hypothesis>& to) {
  for (const Mode mode : {Mode::kTowardZero, Mode::kAwayFromZero, Mode::kTiesAway}) {
    for (const bool everything : {false, true}) {
      to.push_back({.kind = kRounding,
                    .what = Cat(everything ? "every result" : "what is converted to a narrower type", " is rounded ",
                                ModeText(mode)),
                    .edit = [mode, everything](Module& edited) { RoundResults(edited.kernels[0], mode, everything); },
                    .of_numbers = true});
    }
  }
  constexpr std::array<std::pair<bool, bool>, 3> kSides = {{{false, true}, {true, true}, {true, false}}};
  for (const auto& [operands, results] : kSides) {
    to.push_back({.kind = kFlushed,
                  .what = Cat("subnormal ",
                              operands && results ? "operands and results"
                              : operands          ? "operands"
                                                  : "results",
                              " are zero"),
                  .edit = [operands = operands,
                           results = results](Module& edited) { FlushResults(edited.kernels[0], operands, results); },
                  .of_numbers = true});
  }
}

}  // namespace palladion::golden
