// The contraction on every target this host has, bit for bit against its definition as three plain loops, and the
// definition's own arithmetic against MPFR. Conversion of single elements is tensor/element.h's, tested there.
#include "semantics/simd/dot.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "semantics/simd/dot_testing.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion::simd {
namespace {

constexpr std::byte kCanary{0xa5};
constexpr std::size_t kCanaryBytes = 64;

// Every element (outer, k), in that order, as a double and as the low 64 bits of its integer.
struct Values {
  std::vector<double> real;
  std::vector<std::uint64_t> integer;
};

Values ValuesOf(const Operand& operand) {
  Values values;
  VisitDType(operand.dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    for (const std::int64_t outer : operand.outer_offset) {
      for (const std::int64_t k : operand.k_offset) {
        StorageOf<kDType> element;
        std::memcpy(&element, operand.data.data() + (outer + k) * static_cast<std::int64_t>(sizeof element),
                    sizeof element);
        values.real.push_back(Element<kDType>::ToDouble(element));
        if constexpr (!Element<kDType>::kIsFloat) values.integer.push_back(static_cast<std::uint64_t>(element));
      }
    }
  });
  return values;
}

// The definition. std::fma for all types: where products are exact it is the same as a product and a sum.
std::vector<std::byte> ThreeLoops(const Operand& a, const Operand& b, DotShape shape, DType out_dtype) {
  const Values x = ValuesOf(a);
  const Values y = ValuesOf(b);
  std::vector<std::byte> out(shape.m * shape.n * StorageBytes(out_dtype));
  VisitDType(out_dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    for (std::size_t i = 0; i < shape.m; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) {
        double real = 0;
        std::uint64_t integer = 0;
        const bool integers = !x.integer.empty() && !y.integer.empty();
        for (std::size_t k = 0; k < shape.k; ++k) {
          real = std::fma(x.real[i * shape.k + k], y.real[j * shape.k + k], real);
          if (integers) integer += x.integer[i * shape.k + k] * y.integer[j * shape.k + k];
        }
        StorageOf<kDType> element{};
        if constexpr (Element<kDType>::kIsFloat) {
          element = Element<kDType>::FromDouble(real);
        } else if constexpr (kDType == DType::kBool) {
          element = integers ? static_cast<std::uint32_t>(integer) != 0 : Element<kDType>::FromDouble(real);
        } else {
          element = integers ? Element<kDType>::Wrap(integer) : Element<kDType>::FromDouble(real);
        }
        std::memcpy(out.data() + (i * shape.n + j) * sizeof element, &element, sizeof element);
      }
    }
  });
  return out;
}

struct On {
  Target target;
  Parallel* parallel = nullptr;
};

std::vector<std::byte> RunDot(const Operand& a, const Operand& b, DotShape shape, DType out_dtype, const On& on) {
  const auto [target, parallel] = on;
  const std::size_t out_bytes = shape.m * shape.n * StorageBytes(out_dtype);
  const std::size_t scratch_bytes = DotScratchBytes(shape, parallel != nullptr ? parallel->threads() : 1);
  std::vector<std::byte> out(out_bytes + kCanaryBytes, kCanary);
  std::vector<std::byte> scratch(scratch_bytes + kCanaryBytes, kCanary);
  Dot({a.View(), b.View(), shape, {out_dtype, out.data()}}, absl::MakeSpan(scratch).first(scratch_bytes), target,
      {parallel});
  const auto untouched = [](std::byte byte) { return byte == kCanary; };
  EXPECT_TRUE(std::all_of(out.begin() + out_bytes, out.end(), untouched)) << "wrote beyond the output";
  EXPECT_TRUE(std::all_of(scratch.begin() + scratch_bytes, scratch.end(), untouched)) << "wrote beyond the scratch";
  out.resize(out_bytes);
  return out;
}

