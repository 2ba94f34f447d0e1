#include "emu/front/cpp/atomic_functions.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace palladion {
namespace {

template <class T>
T Read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T, AtomicOp kOp>
T Apply(T a, T b) {
  if constexpr (kOp == AtomicOp::kAdd) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    if constexpr (std::is_floating_point_v<T>) return a + b;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else if constexpr (kOp == AtomicOp::kMin) {
    return a != a || a < b ? a : b;
  } else if constexpr (kOp == AtomicOp::kMax) {
    return a != a || b < a ? a : b;
  } else if constexpr (kOp == AtomicOp::kExchange) {
    return b;
  } else if constexpr (kOp == AtomicOp::kAnd) {
    return static_cast<T>(a & b);
  } else if constexpr (kOp == AtomicOp::kOr) {
    return static_cast<T>(a | b);
  } else {
    return static_cast<T>(a ^ b);
  }
}

template <class T, AtomicOp kOp>
void Update(const std::byte* old, const std::byte* operand, const std::byte*, std::byte* result) {
  const T value = Apply<T, kOp>(Read<T>(old), Read<T>(operand));
  std::memcpy(result, &value, sizeof(T));
}

// By bits, as hardware does: -0 is not 0.
template <class T>
void CompareExchange(const std::byte* old, const std::byte* operand, const std::byte* compare, std::byte* result) {
  std::memcpy(result, std::memcmp(old, compare, sizeof(T)) == 0 ? operand : old, sizeof(T));
}

template <class T>
AtomicFn Of(AtomicOp op) {
  switch (op) {
    case AtomicOp::kAdd:
      return &Update<T, AtomicOp::kAdd>;
    case AtomicOp::kMin:
      return &Update<T, AtomicOp::kMin>;
    case AtomicOp::kMax:
      return &Update<T, AtomicOp::kMax>;
    case AtomicOp::kExchange:
      return &Update<T, AtomicOp::kExchange>;
    case AtomicOp::kCompareExchange:
      return &CompareExchange<T>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == AtomicOp::kAnd) return &Update<T, AtomicOp::kAnd>;
    if (op == AtomicOp::kOr) return &Update<T, AtomicOp::kOr>;
    if (op == AtomicOp::kXor) return &Update<T, AtomicOp::kXor>;
  }
  return nullptr;
}

}  // namespace

AtomicFn AtomicFunction(AtomicOp op, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Of<bool>(op);
    case DType::kI8:
      return Of<std::int8_t>(op);
    case DType::kI16:
      return Of<std::int16_t>(op);
    case DType::kI32:
      return Of<std::int32_t>(op);
    case DType::kI64:
      return Of<std::int64_t>(op);
    case DType::kU8:
      return Of<std::uint8_t>(op);
    case DType::kU16:
      return Of<std::uint16_t>(op);
    case DType::kU32:
      return Of<std::uint32_t>(op);
    case DType::kU64:
      return Of<std::uint64_t>(op);
    case DType::kF32:
      return Of<float>(op);
    case DType::kF64:
      return Of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace palladion
