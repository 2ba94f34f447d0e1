// The C++ interface on kernels at the edges: empty arrays and grids, aliases, every element type, many threads at once.
#include "emu/emulate.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "emu/testing/kernel_test_util.h"
#include "emu/values.h"

namespace palladion::check {
namespace {

const char* const kTargets[] = {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"};

PreparedKernel Prepare(const std::string& text, const std::string& target = "") {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  return *std::move(kernel);
}

Tensor Make(DType dtype, const std::vector<std::int64_t>& shape, std::string_view text) {
  absl::StatusOr<Tensor> tensor = TensorFromText(dtype, shape, text);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return *std::move(tensor);
}

RunResult RunOk(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const RunOptions& options = {}) {
  absl::StatusOr<RunResult> result = Run(kernel, inputs, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : RunResult{};
}

std::vector<std::int32_t> Ints(const Tensor& t) {
  return {t.data<std::int32_t>(), t.data<std::int32_t>() + t.num_elements()};
}

// The bytes of an array in memory that the test may look at afterwards.
bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.num_bytes() == b.num_bytes() &&
         (a.num_bytes() == 0 || std::memcmp(a.bytes(), b.bytes(), a.num_bytes()) == 0);
}

// ---- nothing there

TEST(Empty, ArraysOfNoElements) {
  const std::string text =
      "pkir 1;\nkernel @e { grid [2]; in %x: f32[0,3]; out %o: f32[0,3]; out %s: f32[3];\n"
      "  body @b (%xr: ref<default,f32[0,3]>, %orf: ref<default,f32[0,3]>, %sr: ref<default,f32[3]>) {\n"
      "    %v = get(%xr) : f32[0,3]; _ = swap(%orf, %v) : f32[0,3];\n"
      "    %s1 = reduce_sum{axes=[0]}(%v) : f32[3]; _ = swap(%sr, %s1) : f32[3];\n"
      "    %i = iota{dim=1}() : f32[0,3]; %c = concatenate{dim=0}(%i, %v) : f32[0,3]; debug_print{fmt=\"{}\"}(%c);\n"
      "    return; } }\n";
  for (const char* target : kTargets) {
    const RunResult result = RunOk(Prepare(text, target), {Make(DType::kF32, {0, 3}, "[]")});
    EXPECT_EQ(2, result.report.programs);
    EXPECT_EQ(0.0f, result.outputs[1].data<float>()[2]) << target;
    EXPECT_EQ("[]", result.report.printed[0]);
  }
}

TEST(Empty, BlocksOfNoElements) {
  const std::string text =
      "pkir 1;\nkernel @e { grid [2]; in %x: i32[0,4] block (0,4) map (%i: i32[]) { return %i, 0:i32; }; out %o: "
      "i32[2] space any;\n"
      "  body @b (%xr: ref<default,i32[0,4]>, %orf: ref<default,i32[2]>) {\n"
      "    %v = get(%xr) : i32[0,4]; %s = reduce_sum{axes=[0,1]}(%v) : i32[]; %p = program_id{axis=0}() : i32[]; _ = "
      "swap(%orf.at[%p], %s) : i32[]; return; } }\n";
  for (const char* target : kTargets) {
    const RunResult result = RunOk(Prepare(text, target), {Make(DType::kI32, {0, 4}, "[]")});
    const bool stores = std::string_view(target).find("tpu") == std::string_view::npos;  // a TPU cannot, to any
    EXPECT_EQ(stores ? ExitCode::kClean : ExitCode::kDefect, ExitCodeOf(result.report)) << ToText(result.report);
    EXPECT_EQ((std::vector<std::int32_t>{0, 0}), Ints(result.outputs[0])) << target;
  }
}

TEST(Empty, GridsOfNoProgramsLeavePoison) {
  for (const std::string grid : {"[0]", "[3,0]", "[0,4611686018427387904]"}) {
    for (const char* target : kTargets) {
      const RunResult result =
          RunOk(Prepare(VectorKernel("_ = swap(%orf, dense<i32[4][1,2,3,4]>) : i32[4];", grid), target),
                {Make(DType::kI32, {4}, "iota")});
      EXPECT_EQ(0, result.report.programs);
      EXPECT_NE(1, Ints(result.outputs[0])[0]);
    }
  }
}

TEST(Empty, NoOperands) {
  for (const char* target : kTargets) {
    const RunResult result = RunOk(
        Prepare("pkir 1;\nkernel @n { grid []; body @b () { debug_print{fmt=\"here\"}(); return; } }\n", target), {});
    EXPECT_EQ(1, result.report.programs);
    EXPECT_EQ(std::vector<std::string>{"here"}, result.report.printed);
  }
}

TEST(Blocks, OfRankZeroAndAllSqueezed) {
  const std::string text =
      "pkir 1;\nkernel @r { grid [3]; in %x: i32[] block () map (%i: i32[]) { return; }; in %y: i32[3] block (sq) map "
      "(%i: i32[]) { return %i; };\n"
      "  out %o: i32[3] block (sq) map (%i: i32[]) { return %i; };\n"
      "  body @b (%xr: ref<default,i32[]>, %yr: ref<default,i32[]>, %orf: ref<default,i32[]>) {\n"
      "    %a = get(%xr) : i32[]; %b = get(%yr) : i32[]; %c = mul(%a, %b) : i32[]; _ = swap(%orf, %c) : i32[]; return; "
      "} }\n";
  for (const char* target : kTargets) {
    const RunResult result =
        RunOk(Prepare(text, target), {Make(DType::kI32, {}, "[7]"), Make(DType::kI32, {3}, "iota")});
    EXPECT_EQ((std::vector<std::int32_t>{0, 7, 14}), Ints(result.outputs[0])) << target;
  }
}

// ---- whose memory

TEST(Memory, TheCallersInputsAreNeverWritten) {
  const std::string alias[] = {"", " alias %x"};
  for (const std::string& shared : alias) {
    for (const std::string block :
         {"", " block (2) map (%i: i32[], %q: ref<smem,i32[2]>) { %z = get(%q.at[%i]) : i32[]; return %i; }"}) {
      const std::string shape = block.empty() ? "i32[4]" : "i32[2]";
      const std::string text = "pkir 1;\nkernel @w { grid [2]; prefetch %p: i32[2]; in %x: i32[4]" + block +
                               "; out %o: i32[4]" + block + shared +
                               ";\n"
                               "  body @b (%pr: ref<smem,i32[2]>, %xr: ref<default," +
                               shape + ">, %orf: ref<default," + shape +
                               ">) {\n"
                               "    _ = swap(%pr.at[0], 99:i32) : i32[]; _ = swap(%xr.at[1], 98:i32) : i32[];\n"
                               "    closed_call(%xr) (%r: ref<default," +
                               shape +
                               ">) { addupdate(%r.at[0], 5:i32); return; };\n"
                               "    return; } }\n";
      for (const char* target : kTargets) {
        const std::vector<Tensor> inputs = {Make(DType::kI32, {2}, "iota"), Make(DType::kI32, {4}, "iota")};
        RunOk(Prepare(text, target), inputs);
        EXPECT_EQ((std::vector<std::int32_t>{0, 1}), Ints(inputs[0])) << target << text;
        EXPECT_EQ((std::vector<std::int32_t>{0, 1, 2, 3}), Ints(inputs[1])) << target << text;
      }
    }
  }
}

TEST(Memory, AnIndexMapThatWritesDoesNotReachTheCaller) {
  const std::string text =
      "pkir 1;\nkernel @w { grid [1]; prefetch %p: i32[2]; in %x: i32[4] block (2) map (%i: i32[], %q: "
      "ref<smem,i32[2]>) { _ = swap(%q.at[0], 1:i32) : i32[]; return %i; };\n"
      "  body @b (%pr: ref<smem,i32[2]>, %xr: ref<default,i32[2]>) { return; } }\n";
  const std::vector<Tensor> inputs = {Make(DType::kI32, {2}, "zeros"), Make(DType::kI32, {4}, "iota")};
  RunOk(Prepare(text), inputs);
  EXPECT_EQ((std::vector<std::int32_t>{0, 0}), Ints(inputs[0]));
}

TEST(Memory, AnAliasedOutputStartsWithTheInput) {
  const std::string text =
      "pkir 1;\nkernel @a { grid [1]; in %x: i32[4] space any; in %y: i32[4] space any; out %o: i32[4] space any alias "
      "%y; out %u: i32[4] space any alias %x;\n"
      "  body @b (%xr: ref<default,i32[4]>, %yr: ref<default,i32[4]>, %orf: ref<default,i32[4]>, %ur: "
      "ref<default,i32[4]>) {\n"
      "    _ = swap(%orf.at[0], 50:i32) : i32[]; %v = get(%yr.at[0]) : i32[]; _ = swap(%ur.at[3], %v) : i32[]; return; "
      "} }\n";
  for (const char* target : kTargets) {
    const std::vector<Tensor> inputs = {Make(DType::kI32, {4}, "iota"), Make(DType::kI32, {4}, "[10,11,12,13]")};
    const RunResult result = RunOk(Prepare(text, target), inputs);
    EXPECT_EQ((std::vector<std::int32_t>{50, 11, 12, 13}), Ints(result.outputs[0])) << target;
    EXPECT_EQ((std::vector<std::int32_t>{0, 1, 2, 50}), Ints(result.outputs[1])) << target;
    EXPECT_EQ((std::vector<std::int32_t>{0, 1, 2, 3}), Ints(inputs[0]));
    EXPECT_EQ(13, Ints(inputs[1])[3]);
  }
}

TEST(Memory, AliasesThatCannotBe) {
  const auto error = [](const std::string& operands) {
    return std::string(
        PrepareText("pkir 1;\nkernel @a { bound %n: i32[]; grid [%n]; " + operands + " }\n").status().message());
  };
  const std::string body =
      " body @b (%xr: ref<default,i32[4]>, %o: ref<default,i32[4]>, %u: ref<default,i32[4]>) { return; }";
  EXPECT_NE(std::string::npos, error("in %x: i32[4]; out %a: i32[4] alias %x; out %b: i32[4] alias %x;" + body)
                                   .find("expected one output in the memory of an input"));
  EXPECT_NE(std::string::npos, error("in %x: i32[4]; out %a: i32[4] alias %n; out %b: i32[4];" + body)
                                   .find("expected `alias` on an out operand"));
  EXPECT_NE(
      std::string::npos,
      error("in %x: i32[4]; out %a: i32[5] alias %x; out %b: i32[4];" + body).find("expected the type of the input"));
  EXPECT_NE(std::string::npos, error("in %x: i32[4]; out %a: i32[4]; out %b: i32[4] alias %a;" + body)
                                   .find("expected `alias` on an out operand"));
}

TEST(Memory, TheLimitIsKept) {
  const std::string text =
      "pkir 1;\nkernel @m { grid [1]; body @b () { run_scoped() (%a: ref<vmem,i8[5000]>) { return; }; run_scoped() "
      "(%b: ref<vmem,i8[6000]>) { return; }; return; } }\n";
  const PreparedKernel kernel = Prepare(text);
  EXPECT_TRUE(
      palladion::Run(kernel, {}, {.loop_budget = 0, .memory_limit = 6500}).ok());  // what is freed counts no more
  const absl::Status status = palladion::Run(kernel, {}, {.loop_budget = 0, .memory_limit = 5500}).status();
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, status.code());
  EXPECT_NE(
      std::string::npos,
      std::string(status.message()).find("at line 2 of the kernel text, at program (0): no memory for 'b': 6000 bytes"))
      << status;
  EXPECT_FALSE(palladion::Run(Prepare(VectorKernel("")), {Make(DType::kI32, {4}, "iota")},
                              {.loop_budget = 0, .memory_limit = 31})
                   .ok());
}

TEST(Memory, ANewRefOfEachIterationIsOneAtATime) {
  const std::string text = VectorKernel(
      "%r = scan{length=100000}(init=0:i32) (%a: i32[]) {\n"
      "  %n = new_ref(%a) : ref<vmem,i32[]>; addupdate(%n, 1:i32); %v = get(%n) : i32[]; return %v; } : i32[];\n_ = "
      "swap(%orf.at[0], %r) : i32[];",
      "[3]");
  const RunResult result =
      RunOk(Prepare(text), {Make(DType::kI32, {4}, "iota")}, {.loop_budget = 0, .memory_limit = 10000});
  EXPECT_EQ(100000, Ints(result.outputs[0])[0]);
}

TEST(Prints, AreKeptUpToALimit) {
  const std::string text = VectorKernel(
      "%r = scan{length=2000000}(init=0:i32) (%a: i32[]) { debug_print{fmt=\"line {}\"}(%a); %b = add(%a, 1:i32) : "
      "i32[]; return %b; } : i32[];");
  const std::vector<std::string> printed = RunOk(Prepare(text), {Make(DType::kI32, {4}, "iota")}).report.printed;
  EXPECT_EQ("line 0", printed[0]);
  EXPECT_LT(printed.size(), 2000000u);
  EXPECT_EQ("... " + std::to_string(2000000 - (printed.size() - 1)) +
                " more lines; a run keeps the first 67108864 bytes of debug_print",
            printed.back());
}

// ---- values

// Every element type goes through a block, a value and a store with its bits, NaN payloads and subnormals included.
TEST(Values, MovesKeepEveryBit) {
  for (const char* name : {"bool",       "i2",        "i4",     "i8",       "i16",      "i32",           "i64",
                           "u2",         "u4",        "u8",     "u16",      "u32",      "u64",           "f16",
                           "bf16",       "f32",       "f64",    "f8e4m3fn", "f8e5m2",   "f8e4m3b11fnuz", "f8e4m3fnuz",
                           "f8e5m2fnuz", "f8e8m0fnu", "f8e3m4", "f8e4m3",   "f6e2m3fn", "f6e3m2fn",      "f4e2m1fn"}) {
    const std::optional<DType> dtype = DTypeFromName(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    const std::string t = name;
    const std::string text = "pkir 1;\nkernel @m { grid [8]; in %x: " + t +
                             "[1024] block (128) map (%i: i32[]) { return %i; }; out %o: " + t +
                             "[1024] block (128) map (%i: i32[]) { return %i; };\n"
                             "  body @b (%xr: ref<default," +
                             t + "[128]>, %orf: ref<default," + t +
                             "[128]>) {\n"
                             "    %v = get(%xr) : " +
                             t + "[128]; %r = rev{dims=[0]}(%v) : " + t + "[128]; %w = rev{dims=[0]}(%r) : " + t +
                             "[128];\n"
                             "    %u = scan{length=1}(init=%w) (%c: " +
                             t + "[128]) { return %c; } : " + t + "[128]; _ = swap(%orf, %u) : " + t +
                             "[128]; return; } }\n";
    const Tensor x = Make(*dtype, {1024}, "random_bits(5)");
    for (const char* target : kTargets) {
      const RunResult result = RunOk(Prepare(text, target), {x});
      EXPECT_TRUE(SameBytes(x, result.outputs[0])) << name << " " << target;
    }
  }
}

TEST(Values, Keys) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [2]; in %x: key<fry>[2] block (1) map (%i: i32[]) { return %i; }; out %o: key<fry>[2] "
      "block (1) map (%i: i32[]) { return %i; }; out %b: u32[2,2] space any;\n"
      "  body @b (%xr: ref<default,key<fry>[1]>, %orf: ref<default,key<fry>[1]>, %br: ref<default,u32[2,2]>) {\n"
      "    %k = get(%xr) : key<fry>[1]; _ = swap(%orf, %k) : key<fry>[1];\n"
      "    %u = random_unwrap(%k) : u32[1,2]; %p = program_id{axis=0}() : i32[]; _ = swap(%br.at[%p +: 1, *], %u) : "
      "u32[1,2]; return; } }\n";
  const Tensor x = Make(DType::kU32, {2, 2}, "[1,2,4294967295,4]");
  for (const char* target : kTargets) {
    const PreparedKernel kernel = Prepare(text, target);
    EXPECT_EQ((std::vector<std::int64_t>{2, 2}), kernel.inputs()[0].shape);
    const RunResult result = RunOk(kernel, {x});
    EXPECT_TRUE(SameBytes(x, result.outputs[0])) << target;
    EXPECT_TRUE(SameBytes(x, result.outputs[1])) << target;
  }
}

TEST(Values, KeysOfAnotherKindOrNumbersAreNoKeys) {
  const auto status = [](const std::string& body) {
    return PrepareText(
               "pkir 1;\nkernel @k { grid [1]; in %x: key<fry>[4]; in %u: u32[4];\n"
               "  body @b (%xr: ref<default,key<fry>[4]>, %ur: ref<default,u32[4]>) {\n" +
               body + " return; } }\n")
        .status();
  };
  EXPECT_EQ(absl::StatusCode::kInvalidArgument,
            status("%v = get(%ur) : u32[4]; _ = swap(%xr, %v) : key<fry>[4];").code());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, status("%v = get(%xr) : u32[4];").code());
  EXPECT_EQ(absl::StatusCode::kUnimplemented, status("%v = get(%xr) : key<rbg>[4];").code());
  EXPECT_EQ(absl::StatusCode::kUnimplemented,
            status("%v = get(%xr) : key<fry>[4]; %w = cond(true) { return %v; } { return %v; } : key<rbg>[4];").code());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, status("%v = get(%xr) : key<fry>[4]; addupdate(%xr, %v);").code());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument,
            status("%v = get(%xr) : key<fry>[4]; %w = add(%v, %v) : key<fry>[4];").code());
}

