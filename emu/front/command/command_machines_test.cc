// `palladion machines` as a user sees it.
#include <string>

#include "emu/front/command/command_test_util.h"

namespace palladion::command {
namespace {

using MachinesCommandTest = CommandTest;

TEST_F(MachinesCommandTest, ListsThemAndShowsOneWithItsSources) {
  EXPECT_EQ(0, Run({"machines"}));
  EXPECT_EQ(9, std::count(out_.begin(), out_.end(), '\n')) << out_;
  EXPECT_NE(std::string::npos, out_.find("h100  NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(0, Run({"machines", "show", "h100"}));
  EXPECT_NE(std::string::npos, out_.find("wgmma.floor                   = 16.9 cycles         # fitted [flash-vla]: "));
  EXPECT_EQ("", err_);
}

TEST_F(MachinesCommandTest, WhatIf) {
  EXPECT_EQ(0, Run({"machines", "show", "h100", "--set", "l2.mib=25", "--set=chip.cores=66"}));
  EXPECT_NE(std::string::npos, out_.find("= 25 MiB              # whatif: set; it is 50 MiB")) << out_;
  EXPECT_NE(std::string::npos, out_.find("= 494.7 TFLOP/s       # whatif: follows from chip.cores")) << out_;
}

TEST_F(MachinesCommandTest, Json) {
  EXPECT_EQ(0, Run({"machines", "show", "h100", "--json"}));
  EXPECT_EQ(0u, out_.find(R"({"name": "h100", "kind": "NVIDIA H100 80GB HBM3", "family": "hopper", "numbers": [{)"))
      << out_;
  const std::string shown = out_;
  EXPECT_EQ(0, Run({"machines", "show", "h100", "--format=json"}));
  EXPECT_EQ(shown, out_);
  EXPECT_EQ(0, Run({"machines", "--json"}));
  EXPECT_EQ(0u, out_.find(R"({"machines": [{"name": "b200")")) << out_;
}

TEST_F(MachinesCommandTest, WhatIsRefused) {
  ExpectError(4, {"machines", "show", "h101"}, "no machine is called 'h101'; there are b200, h100, h200, v4");
  ExpectError(4, {"machines", "show", "h100", "--set", "l2.sise=1"}, "the nearest are l2.size, l2.line, l2.slices");
  ExpectError(4, {"machines", "--set", "l2.mib=25"}, "--set needs a machine");
  ExpectError(4, {"machines", "show"}, "expected nothing, or show and one machine");
  ExpectError(4, {"machines", "h100"}, "expected nothing, or show and one machine");
  ExpectError(4, {"machines", "--json", "--format", "text"}, "contradict each other");
}

}  // namespace
}  // namespace palladion::command
