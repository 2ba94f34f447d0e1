// What a kernel costs beside the arithmetic itself: reading its text, preparing it, each operation's dispatch, blocks.
// Each benchmark times its probe in the same iteration, so that a busy host slows both; counters hold the fastest of
// each:
//   parse, prepare  vs_scan: our time / that of looking up the class of each byte of the text, which any reader must do
//   op, fetch       vs_raw: our time for an operation / that of the plain loop over the same memory, called as often
//   dot             vs_eigen: an operation of the program / Eigen's double product
//   blocks          vs_memcpy: one program that is given its block and copies it / memcpy of that block's rows
// All through the public interface, RunInto, with a grid long enough that the launch is lost in it; `launch` is its
// cost.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/dot_native.h"
#include "bench/elementwise_native.h"
#include "bench/kernel_texts.h"
#include "emu/emulate.h"

namespace palladion::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The fastest of the samples so far, in nanoseconds.
struct Fastest {
  double nanoseconds = std::numeric_limits<double>::infinity();

  template <class F>
  void Sample(F&& f) {
    const Clock::time_point start = Clock::now();
    f();
    benchmark::ClobberMemory();
    nanoseconds = std::min(nanoseconds, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
};

// Ones, where a program's own memory would be: vectors that cross cache lines take twice as long.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t n) : data_(static_cast<float*>(std::aligned_alloc(kAlignment, Rounded(n)))) {
    std::fill_n(data_.get(), n, 1.0f);
  }
  float* data() { return data_.get(); }

 private:
  static constexpr std::size_t kAlignment = 4096;
  static std::size_t Rounded(std::size_t n) { return (n * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment; }
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
};

// A prepared kernel with inputs of ones and room for its outputs.
class Runner {
 public:
  Runner(const std::string& text, const std::string& target, benchmark::State& state) {
    auto kernel = PrepareText(text, {.kernel = "", .target = target, .path = "bench"});
    if (!kernel.ok()) {
      state.SkipWithError(std::string(kernel.status().message()).c_str());
      return;
    }
    kernel_ = std::make_unique<PreparedKernel>(*std::move(kernel));
    for (const OperandDescription& operand : kernel_->inputs())
      in_.push_back({operand.dtype, operand.shape, Memory(operand)});
    for (const OperandDescription& operand : kernel_->outputs())
      out_.push_back({operand.dtype, operand.shape, Memory(operand)});
  }

  bool ok() const { return kernel_ != nullptr; }

  void Run(benchmark::State& state) {
    auto report = RunInto(*kernel_, in_, out_);
    if (!report.ok()) return state.SkipWithError(std::string(report.status().message()).c_str());
    if (ExitCodeOf(*report) != ExitCode::kClean) state.SkipWithError("the kernel has a defect");
  }

 private:
  // Ones; as an i32 any number will do.
  std::byte* Memory(const OperandDescription& operand) {
    std::size_t elements = 1;
    for (std::int64_t d : operand.shape) elements *= static_cast<std::size_t>(d);
    const bool wide = operand.dtype == DType::kF64;
    AlignedFloats& memory = memory_.emplace_back(wide ? 2 * elements : elements);
    if (wide) std::fill_n(reinterpret_cast<double*>(memory.data()), elements, 1.0);
    return reinterpret_cast<std::byte*>(memory.data());
  }

  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<ConstArray> in_;
  std::vector<MutableArray> out_;
  std::vector<AlignedFloats> memory_;  // their data stays where it is when this grows
};

// ---- texts

int ScanBytes(const std::string& text) {
  static const std::array<std::uint8_t, 256> classes = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i * 37 % 11);
    return table;
  }();
  int state = 0;
  for (const char c : text) state = classes[static_cast<std::uint8_t>(c)] ^ state >> 1;
  return state;
}

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

template <class Read>
void MeasureText(benchmark::State& state, const std::string& text, Read&& read) {
  Fastest ours, scan;
  for (auto _ : state) {
    ours.Sample([&] {
      if (!read()) state.SkipWithError("the text was refused");
    });
    scan.Sample([&] { benchmark::DoNotOptimize(ScanBytes(text)); });
  }
  state.counters["ns_per_line"] = ours.nanoseconds / static_cast<double>(Lines(text));
  state.counters["vs_scan"] = ours.nanoseconds / scan.nanoseconds;
}

void BM_Parse(benchmark::State& state, const std::string& text) {
  MeasureText(state, text, [&] { return KernelNames(text).ok(); });
}

void BM_Prepare(benchmark::State& state, const std::string& text) {
  MeasureText(state, text, [&] { return PrepareText(text).ok(); });
}

// ---- operations

void BM_Elementwise(benchmark::State& state, const Chain& chain, std::size_t elements) {
  Runner runner(ChainText(chain), "", state);
  if (!runner.ok()) return;
  AlignedFloats memory(3 * elements);  // as the frame's arena: x and two values, one after the other
  float* const x = memory.data();
  float* const values[2] = {x + elements, x + 2 * elements};
  Fastest ours, raw;
  for (auto _ : state) {
    ours.Sample([&] { runner.Run(state); });
    raw.Sample([&] {
      for (int i = 0; i < chain.length * chain.programs; ++i) RawAdd(values[i % 2], x, values[1 - i % 2], elements);
    });
  }
  const double operations = static_cast<double>(chain.length) * chain.programs;
  state.counters["ns_per_op"] = ours.nanoseconds / operations;
  state.counters["vs_raw"] = ours.nanoseconds / raw.nanoseconds;
}

__attribute__((noinline)) void AddOne(const std::int32_t* a, const std::int32_t* b, std::int32_t* out) {
  *out = *a + *b;
}

