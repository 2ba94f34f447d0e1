// Views through layouts in kernels that run: loads and stores by boxes (mosaic_gpu) and by walks (generic) against the
// forward model of semantics/program/view_model_test_util.h, and what guards say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

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

// %o is what the view of %x shows; %p is %x where %y is stored through the view.
std::string ViewKernel(const Shape& buffer, const Shape& shown, const std::string& chain, std::size_t starts) {
  const std::string whole = Type32(buffer), value = Type32(shown),
                    numbers = Type32({static_cast<std::int64_t>(starts)});
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

RunResult RunView(const RandomChain& chain, const std::string& target) {
  const std::string text = ViewKernel(chain.buffer, chain.view.shape, chain.text, chain.starts.size());
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  Ints x(static_cast<std::size_t>(NumElements(chain.buffer))), y(chain.view.places.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = -1 - static_cast<std::int32_t>(i);
  absl::StatusOr<RunResult> result =
      Run(*kernel,
          {TensorOf(chain.buffer, x), TensorOf(chain.view.shape, y),
           TensorOf({static_cast<std::int64_t>(chain.starts.size())}, {chain.starts.begin(), chain.starts.end()})});
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << text;
  return result.ok() ? *std::move(result) : RunResult{};
}

TEST(Views, LoadAndStoreWhatTheChainShows) {
  ChainMaker maker(2);
  int illegal = 0;
  for (int i = 0; i < 300; ++i) {
    const RandomChain chain = maker.Make();
    Ints loaded, stored(static_cast<std::size_t>(NumElements(chain.buffer)));
    for (std::size_t e = 0; e < stored.size(); ++e) stored[e] = static_cast<std::int32_t>(e);
    for (std::size_t e = 0; e < chain.view.places.size(); ++e) {
      loaded.push_back(static_cast<std::int32_t>(chain.view.places[e]));
      stored[static_cast<std::size_t>(chain.view.places[e])] = -1 - static_cast<std::int32_t>(e);
    }
    for (const char* target : {"generic", "mosaic_gpu/h100"}) {
      const RunResult result = RunView(chain, target);
      if (target == std::string("mosaic_gpu/h100") && !result.report.findings.empty()) {
        for (const ReportedFinding& finding : result.report.findings) ASSERT_EQ("ILLEGAL", finding.code) << chain.text;
        ++illegal;
        continue;
      }
      ASSERT_TRUE(result.report.findings.empty()) << result.report.findings[0].message << chain.text;
      ASSERT_EQ(loaded, IntsOf(result.outputs[0])) << target << ToString(chain.buffer) << chain.text;
      ASSERT_EQ(stored, IntsOf(result.outputs[1])) << target << ToString(chain.buffer) << chain.text;
    }
  }
  EXPECT_LT(illegal, 30);
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

TEST(Views, ASliceThatStartsInsideATileIsIllegal) {
  const RandomChain chain = Chain({4, 2, 8, 4}, ".untile[8,4].at[%n0 +: 8, *]", {8, 8}, {13});
  const RunResult result = RunView(chain, "mosaic_gpu/h100");
  ASSERT_EQ(2u, result.report.findings.size());  // the load and the store
  EXPECT_EQ("ILLEGAL", result.report.findings[0].code);
  EXPECT_NE(std::string::npos, result.report.findings[0].message.find(
                                   "a slice of 'x_ref' at program () starts at 13 of dimension 0, which is tiled by 8"))
      << result.report.findings[0].message;
  EXPECT_EQ(64, IntsOf(result.outputs[0])[0]);  // as if it started at 8
}

TEST(Views, AnIndexBelowTheFirstIsGuarded) {
  const RandomChain chain = Chain({64, 32}, ".at[%n0 +: 8, *].at[%n1 +: 4, 0]", {4}, {8, 6});
  const RunResult result = RunView(chain, "mosaic_gpu/h100");
  ASSERT_EQ(2u, result.report.findings.size());
  EXPECT_EQ("OOB", result.report.findings[0].code);
  EXPECT_NE(std::string::npos, result.report.findings[0].message.find(
                                   "index 6..9 into 'x_ref' at program () is out of bounds: dimension 0 "
                                   "of what .at number 2 of the view sees has indices 0..7"))
      << result.report.findings[0].message;
  EXPECT_EQ((Ints{14 * 32, 15 * 32, 16 * 32, 17 * 32}), IntsOf(result.outputs[0]));
  const RunResult walked = RunView(chain, "generic");
  EXPECT_EQ("OOB", walked.report.findings.at(0).code);
  EXPECT_EQ(15 * 32, IntsOf(walked.outputs[0])[1]);
  EXPECT_NE(16 * 32, IntsOf(walked.outputs[0])[2]);
  EXPECT_TRUE(RunView(Chain({64, 32}, chain.text, {4}, {8, 4}), "mosaic_gpu/h100").report.findings.empty());
}

}  // namespace
}  // namespace palladion
