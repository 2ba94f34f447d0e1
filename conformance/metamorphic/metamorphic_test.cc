// A sample of the metamorphic test, which `./dev metamorphic` runs in full: each case with a few of the operations that
// it could have, always the same ones. And that the test can fail, and that no row of its table is idle.
#include "conformance/metamorphic/metamorphic.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "conformance/case_selection.h"
#include "conformance/metamorphic/checked_report.h"
#include "conformance/metamorphic/insertion.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::size_t kOfEachCase = PALLADION_METAMORPHIC_CHANGES;  // fewer where a sanitizer slows them down

std::vector<Change> Sample(std::string_view name, const std::vector<Change>& changes) {
  std::set<std::size_t> chosen;
  for (std::size_t turn = 0; turn < kOfEachCase && !changes.empty(); ++turn)
    chosen.insert(Chosen(name, turn * changes.size() / kOfEachCase, changes.size()));
  std::vector<Change> sample;
  for (const std::size_t i : chosen) sample.push_back(changes[i]);
  return sample;
}

TEST(Metamorphic, NoHarmlessOperationOfTheSampleChangesAReport) {
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::size_t comparisons = 0;
  std::map<std::string_view, int> applied;
  for (const SelectedCase& selected : *cases) {
    ASSERT_TRUE(selected.test.ok()) << selected.test.status();
    for (const Comparison& one : Compare(*selected.test, Sample(selected.name, ChangesFor(*selected.test)))) {
      comparisons += one.applies;
      applied[one.change.harmless->name] += one.applies;
      EXPECT_FALSE(one.wrong()) << selected.name << " " << one.change.Name() << ":\n  "
                                << absl::StrJoin(one.differences, "\n  ")
                                << "\n  palladion's text: build/metamorphic --show --only " << one.change.Name() << " "
                                << selected.name;
    }
  }
  std::cout << comparisons << " comparisons\n";
  EXPECT_LT(600u * kOfEachCase, comparisons);
  for (const Harmless& harmless : AllHarmless())
    EXPECT_TRUE(applied[harmless.name] > 0 || kOfEachCase == 1) << harmless.name << " is idle";
}

Case Checked(std::string kernel, std::string target) {
  Case test{.path = "test", .target = std::move(target), .kernel = std::move(kernel)};
  test.schedules = 4;
  return test;
}

constexpr Fact kDecisions[] = {Fact::kNothingDecides};

constexpr std::string_view kTwoPrograms = R"(pkir 1;
kernel @one {
  backend mosaic_tpu;
  grid [2];
  out %o: i32[16,128] block (8,128) map (%i: i32[]) { return %i, 0:i32; };
  body @one (%or: ref<default,i32[8,128]>) {
    %n = scan{length=2, reverse=false}(init=0:i32) (%c: i32[]) {
      %m = add(%c, 1:i32) : i32[];
      return %m;
    } : i32[];
    %v = broadcast_in_dim{shape=[8,128], dims=[]}(%n) : i32[8,128];
    _ = swap(%or, %v) : i32[8,128];
    return;
  }
}
)";

std::vector<std::string> DifferencesWith(const Harmless& harmless, unsigned place = kAtStart) {
  const Case test = Checked(std::string(kTwoPrograms), "mosaic_tpu/v5e");
  const std::vector<Comparison> found = Compare(test, {{&harmless, place}});
  EXPECT_TRUE(found.size() == 1 && found[0].applies) << harmless.name;
  return found.empty() ? std::vector<std::string>() : found[0].differences;
}

// What is put in and is not harmless is seen: a line printed, a semaphore left behind, other numbers, a fact that is
// gone.
TEST(Metamorphic, SeesWhatIsNotHarmless) {
  EXPECT_TRUE(DifferencesWith({.name = "nothing", .text = "%harmless_v = add(3:i32, 4:i32) : i32[];"}).empty());
  EXPECT_FALSE(DifferencesWith({.name = "print", .text = "debug_print{fmt=\"here\"}();"}).empty());
  EXPECT_FALSE(DifferencesWith({.name = "check", .text = "check{message=\"wrong\"}(false);"}).empty());
  EXPECT_FALSE(DifferencesWith({.name = "store",
                                .text = "%harmless_v = broadcast_in_dim{shape=[8,128], dims=[]}(9:i32) : i32[8,128]; "
                                        "_ = swap(%or, %harmless_v) : i32[8,128];"},
                               kAtEnd)
                   .empty());
  const std::string_view leak =
      "semaphore_signal{device_id_type=mesh}(ref=%harmless, inc=1:i32, device_id=none, core_index=none);";
  EXPECT_FALSE(
      DifferencesWith({.name = "leak", .scratch = "ref<semaphore,sem[]>", .text = leak, .denies = kDecisions}).empty());
  const std::string_view read = "%harmless_v = semaphore_read(ref=%harmless) : i32[];";
  EXPECT_TRUE(
      DifferencesWith({.name = "read", .scratch = "ref<semaphore,sem[]>", .text = read, .denies = kDecisions}).empty());
  EXPECT_FALSE(DifferencesWith({.name = "read", .scratch = "ref<semaphore,sem[]>", .text = read}).empty());
}

// Every other line stays what it was, wherever something is put.
TEST(Metamorphic, LinesKeepTheirNumbers) {
  const absl::StatusOr<std::string> text = CanonicalText(kTwoPrograms);
  ASSERT_TRUE(text.ok()) << text.status();
  const std::vector<std::string> before = absl::StrSplit(*text, '\n');
  for (const Harmless& harmless : AllHarmless()) {
    if ((harmless.backends & kMosaicTpu) == 0) continue;
    for (const unsigned place : {kAtStart, kAtEnd, kInLoop}) {
      const std::optional<Inserted> inserted = Insert(*text, harmless, place);
      ASSERT_TRUE(inserted.has_value()) << harmless.name;
      EXPECT_TRUE(CanonicalText(inserted->text).ok()) << inserted->text << CanonicalText(inserted->text).status();
      const std::vector<std::string> after = absl::StrSplit(inserted->text, '\n');
      ASSERT_EQ(before.size(), after.size()) << harmless.name;
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(before[i] != after[i], inserted->lines.contains(static_cast<int>(i) + 1))
            << harmless.name << " " << i;
      }
    }
  }
}

// A scope of global memory that is all of a body of a GPU's kernel stays that.
TEST(Metamorphic, GlobalScratchOfAGridStaysOutermost) {
  constexpr std::string_view kScratch = R"(pkir 1;
kernel @g {
  backend mosaic_gpu;
  out %o: f32[128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @g (%or: ref<gmem,f32[128]>) {
    run_scoped{collective_axes=[]}() (%s: ref<gmem,f32[128]>) {
      %v = get(%s) : f32[128];
      _ = swap(%or, %v) : f32[128];
      return;
    };
    return;
  }
}
)";
  const absl::StatusOr<std::string> text = CanonicalText(kScratch);
  ASSERT_TRUE(text.ok()) << text.status();
  const Harmless fence{.name = "fence", .text = "commit_smem();"};
  for (const unsigned place : {kAtStart, kAtEnd}) {
    const std::optional<Inserted> inserted = Insert(*text, fence, place);
    ASSERT_TRUE(inserted.has_value());
    EXPECT_LT(inserted->text.find("run_scoped"), inserted->text.find("commit_smem();")) << inserted->text;
    EXPECT_LT(inserted->text.find("commit_smem();"), inserted->text.rfind("};\n    return;")) << inserted->text;
  }
}

}  // namespace
}  // namespace palladion::conformance
