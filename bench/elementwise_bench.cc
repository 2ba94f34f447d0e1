// Elementwise kernels and reductions, nanoseconds per element (counter ns_per_element), by type, size and SIMD target.
// The f32 add is timed beside the plain loop of the same size, one after the other, so that a busy host slows both:
// vs_raw is the ratio of the fastest of each. Goals (at most): bf16 add 0.05, 0.10 and 0.20 ns on AVX-512, AVX2 and
// SSSE3.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "bench/elementwise_native.h"
#include "semantics/simd/elementwise.h"
#include "semantics/simd/reduce.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

using Clock = std::chrono::steady_clock;

// Elements 1 + (i mod 8) / 8. On a page: operands a little off 4096 bytes apart make stores look like later loads to
// the processor, which costs more than twice.
class Operand {
 public:
  Operand(DType dtype, std::size_t n) : bytes_(std::max<std::size_t>(n, 1) * StorageBytes(dtype) + kPage) {
    VisitDType(dtype, [this, n](auto tag) {
      using E = Element<decltype(tag)::value>;
      for (std::size_t i = 0; i < n; ++i) {
        const auto value = E::FromDouble(1 + static_cast<double>(i % 8) / 8);
        std::memcpy(data() + i * sizeof(value), &value, sizeof(value));
      }
    });
  }
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (kPage - address % kPage) % kPage;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  std::vector<std::byte> bytes_;
};

// The fastest of many short samples: what the code costs when the host leaves it alone.
template <typename F>
double FastestSeconds(int calls, F&& f) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    f();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

template <typename F>
void Measure(benchmark::State& state, std::size_t n, F&& f) {
  double best = std::numeric_limits<double>::max();
  const int calls = static_cast<int>(std::max<std::size_t>(1, 200000 / (n + 50)));
  for (auto _ : state) best = std::min(best, FastestSeconds(calls, f));
  state.counters["ns_per_call"] = best * 1e9;
  state.counters["ns_per_element"] = best * 1e9 / static_cast<double>(n);
}

void BM_AddBesideRawLoop(benchmark::State& state, std::size_t n, Target target) {
  Operand a(DType::kF32, n), b(DType::kF32, n), out(DType::kF32, n);
  const auto* x = reinterpret_cast<const float*>(a.data());
  const auto* y = reinterpret_cast<const float*>(b.data());
  auto* z = reinterpret_cast<float*>(out.data());
  const BinaryFn add = FindBinary(BinaryOp::kAdd, DType::kF32, Form::kVV, target);
  double ours = std::numeric_limits<double>::max(), raw = ours;
  const int calls = static_cast<int>(200000 / (n + 50)) + 1;
  for (auto _ : state) {
    ours = std::min(ours, FastestSeconds(calls, [&] { add(x, y, z, n); }));
    raw = std::min(raw, FastestSeconds(calls, [&] { bench::RawAdd(x, y, z, n); }));
  }
  state.counters["ns_per_call"] = ours * 1e9;
  state.counters["raw_ns_per_call"] = raw * 1e9;
  state.counters["vs_raw"] = ours / raw;
}

void BM_Binary(benchmark::State& state, BinaryOp op, DType dtype, std::size_t n, Target target) {
  Operand a(dtype, n), b(dtype, n), out(DType::kF64, n);
  const BinaryFn kernel = FindBinary(op, dtype, Form::kVV, target);
  Measure(state, n, [&] { kernel(a.data(), b.data(), out.data(), n); });
}

void BM_Unary(benchmark::State& state, UnaryOp op, DType dtype, std::size_t n, Target target) {
  Operand x(dtype, n), out(DType::kF64, n);
  const UnaryFn kernel = FindUnary(op, dtype, target);
  Measure(state, n, [&] { kernel(x.data(), out.data(), n); });
}

