// `palladion fit` as a user sees it.
#include <string>

#include "emu/front/command/command_test_util.h"

namespace palladion::command {
namespace {

using FitCommandTest = CommandTest;

// Two windows of 8 MiB, of two buffers each: the default of v6e to the byte.
std::string Copy(const std::string& name, const std::string& block, const std::string& grid) {
  return "kernel @" + name + " { backend mosaic_tpu; grid [" + grid + "]; in %x: f32[16384,1024] block " + block +
         " map (%i: i32[]) { return %i, 0:i32; }; out %o: f32[16384,1024] block " + block +
         " map (%i: i32[]) { return %i, 0:i32; }; body @" + name + " (%xr: ref<default,f32" +
         "[2048,1024]> as \"x_ref\", %or: ref<default,f32[2048,1024]> as \"o_ref\") { %v = "
         "get(%xr) : f32[2048,1024]; _ = swap(%or, %v) : f32[2048,1024]; return; } }\n";
}

TEST_F(FitCommandTest, SaysWhatIsHeldAndTheLargestBlocks) {
  const std::string kernel = Write("k.pkir", "pkir 1;\n" + Copy("copy", "(2048,1024)", "8"));
  EXPECT_EQ(0, Run({"fit", kernel, "--target", "v6e"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("kernel @copy on mosaic_tpu/v6e: fits")) << out_;
  EXPECT_NE(std::string::npos, out_.find("32.00 MiB  what one kernel may have on v6e without vmem_limit_bytes"))
      << out_;
  EXPECT_EQ(1, Run({"fit", kernel, "--target", "v5e"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("does not fit")) << out_;
  EXPECT_NE(std::string::npos, out_.find("fits, the largest: [1024,1024] of 'x_ref', 'o_ref'")) << out_;
  EXPECT_EQ(1, Run({"fit", kernel, "--target", "v5e", "--json"})) << err_;
  EXPECT_EQ(0u, out_.find(R"({"kernels": [{"kernel": "copy", "target": "mosaic_tpu/v5e", "verdict": "does not fit")"))
      << out_;
}

TEST_F(FitCommandTest, SeveralKernels) {
  const std::string kernels =
      Write("k.pkir", "pkir 1;\n" + Copy("one", "(2048,1024)", "8") + Copy("two", "(2048,1024)", "8"));
  EXPECT_EQ(0, Run({"fit", kernels, "--target", "v6e"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("kernel @one")) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nkernel @two")) << out_;
  EXPECT_EQ(0, Run({"fit", kernels, "--target", "v6e", "--kernel", "two"})) << err_;
  EXPECT_EQ(std::string::npos, out_.find("@one")) << out_;
}

TEST_F(FitCommandTest, WhatIsRefused) {
  const std::string kernel = Write("k.pkir", "pkir 1;\n" + Copy("copy", "(2048,1024)", "8"));
  ExpectError(4, {"fit", kernel, "--target", "generic"}, "which is no chip");
  ExpectError(4, {"fit", kernel, "--target", "v6e", "--kernel", "other"}, "no kernel 'other' in the text");
  ExpectError(4, {"fit", kernel, "--target", "v6e", "--json", "--format", "text"}, "contradict each other");
}

}  // namespace
}  // namespace palladion::command
