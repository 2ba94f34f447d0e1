// Each rule about matrix units that a kernel drives itself is broken by one kernel, and none by the one that keeps
// them.
#include <gtest/gtest.h>

#include <string>

#include "emu/checks/contracts.h"
#include "emu/legality/tpu_limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

struct Products {
  std::string target = "mosaic_tpu/v7x";
  int rows = 16, inner = 256, columns = 256, unit = 0, address = 0;
};

std::string Text(const Products& p) {
  const std::string x = Cat("bf16[", p.rows, ",", p.inner, "]"), w = Cat("bf16[", p.inner, ",", p.columns, "]"),
                    o = Cat("f32[", p.rows, ",", p.columns, "]"), unit = Cat("mxu_index=", p.unit);
  return Cat("pkir 1; kernel @k { backend mosaic_tpu; grid []; in %x: ", x, " space vmem; in %w: ", w,
             " space vmem; out %o: ", o, " space vmem; body @k (%xr: ref<vmem,", x, ">, %wr: ref<vmem,", w,
             ">, %or: ref<vmem,", o, ">) { %a = get(%xr) : ", x, "; %b = get(%wr) : ", w,
             "; matmul_push_rhs{staging_register=0, ", unit,
             ", transpose=false}(%b); matmul_acc_lhs{acc_addr=", p.address, ", ", unit,
             ", load_staged_rhs=0}(%a); %c = matmul_pop{acc_addr=", p.address, ", ", unit, "}() : ", o,
             "; _ = swap(%or, %c) : ", o, "; return; } }");
}

// The names of the rules that are broken, each once.
std::string Broken(const Products& p) {
  const absl::StatusOr<Module> module = Parse(Text(p));
  EXPECT_TRUE(module.ok()) << module.status() << Text(p);
  if (!module.ok()) return "";
  std::string names;
  for (const Finding& finding : checks::StaticFindingsOfParsed(module->kernels[0], TargetFromName(p.target).value())) {
    const std::string name = finding.message.substr(finding.message.rfind('[') + 1);
    if (names.find(name) == std::string::npos) names += name;
  }
  return names;
}

TEST(TpuMatrixUnits, EachRuleHasAKernelThatBreaksIt) {
  EXPECT_EQ("", Broken({}));
  EXPECT_EQ("tpu.mxu.chip]", Broken({.target = "mosaic_tpu/v6e"}));
  EXPECT_EQ("tpu.mxu.number]", Broken({.unit = 2}));
  EXPECT_EQ("tpu.mxu.number]", Broken({.address = 128}));
  EXPECT_EQ("", Broken({.unit = 1, .address = 127}));
  EXPECT_EQ("tpu.mxu.rhs]", Broken({.columns = 128}));
  EXPECT_EQ("tpu.mxu.lhs]", Broken({.rows = 8}));
  EXPECT_EQ("tpu.mxu.rhs]tpu.mxu.lhs]", Broken({.inner = 128}));
}

}  // namespace
}  // namespace palladion::legality
