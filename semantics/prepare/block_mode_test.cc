// Where the block of an operand lies, by the memory that it names and the target (docs/spec/grid.md#residency).
#include "semantics/prepare/block_mode.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

TEST(BlockMode, OnlyABlockInTheCoresOwnMemoryIsACopy) {
  Operand operand;
  operand.block.emplace();
  Program program;
  for (const TargetBackend backend : {TargetBackend::kMosaicTpu, TargetBackend::kMosaicGpu}) {
    program.target.backend = backend;
    for (const Space space : {Space::kAny, Space::kHbm, Space::kGmem})
      EXPECT_EQ(ModeOf(operand, space, Kernel{}, program), BlockMode::kView) << Name(space);
    for (const Space space : {Space::kDefault, Space::kVmem, Space::kSmem})
      EXPECT_EQ(ModeOf(operand, space, Kernel{}, program), BlockMode::kResident) << Name(space);
  }
  for (const TargetBackend backend : {TargetBackend::kGeneric, TargetBackend::kTriton}) {
    program.target.backend = backend;
    EXPECT_EQ(ModeOf(operand, Space::kDefault, Kernel{}, program), BlockMode::kView);
  }
}

}  // namespace
}  // namespace palladion
