// Schedules without values (docs/explanation/checks.md#schedules-without-values) change no report: every case that is
// checked, with more schedules than it asks for, has the same report, bit for bit, whether they run without values or
// in full. Nor do they change a time (docs/explanation/time.md#what-is-computed): every case that has one has the same,
// to the last character.
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "conformance/checked_cases_test_util.h"
#include "emu/testing/for_tests.h"
#include "emu/testing/with_and_without_values.h"
#include "emu/values.h"

namespace palladion::conformance {
namespace {

TEST(Elision, NoReportOfACaseChanges) {
  std::atomic<std::int64_t> elided = 0;
  std::int64_t kernels = 0, some = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    CheckOptions options = test.options;
    check::ForTests how{.elide = false, .elided = &elided};
    options.for_tests = &how;
    const std::string full = test.Report(options);
    how.elide = true;
    const std::int64_t before = elided;
    EXPECT_EQ(test.Report(options), full) << test.name;
    ++kernels;
    some += elided > before;
  });
  // It is no empty claim.
  std::cout << kernels << " kernels, of which " << some << " have " << elided << " schedules without values\n";
  EXPECT_GT(some, Rounds(50));
}

// Cases whose target is no chip are timed on one of its backend.
std::string ChipOf(const Case& test) {
  if (test.target.find('/') != std::string::npos) return test.target;
  if (test.kernel.find("backend mosaic_gpu") != std::string::npos) return "mosaic_gpu/h100";
  if (test.kernel.find("backend triton") != std::string::npos) return "triton/h100";
  return "mosaic_tpu/v5p";  // which has two cores
}

TEST(Elision, NoTimeOfACaseChanges) {
  std::int64_t timed = 0, elided = 0, scalars = 0, wholes = 0;
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const SelectedCase& selected : *cases) {
    const absl::StatusOr<Case>& test = selected.test;
    ASSERT_TRUE(test.ok()) << test.status();
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(test->kernel, {.target = ChipOf(*test)});
    if (!kernel.ok()) continue;
    const absl::StatusOr<std::vector<Tensor>> inputs = MakeInputs(*test, *kernel);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    const absl::StatusOr<timing::TimedTwice> twice =
        timing::TimeWithAndWithoutValues(test->kernel, ChipOf(*test), *inputs);
    if (!twice.ok()) continue;
    EXPECT_EQ(twice->with_values, twice->without_values) << selected.name;
    EXPECT_EQ(twice->missing, "") << selected.name;
    wholes += twice->whole;
    const bool has_time = twice->with_values.front() == '{';
    timed += has_time;
    elided += has_time && twice->elided;
    scalars += has_time && twice->scalars;
  }
  std::cout << timed << " kernels have a time, " << elided << " of them without values, " << scalars
            << " of these with scalars that decide; of " << wholes << " rows by line add up to the whole\n";
  EXPECT_GT(elided, 1000);
  EXPECT_GT(scalars, 40);
  EXPECT_GT(wholes, 300);
}

// Programs that a prefetched table turns on: their number is in the time, so the table is there without values, too.
TEST(Elision, ATimeDependsOnWhatIsPrefetched) {
  constexpr const char* kText = R"(pkir 1;
kernel @k {
  backend mosaic_tpu;
  grid [4];
  prefetch %t: i32[4];
  in %x: f32[32,128] block (8,128) map (%i: i32[], %table: ref<smem,i32[4]>) { return %i, 0:i32; };
  out %o: f32[32,128] block (8,128) map (%i: i32[], %table: ref<smem,i32[4]>) { return %i, 0:i32; };
  body @k (%tr: ref<smem,i32[4]>, %xr: ref<default,f32[8,128]>, %or: ref<default,f32[8,128]>) {
    %i = program_id{axis=0}() : i32[];
    %on = get(%tr.at[%i]) : i32[];
    cond(%on) {
      return;
    } {
      %v = get(%xr) : f32[8,128];
      %w = exp(%v) : f32[8,128];
      _ = swap(%or, %w) : f32[8,128];
      return;
    };
    return;
  }
}
)";
  std::set<std::string> times;
  for (const char* table : {"zeros", "full(1)"}) {
    const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {4}, table),
                                        *TensorFromText(DType::kF32, {32, 128}, "zeros")};
    const absl::StatusOr<timing::TimedTwice> twice = timing::TimeWithAndWithoutValues(kText, "mosaic_tpu/v5e", inputs);
    ASSERT_TRUE(twice.ok()) << twice.status();
    EXPECT_TRUE(twice->elided && twice->scalars);
    EXPECT_EQ(twice->with_values, twice->without_values) << table;
    times.insert(twice->without_values);
  }
  EXPECT_EQ(times.size(), 2u);
}

}  // namespace
}  // namespace palladion::conformance