void ExpectThreeLoops(const Operand& a, const Operand& b, DotShape shape, DType out_dtype) {
  const std::vector<std::byte> expected = ThreeLoops(a, b, shape, out_dtype);
  for (const Target target : HostTargets()) {
    const std::vector<std::byte> found = RunDot(a, b, shape, out_dtype, {target});
    const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    ASSERT_TRUE(wrong == found.end()) << Name(target) << ": " << palladion::Name(a.dtype) << " x "
                                      << palladion::Name(b.dtype) << " -> " << palladion::Name(out_dtype) << ", m "
                                      << shape.m << ", n " << shape.n << ", k " << shape.k << ": element "
                                      << (wrong - found.begin()) / StorageBytes(out_dtype);
  }
}

struct DotTypes {
  DType a, b, out;
};

void ExpectThreeLoops(const DotTypes& types, DotShape shape, Data data, Random& random) {
  const Layout a_layout = static_cast<Layout>(random() % kLayouts);
  const Layout b_layout = static_cast<Layout>(random() % kLayouts);
  const Operand a = MakeOperand(types.a, {a_layout, shape.m, shape.k}, data, random);
  const Operand b = MakeOperand(types.b, {b_layout, shape.n, shape.k}, data, random);
  SCOPED_TRACE(testing::Message() << "layouts " << static_cast<int>(a_layout) << ", " << static_cast<int>(b_layout)
                                  << ", data " << static_cast<int>(data));
  ExpectThreeLoops(a, b, shape, types.out);
}

DType RandomDType(Random& random) {
  constexpr DType kUsual[] = {DType::kF32,      DType::kBF16, DType::kF16, DType::kF64,
                              DType::kF8E4M3FN, DType::kI8,   DType::kI32};
  return random() % 2 == 0 ? kUsual[random() % std::size(kUsual)] : AllDTypes()[random() % kDTypeCount].dtype;
}

Data RandomData(Random& random) { return static_cast<Data>(random() % kDataKinds); }

TEST(Dot, RandomShapesTypesAndLayouts) {
  constexpr std::size_t kSizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 40, 64, 67};
  Random random(20);
  for (int round = 0; round < 3000 && !testing::Test::HasFatalFailure(); ++round) {
    const auto size = [&] { return kSizes[random() % std::size(kSizes)]; };
    const DotShape shape{size(), size(), size()};
    ExpectThreeLoops({RandomDType(random), RandomDType(random), RandomDType(random)}, shape, RandomData(random),
                     random);
  }
}

// Each element of the addend and its sum, as doubles, rounded once.
std::vector<std::byte> AddedTo(const std::vector<std::byte>& addend, const std::vector<std::byte>& sums, DType dtype) {
  std::vector<std::byte> out = addend;
  VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (E::kIsFloat) {
      typename E::Storage element;
      for (std::size_t i = 0; i < out.size() / sizeof element; ++i) {
        double sum;
        std::memcpy(&sum, sums.data() + i * sizeof sum, sizeof sum);
        std::memcpy(&element, out.data() + i * sizeof element, sizeof element);
        element = E::FromDouble(E::ToDouble(element) + sum);
        std::memcpy(out.data() + i * sizeof element, &element, sizeof element);
      }
    }
  });
  return out;
}

// The result beside the addend, and in its place.
void ExpectAdded(DType in, DType out_dtype, DotShape shape, Data data, Random& random) {
  const Operand a = MakeOperand(in, {Layout::kRowMajor, shape.m, shape.k}, data, random);
  const Operand b = MakeOperand(in, {Layout::kTransposed, shape.n, shape.k}, data, random);
  const std::vector<std::byte> addend =
      MakeOperand(out_dtype, {Layout::kRowMajor, shape.m, shape.n}, data, random).data;
  const std::vector<std::byte> expected = AddedTo(addend, ThreeLoops(a, b, shape, DType::kF64), out_dtype);
  for (const Target target : HostTargets()) {
    SCOPED_TRACE(testing::Message() << Name(target) << ": " << palladion::Name(in) << " -> "
                                    << palladion::Name(out_dtype) << ", m " << shape.m << ", n " << shape.n);
    std::vector<std::byte> out(addend.size()), in_place = addend, scratch(DotScratchBytes(shape));
    Dot({a.View(), b.View(), shape, {out_dtype, out.data(), addend.data()}}, absl::MakeSpan(scratch), target);
    Dot({a.View(), b.View(), shape, {out_dtype, in_place.data(), in_place.data()}}, absl::MakeSpan(scratch), target);
    ASSERT_TRUE(out == expected);
    ASSERT_TRUE(in_place == expected);
  }
}

