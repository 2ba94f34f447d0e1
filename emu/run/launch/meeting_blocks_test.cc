// Checks of TPU kernels whose blocks share an array: that those whose copies meet are checked with their pipeline, by
// whatever way a check runs, and others without. Limits: of one core.
#include "emu/run/launch/meeting_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

struct Kernel {
  std::string distance = "1";   // program i reads the block so many before the one it writes
  std::string stored = "%w";    // what the body reads, or one more
  std::string buffered, extra;  // of both blocks; operands
  std::string parameter;
};

PreparedKernel Prepared(const Kernel& kernel) {
  const std::string text =
      Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n"
          "  in %x: f32[64,128] block (8,128) map (%i: i32[]) { %m = sub(%i, ",
          kernel.distance, ":i32) : i32[]; %n = max(%m, 0:i32) : i32[]; return %n, 0:i32; }", kernel.buffered,
          ";\n  grid [8];\n  out %o: f32[64,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; }", kernel.buffered,
          " alias %x;", kernel.extra,
          "\n  body @b (%xr: ref<default,f32[8,128]> as \"x_ref\", %or: ref<default,f32[8,128]> as \"o_ref\"",
          kernel.parameter,
          ") {\n    %v = get(%xr) : f32[8,128];\n    %w = add(%v, 1.0:f32) : f32[8,128];\n    _ = swap(%or, ",
          kernel.stored, ") : f32[8,128];\n    return;\n  }\n}\n");
  absl::StatusOr<PreparedKernel> prepared = PrepareText(text, {.target = "mosaic_tpu/v5e"});
  EXPECT_TRUE(prepared.ok()) << prepared.status() << text;
  return *std::move(prepared);
}

std::vector<Tensor> Inputs(const std::string& x = "iota") {
  std::vector<Tensor> inputs;
  inputs.push_back(*TensorFromText(DType::kF32, {64, 128}, x));
  return inputs;
}

Report Checked(const Kernel& kernel, const CheckOptions& options = {.threads = 1}, const std::string& x = "iota") {
  absl::StatusOr<Report> report = Check(Prepared(kernel), Inputs(x), options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

std::string Codes(const Report& report) {
  std::string codes(Name(report.verdict));
  for (const ReportedFinding& finding : report.findings)
    Append(&codes, " ", Code(finding.code), " ", Name(finding.severity));
  return codes;
}

const ReportedFinding* AliasOf(const Report& report) {
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code == FindingCode::kAlias) return &finding;
  }
  return nullptr;
}

TEST(MeetingBlocks, WhatIsBeingFlushedIsNotFetched) {
  for (const std::string distance : {"1", "2"}) {
    const Report report = Checked({.distance = distance});
    const ReportedFinding* const alias = AliasOf(report);
    ASSERT_NE(nullptr, alias) << distance;
    EXPECT_EQ("defect", Name(alias->severity));
    EXPECT_EQ("o_ref", alias->first->object);
    EXPECT_EQ("x_ref", alias->second->object);
    EXPECT_EQ(AccessKind::kWrite, alias->first->kind);
  }
  EXPECT_EQ("proved", Codes(Checked({.distance = "3"}))) << "the flush has been awaited";
  EXPECT_EQ("proved", Codes(Checked({.distance = "0"}))) << "each program has its own block";
  EXPECT_EQ("proved", Codes(Checked({.buffered = " buffered {buffer_count=1}"}))) << "each copy is awaited";
}

// It is the defect that these operands hide, where others bring about other bytes.
TEST(MeetingBlocks, BytesThatStayTheSame) {
  EXPECT_EQ("defect ALIAS defect", Codes(Checked({.stored = "%v"}, {.threads = 1}, "full(1)")));
}

// Whether the kernel has an engine says nothing of its blocks.
TEST(MeetingBlocks, AnUnusedSemaphoreChangesNoWord) {
  const Kernel with{.extra = " scratch %s: ref<semaphore,dma_sem[]>;", .parameter = ", %sr: ref<semaphore,dma_sem[]>"};
  for (const std::string distance : {"0", "1", "2", "3"}) {
    Kernel more = with;
    more.distance = distance;
    const Report report = Checked({.distance = distance}), other = Checked(more);
    EXPECT_EQ(report.verdict, other.verdict) << distance;
    const ReportedFinding *const alias = AliasOf(report), *const same = AliasOf(other);
    ASSERT_EQ(alias == nullptr, same == nullptr) << distance;
    if (alias == nullptr) continue;
    EXPECT_EQ(alias->message, same->message);
    EXPECT_EQ(alias->why, same->why);
    EXPECT_EQ(alias->fix, same->fix);
    EXPECT_EQ(alias->text_line, same->text_line);
    EXPECT_EQ(alias->confidence, same->confidence);
  }
}

TEST(MeetingBlocks, EverySchedule) {
  const CheckOptions all{.exhaustive = true, .threads = 1};
  const Report apart = Checked({.distance = "3"}, all), meet = Checked({}, all);
  EXPECT_EQ("proved", Codes(apart));
  EXPECT_EQ(2, apart.schedules) << "program order, and the search's one";
  ASSERT_NE(nullptr, AliasOf(meet));
  // Each of the fetches for programs 2 to 7 comes before the flush that it meets, or after it.
  EXPECT_EQ(1 + (std::int64_t{1} << 6), meet.schedules);
}

TEST(MeetingBlocks, PartsAndReplays) {
  const PreparedKernel kernel = Prepared({});
  const std::vector<Tensor> inputs = Inputs();
  CheckOptions options{.seeds = 8, .threads = 1};
  const absl::StatusOr<Report> whole = Check(kernel, inputs, options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const absl::StatusOr<CheckPart> low = CheckSeeds(kernel, inputs, options, 1, 4),
                                  high = CheckSeeds(kernel, inputs, options, 4, 8);
  ASSERT_TRUE(low.ok() && high.ok()) << low.status() << high.status();
  EXPECT_EQ(3, low->schedules);
  options.parts = {*low, *high};
  const absl::StatusOr<Report> parts = Check(kernel, inputs, options);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(ToJson(*whole), ToJson(*parts));
  const ReportedFinding* const alias = AliasOf(*whole);
  ASSERT_NE(nullptr, alias);
  const absl::StatusOr<Report> again = Check(kernel, inputs, {.replay = alias->replay, .threads = 1});
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_NE(nullptr, AliasOf(*again)) << alias->replay;
  EXPECT_EQ(alias->message, AliasOf(*again)->message);
}

// A part of a check in which nothing meets has nothing to run.
TEST(MeetingBlocks, PartsOfBlocksThatStayApart) {
  const absl::StatusOr<CheckPart> part =
      CheckSeeds(Prepared({.distance = "0"}), Inputs(), {.seeds = 8, .threads = 1}, 1, 8);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(0, part->schedules);
}

}  // namespace
}  // namespace palladion::launch
