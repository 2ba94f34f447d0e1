// The instruction log: its lines on small kernels, its hashes against NumPy, and that observable programs give the bits
// of plain ones.
#include "emu/tools/debug/instruction_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "emu/run/watch/value_hash.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/simd/target.h"

namespace palladion::debug {
namespace {

template <class T>
std::string HashOf(DType dtype, const std::vector<T>& values) {
  return watch::HashText(watch::HashValue(dtype, reinterpret_cast<const std::byte*>(values.data()), values.size()));
}

// Computed by the NumPy code of docs/guides/log.md.
TEST(ValueHash, IsTheOneOfTheDocumentedCode) {
  EXPECT_EQ("2d62a521edfaf831", HashOf<float>(DType::kF32, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ("d5dfa910c57bc4ad", HashOf<std::int64_t>(DType::kI64, {1, -2, 3}));
  EXPECT_EQ("d4c4c1d9eb8c9c4a", HashOf<std::uint8_t>(DType::kBool, {1, 0}));
  EXPECT_EQ("0f4167281a736052", HashOf<std::uint16_t>(DType::kF16, {0x8000, 0x7e00}));
  EXPECT_EQ("3a49309ea8339d07", HashOf<std::uint16_t>(DType::kBF16, {0x3fc0, 0x7fc0}));
  EXPECT_EQ("8843355fea2f6aee", HashOf<std::int8_t>(DType::kI8, {-3}));
  EXPECT_EQ("0000000000000000", HashOf<float>(DType::kF32, {}));
}

TEST(ValueHash, EveryNaNIsOneAndZerosAreTwo) {
  EXPECT_EQ(HashOf<std::uint32_t>(DType::kF32, {0x7fc00000}), HashOf<std::uint32_t>(DType::kF32, {0xffc12345}));
  EXPECT_NE(HashOf<float>(DType::kF32, {0.0f}), HashOf<float>(DType::kF32, {-0.0f}));
  EXPECT_NE(HashOf<std::uint32_t>(DType::kU32, {0x7fc00000}), HashOf<std::uint32_t>(DType::kU32, {0xffc12345}));
  EXPECT_EQ(HashOf<std::uint8_t>(DType::kBool, {1}), HashOf<std::uint8_t>(DType::kBool, {255}));
  EXPECT_NE(HashOf<float>(DType::kF32, {1, 2}), HashOf<float>(DType::kF32, {2, 1}));
  EXPECT_NE(HashOf<float>(DType::kF32, {0}), HashOf<float>(DType::kF32, {0, 0}));
}

std::string LogOf(const std::string& text, const std::vector<Tensor>& inputs,
                  const agents::LaunchOptions& options = {}) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.path = "k.pkir", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return "";
  std::ostringstream out;
  const absl::StatusOr<RunResult> result = WriteLog(*kernel, inputs, options, out);
  EXPECT_TRUE(result.ok()) << result.status();
  return out.str();
}

Tensor Iota(DType dtype, std::vector<std::int64_t> shape) { return *TensorFromText(dtype, shape, "iota"); }

std::vector<std::vector<std::string>> Records(const std::string& log) {
  std::vector<std::vector<std::string>> records;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    if (line.find('\t') == absl::string_view::npos) continue;
    records.emplace_back(absl::StrSplit(line, '\t'));
  }
  return records;
}

TEST(InstructionLog, HasALineForEachInstructionAndProgram) {
  const std::string log = LogOf(AddKernel(), {Iota(DType::kF32, {8}), Iota(DType::kF32, {8})});
  EXPECT_EQ(0u, log.find("palladion-log 2\nkernel add\ntarget generic\nin x:f32[8]=2d62a521edfaf831\n")) << log;
  EXPECT_TRUE(log.ends_with("\nend 12\n")) << log;
  const auto records = Records(log);
  ASSERT_EQ(12u, records.size()) << log;  // the map's mul, then get, get, add, debug_print, swap; twice
  const std::string high = HashOf<float>(DType::kF32, {4, 5, 6, 7}), sum = HashOf<float>(DType::kF32, {8, 10, 12, 14});
  const auto expect = [&](std::size_t i, std::vector<std::string> fields) { EXPECT_EQ(fields, records[i]); };
  expect(6,
         {"1", "-", "5", "mul", Cat("%k:i32[]=", HashOf<std::int32_t>(DType::kI32, {1})),
          Cat("%i=", HashOf<std::int32_t>(DType::kI32, {1}), " _=", HashOf<std::int32_t>(DType::kI32, {1})), "-", "-"});
  expect(7, {"1", "-", "10", "get", Cat("%a:f32[4]=", high), "-", "read args[0][4:8]", "-"});
  expect(9, {"1", "-", "12", "add", Cat("%c:f32[4]=", sum), Cat("%a=", high, " %b=", high), "-", "-"});
  expect(10, {"1", "-", "13", "debug_print", "-", Cat("%c=", sum), "-", "-"});
  expect(11, {"1", "-", "14", "swap", "-", Cat("%c=", sum), Cat("write outputs[4:8]=", sum), "-"});
}

// 3 + 4: the carry is 3, 7; what an iteration reads and makes is its own.
TEST(InstructionLog, CountsIterations) {
  const std::string log = LogOf(VectorKernel(R"(
    %v = get(%xr) : i32[4];
    %r = scan{length=2}(init=%v) (%c: i32[4]) {
      %d = scan{length=2}(init=%c) (%e: i32[4]) {
        %f = add(%e, 1:i32) : i32[4] #l;
        return %f;
      } : i32[4];
      return %d;
    } : i32[4];
    _ = swap(%orf, %r) : i32[4];)"),
                                {Iota(DType::kI32, {4})});
  std::vector<std::string> adds;
  for (const auto& record : Records(log)) {
    if (record[3] == "add") adds.push_back(Cat(record[1], " ", record[4], " ", record[7]));
  }
  const auto add = [](const char* iterations, std::int32_t first) {
    return Cat(iterations, " %f:i32[4]=", HashOf<std::int32_t>(DType::kI32, {first, first + 1, first + 2, first + 3}),
               " k.py:7:3 in k");
  };
  EXPECT_EQ((std::vector<std::string>{add("0.0", 1), add("0.1", 2), add("1.0", 3), add("1.1", 4)}), adds) << log;
}

// Transcendentals, a contraction and reductions, whose loops differ most between SIMD targets.
std::uint64_t HashOfMixedLog() {
  const std::string text = R"(pkir 1;
kernel @soft {
  in %x: f32[37,129]; in %y: bf16[129,33]; grid []; out %o: f32[37,33];
  body @soft (%xr: ref<default,f32[37,129]>, %yr: ref<default,bf16[129,33]>, %orf: ref<default,f32[37,33]>) {
    %a = get(%xr) : f32[37,129];
    %m = reduce_max{axes=[1]}(%a) : f32[37];
    %e = exp(%a) : f32[37,129];
    %s = reduce_sum{axes=[1]}(%e) : f32[37];
    %w = get(%yr) : bf16[129,33];
    %v = convert_element_type{to=f32}(%w) : f32[129,33];
    %d = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%e, %v) : f32[37,33];
    _ = swap(%orf, %d) : f32[37,33];
    return;
  }
}
)";
  const std::string log = LogOf(text, {*TensorFromText(DType::kF32, {37, 129}, "random(seed=3,lo=-4,hi=4)"),
                                       *TensorFromText(DType::kBF16, {129, 33}, "random(seed=4,lo=-1,hi=1)")});
  return watch::HashValue(DType::kU8, reinterpret_cast<const std::byte*>(log.data()), log.size());
}

