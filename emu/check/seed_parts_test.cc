// A check whose seeds ran in parts gives the report of a check that ran them all: for kernels of each kind, for every
// division of a few seeds and some random divisions of many. The whole JSON of both is compared.
#include "emu/check/seed_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "emu/values.h"

namespace palladion::check {
namespace {

struct Kernel {
  std::string name, target, text;
};

std::string Loop(const std::string& body) {
  return "pkir 1;\nkernel @k { grid [4]; in %x: i32[4]; out %o: i32[4] alias %x;\n"
         " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n  %p = program_id{axis=0}() : i32[];\n" +
         body + "  return; } }\n";
}

std::vector<Kernel> Kernels() {
  const std::string ticket = "  %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];\n";
  const std::string rare =  // program 0 is last, and 1 the one before it
      "  %a = eq(%t, 3:i32) : bool[];\n  %z = eq(%p, 0:i32) : bool[];\n  %b = and(%a, %z) : bool[];\n"
      "  %n = convert_element_type{to=i32}(%b) : i32[];\n"
      "  cond(%n) { return; } { %v = get(%or.at[100]) : i32[]; return; };\n";
  return {
      {"independent", "triton/h100", Loop("  _ = swap(%or.at[%p], %p) : i32[];\n")},
      {"last writer", "triton/h100", Loop("  _ = swap(%or.at[0], %p) : i32[];\n")},
      {"tickets", "triton/h100", Loop(ticket + "  _ = swap(%or.at[1], %t) : i32[];\n")},
      {"tickets of their own", "triton/h100", Loop(ticket + "  _ = swap(%or.at[%p], %t) : i32[];\n")},
      {"counts", "triton/h100", Loop(ticket)},
      {"rare", "triton/h100", Loop(ticket + rare)},
      {"livelock", "triton/h100",
       Loop(ticket + "  %first = eq(%t, 0:i32) : bool[];\n  %same = eq(%p, 0:i32) : bool[];\n"
                     "  %ends = eq(%first, %same) : bool[];\n  %n = convert_element_type{to=i32}(%ends) : i32[];\n"
                     "  cond(%n) { while() () {\n    %s = atomic_rmw{op=xor}(%or.at[1], 1:i32) : i32[];\n"
                     "    %go = ne(%s, 2:i32) : bool[];\n    return %go; } () { return; };\n   return; }"
                     " { return; };\n")},
      {"threads", "mosaic_gpu/h100",
       "pkir 1;\nkernel @k { backend mosaic_gpu; out %o: i32[128] space gmem;\n"
       " mesh gpu {grid=[2], grid_names=[\"b\"], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
       " body @k (%or: ref<gmem,i32[128]> as \"o\") {\n  %b = axis_index{axis=\"b\"}() : i32[];\n"
       "  %v = broadcast_in_dim{shape=[128], dims=[]}(%b) : i32[128];\n  _ = swap(%or, %v) : i32[128];\n"
       "  return; } }\n"},
      // What the backend refuses forbids the proof that threads would have.
      {"refused", "mosaic_gpu/h100",
       "pkir 1;\nkernel @k { backend mosaic_gpu; out %o: i32[4] space gmem;\n"
       " mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
       " body @k (%or: ref<gmem,i32[4]> as \"o_ref\") {\n"
       "  core_map{mesh=warp, axes=[\"warp\"], sizes=[4]}() () {\n   %w = axis_index{axis=\"warp\"}() : i32[];\n"
       "   _ = swap(%or.at[%w], %w) : i32[];\n   commit_smem();\n   return; };\n  return; } }\n"},
  };
}

class Sides {
 public:
  Sides(const Kernel& kernel, CheckOptions options)
      : kernel_(*PrepareText(kernel.text, {.kernel = "", .target = kernel.target, .path = ""})),
        options_(std::move(options)) {
    for (const OperandDescription& input : kernel_.inputs())
      inputs_.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
  }

  CheckOptions& options() { return options_; }
  absl::StatusOr<CheckPart> Part(std::int64_t first, std::int64_t last) const {
    return CheckSeeds(kernel_, inputs_, options_, first, last);
  }
  absl::StatusOr<Report> With(std::optional<std::vector<CheckPart>> parts) const {
    CheckOptions options = options_;
    options.parts = std::move(parts);
    return Check(kernel_, inputs_, options);
  }
  static std::string Text(const absl::StatusOr<Report>& report) {
    return report.ok() ? ToJson(*report) : report.status().ToString();
  }

