#include "semantics/registry/inspect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/units.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/elementwise.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

// Whether any element may break the rule, by comparisons in vectors: the common answer is no. `broken` is what the
// comparison says of an element that may; without a comparison for the type, every one may.
struct Quick {
  simd::BinaryFn compare = nullptr;
  std::array<std::byte, 8> bound{};
  std::uint8_t broken = 1;
};

bool MayBreak(absl::Span<const Quick> quick, const std::byte* x, ElementSize size, std::size_t n) {
  std::array<std::uint8_t, 1024> answers;
  for (std::size_t first = 0; first < n; first += answers.size()) {
    const std::size_t part = std::min(answers.size(), n - first);
    for (const Quick& q : quick) {
      if (q.compare == nullptr || n == 1) return true;
      q.compare(x + first * size.size(), q.bound.data(), answers.data(), part);
      if (std::memchr(answers.data(), q.broken, part) != nullptr) return true;
    }
  }
  return false;
}

template <class T>
Quick Compare(simd::BinaryOp op, DType dtype, T bound, std::uint8_t broken) {
  Quick quick{.compare = simd::FindBinary(op, dtype, simd::Form::kVS), .broken = broken};
  std::memcpy(quick.bound.data(), &bound, sizeof(bound));
  return quick;
}

void Found(std::size_t i, Scan& scan) {
  if (scan.count++ == 0) scan.first = static_cast<std::int64_t>(i);
  if (scan.all != nullptr) scan.all->push_back(static_cast<std::int64_t>(i));
}

// `undefined`: a mark for each of the n elements, or nullptr where all are defined.
struct Scanned {
  const std::byte* x;
  const std::uint8_t* undefined;
  std::size_t n;
};

template <class T, class Bad>
void ScanEach(absl::Span<const Quick> quick, const Scanned& scanned, Scan& scan, const Bad& bad) {
  const auto [x, undefined, n] = scanned;
  if (!MayBreak(quick, x, ElementSize(sizeof(T)), n)) return;
  const auto* values = reinterpret_cast<const T*>(x);
  for (std::size_t i = 0; i < n; ++i) {
    if (!bad(values[i]) || (undefined != nullptr && undefined[i] != 0)) continue;
    Found(i, scan);
  }
}

// Calls f(T{}) with the storage type of an integer type.
template <class F>
void WithInteger(DType dtype, const F& f) {
  VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (!E::kIsFloat) f(typename E::Storage{});
  });
}

struct IntegerParams {
  DType dtype;
  std::array<Quick, 1> quick;
};

void ScanZero(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const IntegerParams*>(params);
  WithInteger(p.dtype, [&](auto zero) {
    using T = decltype(zero);
    ScanEach<T>(p.quick, {x, undefined, n}, scan, [](T value) { return value == 0; });
  });
}

struct WidthParams {
  DType dtype;
  int bits;
  std::array<Quick, 1> quick;
};

void ScanShift(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const WidthParams*>(params);
  WithInteger(p.dtype, [&](auto zero) {
    using T = decltype(zero);
    // A negative amount is a large one without its sign.
    const auto bits = static_cast<std::make_unsigned_t<T>>(p.bits);
    ScanEach<T>(p.quick, {x, undefined, n}, scan,
                [bits](T value) { return static_cast<std::make_unsigned_t<T>>(value) >= bits; });
  });
}

struct FloatRangeParams {
  DType dtype;
  double below, above;  // the nearest doubles that are outside, after truncation
  std::array<Quick, 2> quick;
};

void ScanFloatRange(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const FloatRangeParams*>(params);
  VisitDType(p.dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (E::kIsFloat) {
      ScanEach<typename E::Storage>(p.quick, {x, undefined, n}, scan, [&p](typename E::Storage value) {
        const double number = E::ToDouble(value);
        return !(number > p.below && number < p.above);  // NaN is in no range
      });
    }
  });
}

// Elements as numbers. Only promises about integers need it, and those are few and short.
std::vector<std::int64_t> Integers(DType dtype, const std::byte* x, std::size_t n) {
  std::vector<std::int64_t> numbers(n);
  WithInteger(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::int64_t>(reinterpret_cast<const T*>(x)[i]);
  });
  return numbers;
}

struct PromiseParams {
  Type type;
  std::vector<std::int64_t> values;
};

