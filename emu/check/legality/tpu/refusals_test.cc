// What the TPU's compiler may refuse: the table, what is known of a number's divisors, and which kernels are judged. A
// kernel for each rule, and one that keeps it: conformance/cases/compiler_tpu.
#include "emu/check/legality/tpu/refusals.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/tpu/multiples.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

TEST(TpuRefusals, NamesAreUniqueAndRulesAreSentences) {
  std::set<std::string_view> names;
  for (const LimitText& limit : AllTpuLimits()) names.insert(limit.name);
  for (const RefusalText& rule : AllRefusals()) {
    EXPECT_TRUE(names.insert(rule.limit.name).second) << rule.limit.name;
    EXPECT_TRUE(rule.limit.name.starts_with("tpu.compiler.")) << rule.limit.name;
    EXPECT_FALSE(rule.limit.rule.empty() || rule.limit.rule.ends_with(".")) << rule.limit.rule;
    EXPECT_FALSE(rule.limit.source.empty() || rule.limit.fix.empty() || rule.chips.empty()) << rule.limit.name;
  }
}

// Rows from `start` on, of a ref in tiles of 8 rows.
std::string Loads(std::string_view start, std::string_view producer = "producer \"jax 0.10.2\";") {
  return Cat(
      "pkir 1; ", producer, " kernel @k { backend mosaic_tpu; grid [4]; prefetch %s: i32[1] space smem; ",
      "in %x: f32[64,256] space vmem block (64,256) map (%g: i32[], %q: ref<smem,i32[1]>) { return 0:i32, 0:i32; }; ",
      "out %o: f32[32,256] space vmem block (8,256) map (%g: i32[], %q: ref<smem,i32[1]>) { return %g, 0:i32; }; ",
      "body @k (%sr: ref<smem,i32[1]>, %xr: ref<vmem,f32[64,256]>, %or: ref<vmem,f32[8,256]>) { ",
      "%n = get(%sr.at[0]) : i32[]; %p = program_id{axis=0}() : i32[]; ", start,
      " %a = get(%xr.at[%i +: 8, *]) : f32[8,256]; _ = swap(%or, %a) : f32[8,256]; return; } }");
}

std::size_t Refusals(const std::string& text, LegalityMode mode = LegalityMode::kOn) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = "mosaic_tpu/v5e"});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
  if (!kernel.ok()) return 0;
  std::size_t count = 0;
  for (const Finding& finding : check::KnownBefore(kernel->state(), mode).findings) {
    if (finding.code != FindingCode::kCompiler) continue;
    EXPECT_EQ(mode == LegalityMode::kCompiler ? Severity::kDefect : Severity::kWarning, finding.severity);
    EXPECT_FALSE(finding.why.empty() || finding.fix.empty()) << finding.message;
    ++count;
  }
  return count;
}

TEST(TpuRefusals, AMultipleIsWhatConstantsAndPromisesMakeOne) {
  for (const std::string proved : {
           "%i = mul(%p, 8:i32) : i32[];", "%b = mul(%p, 2:i32) : i32[]; %i = mul(%b, 4:i32) : i32[];",
           "%b = mul(%p, 8:i32) : i32[]; %i = add(%b, 16:i32) : i32[];",
           "%b = shift_left(%n, 3:i32) : i32[]; %i = sub(%b, 8:i32) : i32[];",
           "%i = multiple_of{values=[8]}(%n) : i32[];",
           "%b = multiple_of{values=[16]}(%n) : i32[]; %i = div(%b, 2:i32) : i32[];", "%i = and(%n, -8:i32) : i32[];",
           "%b = gt(%p, 1:i32) : bool[]; %i = select_n(%b, 8:i32, 24:i32) : i32[];",
           "%b = mul(%n, 8:i32) : i32[]; %i = max(%b, 0:i32) : i32[];",
           "%i = add(3:i32, 2:i32) : i32[];",  // a constant may begin anywhere
       })
    EXPECT_EQ(0u, Refusals(Loads(proved))) << proved;
  for (const std::string unproved : {
           "%i = mul(%p, 4:i32) : i32[];",
           "%b = mul(%p, 8:i32) : i32[]; %i = add(%b, 4:i32) : i32[];",
           "%i = multiple_of{values=[4]}(%n) : i32[];",
           "%b = multiple_of{values=[8]}(%n) : i32[]; %i = div(%b, 2:i32) : i32[];",
           "%i = and(%n, 7:i32) : i32[];",
           "%i = add(%n, 0:i32) : i32[];",
           "%b = gt(%p, 1:i32) : bool[]; %i = select_n(%b, 8:i32, 4:i32) : i32[];",
       })
    EXPECT_EQ(1u, Refusals(Loads(unproved))) << unproved;
}

TEST(TpuRefusals, TextsThatJaxDidNotWriteAreJudgedOnRequest) {
  const std::string by_hand = Loads("%i = mul(%p, 4:i32) : i32[];", "");
  EXPECT_EQ(0u, Refusals(by_hand));
  EXPECT_EQ(1u, Refusals(by_hand, LegalityMode::kCompiler));
  EXPECT_EQ(1u, Refusals(Loads("%i = mul(%p, 4:i32) : i32[];"), LegalityMode::kCompiler));
  EXPECT_EQ(0u, Refusals(Loads("%i = mul(%p, 4:i32) : i32[];"), LegalityMode::kOff));
}

TEST(TpuTiles, AreOfTheChipAndOfTheType) {
  const auto rows = [](DType dtype, const Shape& shape, TileOwner owner, std::string_view chip) {
    return TilingOf(dtype, shape, owner, machines::FindChip(chip)).rows;
  };
  constexpr TileOwner kOperand = TileOwner::kOperand, kScratch = TileOwner::kScratch;
  EXPECT_EQ(8, rows(DType::kF32, {64, 256}, kOperand, "v5e"));
  EXPECT_EQ(1, rows(DType::kF32, {64, 128}, kOperand, "v5e"));
  EXPECT_EQ(4, rows(DType::kF32, {3, 256}, kOperand, "v5e"));
  EXPECT_EQ(8, rows(DType::kBF16, {64, 256}, kOperand, "v6e"));
  EXPECT_EQ(16, rows(DType::kBF16, {64, 256}, kScratch, "v6e"));
  EXPECT_EQ(16, rows(DType::kBF16, {64, 256}, kOperand, "v7x"));
  EXPECT_EQ(8, rows(DType::kBF16, {24, 256}, kOperand, "v7x"));
  EXPECT_EQ(32, rows(DType::kI8, {64, 256}, kOperand, "v5e"));
  EXPECT_EQ(1024, TilingOf(DType::kF32, {4096}, kOperand, nullptr).lanes);
  EXPECT_EQ(512, TilingOf(DType::kF32, {300}, kOperand, nullptr).lanes);
  EXPECT_EQ(256, TilingOf(DType::kBF16, {100}, kOperand, nullptr).lanes);
}

}  // namespace
}  // namespace palladion::legality
