// The contraction against Eigen's double product of the same shape, in the same run. Each iteration times both, one
// after the other, so that a busy host slows both; the counters compare the fastest of each:
//   vs_eigen   our time / Eigen's (goal at 128^3 and 512^3: at most 1.2)
//   of_peak    our rate / the core's peak of double fused multiply-adds (goal at m = 8: at least 0.6)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bench/dot_native.h"
#include "semantics/simd/dot.h"

namespace palladion::simd {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

struct DotCase {
  DType in;
  DType out;
  DotShape shape;
  bool a_transposed;  // memory k x m instead of m x k
  bool b_transposed;  // memory n x k instead of k x n
};

struct Operand {
  std::vector<std::byte> data;
  std::vector<std::int64_t> outer_offset;
  std::vector<std::int64_t> k_offset;
};

// Bytes below 0x40: ordinary values in every type, with neither NaN nor subnormals of f32.
Operand MakeOperand(DType dtype, std::size_t outer, std::size_t depth, bool depth_contiguous) {
  Operand operand;
  std::mt19937 random(1);
  operand.data.resize(outer * depth * StorageBytes(dtype));
  for (std::byte& byte : operand.data) byte = static_cast<std::byte>(0x20 + random() % 0x20);
  for (std::size_t i = 0; i < outer; ++i) operand.outer_offset.push_back(depth_contiguous ? i * depth : i);
  for (std::size_t k = 0; k < depth; ++k) operand.k_offset.push_back(depth_contiguous ? k : k * outer);
  return operand;
}

void BM_Dot(benchmark::State& state, DotCase dot, Target target, Parallel* parallel) {
  static const double peak = bench::PeakDoubleFlops();
  const auto [m, n, k] = dot.shape;
  const Operand a = MakeOperand(dot.in, m, k, !dot.a_transposed);
  const Operand b = MakeOperand(dot.in, n, k, dot.b_transposed);
  std::vector<std::byte> out(m * n * StorageBytes(dot.out));
  std::vector<std::byte> scratch(DotScratchBytes(dot.shape, parallel != nullptr ? parallel->threads() : 1));
  const std::vector<double> eigen_a(m * k, 1.0), eigen_b(k * n, 1.0);
  std::vector<double> eigen_c(m * n);
  double ours = std::numeric_limits<double>::infinity();
  double eigen = ours;
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    Dot({{a.data.data(), dot.in, a.outer_offset.data(), a.k_offset.data()},
         {b.data.data(), dot.in, b.outer_offset.data(), b.k_offset.data()},
         dot.shape,
         {dot.out, out.data()}},
        absl::MakeSpan(scratch), target, {parallel});
    benchmark::DoNotOptimize(out.data());
    const Clock::time_point middle = Clock::now();
    bench::EigenDoubleProduct(eigen_a.data(), eigen_b.data(), eigen_c.data(), {m, n, k});
    benchmark::DoNotOptimize(eigen_c.data());
    eigen = std::min(eigen, Seconds(middle, Clock::now()));
    ours = std::min(ours, Seconds(start, middle));
    state.SetIterationTime(Seconds(start, middle));
  }
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / ours;
  state.counters["Gflops"] = flops * 1e-9;
  state.counters["vs_eigen"] = ours / eigen;
  state.counters["of_peak"] = flops / peak;
}

std::string CaseName(const DotCase& dot, Target target) {
  std::string name = "BM_Dot/";
  name.append(Name(target)).append("/").append(palladion::Name(dot.in)).append("_").append(palladion::Name(dot.out));
  name += "/" + std::to_string(dot.shape.m) + "x" + std::to_string(dot.shape.n) + "x" + std::to_string(dot.shape.k) +
          "/" + (dot.a_transposed ? "t" : "n") + (dot.b_transposed ? "t" : "n");
  return name;
}

void Register(const DotCase& dot, Target target, Parallel* parallel = nullptr) {
  benchmark::RegisterBenchmark((CaseName(dot, target) + (parallel != nullptr ? "/threads" : "")).c_str(),
                               [=](benchmark::State& state) { BM_Dot(state, dot, target, parallel); })
      ->UseManualTime()
      ->MinTime(0.1);
}

const bool kRegistered = [] {
  constexpr DotShape k128{128, 128, 128};
  const Target best = HostTargets().back();
  for (const DotShape& shape : {k128, DotShape{512, 512, 512}, DotShape{8, 128, 128}}) {
    for (const DType in : {DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3FN, DType::kF64, DType::kI8}) {
      const DType out = in == DType::kF64 ? in : in == DType::kI8 ? DType::kI32 : DType::kF32;
      for (const bool a_transposed : {false, true}) {
        for (const bool b_transposed : {false, true}) Register({in, out, shape, a_transposed, b_transposed}, best);
      }
    }
    Register({DType::kBF16, DType::kBF16, shape, false, false}, best);
    Register({DType::kF16, DType::kF16, shape, false, false}, best);
  }
  for (const DotShape& shape : {DotShape{1, 1024, 1024}, {1024, 1, 1024}, {128, 128, 8}, {16, 16, 16}, {8, 8, 8}}) {
    for (const bool b_transposed : {false, true})
      Register({DType::kF32, DType::kF32, shape, false, b_transposed}, best);
  }
  static Parallel all_threads;
  for (const DotShape& shape : {DotShape{256, 256, 256}, {512, 512, 512}}) {
    Register({DType::kF32, DType::kF32, shape, false, false}, best, &all_threads);
  }
  for (const Target target : HostTargets()) {
    Register({DType::kF32, DType::kF32, k128, false, true}, target);
    Register({DType::kF64, DType::kF64, k128, false, false}, target);
  }
  return true;
}();

}  // namespace
}  // namespace palladion::simd