// Of an array Triton's hint is about the first of each run of neighbours that count up by one (AxisInfo's
// divisibility).
bool ContinuesRun(const std::vector<std::int64_t>& numbers, std::size_t i, std::size_t stride, std::size_t size) {
  return i / stride % size != 0 && numbers[i] == numbers[i - stride] + 1;
}

void ScanMultiple(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const PromiseParams*>(params);
  const std::vector<std::int64_t> numbers = Integers(p.type.dtype, x, n);
  for (std::size_t i = 0; i < n; ++i) {
    bool bad = false;
    std::size_t stride = n;
    for (std::size_t v = 0; v < p.values.size(); ++v) {
      const bool axis = v < p.type.shape.size();
      const std::size_t size = axis ? static_cast<std::size_t>(p.type.shape[v]) : 1;
      stride = axis ? stride / size : 1;
      bad |= numbers[i] % p.values[v] != 0 && !(axis && ContinuesRun(numbers, i, stride, size));
    }
    if (!bad || (undefined != nullptr && undefined[i] != 0)) continue;
    Found(i, scan);
  }
}

// Along dimension d neighbours come in groups of values[d] that count up by one.
void ScanContiguous(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const PromiseParams*>(params);
  const std::vector<std::int64_t> numbers = Integers(p.type.dtype, x, n);
  for (std::size_t i = 0; i < n; ++i) {
    bool bad = false;
    std::size_t stride = n;
    for (std::size_t d = 0; d < std::min(p.values.size(), p.type.shape.size()); ++d) {
      const auto size = static_cast<std::size_t>(p.type.shape[d]);
      stride /= size;
      const bool first = i / stride % size % static_cast<std::size_t>(p.values[d]) == 0;
      bad |= !first && !ContinuesRun(numbers, i, stride, size);
    }
    if (!bad || (undefined != nullptr && undefined[i] != 0)) continue;
    Found(i, scan);
  }
}

struct IndexParams {
  DType dtype;
  std::vector<std::int64_t> last;
};

void ScanIndices(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n, Scan& scan) {
  const auto& p = *static_cast<const IndexParams*>(params);
  const std::vector<std::int64_t> numbers = Integers(p.dtype, x, n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool inside = numbers[i] >= 0 && numbers[i] <= p.last[i % p.last.size()];
    if (inside || (undefined != nullptr && undefined[i] != 0)) continue;
    Found(i, scan);
  }
}

// What an inspector looks at, and what it says of that.
struct Subject {
  FindingCode code;
  std::size_t operand;
  const Type& type;
  std::string name, rule;
};

template <class P>
Inspector Make(Subject subject, decltype(Inspector::run) run, P params) {
  return {.code = subject.code,
          .severity = RowOf(subject.code).severity,
          .operand = subject.operand,
          .type = subject.type,
          .name = std::move(subject.name),
          .rule = std::move(subject.rule),
          .run = run,
          .params = std::make_shared<const P>(std::move(params))};
}

// Amounts as unsigned numbers, so that negative ones are large.
Quick TooLarge(DType amount, int bits) {
  switch (Info(amount).bits) {
    case 8:
      return Compare(simd::BinaryOp::kGe, DType::kU8, static_cast<std::uint8_t>(bits), 1);
    case 16:
      return Compare(simd::BinaryOp::kGe, DType::kU16, static_cast<std::uint16_t>(bits), 1);
    case 32:
      return Compare(simd::BinaryOp::kGe, DType::kU32, static_cast<std::uint32_t>(bits), 1);
    case 64:
      return Compare(simd::BinaryOp::kGe, DType::kU64, static_cast<std::uint64_t>(bits), 1);
    default:
      return {};
  }
}

// The limits rounded to the float type. What rounds is compared so that no element outside passes: the nearest number
// to `below` is the lowest of the integers unless it is an infinity, and `above` is a power of two or an infinity.
FloatRangeParams RangeOf(DType dtype, double below, double above) {
  FloatRangeParams params{.dtype = dtype, .below = below, .above = above, .quick = {}};
  VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (E::kIsFloat) {
      const auto low = E::FromDouble(below);
      const double rounded = E::ToDouble(low);
      const bool kept = rounded == below || std::isinf(rounded);
      params.quick[0] = Compare(kept ? simd::BinaryOp::kGt : simd::BinaryOp::kGe, dtype, low, 0);
      params.quick[1] = Compare(simd::BinaryOp::kLt, dtype, E::FromDouble(above), 0);
    }
  });
  return params;
}

}  // namespace