// Results that are never read have memory too, which must not overlap that of results that are read.
// More operands than 16 bits count.
TEST(Values, ManyOperands) {
  constexpr int kOperands = 70000;
  std::string operands = "%a";
  for (int i = 1; i < kOperands; ++i) operands += i + 1 < kOperands ? ", %a" : ", %b";
  const std::string n = std::to_string(kOperands);
  const RunResult result = RunOk(Prepare("pkir 1;\nkernel @w { grid []; in %x: i32[2]; out %o: i32[" + n +
                                         "];\n"
                                         "  body @b (%xr: ref<default,i32[2]>, %orf: ref<default,i32[" +
                                         n +
                                         "]>) {\n"
                                         "    %a = get(%xr.at[0 +: 1]) : i32[1]; %b = get(%xr.at[1 +: 1]) : i32[1];\n"
                                         "    %c = concatenate{dim=0}(" +
                                         operands + ") : i32[" + n + "]; _ = swap(%orf, %c) : i32[" + n +
                                         "];\n"
                                         "    return; } }\n"),
                                 {Make(DType::kI32, {2}, "[3, 4]")});
  const std::vector<std::int32_t> found = Ints(result.outputs[0]);
  EXPECT_EQ(kOperands - 1, std::count(found.begin(), found.end(), 3));
  EXPECT_EQ(4, found.back());
}

