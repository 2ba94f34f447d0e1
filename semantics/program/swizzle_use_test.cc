// Which views of one memory see it swizzled in different ways, in kernels of a few lines. What follows from it is in
// conformance/cases/gpu (views of a union, and of swizzled memory).
#include "semantics/program/swizzle_use.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

// `call` comes first in a scope with the ref %s, f16[8,64]; after it %s is read as it lies. Does that differ?
bool Differs(std::string_view call) {
  const absl::StatusOr<Module> module =
      Parse(KernelText(Cat("run_scoped{collective_axes=[]}() (%s: ref<smem,f16[8,64]>) {\n", call,
                           "\n%v = get(%s) : f16[8,64]; return; };")),
            "t.pkir");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return false;
  const Kernel& kernel = module->kernels[0];
  return SwizzleUse(kernel).Differs(kernel.bodies[0].region.body[0].regions[0].body[1].args[0]);
}

std::string Call(std::string_view passed, std::string_view read) {
  return Cat("jit{name=\"f\"}(", passed, ") (%r: ref<smem,f16[8,64]>) { %w = get(", read, ") : f16[8,64]; return; };");
}

TEST(SwizzleUse, ViewsOfTheMemoryItself) {
  EXPECT_FALSE(Differs("%w = get(%s) : f16[8,64];"));
  EXPECT_TRUE(Differs("%w = get(%s.unswizzle(128)) : f16[8,64];"));
  EXPECT_FALSE(Differs("%w = get(%s.unswizzle(128).swizzle(128)) : f16[8,64];"));
}

TEST(SwizzleUse, WhatARegionIsPassedIsTheSameMemory) {
  EXPECT_FALSE(Differs(Call("%s", "%r")));
  EXPECT_TRUE(Differs(Call("%s", "%r.unswizzle(128)")));
}

TEST(SwizzleUse, AViewThatIsPassedIsAViewOfIt) {
  EXPECT_TRUE(Differs(Call("%s.unswizzle(128)", "%r")));
  EXPECT_FALSE(Differs(Call("%s.at[0 +: 8, *]", "%r")));
}

}  // namespace
}  // namespace palladion
