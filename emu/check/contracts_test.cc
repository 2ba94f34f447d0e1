// Contracts: each kernel that breaks one, beside its twin that keeps it and differs in one token.
#include "emu/check/contracts.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/chip/machines/chip.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

std::vector<Finding> FindingsOf(const std::string& text, const std::string& target) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  return kernel.ok() ? StaticFindings(kernel->state()) : std::vector<Finding>{};
}

void ExpectClean(const std::string& text, const std::string& target) {
  for (const Finding& finding : FindingsOf(text, target)) ADD_FAILURE() << finding.message << "\n" << text;
}

// Exactly one finding, with these words in it.
void ExpectOne(const std::string& text, const std::string& target, FindingCode code,
               const std::vector<std::string>& words) {
  const std::vector<Finding> findings = FindingsOf(text, target);
  ASSERT_EQ(1u, findings.size()) << (findings.empty() ? "" : findings[1].message) << "\n" << text;
  EXPECT_EQ(code, findings[0].code);
  EXPECT_EQ(Severity::kDefect, findings[0].severity);
  EXPECT_GT(findings[0].text_line, 0);
  for (const std::string& word : words)
    EXPECT_NE(std::string::npos, findings[0].message.find(word)) << findings[0].message;
}

// o = x, block by block.
std::string Copy(const std::string& array, const std::string& block, const std::string& ref,
                 const std::string& space = "default", const std::string& after = "") {
  const bool matrix = block.find(',') != std::string::npos;
  const std::string params = matrix ? "%i: i32[], %j: i32[]" : "%i: i32[]";
  const std::string results = matrix ? "%i, %j" : "%i";
  const std::string block_text =
      Cat(" space ", space, " block (", block, ") map (", params, ") { return ", results, "; }", after);
  return Cat("pkir 1;\nkernel @copy { grid [", matrix ? "2,2" : "2", "];\n  in %x: ", array, block_text,
             ";\n  out %o: ", array, block_text, ";\n  body @b (%xr: ref<", space, ",", ref, ">, %or: ref<", space, ",",
             ref, ">) {\n    %v = get(%xr) : ", ref, "; _ = swap(%or, %v) : ", ref, "; return; } }\n");
}

// A body over an operand in VMEM, one in SMEM and one in HBM.
std::string Spaces(const std::string& body) {
  return Cat(
      "pkir 1;\nkernel @s { grid [1];\n  in %x: f32[8,128] space vmem; in %s: i32[4] space smem; in %h: f32[8,128] "
      "space hbm;\n"
      "  out %o: f32[8,128] space vmem; out %c: f32[4] space smem;\n"
      "  body @b (%xr: ref<vmem,f32[8,128]> as \"x_ref\", %sr: ref<smem,i32[4]> as \"s_ref\", %hr: ref<hbm,f32[8,128]> "
      "as \"h_ref\",\n"
      "           %or: ref<vmem,f32[8,128]> as \"o_ref\", %cr: ref<smem,f32[4]> as \"c_ref\") {\n    ",
      body, "\n    return; } }\n");
}

constexpr FindingCode kIllegal = FindingCode::kIllegal, kCapacity = FindingCode::kCapacity;

TEST(Chips, EveryChipOfATargetHasARow) {
  for (const char* target : {"triton/h100", "triton/h200", "triton/b200", "mosaic_gpu/h100", "mosaic_tpu/v4",
                             "mosaic_tpu/v5e", "mosaic_tpu/v5p", "mosaic_tpu/v6e", "mosaic_tpu/v7x"}) {
    const machines::Chip* chip = machines::FindChip(TargetFromName(target)->chip);
    ASSERT_NE(nullptr, chip) << target;
    EXPECT_EQ(chip->is_tpu, std::string(target).starts_with("mosaic_tpu"));
    EXPECT_GT(chip->smem_bytes, 0);
    EXPECT_EQ(chip->is_tpu, chip->vmem_bytes > 0);
  }
  EXPECT_EQ(nullptr, machines::FindChip(""));
}

TEST(TpuBlocks, LastTwoDimensionsAreTilesOrTheWholeArray) {
  const std::string v5e = "mosaic_tpu/v5e";
  ExpectClean(Copy("f32[16,256]", "8,128", "f32[8,128]"), v5e);
  const std::string narrow = Copy("f32[16,256]", "8,100", "f32[8,100]");
  const std::vector<Finding> findings = FindingsOf(narrow, v5e);
  ASSERT_EQ(2u, findings.size());  // the input and the output
  EXPECT_NE(std::string::npos, findings[0].message.find("multiple of 128 or all of its array's"));
  EXPECT_NE(std::string::npos,
            findings[0].message.find("found 100 in (8, 100) of f32[16,256]: the next multiple is 128"));
  EXPECT_EQ("use [8,128], with the arrays padded to whole blocks", findings[0].fix);
  EXPECT_EQ(2u, FindingsOf(Copy("f32[16,256]", "7,128", "f32[7,128]"), v5e).size());
  ExpectClean(Copy("f32[7,100]", "7,100", "f32[7,100]"), v5e);
  ExpectClean(narrow, "generic");  // no limits there
}

