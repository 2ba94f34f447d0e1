// `golden` and `compare` as a user sees them: files, exit codes, and the errors for damaged bundles and outputs.
#include <cmath>

#include "absl/strings/match.h"
#include "emu/front/command/command_test_util.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

class CompareCommandTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    const std::string file = Write("add.pkir", AddKernel());
    ASSERT_EQ(0, Run({"golden", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("bundle")})) << err_;
  }
  std::string Output(const std::string& name) const { return Path("bundle/outputs/" + name); }
};

TEST_F(CompareCommandTest, ABundleHoldsItsOwnOutputs) {
  for (const char* name : {"kernel.pkir", "manifest.json", "report.json", "inputs/x.npy", "inputs/y.npy",
                           "outputs/o.npy", "tolerance/o.npy"})
    EXPECT_TRUE(fs::exists(Path(std::string("bundle/") + name))) << name;
  EXPECT_EQ(0, Run({"compare", Path("bundle"), Path("bundle/outputs")})) << err_;
  EXPECT_TRUE(absl::StrContains(out_, "o: within tolerance: 0 of 8 elements over tolerance")) << out_;
  EXPECT_EQ(0, Run({"compare", Path("bundle"), "o=" + Output("o.npy")})) << err_;
}

TEST_F(CompareCommandTest, ADifferenceHasExitCodeOnePagesAndAKernelThatMakesIt) {
  ASSERT_EQ(0,
            Run({"run", Path("add.pkir"), "--in", "x=[4,5,6,7,4,5,6,7]", "--in", "y=zeros", "--out", Path("wrong")}));
  EXPECT_EQ(1, Run({"compare", Path("bundle"), Path("wrong"), "--out", Path("pages")})) << err_;
  EXPECT_TRUE(absl::StrContains(out_, "off-by-one block index: block index 0 of 'args[0]' is one too large")) << out_;
  for (const char* name : {"pages/o.png", "pages/compare.html", "pages/cause_1.pkir"})
    EXPECT_TRUE(fs::exists(Path(name))) << name;
  // The kernel that makes the mistake gives what was found.
  ASSERT_EQ(0, Run({"run", Path("pages/cause_1.pkir"), "--in", "x=iota", "--in", "y=zeros", "--out", Path("again")}));
  EXPECT_TRUE(ReadNpy(Path("again/o.npy"))->BitwiseEquals(*ReadNpy(Path("wrong/o.npy"))));
  EXPECT_EQ(1, Run({"compare", Path("bundle"), Path("wrong"), "--format", "json"}));
  EXPECT_TRUE(absl::StrContains(out_, "\"kind\": \"off-by-one block index\"")) << out_;
}

TEST_F(CompareCommandTest, ADamagedBundleIsRefused) {
  std::ofstream(Output("o.npy"), std::ios::binary | std::ios::app) << "x";
  ExpectError(4, {"compare", Path("bundle"), Path("bundle/outputs")}, "as the manifest says; found");
  fs::remove(Output("o.npy"));
  ExpectError(4, {"compare", Path("bundle"), Path("bundle/outputs")}, "cannot be read: No such file");
  std::ifstream file(Path("bundle/manifest.json"));
  std::string manifest((std::istreambuf_iterator<char>(file)), {});
  manifest.replace(manifest.find(R"("name": "x")"), 11, R"("name": "../../../etc/passwd")");
  std::ofstream(Path("bundle/manifest.json")) << manifest;
  ExpectError(4, {"compare", Path("bundle"), Path("bundle/outputs")}, "expected the name of an operand");
  std::ofstream(Path("bundle/manifest.json")) << "{\"bundle\": 1";
  ExpectError(4, {"compare", Path("bundle"), Path("bundle/outputs")}, "not a bundle's manifest");
  std::ofstream(Path("bundle/manifest.json")) << "{\"bundle\": 7}";
  ExpectError(4, {"compare", Path("bundle"), Path("bundle/outputs")}, "expected a bundle of version 1; found 7");
}

