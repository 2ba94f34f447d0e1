// The command as a user sees it: what it prints, what it writes, how it ends. Exit codes: docs/reference/command.md.
#include "emu/front/command/command.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emu/front/command/command_table.h"
#include "emu/front/command/command_test_util.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

TEST_F(CommandTest, RunPrintsWritesAndEndsClean) {
  const std::string file = Write("add.pkir", AddKernel());
  EXPECT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "args[1]=[1,1,1,1,2,2,2,2]", "--out", Path("out")})) << err_;
  EXPECT_EQ(
      "sum [1.0 2.0 3.0 4.0]\nsum [6.0 7.0 8.0 9.0]\n"
      "kernel @add on generic: 2 programs ran, not checked (palladion check does); no findings\n"
      "wrote " +
          Path("out/o.npy") + "  f32[8]\n",
      out_);
  EXPECT_EQ("", err_);
  const absl::StatusOr<Tensor> o = ReadNpy(Path("out/o.npy"), DType::kF32);
  ASSERT_TRUE(o.ok()) << o.status();
  EXPECT_EQ(9.0f, o->data<float>()[7]);
  EXPECT_EQ(3u, FileCount());  // the text, the directory, one output
}

TEST_F(CommandTest, AnOutputOfOneRunIsTheInputOfTheNext) {
  const std::string file = Write("add.pkir", AddKernel());
  ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out")})) << err_;
  const std::vector<std::string> again = {"run", file, "--in", "x=" + Path("out/o.npy"), "--in=y=" + Path("out/o.npy")};
  const auto to = [&](const std::string& out) {
    std::vector<std::string> words = again;
    words.insert(words.end(), {"--out", Path(out)});
    return words;
  };
  ExpectError(4, to("out"), "out/o.npy, which is the file of --in x=");
  ASSERT_EQ(0, Run(to("out2"))) << err_;
  EXPECT_EQ(14.0f, ReadNpy(Path("out2/o.npy"), DType::kF32)->data<float>()[7]);
}

TEST_F(CommandTest, JsonIsOneLineWithTheReport) {
  const std::string file = Write("add.pkir", AddKernel());
  EXPECT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("out"), "--format", "json"}))
      << err_;
  EXPECT_EQ(1, std::count(out_.begin(), out_.end(), '\n'));
  EXPECT_EQ(0u, out_.find("{\"verdict\": \"ran\", \"kernel\": \"add\", \"target\": \"generic\", \"programs\": 2,"))
      << out_;
  EXPECT_NE(std::string::npos, out_.find("\"printed\": [\"sum [0.0 2.0 4.0 6.0]\", \"sum [8.0 10.0 12.0 14.0]\"]}"))
      << out_;
}

TEST_F(CommandTest, ATargetCanBeChosen) {
  const std::string file = Write("add.pkir", AddKernel());
  for (const char* target : {"generic", "triton/h100", "mosaic_gpu/b200", "mosaic_tpu/v5e"}) {
    EXPECT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("out"), "--target", target,
                      "--legality", "off"}))
        << err_;
    EXPECT_NE(std::string::npos, out_.find(std::string("kernel @add on ") + target)) << out_;
  }
  ExpectError(
      4, {"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("o"), "--target", "cuda"},
      "unknown target 'cuda'; give a chip (h100, h200, b200, v4, v5e, v5p, v6e, v7x), which takes the backend that "
      "the kernel says, or a full name (generic, triton/h100,");
}

TEST_F(CommandTest, AChipTakesTheKernelsBackend) {
  const std::pair<const char*, const char*> expected[] = {
      {"h100", "triton/h100"}, {"v5p", "mosaic_tpu/v5p"}, {"generic", "generic"}};
  const std::string file = Write("add.pkir", AddKernel());
  for (const auto& [chip, full] : expected) {
    EXPECT_EQ(0, Run({"show", file, "--target", chip})) << err_;
    EXPECT_EQ(0u, out_.find(std::string("kernel @add on ") + full + "\n")) << out_;
  }
  const std::string written =
      Write("gpu.pkir", "pkir 1;\nkernel @k { backend mosaic_gpu; grid [1]; body @b () { return; } }\n");
  EXPECT_EQ(0, Run({"show", written, "--target", "b200"})) << err_;
  EXPECT_EQ("kernel @k on mosaic_gpu/b200\n", out_);
  for (const char* target : {"v5p", "triton/h100"}) {
    ExpectError(
        4, {"show", written, "--target", target},
        std::string("the target '") + target + "' does not fit kernel @k, which is written for GPUs, with Mosaic GPU");
  }
}

TEST_F(CommandTest, SeveralKernelsNeedAChoice) {
  const std::string second = "kernel @second { grid [0]; body @b () { return; } }\n";
  const std::string file = Write("two.pkir", AddKernel() + second);
  EXPECT_EQ(0, Run({"show", file})) << err_;
  EXPECT_EQ(
      "kernel @add on generic\n  in  x: f32[8]  (args[0])\n  in  y: f32[8]  (args[1])\n  out o: f32[8]  (outputs)\n"
      "kernel @second on generic\n",
      out_);
  EXPECT_EQ(0, Run({"show", file, "--kernel", "second"}));
  EXPECT_EQ("kernel @second on generic\n", out_);
  EXPECT_EQ(0, Run({"show", file, "--format", "json"}));
  EXPECT_EQ(
      R"({"kernels": [{"name": "add", "target": "generic", "inputs": [{"name": "x", "label": "args[0]", "dtype": "f32", )"
      R"("shape": [8]}, {"name": "y", "label": "args[1]", "dtype": "f32", "shape": [8]}], "outputs": [{"name": "o", )"
      R"("label": "outputs", "dtype": "f32", "shape": [8]}]}, )"
      R"({"name": "second", "target": "generic", "inputs": [], "outputs": []}]})"
      "\n",
      out_);
  ExpectError(4, {"run", file, "--out", Path("out")}, "the text has 2 kernels; choose one with --kernel: add, second");
  ExpectError(4, {"run", file, "--kernel", "third", "--out", Path("out")},
              "no kernel 'third' in the text; it has: add, second");
  EXPECT_EQ(0, Run({"run", file, "--kernel", "@second", "--out", Path("out")})) << err_;
  EXPECT_EQ("kernel @second on generic: 0 programs ran, not checked (palladion check does); no findings\n", out_);
}

