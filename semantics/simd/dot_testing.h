// Operands for the contraction's tests: every way to lie in memory, ordinary and extreme values.
#ifndef PALLADION_SEMANTICS_SIMD_DOT_TESTING_H_
#define PALLADION_SEMANTICS_SIMD_DOT_TESTING_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "semantics/base/dtype.h"
#include "semantics/simd/dot.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion::simd {

using Random = std::mt19937_64;

// How an operand lies in memory.
enum class Layout { kRowMajor, kTransposed, kSplitDepth, kSplitOuter, kStrided, kReversed, kShuffled };
inline constexpr int kLayouts = 7;

struct Operand {
  DType dtype = DType::kF32;
  std::vector<std::byte> data;
  std::vector<std::int64_t> outer_offset;
  std::vector<std::int64_t> k_offset;

  DotOperand View() const { return {data.data(), dtype, outer_offset.data(), k_offset.data()}; }
};

inline std::int64_t LargestFactor(std::int64_t count) {  // below the count itself; 1 for primes
  for (std::int64_t factor = count / 2; factor > 1; --factor) {
    if (count % factor == 0) return factor;
  }
  return 1;
}

inline void LayOutOffsets(Layout layout, std::int64_t outer, std::int64_t depth, Random& random, Operand& operand) {
  operand.outer_offset.resize(outer);
  operand.k_offset.resize(depth);
  const std::int64_t outer_inner = LargestFactor(outer);
  const std::int64_t depth_inner = LargestFactor(depth);
  for (std::int64_t i = 0; i < outer; ++i) {
    switch (layout) {
      case Layout::kRowMajor:
      case Layout::kShuffled:
        operand.outer_offset[i] = i * depth;
        break;
      case Layout::kTransposed:
        operand.outer_offset[i] = i;
        break;
      case Layout::kSplitDepth:
        operand.outer_offset[i] = i * depth_inner;
        break;
      case Layout::kSplitOuter:
        operand.outer_offset[i] = i / outer_inner * (depth * outer_inner) + i % outer_inner;
        break;
      case Layout::kStrided:
        operand.outer_offset[i] = i * depth * 3;
        break;
      case Layout::kReversed:
        operand.outer_offset[i] = (outer - 1 - i) * depth;
        break;
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    switch (layout) {
      case Layout::kRowMajor:
      case Layout::kShuffled:
        operand.k_offset[k] = k;
        break;
      case Layout::kTransposed:
        operand.k_offset[k] = k * outer;
        break;
      case Layout::kSplitDepth:
        operand.k_offset[k] = k / depth_inner * (outer * depth_inner) + k % depth_inner;
        break;
      case Layout::kSplitOuter:
        operand.k_offset[k] = k * outer_inner;
        break;
      case Layout::kStrided:
        operand.k_offset[k] = k * 3;
        break;
      case Layout::kReversed:
        operand.k_offset[k] = depth - 1 - k;
        break;
    }
  }
  if (layout == Layout::kShuffled) std::shuffle(operand.outer_offset.begin(), operand.outer_offset.end(), random);
}

enum class Data { kModerate, kAnyBits, kSpecial, kSmallIntegers };
inline constexpr int kDataKinds = 4;

template <DType D>
StorageOf<D> RandomElement(Data data, Random& random) {
  using Storage = StorageOf<D>;
  const std::uint64_t bits = random();
  const double moderate = std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -62);  // [-2, 2)
  if constexpr (D == DType::kBool) {
    return bits & 1;
  } else if constexpr (!Element<D>::kIsFloat) {
    return data == Data::kSmallIntegers ? Element<D>::Wrap(static_cast<std::uint64_t>(static_cast<int>(bits % 7) - 3))
                                        : Element<D>::Wrap(bits);
  } else {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kSpecials[] = {0.0,   -0.0,   kInf, -kInf, std::numeric_limits<double>::quiet_NaN(),
                                    1e-40, -1e-45, 6e-8, 1e300, -1e300,
                                    3e38,  65504,  448,  1e-310};
    const auto any_bits = [](std::uint64_t raw) {
      if constexpr (Element<D>::kBits < 8) raw &= (1u << Element<D>::kBits) - 1;
      Storage element;
      std::memcpy(&element, &raw, sizeof element);
      return element;
    };
    switch (data) {
      case Data::kAnyBits:
        return any_bits(bits);
      case Data::kSpecial:
        return random() % 8 == 0 ? Element<D>::FromDouble(kSpecials[bits % std::size(kSpecials)])
                                 : Element<D>::FromDouble(moderate);
      case Data::kSmallIntegers:
        return Element<D>::FromDouble(static_cast<int>(bits % 7) - 3);
      default:
        return Element<D>::FromDouble(moderate);
    }
  }
}

struct OperandForm {
  Layout layout;
  std::size_t outer, depth;
};

inline Operand MakeOperand(DType dtype, const OperandForm& form, Data data, Random& random) {
  const auto outer = static_cast<std::int64_t>(form.outer), depth = static_cast<std::int64_t>(form.depth);
  Operand operand;
  operand.dtype = dtype;
  LayOutOffsets(form.layout, outer, depth, random, operand);
  std::int64_t last = -1;
  if (outer > 0 && depth > 0) {
    last = *std::max_element(operand.outer_offset.begin(), operand.outer_offset.end()) +
           *std::max_element(operand.k_offset.begin(), operand.k_offset.end());
  }
  operand.data.resize((last + 1) * StorageBytes(dtype));  // not one element more: a sanitizer sees reads beyond
  VisitDType(dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    for (std::int64_t i = 0; i <= last; ++i) {
      const StorageOf<kDType> element = RandomElement<kDType>(data, random);
      std::memcpy(operand.data.data() + i * sizeof element, &element, sizeof element);
    }
  });
  return operand;
}

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_DOT_TESTING_H_
