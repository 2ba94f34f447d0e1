// Views through layouts in kernels that run: loads and stores by boxes (mosaic_gpu) and by walks (generic) against the
// forward model of semantics/program/view_model_test_util.h, and what guards say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "emu/emulate.h"
#include "semantics/program/view_model_test_util.h"

namespace palladion {
namespace {

using Ints = std::vector<std::int32_t>;

Tensor TensorOf(const Shape& shape, const Ints& values) {
  absl::StatusOr<Tensor> tensor = Tensor::Create(DType::kI32, shape);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!values.empty()) std::memcpy(tensor->bytes(), values.data(), values.size() * sizeof(std::int32_t));
  return *std::move(tensor);
}

Ints IntsOf(const Tensor& t) { return {t.data<std::int32_t>(), t.data<std::int32_t>() + t.num_elements()}; }

std::string Type32(const Shape& shape) { return Cat("i32", ToString(shape)); }

// What a chain is of: the elements of a ref, a member of a union of refs, or either swizzled.
struct Memory {
  std::string type;    // of the ref
  std::string prefix;  // what the chain starts with
  std::int64_t bytes = 0;
  std::function<std::int64_t(std::int64_t)> address;  // of byte i of the array that the prefix shows
};

Memory Plain(const Shape& buffer) {
  return {Type32(buffer), "", 4 * NumElements(buffer), [](std::int64_t byte) { return byte; }};
}

// %o is what the view of %x shows; %p is %x where %y is stored through the view.
std::string ViewKernel(const Memory& memory, const Shape& shown, const std::string& chain, std::size_t starts) {
  const std::string whole = memory.type, value = Type32(shown), numbers = Type32({static_cast<std::int64_t>(starts)});
  std::string text =
      Cat("pkir 1;\nkernel @k {\n  grid [];\n  in %x: ", whole, ";\n  in %y: ", value, ";\n  in %n: ", numbers,
          ";\n  out %o: ", value, ";\n  out %p: ", whole, ";\n  body @f (%xr: ref<default,", whole,
          "> as \"x_ref\", %yr: ref<default,", value, ">, %nr: ref<default,", numbers, ">, %or: ref<default,", value,
          ">, %pr: ref<default,", whole, ">) {\n");
  for (std::size_t i = 0; i < starts; ++i) Append(&text, "    %n", i, " = get(%nr.at[", i, "]) : i32[];\n");
  Append(&text, "    %v = get(%xr", chain, ") : ", value, ";\n    _ = swap(%or, %v) : ", value, ";\n",
         "    %w = get(%xr) : ", whole, ";\n    _ = swap(%pr, %w) : ", whole, ";\n    %s = get(%yr) : ", value,
         ";\n    _ = swap(%pr", chain, ", %s) : ", value, ";\n    return;\n  }\n}\n");
  return text;
}

struct ViewRun {
  RunResult result;
  Ints loaded, stored;  // the outputs; `stored` in words
  Ints expected_loaded, expected_stored;
};

ViewRun RunView(const RandomChain& chain, const std::string& target, const Memory& memory) {
  ViewRun run;
  const std::string text = ViewKernel(memory, chain.view.shape, memory.prefix + chain.text, chain.starts.size());
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return run;
  Ints x(static_cast<std::size_t>(memory.bytes / 4)), y;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * 0x01020305u);
  run.expected_stored = x;
  for (const std::int64_t place : chain.view.places) {
    y.push_back(static_cast<std::int32_t>(~(static_cast<std::uint32_t>(y.size()) * 0x01010101u)));
    std::int32_t word = 0;
    for (std::int64_t byte = 0; byte < 4; ++byte) {
      const std::int64_t at = memory.address(4 * place + byte);
      std::memcpy(reinterpret_cast<std::byte*>(&word) + byte, reinterpret_cast<const std::byte*>(x.data()) + at, 1);
      std::memcpy(reinterpret_cast<std::byte*>(run.expected_stored.data()) + at,
                  reinterpret_cast<const std::byte*>(&y.back()) + byte, 1);
    }
    run.expected_loaded.push_back(word);
  }
  const OperandDescription& in = kernel->inputs()[0];
  absl::StatusOr<Tensor> whole = Tensor::Create(in.dtype, in.shape);
  EXPECT_TRUE(whole.ok()) << whole.status();
  std::memcpy(whole->bytes(), x.data(), static_cast<std::size_t>(memory.bytes));
  absl::StatusOr<RunResult> result =
      Run(*kernel,
          {*whole, TensorOf(chain.view.shape, y),
           TensorOf({static_cast<std::int64_t>(chain.starts.size())}, {chain.starts.begin(), chain.starts.end()})},
          {.legality = LegalityMode::kOff});
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << text;
  if (!result.ok()) return run;
  run.result = *std::move(result);
  run.loaded = IntsOf(run.result.outputs[0]);
  run.stored.resize(x.size());
  std::memcpy(run.stored.data(), run.result.outputs[1].bytes(), static_cast<std::size_t>(memory.bytes));
  return run;
}