TEST(Values, IgnoredResults) {
  const std::string text = VectorKernel(
      "%a = get(%xr) : i32[4];\n_, %v, _ = sort{dim=0, stable=true, num_keys=1}(dense<i32[4][3,1,2,0]>, %a, %a) : "
      "i32[4], i32[4], i32[4];\n"
      "_ = swap(%orf, %v) : i32[4];\n"
      "_, %t = threefry2x32(dense<u32[2][1,2]>, dense<u32[2][3,4]>, dense<u32[2][5,6]>, dense<u32[2][7,8]>) : u32[2], "
      "u32[2];\n"
      "%t0, %t1 = threefry2x32(dense<u32[2][1,2]>, dense<u32[2][3,4]>, dense<u32[2][5,6]>, dense<u32[2][7,8]>) : "
      "u32[2], u32[2];\n"
      "%e = eq(%t, %t1) : bool[2];\ndebug_print{fmt=\"{}\"}(%e);");
  const RunResult result = RunOk(Prepare(text), {Make(DType::kI32, {4}, "[10,11,12,13]")});
  EXPECT_EQ((std::vector<std::int32_t>{13, 11, 12, 10}), Ints(result.outputs[0]));
  EXPECT_EQ(std::vector<std::string>{"[true true]"}, result.report.printed);
}