void BM_Select(benchmark::State& state, std::size_t size, std::size_t n, Target target) {
  Operand pred(DType::kBool, n), a(DType::kF64, n), b(DType::kF64, n), out(DType::kF64, n);
  for (std::size_t i = 0; i < n; i += 3) pred.data()[i] = std::byte{0};
  const SelectFn kernel = FindSelect(size, SelectForm::kVVV, target);
  Measure(state, n, [&] { kernel(pred.data(), a.data(), b.data(), out.data(), n); });
}

void BM_Reduce(benchmark::State& state, ReduceOp op, DType dtype, MiddleAxis shape, Target target) {
  const std::size_t n = shape.outer * shape.length * shape.inner;
  Operand x(dtype, n), out(dtype, n);
  const ReduceKernel kernel = FindReduce(op, dtype, target);
  Measure(state, n, [&] { kernel(x.data(), shape, out.data()); });
}

void BM_Convert(benchmark::State& state, DType from, DType to, std::size_t n, Target target) {
  Operand x(from, n), out(to, n);
  const ConvertFn kernel = FindConvertSimd(from, to, target);
  if (kernel == nullptr) return state.SkipWithError("no vector loop for these types on this target");
  Measure(state, n, [&] { kernel(x.data(), out.data(), n); });
}

void RegisterFor(Target target) {
  const std::string on = "/" + std::string(Name(target));
  const auto add = [&on](const std::string& name, auto f, auto... args) {
    benchmark::RegisterBenchmark((name + on).c_str(), f, args...);
  };
  for (std::size_t n : {1, 16, 1024, 16384})
    add("add_f32_beside_raw/" + std::to_string(n), BM_AddBesideRawLoop, n, target);
  for (DType dtype : {DType::kBF16, DType::kF16, DType::kF64, DType::kI32, DType::kI8, DType::kF8E4M3FN}) {
    add("add_" + std::string(Name(dtype)), BM_Binary, BinaryOp::kAdd, dtype, std::size_t{1024}, target);
  }
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32}) {
    const std::string name(Name(dtype));
    add("mul_" + name, BM_Binary, BinaryOp::kMul, dtype, std::size_t{1024}, target);
    add("max_" + name, BM_Binary, BinaryOp::kMax, dtype, std::size_t{1024}, target);
    add("lt_" + name, BM_Binary, BinaryOp::kLt, dtype, std::size_t{1024}, target);
    add("reduce_sum_rows_" + name, BM_Reduce, ReduceOp::kSum, dtype, MiddleAxis{128, 128, 1}, target);
    add("reduce_sum_columns_" + name, BM_Reduce, ReduceOp::kSum, dtype, MiddleAxis{1, 128, 128}, target);
    add("reduce_max_rows_" + name, BM_Reduce, ReduceOp::kMax, dtype, MiddleAxis{128, 128, 1}, target);
    add("reduce_max_columns_" + name, BM_Reduce, ReduceOp::kMax, dtype, MiddleAxis{1, 128, 128}, target);
  }
  add("shift_left_i32", BM_Binary, BinaryOp::kShiftLeft, DType::kI32, std::size_t{1024}, target);
  add("floor_f32", BM_Unary, UnaryOp::kFloor, DType::kF32, std::size_t{1024}, target);
  add("neg_bf16", BM_Unary, UnaryOp::kNeg, DType::kBF16, std::size_t{1024}, target);
  for (std::size_t size : {1, 2, 4, 8})
    add("select_" + std::to_string(size), BM_Select, size, std::size_t{1024}, target);
  add("f32_to_bf16", BM_Convert, DType::kF32, DType::kBF16, std::size_t{1024}, target);
  add("bf16_to_f32", BM_Convert, DType::kBF16, DType::kF32, std::size_t{1024}, target);
  add("f32_to_f16", BM_Convert, DType::kF32, DType::kF16, std::size_t{1024}, target);
  add("f16_to_f32", BM_Convert, DType::kF16, DType::kF32, std::size_t{1024}, target);
}

const bool kRegistered = [] {
  for (Target target : HostTargets()) RegisterFor(target);
  return true;
}();

}  // namespace
}  // namespace palladion::simd
