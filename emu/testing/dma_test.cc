// Copies of a TPU's DMA engines as a run and a check meet them: what arrives, what has not been waited for, which waits
// end, and what tasks that may run on several cores do to each other. Each wrong kernel has a right one beside it.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion {
namespace {

// %x and %o: f32[16,128], the latter whole; %buf in VMEM and %sem, two DMA semaphores. The body has line 10 as its
// first.
std::string DmaKernel(const std::string& body, const std::string& grid = "grid []") {
  return Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  ", grid,
      ";\n  in %x: f32[16,128] space any;\n  out %o: f32[16,128] space any;\n"
      "  scratch %buf: ref<vmem,f32[2,8,128]>;\n  scratch %sem: ref<semaphore,dma_sem[2]>;\n"
      "  body @k (%xr: ref<any,f32[16,128]> as \"x\", %or: ref<any,f32[16,128]> as \"o\", %br: ref<vmem,f32[2,8,128]> "
      "as "
      "\"buf\", %sr: ref<semaphore,dma_sem[2]> as \"sem\") {\n",
      body, "    return;\n  }\n}\n");
}

std::string Copy(const std::string& what, const std::string& src, const std::string& dst, const std::string& sem) {
  const std::string more = what == "dma_start" ? "priority=0, add=false" : "insert_dummy_device=false";
  return Cat("    ", what, "{device_id_type=mesh, ", more, "}(src=%", src, ", dst=%", dst, ", dst_sem=%", sem,
             ", src_sem=none, device_id=none);\n");
}

// Half i of x to slot i, of slot i to half i of o.
std::string In(const std::string& what, int i) {
  return Copy(what, Cat("xr.at[", 8 * i, " +: 8, *]"), Cat("br.at[", i, ", *, *]"), Cat("sr.at[", i, "]"));
}
std::string Out(const std::string& what, int i) {
  return Copy(what, Cat("br.at[", i, ", *, *]"), Cat("or.at[", 8 * i, " +: 8, *]"), Cat("sr.at[", i, "]"));
}
std::string AddOne(int i) {
  const std::string slot = Cat("%br.at[", i, ", *, *]");
  return Cat("    %v", i, " = get(", slot, ") : f32[8,128];\n    %w", i, " = add(%v", i,
             ", 1.0:f32) : f32[8,128];\n    _ = swap(", slot, ", %w", i, ") : f32[8,128];\n");
}

Report CheckCore(const std::string& text) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  absl::StatusOr<Report> report =
      Check(*kernel, {*TensorFromText(DType::kF32, {16, 128}, "iota")}, {.seeds = 16, .all_seeds = true, .threads = 1});
  EXPECT_TRUE(report.ok()) << report.status() << "\n" << text;
  return report.ok() ? *std::move(report) : Report{};
}

const std::string kBothIn = In("dma_start", 0) + In("dma_start", 1);

TEST(Dma, WhatWasWaitedForIsThere) {
  const std::string text = DmaKernel(kBothIn + In("dma_wait", 0) + AddOne(0) + Out("dma_start", 0) + In("dma_wait", 1) +
                                     AddOne(1) + Out("dma_start", 1) + Out("dma_wait", 0) + Out("dma_wait", 1));
  const Report report = CheckCore(text);
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(report)) << ToText(report);
  EXPECT_EQ(Verdict::kProved, report.verdict) << ToText(report);
  EXPECT_EQ(16, report.schedules);
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  ASSERT_TRUE(kernel.ok());
  absl::StatusOr<RunResult> run = palladion::Run(*kernel, {*TensorFromText(DType::kF32, {16, 128}, "iota")}, {});
  ASSERT_TRUE(run.ok()) << run.status();
  for (std::size_t i = 0; i < 16 * 128; ++i)
    ASSERT_EQ(static_cast<float>(i) + 1.0F, run->outputs[0].data<float>()[i]) << i;
}

TEST(Dma, ReadBeforeItWasWaitedFor) {
  const auto check = [](const std::string& early, const std::string& late) {
    return threads::CodesOf(CheckCore(DmaKernel(kBothIn + early + AddOne(0) + AddOne(1) + late + Out("dma_start", 0) +
                                                Out("dma_start", 1) + Out("dma_wait", 0) + Out("dma_wait", 1))));
  };
  const std::string first = In("dma_wait", 0), second = In("dma_wait", 1);
  EXPECT_EQ(threads::Codes{}, check(first + second, ""));
  EXPECT_TRUE(check(first, second).contains("RACE_ASYNC"));
}

TEST(Dma, TheSourceIsWrittenBeforeItWasRead) {
  const auto check = [](const std::string& early, const std::string& late) {
    return threads::CodesOf(CheckCore(DmaKernel(kBothIn + In("dma_wait", 0) + In("dma_wait", 1) + Out("dma_start", 0) +
                                                early + AddOne(0) + late + Out("dma_start", 1) + Out("dma_wait", 1))));
  };
  EXPECT_EQ(threads::Codes{}, check(Out("dma_wait", 0), ""));
  EXPECT_TRUE(check("", Out("dma_wait", 0)).contains("RACE_ASYNC"));
}