TEST(TpuBlocks, RankOne) {
  const std::string v5e = "mosaic_tpu/v5e";
  ExpectClean(Copy("f32[300]", "256", "f32[256]"), v5e);
  EXPECT_EQ(2u, FindingsOf(Copy("f32[300]", "200", "f32[200]"), v5e).size());
  EXPECT_EQ(2u, FindingsOf(Copy("bf16[300]", "128", "bf16[128]"), v5e).size());  // 128 = half a tile of bf16
  ExpectClean(Copy("bf16[600]", "256", "bf16[256]"), v5e);
  ExpectClean(Copy("f32[6000]", "3072", "f32[3072]"), v5e);
}

TEST(TpuBlocks, WholeArrayWhereTheSpaceIsNotOnTheCore) {
  EXPECT_EQ(4u,
            FindingsOf(Copy("f32[16,256]", "8,128", "f32[8,128]", "any"), "mosaic_tpu/v5e").size());  // and accesses
}

TEST(TpuBlocks, Buffers) {
  ExpectClean(Copy("f32[16,256]", "8,128", "f32[8,128]", "default", " buffered {buffer_count=1}"), "mosaic_tpu/v5e");
  EXPECT_EQ(2u, FindingsOf(Copy("f32[16,256]", "8,128", "f32[8,128]", "default", " buffered {buffer_count=3}"),
                           "mosaic_tpu/v5e")
                    .size());
}

TEST(TpuAccesses, TwinsThatDifferInOneToken) {
  const std::string v5e = "mosaic_tpu/v5e";
  ExpectClean(Spaces("%v = get(%xr) : f32[8,128]; _ = swap(%or, %v) : f32[8,128];"), v5e);
  ExpectOne(Spaces("%v = get(%hr) : f32[8,128]; _ = swap(%or, %v) : f32[8,128];"), v5e, kIllegal,
            {"h_ref", "in hbm", "only vmem and smem"});
  ExpectClean(Spaces("%v = get(%sr.at[1]) : i32[];"), v5e);
  ExpectOne(Spaces("%v = get(%sr) : i32[4];"), v5e, kIllegal, {"s_ref", "scalar", "found i32[4]"});
  ExpectClean(Spaces("_ = swap(%cr.at[1], 1.0:f32) : f32[];"), v5e);
  ExpectOne(Spaces("_ = swap(%or.at[1,1], 1.0:f32) : f32[];"), v5e, kIllegal, {"o_ref", "stores an array"});
  const std::string index = "%i = iota{dim=0}() : i32[8]; ";
  ExpectOne(Spaces(index + "%v = get(%xr.at[%i,*]) : f32[8,128];"), v5e, kIllegal, {"index array i32[8]"});
  ExpectOne(Spaces("%m = eq(1.0:f32, 1.0:f32) : bool[]; %v = masked_load(%xr, mask=%m) : f32[8,128];"), v5e, kIllegal,
            {"a load has no mask"});
}

TEST(TpuTypes, NoSixtyFourBits) {
  const std::string v5e = "mosaic_tpu/v5e";
  ExpectClean(Spaces("%v = convert_element_type{to=i32}(1.5:f32) : i32[];"), v5e);
  ExpectOne(Spaces("%v = convert_element_type{to=i64}(1.5:f32) : i64[];"), v5e, kIllegal, {"64-bit", "i64[]"});
  const std::string get = "%v = get(%xr) : f32[8,128]; %u = convert_element_type{to=";
  ExpectClean(Spaces(get + "i32}(%v) : i32[8,128]; %r = reduce_max{axes=[0]}(%u) : i32[128];"), v5e);
  ExpectOne(Spaces(get + "u32}(%v) : u32[8,128]; %r = reduce_max{axes=[0]}(%u) : u32[128];"), v5e, kIllegal,
            {"reduce_max", "floats or i32", "u32[8,128]"});
}

TEST(Triton, NumbersOfElementsArePowersOfTwo) {
  ExpectClean(Copy("f32[16,256]", "8,128", "f32[8,128]"), "triton/h100");
  const std::vector<Finding> findings = FindingsOf(Copy("f32[16,256]", "8,100", "f32[8,100]"), "triton/h100");
  ASSERT_EQ(2u, findings.size());  // the load and the store
  EXPECT_NE(std::string::npos, findings[0].message.find("power of two on triton/h100; found 800"))
      << findings[0].message;
}