TEST_F(CompareCommandTest, OutputsThatAreNoArraysAreReportedAndTheRestIsCompared) {
  const auto expect_error = [&](const std::string& content, const std::string& message) {
    EXPECT_EQ(4, Run({"compare", Path("bundle"), "o=" + Write("bad.npy", content)})) << out_ << err_;
    EXPECT_TRUE(absl::StrContains(out_, "o: not compared: ")) << out_;
    EXPECT_TRUE(absl::StrContains(out_, message)) << out_;
  };
  std::ifstream file(Output("o.npy"), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  expect_error(good.substr(0, good.size() - 4), "truncated");
  std::string huge = good;
  huge.replace(huge.find("(8,)"), 9, "(1<<50,)");
  expect_error(huge, "bad.npy");
  huge = good;
  const std::size_t at = huge.find("(8,), }");
  huge.replace(at, 26, "(99999999999999999,), }   ");
  expect_error(huge, "bad.npy");
  expect_error("no array", "bad.npy");
  EXPECT_EQ(4, Run({"compare", Path("bundle"), Path("none.npy")}));
  EXPECT_EQ(4, Run({"compare", Path("bundle")}));
  fs::create_directories(Path("empty"));
  EXPECT_EQ(4, Run({"compare", Path("bundle"), Path("empty")}));
  EXPECT_TRUE(absl::StrContains(out_, "output 'o' is missing")) << out_;
}

// The second time that the line is passed, one element is off by more than a rounding.
TEST_F(CompareCommandTest, DumpsAreHeldToTheirOwnBoundsInTheOrderOfExecution) {
  const std::string line = "o@14";
  ASSERT_EQ(0, Run({"run", Path("add.pkir"), "--in", "x=iota", "--in", "y=full(0.1)", "--out", Path("dumps"), "--dump",
                    line}))
      << err_;
  const std::string bundle = Path("tenths");
  ASSERT_EQ(0, Run({"golden", Path("add.pkir"), "--in", "x=iota", "--in", "y=full(0.1)", "--out", bundle})) << err_;
  EXPECT_EQ(0, Run({"diff", bundle, Path("dumps"), "--dump", line})) << out_ << err_;
  EXPECT_TRUE(absl::StrContains(out_, "dumps: 2 of 2 compared; each is held to its own bound")) << out_;
  Tensor first = *ReadNpy(Path("dumps/dump_o_0.npy"));  // 3.1, the neighbour nearer to 3 + 0.1f than ours by half
  first.data<float>()[3] = std::nextafter(first.data<float>()[3], 4.0f);
  ASSERT_TRUE(WriteNpy(Path("dumps/dump_o_0.npy"), first).ok());
  EXPECT_EQ(0, Run({"diff", bundle, Path("dumps"), "--dump", line})) << out_ << err_;
  Tensor second = *ReadNpy(Path("dumps/dump_o_1.npy"));
  ASSERT_EQ(4, second.num_elements());
  second.data<float>()[2] += 1e-5f;
  ASSERT_TRUE(WriteNpy(Path("dumps/dump_o_1.npy"), second).ok());
  EXPECT_EQ(1, Run({"diff", bundle, Path("dumps"), "--dump", line})) << err_;
  EXPECT_TRUE(absl::StrContains(out_, "dump_o_1.npy: o after line 14 (swap), program (1): 1 of 4")) << out_;
  EXPECT_TRUE(absl::StrContains(out_, "the first is dump_o_1[2]")) << out_;
  fs::remove(Path("dumps/dump_o_1.npy"));
  EXPECT_EQ(0, Run({"diff", bundle, Path("dumps"), "--dump", line})) << err_;
  EXPECT_TRUE(absl::StrContains(out_, "1 of 2 compared, 1 are not there")) << out_;
  ExpectError(4, {"diff", bundle, Path("bundle"), "--dump", line}, "found none of them");
  ExpectError(4, {"diff", bundle, Path("dumps"), "--dump", "q@14"}, "has no ref 'q'");
  ExpectError(4, {"diff", bundle, "--dump", line}, "expected a bundle's folder and a folder of dump_REF_N.npy");
}

TEST_F(CompareCommandTest, AFolderThatHoldsSomethingIsNotOverwritten) {
  ExpectError(4, {"golden", Path("add.pkir"), "--in", "x=iota", "--in", "y=zeros", "--out", Path("bundle")},
              "expected no such folder, or an empty one");
  ExpectError(4, {"golden", Path("add.pkir"), "--in", "x=iota", "--in", "y=zeros"}, "--out DIR says");
}

}  // namespace
}  // namespace palladion::command