TEST(Dma, NoAgentWaited) {
  const std::string body = kBothIn + In("dma_wait", 0) + In("dma_wait", 1) + Out("dma_start", 0) + Out("dma_start", 1);
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(CheckCore(DmaKernel(body + Out("dma_wait", 0) + Out("dma_wait", 1)))));
  const Report report = CheckCore(DmaKernel(body + Out("dma_wait", 0)));
  EXPECT_TRUE(threads::CodesOf(report).contains("NOT_AWAITED")) << ToText(report);
  EXPECT_TRUE(threads::CodesOf(report).contains("SEM_LEAK"));
  EXPECT_EQ("semaphore sem[1] is 4096 bytes when the kernel ends, not 0", threads::MessageOf(report, "SEM_LEAK"));
}

TEST(Dma, WaitedForTwice) {
  const Report report = CheckCore(DmaKernel(In("dma_start", 0) + In("dma_wait", 0) + In("dma_wait", 0)));
  EXPECT_EQ(
      "no core can go on: the core waits for semaphore sem[0] (needs 4096 bytes, has 0 bytes), which no agent that is "
      "left "
      "can signal",
      threads::MessageOf(report, "DEADLOCK"));
}

// Of a descriptor only the size counts.
TEST(Dma, AWaitBySize) {
  const std::string other = Copy("dma_wait", "or.at[0 +: 8, *]", "br.at[1, *, *]", "sr.at[0]");
  const std::string half = Copy("dma_wait", "or.at[0 +: 4, *]", "br.at[1, 0 +: 4, *]", "sr.at[0]");
  const auto check = [](const std::string& wait) {
    return threads::CodesOf(
        CheckCore(DmaKernel(In("dma_start", 0) + wait + AddOne(0) + Out("dma_start", 0) + Out("dma_wait", 0))));
  };
  EXPECT_FALSE(check(other).contains("RACE_ASYNC"));
  EXPECT_FALSE(check(half + half).contains("RACE_ASYNC"));
  EXPECT_TRUE(check(half).contains("DEADLOCK") || check(half).contains("SEM_LEAK"));
}

// Tasks of a parallel dimension may run on two cores at the same time.
TEST(Dma, TasksOnSeveralCores) {
  const auto kernel = [](const std::string& index) {
    const std::string slice = Cat("or.at[%r +: 8, *]");
    return DmaKernel(Cat("    %i = program_id{axis=0}() : i32[];\n    %r = mul(%i, ", index, ":i32) : i32[];\n",
                         In("dma_start", 0), In("dma_wait", 0), Copy("dma_start", "br.at[0, *, *]", slice, "sr.at[1]"),
                         Copy("dma_wait", "br.at[0, *, *]", slice, "sr.at[1]")),
                     "params {dimension_semantics=[\"parallel\"]};\n  grid [2]");
  };
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(CheckCore(kernel("8"))));
  const Report report = CheckCore(kernel("4"));
  EXPECT_TRUE(threads::CodesOf(report).contains("RACE_WW") || threads::CodesOf(report).contains("RACE_ASYNC"))
      << ToText(report);
}

TEST(Dma, OutsideTheArray) {
  const std::string copy =
      "    %i = add(12:i32, 0:i32) : i32[];\n" + Copy("dma_start", "xr.at[%i +: 8, *]", "br.at[0, *, *]", "sr.at[0]");
  EXPECT_TRUE(threads::CodesOf(CheckCore(DmaKernel(copy + In("dma_wait", 0)))).contains("OOB"));
}

// It waits for the sending alone, and looks at where the copy lands: between the two halves, or after both.
TEST(Dma, ASearchLetsAWaitForTheReadingHalfGoBeforeTheWriting) {
  const std::string copy =
      "{device_id_type=mesh, priority=0, add=false}(src=%br.at[0 +: 1], dst=%br.at[1 +: 1], dst_sem=%rr, src_sem=%sr, "
      "device_id=0:i32);\n";
  const std::string wait = "    dma_wait{device_id_type=mesh, insert_dummy_device=";
  const std::string text =
      Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  devices {x=1};\n  in %x: f32[1] space smem;\n"
          "  out %o: f32[1] space smem;\n  grid [];\n  scratch %b: ref<smem,f32[2]>;\n"
          "  scratch %send: ref<semaphore,dma_sem[]>;\n  scratch %recv: ref<semaphore,dma_sem[]>;\n"
          "  body @k (%xr: ref<smem,f32[1]>, %or: ref<smem,f32[1]>, %br: ref<smem,f32[2]>, "
          "%sr: ref<semaphore,dma_sem[]>, %rr: ref<semaphore,dma_sem[]>) {\n"
          "    _ = swap(%br.at[0], 1.0:f32) : f32[];\n    _ = swap(%br.at[1], 2.0:f32) : f32[];\n    dma_start",
          copy, wait,
          "true}(src=%br.at[1 +: 1], dst=%br.at[0 +: 1], dst_sem=%sr, src_sem=%rr, device_id=0:i32);\n"
          "    %v = get(%br.at[1]) : f32[];\n    _ = swap(%or.at[0], %v) : f32[];\n",
          wait,
          "false}(src=%br.at[0 +: 1], dst=%br.at[1 +: 1], dst_sem=%rr, src_sem=%sr, device_id=0:i32);\n"
          "    return;\n  }\n}\n");
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const absl::StatusOr<Report> report =
      Check(*kernel, {*TensorFromText(DType::kF32, {1, 1}, "iota")}, {.exhaustive = true, .races = false});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(threads::Codes{"NONDET"}, threads::CodesOf(*report)) << ToText(*report);
}

}  // namespace
}  // namespace palladion