TEST(Triton, NoScratchAndNoOperationsOfOthers) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [1];\n  in %x: f32[8];\n  out %o: f32[8];\n%%"
      "  body @b (%xr: ref<default,f32[8]>, %or: ref<default,f32[8]>##) {\n"
      "    %v = get(%xr) : f32[8];\n    %w = OP(%v) : f32[8];\n    _ = swap(%or, %w) : f32[8]; return; } }\n";
  const auto with = [&](std::string op, const std::string& scratch, const std::string& param) {
    std::string t = text;
    t.replace(t.find("OP"), 2, op);
    t.replace(t.find("##"), 2, param);
    t.replace(t.find("%%"), 2, scratch);
    return t;
  };
  ExpectClean(with("exp", "", ""), "triton/h100");
  ExpectOne(with("erf", "", ""), "triton/h100", kIllegal, {"erf", "no lowering on triton/h100"});
  ExpectClean(with("erf", "", ""), "mosaic_gpu/h100");
  ExpectOne(with("exp", "  scratch %s: ref<default,f32[8]>;\n", ", %sr: ref<default,f32[8]>"), "triton/h100", kIllegal,
            {"scratch"});
}

// 062, one byte too much: v4 has 16 MiB of VMEM a core, and a block that moves has two buffers.
TEST(Capacity, VectorMemory) {
  const auto kernel = [](int rows) {
    return Copy(Cat("f32[", 2 * rows, ",1024]"), Cat(rows, ",512"), Cat("f32[", rows, ",512]"));
  };
  ExpectClean(kernel(2040), "mosaic_tpu/v4");
  ExpectOne(kernel(2048), "mosaic_tpu/v4", kCapacity,  // 2 operands x 2 buffers x 4 MiB: 64 KiB are not for kernels
            {"at least 16.00 MiB of vmem", "is 15.94 MiB, whatever vmem_limit_bytes says"});
  ExpectOne(kernel(2056), "mosaic_tpu/v4", kCapacity,
            {"at least 16.06 MiB of vmem", "15.94", "8.03 MiB for 'x' (2 buffers of f32[2056,512])"});
  ExpectClean(kernel(2048), "mosaic_tpu/v5e");
  ExpectClean(kernel(4096), "mosaic_tpu/v6e");
}

// Without vmem_limit_bytes a kernel has 16 MiB, from v6e 32, of the 64 or 128 that there are.
TEST(Capacity, DefaultLimitOfVectorMemory) {
  const auto kernel = [](int rows, const std::string& params = "", const std::string& grid = "grid [2,2]") {
    std::string text = Copy(Cat("f32[", 2 * rows, ",1024]"), Cat(rows, ",512"), Cat("f32[", rows, ",512]"));
    text.replace(text.find("grid [2,2]"), 10, grid);
    return text.replace(text.find("grid"), 0, params.empty() ? "" : Cat("params {", params, "};\n  "));
  };
  ExpectOne(kernel(2056), "mosaic_tpu/v5e", kCapacity,
            {"at least 16.06 MiB of vmem", "what one kernel may have on v5e without vmem_limit_bytes is 16.00 MiB"});
  ExpectClean(kernel(2056), "mosaic_tpu/v6e");
  for (const char* chip : {"mosaic_tpu/v6e", "mosaic_tpu/v7x"})
    ExpectOne(kernel(4104), chip, kCapacity, {"at least 32.06 MiB of vmem", "is 32.00 MiB"});
  ExpectClean(kernel(2056, "vmem_limit_bytes=16842752"), "mosaic_tpu/v5e");
  ExpectClean(kernel(2056, "", "grid [1,1]"), "mosaic_tpu/v5e");  // nothing moves: one buffer of each
}

// What the fix says is enough, to the byte.
TEST(Capacity, FixFits) {
  const auto kernel = [](const std::string& params, const std::string& buffered) {
    std::string text = Copy("f32[4112,1024]", "2056,512", "f32[2056,512]");
    text.replace(text.find("grid"), 0, params.empty() ? "" : Cat("params {", params, "};\n  "));
    return text.replace(text.find("};", text.find("in %x")) + 1, 0, buffered);
  };
  const std::vector<Finding> found = FindingsOf(kernel("", ""), "mosaic_tpu/v5e");
  ASSERT_EQ(1u, found.size());
  EXPECT_NE(std::string::npos, found[0].fix.find("vmem_limit_bytes=19922944")) << found[0].fix;
  EXPECT_NE(std::string::npos, found[0].fix.find("take smaller blocks: 4 along grid dimension 1")) << found[0].fix;
  EXPECT_NE(std::string::npos, found[0].fix.find("one buffer for 'x' (pipeline_mode=pl.Buffered(1))")) << found[0].fix;
  ExpectClean(kernel("vmem_limit_bytes=19922944", ""), "mosaic_tpu/v5e");
  ExpectClean(kernel("", " buffered {buffer_count=1}"), "mosaic_tpu/v5e");
}

