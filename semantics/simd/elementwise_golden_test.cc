// Arithmetic and comparisons on every target against the answers of NumPy and ml_dtypes: all pairs of the types of 8
// bits and fewer, a fixed sample of the wider ones. The answers are hashes in conformance/golden/elementwise.txt; its
// script make_elementwise_golden.py makes the same pairs. A wrong hash does not say which pair differs.
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/simd/elementwise.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

std::uint64_t SplitMix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t Mask(DType dtype) { return ~std::uint64_t{0} >> (64 - Info(dtype).bits); }

std::uint64_t BitsAt(DType dtype, const std::vector<std::byte>& data, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data.data() + i * StorageBytes(dtype), StorageBytes(dtype));
  return bits & Mask(dtype);
}

struct Pairs {
  std::size_t n;
  std::vector<std::byte> a, b;
  std::uint64_t hash;
};

std::uint64_t LikeExponent(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x8fff;
    case DType::kBF16:
      return 0x81ff;
    case DType::kF32:
      return 0x81ffffff;
    case DType::kF64:
      return 0x803fffffffffffff;
    default:
      return 0;
  }
}

Pairs MakePairs(DType dtype) {
  const int bits = Info(dtype).bits;
  const std::size_t size = StorageBytes(dtype);
  Pairs pairs{bits <= 8 ? std::size_t{1} << (2 * bits) : std::size_t{1} << 18, {}, {}, 0};
  pairs.a.resize(pairs.n * size);
  pairs.b.resize(pairs.n * size);
  const std::uint64_t like = LikeExponent(dtype);
  for (std::size_t i = 0; i < pairs.n; ++i) {
    std::uint64_t a = bits <= 8 ? i >> bits : SplitMix64(2 * i) & Mask(dtype);
    std::uint64_t b = (bits <= 8 ? i : SplitMix64(2 * i + 1)) & Mask(dtype);
    if (like != 0 && i % 2 == 1) b = a ^ (b & like);
    std::memcpy(pairs.a.data() + i * size, &a, size);
    std::memcpy(pairs.b.data() + i * size, &b, size);
    pairs.hash += SplitMix64(SplitMix64(i) ^ (a ^ (b << 1)));
  }
  return pairs;
}

enum class Zeros { kAsTheyAre, kUnsigned };

std::uint64_t Fingerprint(DType dtype, const std::vector<std::byte>& data, std::size_t n, Zeros zeros) {
  std::uint64_t sum = 0;
  VisitDType(dtype, [&](auto tag) {
    for (std::size_t i = 0; i < n; ++i) {
      StorageOf<decltype(tag)::value> element;
      std::memcpy(&element, data.data() + i * sizeof(element), sizeof(element));
      std::uint64_t bits = BitsAt(dtype, data, i);
      if (zeros == Zeros::kUnsigned && Element<decltype(tag)::value>::ToDouble(element) == 0) bits = 0;
      sum += SplitMix64(SplitMix64(i) ^ bits);
    }
  });
  return sum;
}

using Golden = std::map<std::pair<std::string, std::string>, std::uint64_t>;

Golden ReadGolden() {
  Golden golden;
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/elementwise.txt");
  EXPECT_TRUE(file.good());
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string type, op, hash;
    if (line[0] != '#' && words >> type >> op >> hash) golden[{type, op}] = std::stoull(hash, nullptr, 16);
  }
  return golden;
}

const std::map<std::string, BinaryOp>& BinaryNames() {
  static const auto& names = *new std::map<std::string, BinaryOp>{
      {"add", BinaryOp::kAdd}, {"sub", BinaryOp::kSub}, {"mul", BinaryOp::kMul}, {"div", BinaryOp::kDiv},
      {"rem", BinaryOp::kRem}, {"and", BinaryOp::kAnd}, {"or", BinaryOp::kOr},   {"xor", BinaryOp::kXor},
      {"max", BinaryOp::kMax}, {"min", BinaryOp::kMin}, {"eq", BinaryOp::kEq},   {"ne", BinaryOp::kNe},
      {"lt", BinaryOp::kLt},   {"le", BinaryOp::kLe},   {"gt", BinaryOp::kGt},   {"ge", BinaryOp::kGe}};
  return names;
}

const std::map<std::string, UnaryOp>& UnaryNames() {
  static const auto& names = *new std::map<std::string, UnaryOp>{{"floor", UnaryOp::kFloor},
                                                                 {"ceil", UnaryOp::kCeil},
                                                                 {"round_even", UnaryOp::kRoundHalfEven},
                                                                 {"is_finite", UnaryOp::kIsFinite}};
  return names;
}

TEST(ElementwiseGolden, EveryTargetAgreesWithNumPyAndMlDtypes) {
  int checked = 0;
  Pairs pairs;
  for (const auto& [key, want] : ReadGolden()) {
    const auto& [type, op] = key;
    const DType dtype = *DTypeFromName(type);
    if (BinaryNames().count(op) == 0 && UnaryNames().count(op) == 0) {
      ASSERT_EQ(op, "inputs");
      ASSERT_EQ(MakePairs(dtype).hash, want) << type << ": the two samples differ";
      continue;
    }
    pairs = MakePairs(dtype);
    std::vector<std::byte> out(pairs.a.size());
    const bool is_binary = BinaryNames().count(op) != 0;
    const bool to_bool = op == "is_finite" || (is_binary && BinaryNames().at(op) >= BinaryOp::kEq);
    const bool has_nan = type != "f6e2m3fn" && type != "f6e3m2fn" && type != "f4e2m1fn";
    const bool any_zero = !to_bool && IsFloat(dtype) && (op == "max" || op == "min" || !has_nan);
    for (Target target : HostTargets()) {
      if (is_binary) {
        FindBinary(BinaryNames().at(op), dtype, Form::kVV, target)(pairs.a.data(), pairs.b.data(), out.data(), pairs.n);
      } else {
        FindUnary(UnaryNames().at(op), dtype, target)(pairs.a.data(), out.data(), pairs.n);
      }
      const DType out_type = to_bool ? DType::kBool : dtype;
      EXPECT_EQ(Fingerprint(out_type, out, pairs.n, any_zero ? Zeros::kUnsigned : Zeros::kAsTheyAre), want)
          << type << " " << op << " on " << Name(target);
      ++checked;
    }
  }
  // 15 float types with 17 operations, 8 integer types with 14.
  EXPECT_EQ(checked, static_cast<int>(HostTargets().size()) * (15 * 17 + 8 * 14));
}

}  // namespace
}  // namespace palladion::simd
