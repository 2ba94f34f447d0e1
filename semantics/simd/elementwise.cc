#include "semantics/simd/elementwise.h"

#include <algorithm>
#include <cstring>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {

BinaryFn FindBinary(BinaryOp op, DType dtype, Form form, Target target) {
  BinaryFn found = nullptr;
  if (op >= BinaryOp::kEq) {
    found = FindCompareSimd(op, dtype, form, target);
  } else if (IsFloat(dtype)) {
    found = FindFloatBinarySimd(op, dtype, form, target);
  } else {
    found = FindIntBinarySimd(op, dtype, form, target);
  }
  return found != nullptr ? found : FindBinaryScalar(op, dtype, form);
}

UnaryFn FindUnary(UnaryOp op, DType dtype, Target target) {
  const UnaryFn found = IsFloat(dtype) ? FindFloatUnarySimd(op, dtype, target) : FindIntUnarySimd(op, dtype, target);
  return found != nullptr ? found : FindUnaryScalar(op, dtype);
}

ClampKernel FindClamp(DType dtype, bool lo_is_scalar, bool hi_is_scalar, Target target) {
  return {.maximum = FindBinary(BinaryOp::kMax, dtype, lo_is_scalar ? Form::kSV : Form::kVV, target),
          .minimum = FindBinary(BinaryOp::kMin, dtype, hi_is_scalar ? Form::kVS : Form::kVV, target)};
}

IntegerPowKernel FindIntegerPow(DType dtype, Target target) {
  IntegerPowKernel kernel{.multiply = FindBinary(BinaryOp::kMul, dtype, Form::kVV, target),
                          .divide = FindBinary(BinaryOp::kDiv, dtype, Form::kSV, target),
                          .element_size = StorageBytes(dtype),
                          .one = 0};
  VisitDType(dtype, [&kernel](auto tag) {
    const auto one = Element<decltype(tag)::value>::FromDouble(1.0);
    std::memcpy(&kernel.one, &one, sizeof(one));
  });
  return kernel;
}

void IntegerPowKernel::operator()(const void* x, int exponent, void* out, std::size_t n) const {
  constexpr std::size_t kBlockBytes = 2048;  // power and result stay in L1
  alignas(64) std::byte power[kBlockBytes];
  alignas(64) std::byte result[kBlockBytes];
  const auto* in = static_cast<const std::byte*>(x);
  auto* to = static_cast<std::byte*>(out);
  for (std::size_t left = n; left > 0;) {
    const std::size_t count = std::min(left, kBlockBytes / element_size);
    const std::size_t bytes = count * element_size;
    std::memcpy(power, in, bytes);
    bool started = false;
    for (unsigned rest = exponent < 0 ? 0u - static_cast<unsigned>(exponent) : static_cast<unsigned>(exponent);
         rest > 0;) {
      if ((rest & 1) != 0) {
        if (started) {
          multiply(result, power, result, count);
        } else {
          std::memcpy(result, power, bytes);
        }
        started = true;
      }
      rest >>= 1;
      if (rest > 0) multiply(power, power, power, count);
    }
    if (!started) {
      for (std::size_t i = 0; i < bytes; i += element_size) std::memcpy(result + i, &one, element_size);
    }
    if (exponent < 0) divide(&one, result, result, count);
    std::memcpy(to, result, bytes);
    in += bytes;
    to += bytes;
    left -= count;
  }
}

}  // namespace palladion::simd