namespace {

std::vector<Inspector> Undefining(Inspector inspector) {
  inspector.undefines = true;
  return {std::move(inspector)};
}

}  // namespace

std::vector<Inspector> InspectDivision(const Instr&, const ValueTypes& types) {
  const Type& divisor = types.in[1];
  if (!IsInteger(divisor.dtype)) return {};
  return Undefining(
      Make({FindingCode::kDivZero, 1, divisor, "divisor", "must not be 0"}, ScanZero,
           IntegerParams{divisor.dtype, {Compare(simd::BinaryOp::kEq, divisor.dtype, std::uint64_t{0}, 1)}}));
}

std::vector<Inspector> InspectShift(const Instr&, const ValueTypes& types) {
  const Type& amount = types.in[1];
  const int bits = Info(types.in[0].dtype).bits;
  return Undefining(Make({FindingCode::kShift, 1, amount, "shift amount", Cat("must lie in [0, ", bits, ")")},
                         ScanShift, WidthParams{amount.dtype, bits, {TooLarge(amount.dtype, bits)}}));
}

std::vector<Inspector> InspectConversion(const Instr&, const ValueTypes& types) {
  const Type& x = types.in[0];
  const DType to = types.out[0].dtype;
  if (!IsFloat(x.dtype) || !IsInteger(to)) return {};
  const int bits = Info(to).bits;
  const double above = std::ldexp(1.0, IsSigned(to) ? bits - 1 : bits);
  const double low = IsSigned(to) ? -above : 0.0;
  const double below = bits <= 32 ? low - 1 : std::nextafter(low, -INFINITY);
  const FloatRangeParams params = RangeOf(x.dtype, IsSigned(to) ? below : -1.0, above);
  return Undefining(Make({FindingCode::kFloatToInt, 0, x, "operand", Cat("must be a number that ", Name(to), " holds")},
                         ScanFloatRange, params));
}

namespace {

std::string List(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::int64_t value : values) Append(&text, text.empty() ? "" : ", ", value);
  return text;
}

}  // namespace

std::vector<Inspector> InspectMultipleOf(const Instr& op, const ValueTypes& types) {
  const std::vector<std::int64_t> values = *IntsAttr(op, "values");
  return {
      Make({FindingCode::kPromise, 0, types.in[0], "operand", Cat("is promised to be a multiple of ", List(values))},
           ScanMultiple, PromiseParams{types.in[0], values})};
}

std::vector<Inspector> InspectMaxContiguous(const Instr& op, const ValueTypes& types) {
  const std::vector<std::int64_t> values = *IntsAttr(op, "values");
  return {Make({FindingCode::kPromise, 0, types.in[0], "operand",
                Cat("is promised to count up by one in groups of ", List(values))},
               ScanContiguous, PromiseParams{types.in[0], values})};
}

Inspector InspectIndices(std::size_t operand, const Type& type, std::vector<std::int64_t> last) {
  std::string rule = Cat("is promised to lie inside: at most ", List(last));
  return Make({FindingCode::kPromise, operand, type, "indices", std::move(rule)}, ScanIndices,
              IndexParams{type.dtype, std::move(last)});
}

std::vector<Inspector> InspectSliceStarts(const Instr& op, const ValueTypes& types) {
  const bool updates = op.name == "dynamic_update_slice";
  const Shape& size = updates ? types.in[1].shape : types.out[0].shape;
  const std::size_t first = updates ? 2 : 1;
  std::vector<Inspector> inspectors;
  for (std::size_t d = 0; d < size.size(); ++d) {
    const std::int64_t last = types.in[0].shape[d] - size[d];
    Inspector start = InspectIndices(first + d, types.in[first + d], {last});
    start.code = FindingCode::kOutOfBounds;
    start.severity = Severity::kNote;  // its clamping is what JAX says it does, and hardly ever what was meant
    start.name = Cat("start ", d);
    start.rule = Cat("is clamped to [0, ", last, "]");
    inspectors.push_back(std::move(start));
  }
  return inspectors;
}

}  // namespace palladion
