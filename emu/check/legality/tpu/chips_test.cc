// Rules about what a chip has, which JAX's lowering does not check: for each there is a kernel that breaks it, and one
// kernel keeps all of them.
#include <gtest/gtest.h>

#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/tpu/limits.h"
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
std::string BrokenBy(const std::string& text, const std::string& target) {
  const absl::StatusOr<Module> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return "";
  std::string names;
  for (const Finding& finding : check::StaticFindingsOfParsed(module->kernels[0], TargetFromName(target).value())) {
    const std::string name = finding.message.substr(finding.message.rfind('[') + 1);
    if (names.find(name) == std::string::npos) names += name;
  }
  return names;
}

std::string Broken(const Products& p) { return BrokenBy(Text(p), p.target); }

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

TEST(TpuCommonMemory, IsOfChipsThatHaveIt) {
  const std::string scratch =
      "pkir 1; kernel @k { backend mosaic_tpu; grid []; out %o: f32[8,128] space vmem; scratch %c: "
      "ref<cmem,f32[8,128]>; "
      "body @k (%or: ref<vmem,f32[8,128]>, %cr: ref<cmem,f32[8,128]>) { return; } }";
  const std::string scoped =
      "pkir 1; kernel @k { backend mosaic_tpu; grid []; out %o: f32[8,128] space vmem; body @k (%or: "
      "ref<vmem,f32[8,128]>) { run_scoped{collective_axes=[]}() (%cr: ref<cmem,f32[8,128]>) { return; }; return; } }";
  for (const std::string chip : {"v5e", "v5p", "v6e", "v7x"}) {
    EXPECT_EQ("tpu.operand.cmem]", BrokenBy(scratch, "mosaic_tpu/" + chip)) << chip;
    EXPECT_EQ("tpu.control.cmem]", BrokenBy(scoped, "mosaic_tpu/" + chip)) << chip;
  }
  for (const std::string& text : {scratch, scoped}) EXPECT_EQ("", BrokenBy(text, "mosaic_tpu/v4"));
}

}  // namespace
}  // namespace palladion::legality