// On the target where it may be a box, and where it is walked. False: the chain breaks a rule of Mosaic GPU.
bool RunsAsModelled(const RandomChain& chain, const Memory& memory) {
  for (const char* target : {"generic", "mosaic_gpu/h100"}) {
    const ViewRun run = RunView(chain, target, memory);
    const std::string what = Cat(target, memory.type, memory.prefix, chain.text);
    if (target == std::string("mosaic_gpu/h100") && !run.result.report.findings.empty()) {
      for (const ReportedFinding& finding : run.result.report.findings)
        EXPECT_EQ("ILLEGAL", Code(finding.code)) << what;
      return false;
    }
    EXPECT_TRUE(run.result.report.findings.empty()) << run.result.report.findings[0].message << what;
    EXPECT_EQ(run.expected_loaded, run.loaded) << what;
    EXPECT_EQ(run.expected_stored, run.stored) << what;
  }
  return true;
}

TEST(Views, LoadAndStoreWhatTheChainShows) {
  ChainMaker maker(2);
  int illegal = 0;
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    const RandomChain chain = maker.Make();
    illegal += RunsAsModelled(chain, Plain(chain.buffer)) ? 0 : 1;
  }
  EXPECT_LT(illegal, 30);
}

// Order of the 16-byte chunks in each row of 128 bytes, by the row: "Swizzling modes" of the PTX ISA; 64 and 32 bytes
// permute within their own width.
std::int64_t HardwareAddress(std::int64_t byte, std::int64_t swizzle) {
  static constexpr int k128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
                                     {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                     {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  const std::int64_t rows = swizzle / 16;  // until the order repeats
  const std::int64_t row = byte / 128, chunk = byte / 16 % 8;
  return row * 128 + k128[row % rows][chunk] * 16 + byte % 16;
}

TEST(Views, SwizzledBytesLieWhereHardwarePutsThem) {
  ChainMaker maker(3);
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    const std::int64_t swizzle = maker.Pick({16, 32, 64, 128});
    const RandomChain chain = maker.Make({maker.Pick({1, 2}), maker.Pick({1, 2}), maker.Pick({8, 16}), swizzle / 4});
    Memory memory = Plain(chain.buffer);  // the whole ref is seen unswizzled too
    memory.prefix = Cat(".unswizzle(", swizzle, ")");
    memory.address = [=](std::int64_t byte) { return HardwareAddress(byte, swizzle); };
    RunsAsModelled(chain, memory);
  }
}

TEST(Views, MembersOfAUnionAreItsBytes) {
  ChainMaker maker(4);
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    const RandomChain chain = maker.Make();
    const std::int64_t offset = maker.Pick({0, 4, 6, 64});
    Memory memory;
    memory.bytes = 4 * NumElements(chain.buffer) + 128;
    memory.type = Cat("i8[", memory.bytes, "]");
    memory.prefix = Cat(".alias{dtype=i32, shape=", ToString(chain.buffer), ", offset=", offset, "}");
    memory.address = [=](std::int64_t byte) { return byte + offset; };
    RunsAsModelled(chain, memory);
  }
}