 private:
  PreparedKernel kernel_;
  CheckOptions options_;
  std::vector<Tensor> inputs_;
};

// Seeds 1 .. seeds - 1, a new part after each seed whose bit is set.
std::vector<CheckPart> Cut(const Sides& sides, std::int64_t seeds, const std::function<bool(std::int64_t)>& after) {
  std::vector<CheckPart> parts;
  std::int64_t first = 1;
  for (std::int64_t seed = 1; seed < seeds; ++seed) {
    if (seed + 1 != seeds && !after(seed)) continue;
    const absl::StatusOr<CheckPart> part = sides.Part(first, seed + 1);
    EXPECT_TRUE(part.ok()) << part.status();
    if (part.ok()) parts.push_back(*part);
    first = seed + 1;
  }
  return parts;
}

TEST(SeedParts, GiveTheReportOfTheWholeHoweverTheyAreCut) {
  for (const Kernel& kernel : Kernels()) {
    for (const bool all : {false, true}) {
      const Sides sides(kernel, {.seeds = 5, .all_seeds = all, .step_budget = 300});
      const std::string whole = Sides::Text(sides.With(std::nullopt));
      for (unsigned cut = 0; cut < 8; ++cut) {
        std::vector<CheckPart> parts = Cut(sides, 5, [&](std::int64_t seed) { return (cut >> (seed - 1) & 1) != 0; });
        std::reverse(parts.begin(), parts.end());
        EXPECT_EQ(whole, Sides::Text(sides.With(parts))) << kernel.name << " cut " << cut;
      }
    }
  }
}

TEST(SeedParts, OfManySeedsOnlyThoseThatAddSomethingRunAgain) {
  std::mt19937 random(1);
  std::size_t with_news = 0, stopped = 0, proved = 0;
  for (const Kernel& kernel : Kernels()) {
    const Sides sides(kernel, {.seeds = 90, .step_budget = 300});
    const std::string whole = Sides::Text(sides.With(std::nullopt));
    std::vector<CheckPart> parts = Cut(sides, 90, [&](std::int64_t) { return random() % 20 == 0; });
    std::size_t news = 0;
    for (const CheckPart& part : parts) {
      news += part.news.size();
      stopped += part.stopped ? 1 : 0;
      proved += part.schedules == 0 ? 1 : 0;
    }
    with_news += news > 0 ? 1 : 0;
    EXPECT_LT(news, 30u) << kernel.name;
    std::shuffle(parts.begin(), parts.end(), random);
    EXPECT_EQ(whole, Sides::Text(sides.With(parts))) << kernel.name;
  }
  EXPECT_GT(with_news, 2u);
  EXPECT_GT(stopped, 0u);
  EXPECT_GT(proved, 0u);
}

// The rarest of them: nothing of it is in the first seeds, and the report of all names the schedule that a whole check
// does.
TEST(SeedParts, AFindingOfOnePartIsReportedAndReplays) {
  const Sides sides(Kernels()[5], {.seeds = 90});
  const absl::StatusOr<Report> report = sides.With(Cut(sides, 90, [](std::int64_t seed) { return seed % 30 == 0; }));
  ASSERT_TRUE(report.ok()) << report.status();
  const auto found = std::find_if(report->findings.begin(), report->findings.end(), [](const ReportedFinding& finding) {
    return finding.code == FindingCode::kOutOfBounds;
  });
  ASSERT_NE(report->findings.end(), found) << ToText(*report);
  EXPECT_EQ(0u, found->replay.find("s2:")) << found->replay;
}

TEST(SeedParts, ASeedThatDidNotRunIsNoPass) {
  Sides sides(Kernels()[3], {.seeds = 40, .races = false});
  std::vector<CheckPart> parts = Cut(sides, 40, [](std::int64_t seed) { return seed % 10 == 9; });
  ASSERT_EQ(4u, parts.size());
  for (std::size_t lost = 0; lost < parts.size(); ++lost) {
    std::vector<CheckPart> left = parts;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(lost));
    const absl::StatusOr<Report> report = sides.With(left);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->interrupted);
    EXPECT_NE(Verdict::kProved, report->verdict);
    EXPECT_EQ(lost == 0 ? 31 : 30, report->schedules);
  }
  EXPECT_TRUE(sides.With(std::vector<CheckPart>())->interrupted);
}

TEST(SeedParts, AreRefusedWhereTheyAreOfAnotherCheck) {
  Sides sides(Kernels()[3], {.seeds = 40});
  const std::vector<CheckPart> parts = Cut(sides, 40, [](std::int64_t seed) { return seed == 20; });
  const auto refused = [&](const std::vector<CheckPart>& given) {
    return std::string(sides.With(given).status().message());
  };
  EXPECT_EQ("", refused(parts));
  EXPECT_NE(std::string::npos, refused({parts[0], parts[0]}).find("found seed 1 twice"));
  std::vector<CheckPart> changed = parts;
  changed[0].news = {21};
  EXPECT_NE(std::string::npos, refused(changed).find("the seeds 1 to 20 reports other seeds"));
  changed = parts;
  changed[1].last = 41;
  EXPECT_NE(std::string::npos, refused(changed).find("some of the seeds 1 to 39; found the seeds 21 to 40"));
  sides.options().fill = {.kind = Fill::Kind::kZero};
  EXPECT_NE(std::string::npos, refused(parts).find("run it again for this kernel, target, inputs and options"));
  sides.options().parts = parts;
  EXPECT_EQ("a part runs its seeds itself: it takes no parts", sides.Part(1, 3).status().message());
  sides.options().parts.reset();
  EXPECT_FALSE(sides.Part(0, 3).ok());
  EXPECT_FALSE(sides.Part(3, 3).ok());
}

}  // namespace
}  // namespace palladion::check
