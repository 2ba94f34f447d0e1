#include "emu/tools/golden/error_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "emu/tools/golden/error_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element.h"

namespace palladion::golden {
namespace {

constexpr double kFunctionUlps = 4;
constexpr std::size_t kMostInexact = 3;  // operands of one operation, which has two corners for each

void RewriteAttr(Attr& attr) {
  if (auto* ident = std::get_if<AttrIdent>(&attr.value)) {
    const std::optional<DType> dtype = DTypeFromName(ident->name);
    if (dtype.has_value() && IsFloat(*dtype)) ident->name = std::string(Name(DType::kF64));
  } else if (auto* list = std::get_if<AttrList>(&attr.value)) {
    for (Attr& item : *list) RewriteAttr(item);
  }
}

class Rule {
 public:
  Rule(const BoundedInstr& op, Writer& writer) : op_(op), instr_(op.instr), writer_(writer) {}

  absl::StatusOr<std::vector<Bound>> Bounds() {
    const auto is_float = [](const Type& type) { return type.is_array() && IsFloat(type.dtype); };
    std::vector<Bound> none(instr_.types.size());
    const bool exact = std::none_of(op_.in.begin(), op_.in.end(), [](const Bound& e) { return e.has_value(); });
    const auto is_integer = [](const Type& type) {
      return type.is_array() && !IsFloat(type.dtype) && type.dtype != DType::kBool;
    };
    if (!exact && std::any_of(instr_.types.begin(), instr_.types.end(), is_integer))
      return absl::UnimplementedError(Cat("no rule bounds the integers that ", instr_.name, " makes of floats"));
    if (std::none_of(instr_.types.begin(), instr_.types.end(), is_float)) return none;
    const bool of_floats = std::any_of(instr_.args.begin(), instr_.args.end(), [&](const Arg& arg) {
      return arg.kind != Arg::Kind::kNone && is_float(writer_.TypeOfArg(arg));
    });
    switch (RowOf(instr_).flow) {
      case Flow::kMove:
      case Flow::kSelect:
      case Flow::kPlace:
        return exact ? none : Moved();
      case Flow::kElementwise:
      case Flow::kConvert:
        if (instr_.types.size() != 1) break;
        return std::vector<Bound>{Elementwise()};
      case Flow::kReduce:
      case Flow::kPrefix:
        if (instr_.types.size() != 1) break;
        return std::vector<Bound>{Reduced()};
      case Flow::kDot:
        return std::vector<Bound>{Dot()};
      case Flow::kAll:
      case Flow::kParts:
        if (!of_floats) return none;
        break;
      default:
        break;
    }
    return absl::UnimplementedError(Cat("no rule bounds the error of '", instr_.name, "'"));
  }

 private:
  static Type F64(const Type& type) { return ArrayType(DType::kF64, type.shape); }
  bool IsFloatArg(const Arg& arg) const {
    return arg.kind != Arg::Kind::kNone && IsFloat(writer_.TypeOfArg(arg).dtype);
  }

  // The operation in f64 on other operands.
  Arg Again(std::vector<Arg> args) {
    Instr instr = InF64(instr_);
    for (std::size_t i = 0; i < args.size(); ++i) args[i].name = instr_.args[i].name;
    instr.args = std::move(args);
    instr.types = {F64(instr_.types[0])};
    instr.results = {Writer::NewValue(writer_.kernel(), instr.types[0])};
    const Arg result = ValueArg(instr.results[0]);
    writer_.Add(std::move(instr));
    return result;
  }

  // Moved operands are those of the row; a select's first says which.
  std::vector<Bound> Moved() {
    const OpRow& row = RowOf(instr_);
    std::vector<Arg> args;
    for (std::size_t i = 0; i < instr_.args.size(); ++i) {
      const bool moved = IsFloatArg(instr_.args[i]) && (row.flow != Flow::kSelect || i > 0);
      args.push_back(instr_.args[i]);
      if (moved) args.back() = op_.in[i].has_value() ? *op_.in[i] : writer_.Filled(0, F64(writer_.TypeOfArg(args[i])));
    }
    return {Again(std::move(args))};
  }

  Arg Result() { return writer_.Convert(ValueArg(instr_.results[0]), DType::kF64); }
  Arg Wide(std::size_t i) {
    return IsFloatArg(instr_.args[i]) ? writer_.Convert(instr_.args[i], DType::kF64) : instr_.args[i];
  }
  Arg Distance(const Arg& x, const Arg& r) { return writer_.Abs(writer_.Minus(x, r)); }