// A target is chosen once in a process, so each gets a process of its own. The constant holds on every host.
TEST(InstructionLogDeathTest, IsTheSameUnderEverySimdTarget) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (simd::Target target : simd::HostTargets()) {
    ::setenv("PALLADION_SIMD", std::string(simd::Name(target)).c_str(), 1);
    EXPECT_EXIT(
        {
          const bool used = simd::ActiveTarget() == target;
          const std::string hash = watch::HashText(HashOfMixedLog());
          std::cerr << hash << "\n";
          std::exit(used && hash == "a87dc636c32067e3" ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << simd::Name(target);
  }
  ::unsetenv("PALLADION_SIMD");
}

// So wide that a plain run goes strip by strip, where the values between have no memory of their own; a constant that
// it folds; a load that it borrows.
TEST(InstructionLog, ShowsWhatPlainRunsFuse) {
  const std::string text = R"(pkir 1;
kernel @wide {
  in %x: i32[9000]; grid []; out %o: i32[9000];
  body @wide (%xr: ref<default,i32[9000]>, %orf: ref<default,i32[9000]>) {
    %v = get(%xr) : i32[9000];
    %n = iota{dim=0}() : i32[9000];
    %a = add(%v, %n) : i32[9000];
    %b = mul(%a, %a) : i32[9000];
    %c = sub(%b, 1:i32) : i32[9000];
    _ = swap(%orf, %c) : i32[9000];
    return;
  }
}
)";
  const auto hash = [](auto f) {
    std::vector<std::int32_t> values;
    for (std::int32_t i = 0; i < 9000; ++i) values.push_back(f(i));
    return HashOf<std::int32_t>(DType::kI32, values);
  };
  std::vector<std::string> results;
  for (const auto& record : Records(LogOf(text, {Iota(DType::kI32, {9000})}))) results.push_back(record[4]);
  EXPECT_EQ((std::vector<std::string>{Cat("%v:i32[9000]=", hash([](std::int32_t i) { return i; })),
                                      Cat("%n:i32[9000]=", hash([](std::int32_t i) { return i; })),
                                      Cat("%a:i32[9000]=", hash([](std::int32_t i) { return 2 * i; })),
                                      Cat("%b:i32[9000]=", hash([](std::int32_t i) { return 4 * i * i; })),
                                      Cat("%c:i32[9000]=", hash([](std::int32_t i) { return 4 * i * i - 1; })), "-"}),
            results);
}

TEST(InstructionLog, OneProgramAlone) {
  agents::LaunchOptions options;
  options.only_program = {1};
  const std::string log = LogOf(AddKernel(), {Iota(DType::kF32, {8}), Iota(DType::kF32, {8})}, options);
  for (const auto& record : Records(log)) EXPECT_EQ("1", record[0]);
  EXPECT_EQ(6u, Records(log).size());
}

TEST(InstructionLog, AProgramOutsideTheGridIsAnError) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(AddKernel(), {.observable = true});
  for (const std::vector<std::int64_t>& program : std::vector<std::vector<std::int64_t>>{{2}, {-1}, {0, 0}, {}}) {
    agents::LaunchOptions options;
    options.only_program = program;
    std::ostringstream out;
    const auto result = WriteLog(*kernel, {Iota(DType::kF32, {8}), Iota(DType::kF32, {8})}, options, out);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, result.status().code());
    EXPECT_NE(absl::string_view::npos, result.status().message().find("its grid is [2]")) << result.status();
  }
}

}  // namespace
}  // namespace palladion::debug
