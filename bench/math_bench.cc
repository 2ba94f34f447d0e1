// Elementary functions: nanoseconds per element (the inverse of items_per_second) for every function, type and SIMD
// target of the host, on 4096 elements that stay in the first-level cache; values spread over the range where the
// function does its work.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/dot_native.h"
#include "semantics/simd/math.h"

namespace palladion::simd {
namespace {

constexpr std::size_t kCount = 4096;

double Low(MathOp op) {
  switch (op) {
    case MathOp::kLog:
    case MathOp::kLog2:
    case MathOp::kSqrt:
    case MathOp::kRsqrt:
      return 0.001;
    case MathOp::kAcosh:
      return 1.0;
    case MathOp::kAsin:
    case MathOp::kAcos:
    case MathOp::kAtanh:
    case MathOp::kErfInv:
    case MathOp::kLog1p:
      return -0.999;
    default:
      return -8.0;
  }
}

double High(MathOp op) {
  const double low = Low(op);
  return low < 0 ? -low : 100.0;
}

// The values as elements of the type: f64 and f32 by conversion, bf16 by truncation, f16 from the exponents near 1.
std::vector<unsigned char> Inputs(MathOp op, DType dtype) {
  std::vector<unsigned char> bytes(kCount * StorageBytes(dtype));
  std::mt19937 random(3);
  std::uniform_real_distribution<double> values(Low(op), High(op));
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = values(random);
    const float narrow = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    if (dtype == DType::kF64) std::memcpy(&bytes[i * 8], &x, 8);
    if (dtype == DType::kF32) std::memcpy(&bytes[i * 4], &narrow, 4);
    std::uint16_t half = static_cast<std::uint16_t>(bits >> 16);
    if (dtype == DType::kF16) {  // rebias the exponent; below the normal range, the smallest normal number
      const std::uint32_t magnitude = bits & 0x7FFFFFFF;
      const std::uint32_t rebiased = magnitude < (113u << 23) ? 1u << 23 : magnitude - (112u << 23);
      half = static_cast<std::uint16_t>((bits >> 16 & 0x8000) | rebiased >> 13);
    }
    if (StorageBytes(dtype) == 2) std::memcpy(&bytes[i * 2], &half, 2);
  }
  return bytes;
}

void Measure(benchmark::State& state, MathOp op, DType dtype, Target target) {
  const std::vector<unsigned char> x = Inputs(op, dtype);
  std::vector<unsigned char> out(x.size());
  const UnaryFn fn = FindMath(op, dtype, target);
  for (auto _ : state) {
    fn(x.data(), out.data(), kCount);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCount));
  state.counters["ns_per_element"] = benchmark::Counter(static_cast<double>(state.iterations()) * kCount * 1e-9,
                                                        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  // Comparable between hosts: how many double operations the core's peak would have done in the time of one element.
  static const double peak = bench::PeakDoubleFlops();
  state.counters["flops_at_peak"] = benchmark::Counter(static_cast<double>(state.iterations()) * kCount / peak,
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

bool RegisterAll() {
  for (int i = 0; i < kMathOpCount; ++i) {
    const MathOp op = static_cast<MathOp>(i);
    for (DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16}) {
      for (Target target : HostTargets()) {
        const std::string name = "math/" + std::string(Name(op)) + "/" + std::string(palladion::Name(dtype)) + "/" +
                                 std::string(Name(target));
        benchmark::RegisterBenchmark(name.c_str(), &Measure, op, dtype, target);
      }
    }
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = RegisterAll();

}  // namespace
}  // namespace palladion::simd
