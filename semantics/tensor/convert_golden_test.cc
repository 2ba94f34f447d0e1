// Every conversion between element types against what NumPy, ml_dtypes and JAX answer: all codes of the types of 16
// bits and fewer, a fixed sample of the wider ones. The answers are hashes in conformance/golden/dtypes.txt; its script
// make_dtype_golden.py says which of the three is asked, and makes the same inputs. A wrong hash does not say which
// element is wrong: convert the pair's inputs in Python and compare.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/tensor/convert.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/tensor.h"

namespace palladion {
namespace {

std::uint64_t SplitMix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Elements as bits, those above a sub-byte type's own cleared.
std::uint64_t Fingerprint(const Tensor& t) {
  const int bits = Info(t.dtype()).bits;
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < t.num_elements(); ++i) {
    std::uint64_t x = 0;
    std::memcpy(&x, t.bytes() + static_cast<std::size_t>(i) * StorageBytes(t.dtype()), StorageBytes(t.dtype()));
    sum += SplitMix64(SplitMix64(static_cast<std::uint64_t>(i)) ^ (x & mask));
  }
  return sum;
}

std::vector<std::uint64_t> F32Sample() {
  std::vector<std::uint64_t> sample;
  for (std::uint64_t top = 0; top < (1u << 20); ++top) {
    for (const std::uint64_t low : {0x0, 0x1, 0xfff}) sample.push_back(top << 12 | low);
  }
  return sample;
}

std::vector<std::uint64_t> F64Sample() {
  std::vector<std::uint64_t> sample;
  const std::uint64_t half = std::uint64_t{1} << 28;
  for (std::uint32_t top = 0; top < (1u << 20); ++top) {
    if ((top >> 11 & 0xff) == 0xff) continue;
    const auto x = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(top << 12)));
    for (const std::uint64_t near : {x, x + 1, x - 1, x + half, x + half + 1, x + half - 1}) sample.push_back(near);
  }
  for (int k = 0; k < (1 << 16); ++k) {
    const auto x = std::bit_cast<std::uint64_t>((k + 0.5) * 0x1p-149);
    for (const std::uint64_t near : {x, x + 1, x - 1}) sample.push_back(near);
  }
  for (std::uint64_t k = 0; k < (1u << 16); ++k) sample.push_back(SplitMix64(k));
  return sample;
}

std::vector<std::uint64_t> IntSample() {
  std::vector<std::uint64_t> sample;
  for (std::uint64_t k = 0; k < (1u << 18); ++k) {
    const std::uint64_t random = SplitMix64(k);
    sample.push_back(random >> (SplitMix64(random) % 64));
  }
  for (const int offset : {0, -1, 1}) {
    for (int k = 0; k < 64; ++k) sample.push_back((std::uint64_t{1} << k) + static_cast<std::uint64_t>(offset));
  }
  const std::size_t n = sample.size();
  for (std::size_t i = 0; i < n; ++i) sample.push_back(0 - sample[i]);
  return sample;
}

Tensor Inputs(DType dtype) {
  const DTypeInfo& info = Info(dtype);
  std::vector<std::uint64_t> sample;
  if (info.bits <= 16) {
    for (std::uint64_t code = 0; code < (std::uint64_t{1} << info.bits); ++code) sample.push_back(code);
  } else if (dtype == DType::kF32) {
    sample = F32Sample();
  } else if (dtype == DType::kF64) {
    sample = F64Sample();
  } else {
    sample = IntSample();
  }
  Tensor t(dtype, {static_cast<std::int64_t>(sample.size())});
  VisitDType(dtype, [&](auto tag) {
    constexpr DType kD = decltype(tag)::value;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      if constexpr (kD == DType::kI2 || kD == DType::kI4) {
        t.data<StorageOf<kD>>()[i] = Element<kD>::Wrap(sample[i]);
      } else {
        std::memcpy(t.data<StorageOf<kD>>() + i, &sample[i], sizeof(StorageOf<kD>));
      }
    }
  });
  return t;
}

Tensor Convert(const Tensor& from, DType to) {
  Tensor result(to, from.shape());
  FindConvert(from.dtype(), to)(from.bytes(), result.bytes(), static_cast<std::size_t>(from.num_elements()));
  return result;
}

using Golden = std::map<std::pair<std::string, std::string>, std::uint64_t>;

Golden ReadGolden() {
  Golden golden;
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/dtypes.txt");
  std::string line, from, to, hash;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (line[0] != '#' && words >> from >> to >> hash) golden[{from, to}] = std::stoull(hash, nullptr, 16);
  }
  return golden;
}

TEST(ConvertGolden, EveryPairGivesTheRecordedAnswers) {
  const Golden golden = ReadGolden();
  ASSERT_EQ(golden.size(), static_cast<std::size_t>(kDTypeCount * kDTypeCount));
  for (const DTypeInfo& from : AllDTypes()) {
    const Tensor inputs = Inputs(from.dtype);
    const std::string from_name(from.name);
    ASSERT_EQ(Fingerprint(inputs), golden.at({from_name, "inputs"})) << from_name << ": the two samples differ";
    for (const DTypeInfo& to : AllDTypes()) {
      if (to.dtype == from.dtype) continue;
      EXPECT_EQ(Fingerprint(Convert(inputs, to.dtype)), golden.at({from_name, std::string(to.name)}))
          << from_name << " -> " << std::string(to.name);
    }
  }
}

TEST(ConvertGolden, EqualTypesKeepEveryBit) {
  for (const DTypeInfo& info : AllDTypes()) {
    const Tensor inputs = Inputs(info.dtype);
    EXPECT_TRUE(Convert(inputs, info.dtype).BitwiseEquals(inputs)) << std::string(info.name);
  }
}

// The traits agree with the conversions the golden answers cover.
TEST(ConvertGolden, ElementTraitsAgreeWithConversions) {
  const Tensor doubles = Inputs(DType::kF64);
  const Tensor floats = Inputs(DType::kF32);
  for (const DTypeInfo& info : AllDTypes()) {
    VisitDType(info.dtype, [&](auto tag) {
      constexpr DType kD = decltype(tag)::value;
      using E = Element<kD>;
      const Tensor rounded = Convert(doubles, kD);
      for (std::int64_t i = 0; i < doubles.num_elements(); ++i) {
        const double x = doubles.data<double>()[i];
        StorageOf<kD> expected = rounded.data<StorageOf<kD>>()[i];
        if constexpr (E::kIsFloat) {
          if (x != x) expected = E::kQuietNaN;  // the sign is dropped
        }
        const StorageOf<kD> found = E::FromDouble(x);
        ASSERT_EQ(std::memcmp(&found, &expected, sizeof found), 0) << std::string(info.name) << " from " << x;
      }
      if constexpr (kD == DType::kF16 || kD == DType::kBF16) {
        const Tensor from_floats = Convert(floats, kD);
        for (std::int64_t i = 0; i < floats.num_elements(); ++i) {
          const float x = floats.data<float>()[i];
          ASSERT_EQ(E::FromFloat(x), x == x ? from_floats.data<std::uint16_t>()[i] : E::kQuietNaN) << x;
        }
      }
      const Tensor inputs = Inputs(kD);
      const Tensor widened = Convert(inputs, DType::kF64);
      for (std::int64_t i = 0; i < inputs.num_elements(); ++i) {
        const double expected = widened.data<double>()[i];
        const double found = E::ToDouble(inputs.data<StorageOf<kD>>()[i]);
        ASSERT_TRUE(found == expected || (found != found && expected != expected)) << std::string(info.name);
      }
    });
  }
}

}  // namespace
}  // namespace palladion