RandomChain Chain(const Shape& buffer, const std::string& text, const Shape& shown,
                  const std::vector<std::int64_t>& n) {
  RandomChain chain;
  chain.buffer = buffer;
  chain.text = text;
  chain.view = {shown, std::vector<std::int64_t>(static_cast<std::size_t>(NumElements(shown)))};
  chain.starts = n;
  return chain;
}

ViewRun RunPlain(const RandomChain& chain, const std::string& target) {
  return RunView(chain, target, Plain(chain.buffer));
}

// The words of %x that an access has read.
Ints PlacesOf(const ViewRun& run) {
  Ints places;
  for (const std::int32_t word : run.loaded) {
    std::uint32_t place = 0;
    while (place < 100000 && place * 0x01020305u != static_cast<std::uint32_t>(word)) ++place;
    places.push_back(static_cast<std::int32_t>(place));
  }
  return places;
}

TEST(Views, ASliceThatStartsInsideATileIsIllegal) {
  const RandomChain chain = Chain({4, 2, 8, 4}, ".untile[8,4].at[%n0 +: 8, *]", {8, 8}, {13});
  const ViewRun run = RunPlain(chain, "mosaic_gpu/h100");
  const std::vector<ReportedFinding>& findings = run.result.report.findings;
  ASSERT_EQ(2u, findings.size());  // the load and the store
  EXPECT_EQ("ILLEGAL", Code(findings[0].code));
  EXPECT_NE(std::string::npos, findings[0].message.find("a slice of 'x_ref' starts at 13 of dimension 0, "
                                                        "which is tiled by 8"))
      << findings[0].message;
  EXPECT_EQ(64, PlacesOf(run)[0]);  // as if it started at 8
}

TEST(Views, AnIndexBelowTheFirstIsGuarded) {
  const RandomChain chain = Chain({64, 32}, ".at[%n0 +: 8, *].at[%n1 +: 4, 0]", {4}, {8, 6});
  const ViewRun run = RunPlain(chain, "mosaic_gpu/h100");
  const std::vector<ReportedFinding>& findings = run.result.report.findings;
  ASSERT_EQ(2u, findings.size());
  EXPECT_EQ("OOB", Code(findings[0].code));
  EXPECT_NE(std::string::npos,
            findings[0].message.find(
                "index 6..9 into 'x_ref' is out of bounds: at .at number 2 of the view, dimension 0 has indices 0..7"))
      << findings[0].message;
  EXPECT_EQ((Ints{14 * 32, 15 * 32, 16 * 32, 17 * 32}), PlacesOf(run));
  const ViewRun walked = RunPlain(chain, "generic");
  EXPECT_EQ("OOB", Code(walked.result.report.findings.at(0).code));
  EXPECT_EQ(15 * 32, PlacesOf(walked)[1]);
  EXPECT_NE(16 * 32, PlacesOf(walked)[2]);
  EXPECT_TRUE(RunPlain(Chain({64, 32}, chain.text, {4}, {8, 4}), "mosaic_gpu/h100").result.report.findings.empty());
}

// Memory that all views swizzle alike is stored unswizzled, so their views are boxes like any other.
TEST(Views, ViewsThatAgreeSeeEachOther) {
  const std::string view = ".unswizzle(128).untile[8,32]";
  const std::string text =
      Cat("pkir 1;\nkernel @k {\n  grid [];\n  in %x: i32[16,32];\n  out %o: i32[16,32];\n"
          "  body @f (%xr: ref<default,i32[16,32]>, %or: ref<default,i32[16,32]>) {\n"
          "    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[2,1,8,32]>) {\n    %v = get(%xr) : i32[16,32];\n    "
          "_ = swap(%s",
          view, ", %v) : i32[16,32];\n    %w = get(%s", view,
          ") : i32[16,32];\n    _ = swap(%or, %w) : i32[16,32];\n    return;\n    };\n    return;\n  }\n}\n");
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  Ints x(512);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i);
  absl::StatusOr<RunResult> result = palladion::Run(*kernel, {TensorOf({16, 32}, x)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(x, IntsOf(result->outputs[0]));
}

}  // namespace
}  // namespace palladion