TEST(Values, IndexArraysOfNoElements) {
  const std::string text = VectorKernel(
      "%z = slice{start=[0], limit=[0], strides=none}(dense<i32[1][7]>) : i32[0];\n%q = "
      "reshape{shape=[1,4]}(dense<i32[4][0,1,2,3]>) : i32[1,4];\n"
      "%s = run_scoped() (%r: ref<vmem,i32[8,8]>) { %v = get(%r.at[%z, dense<i32[1][3]>]) : i32[0]; return %v; } : "
      "i32[0];\ndebug_print{fmt=\"{}\"}(%s);");
  EXPECT_EQ(std::vector<std::string>{"[]"}, RunOk(Prepare(text), {Make(DType::kI32, {4}, "iota")}).report.printed);
}

// Index values of any size: out of bounds, and nothing overflows while they are computed.
TEST(Values, IndicesFarOutside) {
  for (const char* index : {"-9223372036854775808:i64", "9223372036854775807:i64", "4294967295:u32",
                            "18446744073709551615:u64", "-2147483648:i32"}) {
    const std::string type = std::string(index).substr(std::string(index).find(':') + 1);
    const std::string text = VectorKernel(
        std::string("%i = max(") + index + ", " + index + ") : " + type + "[];\n%a = reshape{shape=[1]}(%i) : " + type +
        "[1];\n"
        "%v = get(%xr.at[%i]) : i32[];\n%w = get(%xr.at[%i +: 2 : 2]) : i32[2];\n%u = get(%xr.at[%a]) : i32[1];\n%t = "
        "get(%xr.at[1 +: 2].at[%i]) : i32[];\n"
        "%s = get(%xr.reshape[2,2].at[%i, 1]) : i32[];\n_ = swap(%orf.at[%i +: 2], dense<i32[2][1,2]>) : i32[2];");
    const Report report = RunOk(Prepare(text), {Make(DType::kI32, {4}, "iota")}).report;
    EXPECT_EQ(6u, report.findings.size()) << index << "\n" << ToText(report);
    EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));
  }
}