  Bound Elementwise() {
    std::vector<std::size_t> inexact;
    std::vector<Arg> center;
    for (std::size_t i = 0; i < instr_.args.size(); ++i) {
      center.push_back(Wide(i));
      if (op_.in[i].has_value()) inexact.push_back(i);
    }
    const Arg r = Result();
    if (inexact.size() > kMostInexact)
      return Finished(writer_.Filled(std::numeric_limits<double>::infinity(), F64(instr_.types[0])), r);
    Bound farthest;
    for (std::size_t corner = 0; corner < std::size_t{1} << inexact.size(); ++corner) {
      std::vector<Arg> args = center;
      for (std::size_t j = 0; j < inexact.size(); ++j) {
        Arg& x = args[inexact[j]];
        const Arg& e = *op_.in[inexact[j]];
        x = (corner >> j & 1) != 0 ? writer_.Plus(x, e) : writer_.Minus(x, e);
      }
      const Arg distance = Distance(Again(std::move(args)), r);
      farthest = farthest.has_value() ? writer_.Larger(*farthest, distance) : distance;
    }
    const double ulps = RowOf(instr_).unit == Unit::kTranscendental ? 2 * kFunctionUlps : 1;
    return Finished(Rounded(*farthest, r, ulps * UnitRoundoff(instr_.types[0].dtype)), r);
  }

  // (1 + u) e + u |r| + half the smallest number.
  Arg Rounded(const Arg& e, const Arg& r, double u) {
    const Arg grown = writer_.Times(e, FloatLiteral(DType::kF64, 1 + u));
    const Arg sum = writer_.Plus(grown, writer_.Times(writer_.Abs(r), FloatLiteral(DType::kF64, u)));
    return writer_.Plus(sum, FloatLiteral(DType::kF64, HalfSmallest(instr_.types[0].dtype)));
  }

  static double HalfSmallest(DType dtype) {
    return VisitDType(dtype, [](auto tag) {
      using E = Element<decltype(tag)::value>;
      if constexpr (decltype(tag)::value == DType::kF64) {
        return std::numeric_limits<double>::denorm_min();
      } else if constexpr (E::kIsFloat && sizeof(typename E::Storage) == 4) {
        return static_cast<double>(std::numeric_limits<float>::denorm_min()) / 2;
      } else {
        return E::ToDouble(1) / 2;
      }
    });
  }

  // Where our result is no finite number the other's is to be the same; a bound that is no number is none.
  Bound Finished(const Arg& e, const Arg& r) {
    const Arg number = writer_.Compare(OpId::kEq, e, e);
    const double infinity = std::numeric_limits<double>::infinity();
    const Arg known = writer_.Select(number, FloatLiteral(DType::kF64, infinity), e);
    const Arg finite = writer_.Compare(OpId::kLt, writer_.Abs(r), FloatLiteral(DType::kF64, infinity));
    return writer_.Select(finite, FloatLiteral(DType::kF64, 0), known);
  }

  // How many elements go into one of the result: of a prefix operation, at most.
  double Length() const {
    const Type in = writer_.TypeOfArg(instr_.args[0]);
    if (RowOf(instr_).flow == Flow::kReduce)
      return static_cast<double>(NumElements(in.shape)) /
             std::max(1.0, static_cast<double>(NumElements(instr_.types[0].shape)));
    const Attr* axis = Find(instr_.attrs, "axis");
    const auto* a = axis == nullptr ? nullptr : std::get_if<std::int64_t>(&axis->value);
    return a == nullptr ? static_cast<double>(NumElements(in.shape))
                        : static_cast<double>(in.shape[static_cast<std::size_t>(*a)]);
  }

  Bound Reduced() {
    const double n = Length();
    const DType own = instr_.types[0].dtype;
    const Arg x = Wide(0), r = Result();
    Arg e = Distance(Again({x}), r);
    Arg magnitude = writer_.Abs(x);
    if (op_.in[0].has_value()) {
      e = writer_.Larger(Distance(Again({writer_.Plus(x, *op_.in[0])}), r),
                         Distance(Again({writer_.Minus(x, *op_.in[0])}), r));
      magnitude = writer_.Plus(magnitude, *op_.in[0]);
    }
    if (GivesAnElement(instr_)) return Finished(e, r);
    const Arg growth = writer_.Times(writer_.Abs(Again({magnitude})),
                                     FloatLiteral(DType::kF64, Gamma(n - 1, UnitRoundoff(Accumulator(own)))));
    op_.rules.insert(Cat(instr_.name, ": ", n, " elements of ", Name(own), ", summed in ", Name(Accumulator(own)),
                         ", gamma_", n - 1));
    return Finished(Rounded(writer_.Plus(e, growth), r, UnitRoundoff(own)), r);
  }

