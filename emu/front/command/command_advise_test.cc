// What `palladion advise` says as text and as JSON, and of bad input. What it advises: emu/tools/advice/advise_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "emu/front/command/command_test_util.h"

namespace palladion::command {
namespace {

// A copy of 8 programs; `write`: what is put into the output.
std::string CopyText(const std::string& write = "%0") {
  return "pkir 1;\nkernel @k { backend mosaic_tpu; grid [8];\n"
         " in %x: f32[64,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n"
         " out %o: f32[64,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n"
         " body @b (%xr: ref<default,f32[8,128]>, %or: ref<default,f32[8,128]>) {\n"
         "  %0 = get(%xr) : f32[8,128]; _ = swap(%or, " +
         write + ") : f32[8,128]; return; } }\n";
}

TEST_F(CommandTest, AdviseReportsGainsAndWhatWasNotTried) {
  const std::string kernel = Write("k.pkir", CopyText());
  EXPECT_EQ(0, Run({"advise", kernel, "--target", "v5e", "--in", "x=iota"})) << err_;
  EXPECT_EQ(0u, out_.find("k on v5e as it is: ")) << out_;
  EXPECT_NE(std::string::npos, out_.find("  blocks of 16 for 8 along 0 of the grid  ")) << out_;
  EXPECT_NE(std::string::npos, out_.find("refused\n  blocks of 4 for 8 along 0 of the grid ")) << out_;
  EXPECT_NE(std::string::npos, out_.find("what limits it: ")) << out_;
  EXPECT_NE(std::string::npos, out_.find("not tried\n  slots: ")) << out_;
  EXPECT_EQ(1u, FileCount());
}

TEST_F(CommandTest, AdviseAsJsonHasTheChangedKernels) {
  const std::string kernel = Write("k.pkir", CopyText());
  EXPECT_EQ(0, Run({"advise", kernel, "--target", "v5e", "--in", "x=iota", "--no-what-ifs", "--format", "json"}))
      << err_;
  EXPECT_EQ('{', out_[0]);
  EXPECT_NE(std::string::npos, out_.find("\"what_ifs\": []")) << out_;
  EXPECT_NE(std::string::npos, out_.find("block (16,128)")) << out_;
}

TEST_F(CommandTest, AdviseOnBadInputSaysWhatIsWrong) {
  const std::string kernel = Write("k.pkir", CopyText());
  ExpectError(4, {"advise", kernel, "--target", "generic", "--in", "x=iota"}, "which is no chip");
  ExpectError(4, {"advise", kernel, "--target", "v5e"}, "no value for input 'x'");
  ExpectError(4, {"advise", kernel, "--target", "v5e", "--in", "x=iota", "--seeds", "0"}, "--seeds must be 1 or more");
  ExpectError(4, {"advise", kernel, "--target", "v5e", "--in", "x=iota", "--set", "no.such=1"}, "no.such");
}

}  // namespace
}  // namespace palladion::command
