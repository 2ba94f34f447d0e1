// The search of every schedule against every interleaving, of kernels whose blocks a TPU's pipeline copies: that its
// copies commute (thread_touches.h) leaves no end and no finding out. Limits: of two programs on one core.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "emu/run/launch/run.h"
#include "emu/testing/word_kernel_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

// Blocks of `o`, in the memory of `x`; `map`: which of the two blocks program %i has of `o`. The semaphore makes the
// copies operations of engines.
std::string Pipelined(const std::string& map, const std::string& body) {
  return Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n"
      "  in %x: f32[16,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n"
      "  out %o: f32[16,128] block (8,128) map (%i: i32[]) { ",
      map,
      " } alias %x;\n  out %sent: f32[16,128] space any;\n  grid [2];\n"
      "  scratch %sem: ref<semaphore,dma_sem[]>;\n"
      "  body @b (%xr: ref<default,f32[8,128]>, %or: ref<default,f32[8,128]>, %sr: ref<any,f32[16,128]>, "
      "%s: ref<semaphore,dma_sem[]>) {\n    %p = program_id{axis=0}() : i32[];\n"
      "    %v = get(%xr) : f32[8,128];\n    %w = add(%v, 1.0:f32) : f32[8,128];\n    _ = swap(%or, %w) : "
      "f32[8,128];\n",
      body, "    return;\n  }\n}\n");
}

struct Ends {
  std::set<std::string> ways;  // outputs, and what was found
  std::int64_t schedules = 0;
};

Ends EndsOf(const std::string& text, bool reduce) {
  TestKernel kernel(text, "mosaic_tpu/v5e");
  const std::vector<MutableArray> outputs = kernel.out();
  Ends ends;
  const auto visit = [&](const agents::Ran& ran) -> absl::StatusOr<bool> {
    std::string way = kernel.Outputs();
    for (const Finding& finding : ran.findings) Append(&way, " ", Code(finding.code), "@", finding.text_line);
    ends.ways.insert(std::move(way));
    return true;
  };
  const absl::StatusOr<scheduler::Explored> explored = launch::RunExhaustive(
      {kernel.state(), kernel.in(), outputs}, {}, {.max_schedules = 400'000, .reduce = reduce}, visit);
  EXPECT_TRUE(explored.ok()) << explored.status();
  if (!explored.ok()) return ends;
  EXPECT_TRUE(explored->complete);
  ends.schedules = explored->schedules;
  return ends;
}

void ExpectAllEnds(const std::string& text, std::size_t ways) {
  SCOPED_TRACE(text);
  const Ends all = EndsOf(text, /*reduce=*/false), some = EndsOf(text, /*reduce=*/true);
  EXPECT_EQ(all.ways, some.ways);
  EXPECT_EQ(ways, some.ways.size());
  EXPECT_LT(some.schedules, all.schedules);
}

TEST(PipelineSearch, BlocksThatStayApart) { ExpectAllEnds(Pipelined("return %i, 0:i32;", ""), 1); }

// The block that is fetched for the second program is the one that the first one's flush writes.
TEST(PipelineSearch, AFetchBesideAFlush) {
  ExpectAllEnds(Pipelined("%j = sub(1:i32, %i) : i32[]; return %j, 0:i32;", ""), 2);
}

// The kernel's own copy out of a block, awaited in the same program, or by the next one, which has stored there.
TEST(PipelineSearch, ACopyOutOfABlock) {
  const std::string start =
      "    %at = mul(%p, 8:i32) : i32[];\n    dma_start{device_id_type=mesh, priority=0, add=false}(src=%or, "
      "dst=%sr.at[%at +: 8, *], dst_sem=%s, src_sem=none, device_id=none);\n";
  const std::string wait =
      "dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%or, dst=%sr.at[%at +: 8, *], dst_sem=%s, "
      "src_sem=none, device_id=none);";
  ExpectAllEnds(Pipelined("return %i, 0:i32;", Cat(start, "    ", wait, "\n")), 1);
  ExpectAllEnds(Pipelined("return 0:i32, 0:i32;",
                          Cat(start, "    %late = eq(%p, 1:i32) : bool[];\n    cond(%late) { return; } { ", wait, " ",
                              wait, " return; };\n")),
                1);
}

// Two copies of the kernel's own write what is fetched for the second program: it has either's bytes or the old ones,
// and either is the last.
TEST(PipelineSearch, AFetchBesideTwoCopies) {
  const auto copy = [](const std::string& from, const std::string& semaphore) {
    const std::string operands = Cat("(src=", from, ", dst=%or.at[8 +: 8, *], dst_sem=", semaphore);
    return Cat("dma_start{device_id_type=mesh, priority=0, add=false}", operands, ", src_sem=none, device_id=none); ");
  };
  const auto wait = [](const std::string& from, const std::string& semaphore) {
    const std::string operands = Cat("(src=", from, ", dst=%or.at[8 +: 8, *], dst_sem=", semaphore);
    return Cat("dma_wait{device_id_type=mesh, insert_dummy_device=false}", operands,
               ", src_sem=none, device_id=none); ");
  };
  const std::string text =
      Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n"
          "  in %x: f32[16,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n"
          "  out %o: f32[16,128] space any alias %x;\n"
          "  out %seen: f32[16,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n  grid [2];\n"
          "  scratch %a: ref<vmem,f32[8,128]>;\n  scratch %b: ref<vmem,f32[8,128]>;\n"
          "  scratch %s: ref<semaphore,dma_sem[]>;\n  scratch %t: ref<semaphore,dma_sem[]>;\n"
          "  body @b (%xr: ref<default,f32[8,128]>, %or: ref<any,f32[16,128]>, %nr: ref<default,f32[8,128]>,\n"
          "    %ar: ref<vmem,f32[8,128]>, %br: ref<vmem,f32[8,128]>, %sr: ref<semaphore,dma_sem[]>, "
          "%tr: ref<semaphore,dma_sem[]>) {\n"
          "    %p = program_id{axis=0}() : i32[];\n    %v = get(%xr) : f32[8,128];\n"
          "    _ = swap(%nr, %v) : f32[8,128];\n    %w = add(%v, 1.0:f32) : f32[8,128];\n"
          "    _ = swap(%ar, %w) : f32[8,128];\n    %u = add(%v, 2.0:f32) : f32[8,128];\n"
          "    _ = swap(%br, %u) : f32[8,128];\n    %first = eq(%p, 0:i32) : bool[];\n"
          "    cond(%first) { return; } { ",
          copy("%ar", "%sr"), copy("%br", "%tr"), wait("%ar", "%sr"), wait("%br", "%tr"),
          "return; };\n    return;\n  }\n}\n");
  ExpectAllEnds(text, 6);
}

}  // namespace
}  // namespace palladion::threads