  double Contraction() const {
    const Attr* contract = Find(instr_.attrs, "contract");
    const auto* sides = contract == nullptr ? nullptr : std::get_if<AttrList>(&contract->value);
    const auto* axes = sides == nullptr || sides->empty() ? nullptr : std::get_if<AttrList>(&(*sides)[0].value);
    double n = 1;
    const Shape shape = writer_.TypeOfArg(instr_.args[0]).shape;
    for (const Attr& axis : axes == nullptr ? AttrList{} : *axes) {
      if (const auto* a = std::get_if<std::int64_t>(&axis.value))
        n *= static_cast<double>(shape[static_cast<std::size_t>(*a)]);
    }
    return n;
  }

  Bound Dot() {
    const DType own = instr_.types[0].dtype;
    const double n = Contraction();
    const Arg a = Wide(0), b = Wide(1), r = Result();
    Arg e = Distance(Again({a, b}), r);
    Arg far_a = writer_.Abs(a), far_b = writer_.Abs(b);
    const Arg near = Again({far_a, far_b});
    if (op_.in[0].has_value()) far_a = writer_.Plus(far_a, *op_.in[0]);
    if (op_.in[1].has_value()) far_b = writer_.Plus(far_b, *op_.in[1]);
    const bool exact = !op_.in[0].has_value() && !op_.in[1].has_value();
    const Arg far = exact ? near : Again({far_a, far_b});
    if (!exact) e = writer_.Plus(e, writer_.Minus(far, near));
    const DType sum = Accumulator(own);
    e = writer_.Plus(e, writer_.Times(far, FloatLiteral(DType::kF64, Gamma(n, UnitRoundoff(sum)))));
    op_.rules.insert(Cat(instr_.name, ": k = ", n, " of ", Name(writer_.TypeOfArg(instr_.args[0]).dtype), " and ",
                         Name(writer_.TypeOfArg(instr_.args[1]).dtype), ", accumulated in ", Name(sum), ", gamma_", n,
                         " |a| |b|"));
    return Finished(Rounded(e, r, UnitRoundoff(own)), r);
  }

  const BoundedInstr& op_;
  const Instr& instr_;
  Writer& writer_;
};

}  // namespace

double UnitRoundoff(DType dtype) {
  return VisitDType(dtype, [](auto tag) {
    constexpr DType kType = decltype(tag)::value;
    using E = Element<kType>;
    if constexpr (!E::kIsFloat) {
      return 0.0;
    } else if constexpr (kType == DType::kF64) {
      return 0x1p-53;
    } else if constexpr (kType == DType::kF32) {
      return 0x1p-24;
    } else if constexpr (kType == DType::kF8E8M0FNU) {
      return 0.5;
    } else {
      return std::ldexp(0.5, -element_internal::FormatOf(kType).mantissa_bits);
    }
  });
}

double Gamma(double n, double u) { return n * u >= 1 ? std::numeric_limits<double>::infinity() : n * u / (1 - n * u); }

DType Accumulator(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

Instr InF64(const Instr& instr) {
  Instr wide = instr;
  for (AttrEntry& entry : wide.attrs) RewriteAttr(entry.second);
  for (Type& type : wide.types) {
    if (IsFloat(type.dtype)) type.dtype = DType::kF64, type.weak = false;
  }
  return wide;
}

bool GivesAnElement(const Instr& instr) {
  const OpRow& row = RowOf(instr);
  if ((row.flow != Flow::kReduce && row.flow != Flow::kPrefix) || row.prepare == nullptr) return false;
  Instr probe = instr;
  for (AttrEntry& entry : probe.attrs) {
    if (entry.first == "axes") entry.second = IntsAttr({0});
    if (entry.first == "axis") entry.second = Attr{std::int64_t{0}};
  }
  const Type in = ArrayType(DType::kF64, {2});
  probe.types = {row.flow == Flow::kReduce ? ArrayType(DType::kF64, {}) : in};
  const absl::StatusOr<ValueKernel> kernel = row.prepare(probe, {.in = {in}, .out = probe.types, .target = {}});
  if (!kernel.ok()) return false;
  Tensor x(DType::kF64, {2}), out(DType::kF64, {2});
  x.data<double>()[0] = 2, x.data<double>()[1] = 3;
  Tensor scratch(DType::kU8, {static_cast<std::int64_t>(kernel->scratch_bytes)});
  const std::byte* operand = x.bytes();
  std::byte* result = out.bytes();
  kernel->run(kernel->params.get(), {.in = &operand, .out = &result, .scratch = scratch.bytes()});
  const auto is_element = [](double y) { return y == 2 || y == 3; };
  return is_element(out.data<double>()[0]) && (row.flow == Flow::kReduce || is_element(out.data<double>()[1]));
}

absl::StatusOr<std::vector<Bound>> BoundsOf(const BoundedInstr& op, Writer& writer) {
  return Rule(op, writer).Bounds();
}

}  // namespace palladion::golden