TEST(Dot, AddsBeforeTheOneRounding) {
  constexpr DType kIn[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3FN, DType::kI8};
  constexpr DotShape kShapes[] = {{64, 128, 64}, {5, 37, 11}, {3, 1, 20}, {1, 9, 300}, {40, 19, 0}};
  Random random(25);
  for (const DTypeInfo& out : AllDTypes()) {
    if (!IsFloat(out.dtype)) continue;
    for (const DType in : kIn) {
      for (const DotShape& shape : kShapes) {
        for (const Data data : {Data::kModerate, Data::kAnyBits, Data::kSpecial}) {
          ExpectAdded(in, out.dtype, shape, data, random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Sizes on both sides of every block size.
TEST(Dot, ManyBlocks) {
  constexpr DotShape kShapes[] = {{259, 67, 40},   {33, 530, 40}, {20, 40, 530},
                                  {260, 520, 258}, {1, 600, 300}, {600, 1, 300}};
  constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kI8, DType::kI64};
  Random random(21);
  for (const DotShape& shape : kShapes) {
    for (const DType dtype : kTypes) {
      ExpectThreeLoops({dtype, dtype, dtype}, shape, RandomData(random), random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Dot, ManyColumnsOfAccumulators) {
  Random random(26);
  for (const DType dtype : {DType::kF32, DType::kI32})
    ExpectThreeLoops({dtype, dtype, dtype}, {2, 1100, 130}, RandomData(random), random);
}

TEST(Dot, ThreadsChangeNothing) {
  constexpr DotShape kShapes[] = {{300, 150, 100}, {150, 310, 100}, {1, 2000, 2100}, {2000, 1, 2100}, {67, 66, 1000}};
  Random random(24);
  for (const std::size_t threads : {2u, 3u, 16u}) {
    Parallel parallel(threads);
    for (const DotShape& shape : kShapes) {
      for (const DType dtype : {DType::kBF16, DType::kI8}) {
        const Operand a = MakeOperand(dtype, {Layout::kRowMajor, shape.m, shape.k}, Data::kAnyBits, random);
        const Operand b = MakeOperand(dtype, {Layout::kTransposed, shape.n, shape.k}, Data::kModerate, random);
        EXPECT_EQ(RunDot(a, b, shape, dtype, {ActiveTarget(), &parallel}),
                  RunDot(a, b, shape, dtype, {ActiveTarget()}));
      }
    }
  }
}

TEST(Dot, EveryTypeInAndOut) {
  Random random(22);
  for (const DTypeInfo& in : AllDTypes()) {
    for (const DTypeInfo& out : AllDTypes()) {
      for (const Data data : {Data::kModerate, Data::kAnyBits, Data::kSpecial}) {
        ExpectThreeLoops({in.dtype, in.dtype, out.dtype}, {5, 37, 11}, data, random);
        ExpectThreeLoops({in.dtype, out.dtype, out.dtype}, {4, 9, 19}, data, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Operands with one row and one column.
template <DType D>
Operand Vector(const std::vector<double>& values) {
  Operand operand;
  operand.dtype = D;
  operand.outer_offset = {0};
  operand.data.resize(values.size() * sizeof(StorageOf<D>));
  for (std::size_t k = 0; k < values.size(); ++k) {
    operand.k_offset.push_back(static_cast<std::int64_t>(k));
    const StorageOf<D> element = Element<D>::FromDouble(values[k]);
    std::memcpy(operand.data.data() + k * sizeof element, &element, sizeof element);
  }
  return operand;
}

// The bits of the one output, the same on every target.
template <DType D, DType kOut>
std::uint64_t DotBits(const std::vector<double>& a, const std::vector<double>& b) {
  std::uint64_t bits = 0;
  for (const Target target : HostTargets()) {
    const std::vector<std::byte> out = RunDot(Vector<D>(a), Vector<D>(b), {1, 1, a.size()}, kOut, {target});
    std::uint64_t found = 0;
    std::memcpy(&found, out.data(), out.size());
    if (target != HostTargets().front()) {
      EXPECT_EQ(found, bits) << Name(target);
    }
    bits = found;
  }
  return bits;
}

// Where the double that is rounded lies between two elements, on a tie and off it by a last place.
TEST(Dot, AddendsOnTies) {
  for (const double sum : {0x1p-11, 0x1p-11 + 0x1p-40, 0x3p-11, -0x1p-12, 0x1p-25, 0x1p-26, -0x1p-12 - 0x1p-50}) {
    const Operand a = Vector<DType::kF64>({sum}), b = Vector<DType::kF64>({1});
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32}) {
      VisitDType(dtype, [&](auto tag) {
        using E = Element<decltype(tag)::value>;
        if constexpr (E::kIsFloat) {
          const std::vector<double> befores{1, -1, 0x1p-24, 0, 65504, std::numeric_limits<double>::quiet_NaN()};
          for (const double before : befores) {
            const typename E::Storage addend = E::FromDouble(before);
            const typename E::Storage expected = E::FromDouble(E::ToDouble(addend) + sum);
            for (const Target target : HostTargets()) {
              // As many columns as fill vectors: the one column of b eight times.
              constexpr std::size_t kColumns = 8;
              Operand columns = b;
              columns.outer_offset.assign(kColumns, 0);
              std::vector<typename E::Storage> in(kColumns, addend), out(kColumns);
              std::vector<std::byte> scratch(DotScratchBytes({1, kColumns, 1}));
              Dot({a.View(), columns.View(), {1, kColumns, 1}, {dtype, out.data(), in.data()}}, absl::MakeSpan(scratch),
                  target);
              for (const typename E::Storage found : out)
                EXPECT_EQ(std::memcmp(&found, &expected, sizeof found), 0) << Name(target);
            }
          }
        }
      });
    }
  }
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr DType kF32 = DType::kF32;
constexpr DType kF64 = DType::kF64;
constexpr DType kBF16 = DType::kBF16;
constexpr DType kF16 = DType::kF16;
constexpr DType kI32 = DType::kI32;
constexpr DType kI8 = DType::kI8;

TEST(Dot, NothingToSumIsPositiveZero) {
  EXPECT_EQ((DotBits<kF32, kF32>({}, {})), 0u);
  EXPECT_EQ((DotBits<kF64, kF64>({}, {})), 0u);
  EXPECT_EQ((DotBits<kI32, kI32>({}, {})), 0u);
  EXPECT_EQ((DotBits<kF32, kF32>({-0.0}, {1.0})), 0u);
}

TEST(Dot, SumsInOneDoubleOverIncreasingDepth) {
  // In float the ones would vanish beside 2^30; in double they stay.
  EXPECT_EQ((DotBits<kF32, kF32>({0x1p30, 1, 1, -0x1p30}, {1, 1, 1, 1})), std::bit_cast<std::uint32_t>(2.0f));
  // Beside 2^53 each single one vanishes, as it does in no other order.
  EXPECT_EQ((DotBits<kF32, kF32>({0x1p53, 1, 1, -0x1p53}, {1, 1, 1, 1})), std::bit_cast<std::uint32_t>(0.0f));
  EXPECT_EQ((DotBits<kF32, kF32>({1, 1, 0x1p53, -0x1p53}, {1, 1, 1, 1})), std::bit_cast<std::uint32_t>(2.0f));
}

TEST(Dot, RoundsOnceToTheOutputType) {
  // 1 + 2^-8 is half way between two bf16, the 2^-40 decides; through float it would be lost and the tie go to even.
  EXPECT_EQ((DotBits<kBF16, kBF16>({1, 0x1p-8, 0x1p-40}, {1, 1, 1})), 0x3f81u);
  EXPECT_EQ((DotBits<kBF16, kBF16>({1, 0x1p-8}, {1, 1})), 0x3f80u);
  EXPECT_EQ((DotBits<kF32, kBF16>({0x1p127, 0x1p127}, {1, 1})), 0x7f80u);
  EXPECT_EQ((DotBits<kF32, kBF16>({0x1.fep127, 0x1p119}, {-1, -1})), 0xff80u);  // half a step past the largest
  EXPECT_EQ((DotBits<kF32, kBF16>({0x1.fep127, 0x1p118}, {1, 1})), 0x7f7fu);
  EXPECT_EQ((DotBits<kF16, kF16>({256, 15}, {256, 1})), 0x7c00u);
  EXPECT_EQ((DotBits<kF16, kF16>({0x1p-14, 0x1p-24}, {0x1p-10, 0x1p-1})), 0x0002u);  // 1.5 steps: to even
  EXPECT_EQ((DotBits<kF32, kF32>({0x1p100, 0x1p-149}, {0x1p100, 1})), 0x7f800000u);
  EXPECT_EQ((DotBits<kF32, kF32>({0x1p-75}, {0x1p-74})), 0x00000001u);
}

TEST(Dot, OneQuietNaN) {
  EXPECT_EQ((DotBits<kF32, kF32>({-kInf}, {0})), 0x7fc00000u);
  EXPECT_EQ((DotBits<kF32, kF32>({kInf, -kInf}, {1, 1})), 0x7fc00000u);
  EXPECT_EQ((DotBits<kF64, kF64>({kInf, -kInf}, {1, 1})), 0x7ff8000000000000u);
  EXPECT_EQ((DotBits<kF64, kF64>({-std::numeric_limits<double>::quiet_NaN()}, {1})), 0x7ff8000000000000u);
  EXPECT_EQ((DotBits<kBF16, kBF16>({kInf}, {0})), 0x7fc0u);
  EXPECT_EQ((DotBits<kF16, kF16>({kInf}, {0})), 0x7e00u);
}

TEST(Dot, IntegersWrapToTheOutputType) {
  EXPECT_EQ((DotBits<kI32, kI32>({2147483647, 1}, {2, 3})), 1u);
  EXPECT_EQ((DotBits<kI32, DType::kI64>({2147483647, 1}, {2, 3})), 0x100000001u);
  EXPECT_EQ((DotBits<kI8, kI8>({127, 1}, {127, 0})), 1u);
  EXPECT_EQ((DotBits<kI8, kI32>({-128, -128}, {-128, -128})), 32768u);
  EXPECT_EQ((DotBits<kI32, kF32>({2147483647, 1}, {2, 3})), std::bit_cast<std::uint32_t>(4294967296.0f));
  EXPECT_EQ((DotBits<kF32, kI32>({0x1p31, -1.5}, {1, 1})), 0x7ffffffeu);
  EXPECT_EQ((DotBits<kF32, kI8>({-300.5}, {1})), 0x80u);
}

// The f64 chain: MPFR's fused multiply-add at 53 bits, for values whose sums stay normal.
TEST(Dot, Float64IsOneFusedChain) {
  constexpr std::size_t kM = 5, kN = 19, kK = 300;
  Random random(23);
  const Operand a = MakeOperand(kF64, {Layout::kRowMajor, kM, kK}, Data::kModerate, random);
  const Operand b = MakeOperand(kF64, {Layout::kTransposed, kN, kK}, Data::kModerate, random);
  const Values x = ValuesOf(a);
  const Values y = ValuesOf(b);
  mpfr_t left, right, sum;
  mpfr_inits2(53, left, right, sum, nullptr);
  for (const Target target : HostTargets()) {
    const std::vector<std::byte> out = RunDot(a, b, {kM, kN, kK}, kF64, {target});
    for (std::size_t i = 0; i < kM * kN; ++i) {
      mpfr_set_zero(sum, 1);
      for (std::size_t k = 0; k < kK; ++k) {
        mpfr_set_d(left, x.real[i / kN * kK + k], MPFR_RNDN);
        mpfr_set_d(right, y.real[i % kN * kK + k], MPFR_RNDN);
        mpfr_fma(sum, left, right, sum, MPFR_RNDN);
      }
      double found;
      std::memcpy(&found, out.data() + i * sizeof found, sizeof found);
      ASSERT_EQ(found, mpfr_get_d(sum, MPFR_RNDN)) << Name(target) << ", output " << i;
    }
  }
  mpfr_clears(left, right, sum, nullptr);
}

}  // namespace
}  // namespace palladion::simd