// Many at once.
TEST(Threads, OneProgramOnManyThreads) {
  const std::string dot =
      "pkir 1;\nkernel @d { grid [2]; in %x: f32[256,512] block (128,512) map (%i: i32[]) { return %i, 0:i32; }; in "
      "%y: f32[512,512]; out %o: f32[256,512] block (128,512) map (%i: i32[]) { return %i, 0:i32; };\n"
      "  scratch %s: ref<vmem,f32[128,512]>; body @b (%xr: ref<default,f32[128,512]>, %yr: ref<default,f32[512,512]>, "
      "%orf: ref<default,f32[128,512]>, %sr: ref<vmem,f32[128,512]>) {\n"
      "    %a = get(%xr) : f32[128,512]; %b = get(%yr) : f32[512,512];\n"
      "    %c = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[128,512];\n"
      "    _ = swap(%sr, %c) : f32[128,512]; %e = get(%sr) : f32[128,512]; %f = tanh(%e) : f32[128,512]; _ = "
      "swap(%orf, %f) : f32[128,512]; return; } }\n";
  for (const char* target : {"generic", "mosaic_tpu/v5e"}) {
    const PreparedKernel kernel = Prepare(dot, target);
    std::vector<std::vector<Tensor>> inputs;
    std::vector<Tensor> expected, found(4);
    for (int t = 0; t < 4; ++t) {
      const std::string seed = std::to_string(t);
      inputs.push_back({Make(DType::kF32, {256, 512}, "random(seed=" + seed + ",lo=-1,hi=1)"),
                        Make(DType::kF32, {512, 512}, "random(seed=1" + seed + ",lo=-1,hi=1)")});
      expected.push_back(std::move(RunOk(kernel, inputs.back()).outputs[0]));
    }
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
        for (int i = 0; i < 3; ++i) found[t] = std::move(RunOk(kernel, inputs[t]).outputs[0]);
        EXPECT_EQ(0x8040u, _mm_getcsr() & 0x8040u);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < 4; ++t) EXPECT_TRUE(SameBytes(expected[t], found[t])) << target << " " << t;
  }
}

}  // namespace
}  // namespace palladion::check