TEST(Capacity, ParametersOfTheCompiler) {
  const auto kernel = [](const std::string& params) {
    std::string text = Copy("f32[2048,1024]", "1024,512", "f32[1024,512]");  // 8 MiB in all
    return text.replace(text.find("grid"), 0, Cat("params {", params, "};\n  "));
  };
  ExpectClean(kernel("vmem_limit_bytes=8388608"), "mosaic_tpu/v4");
  ExpectOne(kernel("vmem_limit_bytes=8388607"), "mosaic_tpu/v4", kCapacity, {"vmem_limit_bytes is 8191.999 KiB"});
  ExpectClean(kernel("internal_scratch_in_bytes=8388608"), "mosaic_tpu/v5e");  // as much as the limit
  ExpectOne(kernel("internal_scratch_in_bytes=8388609"), "mosaic_tpu/v5e", kCapacity,
            {"at least 16384.001 KiB of vmem", "is 16384 KiB", "8.00 MiB for 'internal_scratch_in_bytes'"});
}

TEST(Capacity, ScopesAndTiles) {
  const auto kernel = [](int columns) {
    const std::string type = Cat("ref<vmem,f32[1,", columns, "]>");
    return Cat(
        "pkir 1;\nkernel @k { grid [1];\n  out %o: f32[8,128];\n  body @b (%or: ref<vmem,f32[8,128]>) {\n"
        "    run_scoped() (%a: ",
        type, ") { run_scoped() (%b: ", type, ") { return; }; return; };\n    return; } }\n");
  };
  // Of f32 a row takes one sublane (a tile of 1 x 128), so two scopes of 2 Mi columns are 16 MiB; the output is 4 KiB.
  ExpectClean(kernel((1 << 21) - 512), "mosaic_tpu/v5e");
  ExpectOne(kernel((1 << 21) - 384), "mosaic_tpu/v5e", kCapacity, {"at least 16385 KiB", "8.00 MiB for scope 'a'"});
}

// One word too much: 1 MiB of scalar memory on a TPU; of 227 KiB of shared memory for a block on a GPU not all.
TEST(Capacity, ScalarAndSharedMemory) {
  const auto kernel = [](int words) {
    return Cat("pkir 1;\nkernel @k { grid [1];\n  prefetch %p: i32[4] space smem;\n  out %o: f32[8,128];\n",
               "  scratch %s: ref<smem,i32[", words, "]>;\n  body @b (%pr: ref<smem,i32[4]>, ",
               "%or: ref<vmem,f32[8,128]>, %sr: ref<smem,i32[", words, "]>) { return; } }\n");
  };
  ExpectClean(kernel(262144 - 128), "mosaic_tpu/v5e");  // the operand has a tile of 128 words
  const std::vector<Finding> in_tiles = FindingsOf(kernel(262140), "mosaic_tpu/v5e");
  ASSERT_EQ(1u, in_tiles.size());
  EXPECT_EQ(Severity::kNote, in_tiles[0].severity);
  ExpectOne(kernel(262141), "mosaic_tpu/v5e", kCapacity, {"1024.0039 KiB of smem", "1024 KiB", "scratch 's'"});
  // Of 2 operands of 32 KiB each, and scratch, which begins at a multiple of 1 KiB: 231424 bytes in all.
  const auto shared = [](int words) {
    const std::string block = " block (64,128) map (%i: i32[]) { return %i, 0:i32; };";
    return Cat("pkir 1;\nkernel @k { grid [2];\n  in %x: f32[128,128]", block, "\n  out %o: f32[128,128]", block,
               "\n  scratch %s: ref<smem,i32[", words, "]>;\n  body @b (%xr: ref<default,f32[64,128]>, ",
               "%or: ref<default,f32[64,128]>, %sr: ref<smem,i32[", words, "]>) { return; } }\n");
  };
  ExpectClean(shared(41472), "mosaic_gpu/h100");
  ExpectOne(shared(41473), "mosaic_gpu/h100", kCapacity,
            {"227 KiB of shared memory", "one block of h100 may have is 227 KiB"});
}

TEST(Tallies, SayHowMuchWasLookedAt) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(Copy("f32[16,256]", "8,128", "f32[8,128]"), {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  const std::vector<CheckTally>& tallies = StaticReportOf(kernel->state()).tallies;
  ASSERT_EQ(2u, tallies.size());
  EXPECT_EQ(CheckKind::kLegality, tallies[0].kind);
  EXPECT_EQ(2 + 2 + 2, tallies[0].times);  // blocks, operations, accesses
  EXPECT_EQ(CheckKind::kCapacity, tallies[1].kind);
  EXPECT_EQ(2, tallies[1].times);
}

}  // namespace
}  // namespace palladion::check