TEST_F(CommandTest, PrintIsCanonical) {
  const std::string file = Write("add.pkir", AddKernel());
  EXPECT_EQ(0, Run({"print", file})) << err_;
  const std::string once = out_;
  EXPECT_EQ(0, Run({"print", Write("again.pkir", once)})) << err_;
  EXPECT_EQ(once, out_);
}

TEST_F(CommandTest, PrintAsJson) {
  EXPECT_EQ(0, Run({"print", "--format", "json", Write("add.pkir", AddKernel())})) << err_;
  EXPECT_NE(std::string::npos, out_.find("{\"name\": \"add\", \"line\": ")) << out_;
  EXPECT_EQ(4, Run({"print", "--format", "json", Write("bad.pkir", "pkir 1;\nkernel {")}));
  EXPECT_NE(std::string::npos, err_.find("bad.pkir:2:")) << err_;
  EXPECT_EQ(4, Run({"to-jax", "add.pkir"}));
  EXPECT_NE(std::string::npos, err_.find("to-jax needs the Python package")) << err_;
  EXPECT_EQ(4, Run({"learn"}));
  EXPECT_NE(std::string::npos, err_.find("learn needs the Python package")) << err_;
}

TEST_F(CommandTest, OpsDoctorAndHelp) {
  EXPECT_EQ(0, Run({"ops"}));
  EXPECT_NE(std::string::npos, out_.find("dot_general  implemented  [mosaic_tpu triton]\n"));
  EXPECT_EQ(0, Run({"ops", "--format=json"}));
  EXPECT_EQ(0u, out_.find("[\n{\"dialect\": "));
  EXPECT_EQ(0, Run({"doctor"}));
  EXPECT_NE(std::string::npos, out_.find("SIMD target in use: "));
  for (const char* word : {"help", "--help", "-h"}) {
    EXPECT_EQ(0, Run({word}));
    EXPECT_EQ(0u, out_.find("usage: palladion COMMAND"));
  }
  EXPECT_EQ(4, Run({}));
  EXPECT_EQ(0u, err_.find("usage: "));
  EXPECT_EQ(0, Run({"--version"}));
  EXPECT_EQ(0u, out_.find("palladion 0."));
}

TEST_F(CommandTest, HelpOfEachCommandHasItsOptions) {
  int options = 0;
  for (const CommandInfo& command : AllCommands()) {
    EXPECT_EQ(0, Run({"help", std::string(command.name)})) << err_;
    const std::string help = out_;
    EXPECT_EQ(0u, help.find("usage: palladion " + std::string(command.name)));
    EXPECT_EQ(std::string::npos, help.find("](")) << "no Markdown: " << help;
    for (const Option& option : command.options) {
      ++options;
      EXPECT_NE(std::string::npos, help.find("--" + std::string(option.name))) << help;
    }
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(0, Run({std::string(command.name), "no such file", "--help"}));
    EXPECT_EQ(help, out_);
  }
  EXPECT_GE(options, 45);
}

// tools/gen_docs.py writes the options; the headings are written by hand.
TEST_F(CommandTest, TheDocumentationHasEveryCommand) {
  std::ifstream file(PALLADION_SOURCE_DIR "/docs/reference/command.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const CommandInfo& command : AllCommands()) {
    const std::string heading = "## `palladion " + std::string(command.name);
    EXPECT_NE(std::string::npos, text.str().find(heading)) << heading;
    const std::string generated = "<!-- generated:options-" + std::string(command.name) + " -->";
    EXPECT_EQ(!command.options.empty(), text.str().find(generated) != std::string::npos) << generated;
  }
  for (const char* code : {"| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 4 |", "| 5 |", "| 6 |"}) {
    EXPECT_NE(std::string::npos, text.str().find(code)) << code;
  }
}

TEST_F(CommandTest, CompletionKnowsEveryCommandAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    ASSERT_EQ(0, Run({"completion", shell}));
    for (const CommandInfo& command : AllCommands()) {
      EXPECT_NE(std::string::npos, out_.find(command.name)) << shell;
      for (const Option& option : command.options) EXPECT_NE(std::string::npos, out_.find(option.name)) << shell;
    }
    EXPECT_NE(std::string::npos, out_.find("text json sarif junit")) << shell;
    EXPECT_NE(std::string::npos, out_.find("mosaic_gpu/h100")) << shell;
    EXPECT_NE(std::string::npos, out_.find("mosaic_tpu/v7x b200 h100 ")) << shell << ": chips alone are targets too";
  }
}

// ---- wrong arguments

}  // namespace
}  // namespace palladion::command