void BM_Scalar(benchmark::State& state, const Chain& chain) {
  Runner runner(ChainText(chain), "", state);
  if (!runner.ok()) return;
  std::array<std::int32_t, 3> memory = {1, 1, 1};
  auto* volatile chosen = &AddOne;
  Fastest ours, raw;
  for (auto _ : state) {
    ours.Sample([&] { runner.Run(state); });
    raw.Sample([&] {
      const auto add = chosen;
      for (int i = 0; i < chain.length * chain.programs; ++i)
        add(&memory[1 + i % 2], memory.data(), &memory[2 - i % 2]);
      benchmark::DoNotOptimize(memory);
    });
  }
  const double operations = static_cast<double>(chain.length) * chain.programs;
  state.counters["ns_per_op"] = ours.nanoseconds / operations;
  state.counters["vs_raw"] = ours.nanoseconds / raw.nanoseconds;
}

void BM_DotInProgram(benchmark::State& state, const std::string& dtype, std::size_t n) {
  const std::string size = std::to_string(n);
  const Chain chain{
      .operations = {"dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=" + dtype + "}"},
      .type = dtype + "[" + size + "," + size + "]",
      .length = 8};
  Runner runner(ChainText(chain), "", state);
  if (!runner.ok()) return;
  const std::vector<double> a(n * n, 1.0), b(n * n, 1.0);
  std::vector<double> c(n * n);
  Fastest ours, eigen;
  for (auto _ : state) {
    ours.Sample([&] { runner.Run(state); });
    eigen.Sample([&] { EigenDoubleProduct(a.data(), b.data(), c.data(), {n, n, n}); });
  }
  state.counters["ns_per_op"] = ours.nanoseconds / chain.length;
  state.counters["vs_eigen"] = ours.nanoseconds / chain.length / eigen.nanoseconds;
}

// ---- programs and their blocks

void BM_Launch(benchmark::State& state) {
  Runner runner(ChainText({.operations = {"add"}, .type = "f32[]", .length = 1}), "", state);
  Fastest ours;
  if (!runner.ok()) return;
  for (auto _ : state) ours.Sample([&] { runner.Run(state); });
  state.counters["ns_per_launch"] = ours.nanoseconds;
}

void BM_Blocks(benchmark::State& state, const std::string& target, int width, bool copy) {
  constexpr int kBlocks = 32;
  constexpr std::size_t kRow = 128;
  Runner runner(BlocksText(kBlocks, width, copy), target, state);
  if (!runner.ok()) return;
  const auto row = static_cast<std::size_t>(width);
  const std::size_t size = 8 * kBlocks * row;
  AlignedFloats from(size), to(size);
  Fastest ours, memory;
  for (auto _ : state) {
    ours.Sample([&] { runner.Run(state); });
    memory.Sample([&] {
      for (std::size_t i = 0; i < size; i += row) std::memcpy(to.data() + i, from.data() + i, kRow * sizeof(float));
    });
  }
  state.counters["ns_per_program"] = ours.nanoseconds / kBlocks;
  if (copy) state.counters["vs_memcpy"] = ours.nanoseconds / memory.nanoseconds;
}

template <class F, class... Args>
void Register(const std::string& name, F f, const Args&... args) {
  benchmark::RegisterBenchmark(name.c_str(), f, args...)->MinTime(0.1);
}

const bool kRegistered = [] {
  const std::string small = kSoftmaxText;
  const std::string big =
      ChainText({.operations = {"add", "mul"}, .type = "f32[8,128]", .length = 10000, .lines = true});
  Register("parse/softmax", BM_Parse, small);
  Register("parse/chain of 10000 operations", BM_Parse, big);
  Register("prepare/softmax", BM_Prepare, small);
  Register("prepare/chain of 10000 operations", BM_Prepare, big);
  for (const bool fetch : {false, true}) {
    const std::string name = fetch ? "fetch/add_f32/" : "op/add_f32/";
    Register(name + "16", BM_Elementwise, Chain{{"add"}, "f32[16]", 256, 512, fetch}, std::size_t{16});
    Register(name + "1x128", BM_Elementwise, Chain{{"add"}, "f32[1,128]", 256, 128, fetch}, std::size_t{128});
    Register(name + "8x128", BM_Elementwise, Chain{{"add"}, "f32[8,128]", 256, 32, fetch}, std::size_t{1024});
    Register(name + "128x128", BM_Elementwise, Chain{{"add"}, "f32[128,128]", 256, 2, fetch}, std::size_t{16384});
  }
  Register("op/add_sub_max_f32/8x128", BM_Elementwise, Chain{{"add", "sub", "max"}, "f32[8,128]", 255, 32},
           std::size_t{1024});
  Register("op/add_i32/scalar", BM_Scalar, Chain{{"add"}, "i32[]", 256, 512});
  Register("op/add_sub_xor_max_i32/scalar", BM_Scalar, Chain{{"add", "sub", "xor", "max"}, "i32[]", 256, 512});
  for (const std::size_t n : {128, 512}) {
    for (const char* dtype : {"f32", "f64"}) {
      Register("dot/" + std::string(dtype) + "/" + std::to_string(n), BM_DotInProgram, std::string(dtype), n);
    }
  }
  Register("launch/one operation", BM_Launch);
  for (const std::string target : {"generic", "mosaic_tpu/v5e"}) {
    Register("blocks/" + target + "/bound", BM_Blocks, target, 128, false);
    Register("blocks/" + target + "/copied", BM_Blocks, target, 128, true);
    Register("blocks/" + target + "/copied, rows apart", BM_Blocks, target, 512, true);
  }
  return true;
}();

}  // namespace
}  // namespace palladion::bench
