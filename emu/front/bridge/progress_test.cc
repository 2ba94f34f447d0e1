// What is said of how far a run is.
#include "emu/front/bridge/progress.h"

#include <gtest/gtest.h>

namespace palladion::bridge {
namespace {

TEST(Progress, OfACheckItsSchedules) {
  const RunControl::Counts counts{.schedules_done = 15, .schedules = 64, .programs_done = 50, .programs = 100};
  const Progress progress = ProgressOf(counts, 5);
  EXPECT_EQ("schedules", progress.unit);
  EXPECT_EQ(15, progress.done);
  EXPECT_EQ(64, progress.total);
  EXPECT_DOUBLE_EQ(3.1, progress.rate);  // the running one is half done
  EXPECT_NEAR(48.5 / 3.1, progress.seconds_left, 1e-9);
  EXPECT_EQ("@add: 15 of 64 schedules, 50 of 100 programs of the next, 3.1 a second, 15 s left",
            ProgressText("add", counts, 5));
}

TEST(Progress, OfOneScheduleItsPrograms) {
  const RunControl::Counts counts{.schedules = 1, .programs_done = 256, .programs = 1024};
  EXPECT_EQ("@add: 256 of 1024 programs, 128 a second, 6 s left", ProgressText("add", counts, 2));
  EXPECT_EQ("programs", ProgressOf(counts, 2).unit);
}

TEST(Progress, OfOneProgramItsBudget) {
  EXPECT_EQ("@add: 30 s, 25 % of the budget, at most 90 s left",
            ProgressText("add", {.programs = 1, .spent = 250, .budget = 1000}, 30));
  EXPECT_EQ("@add: 3 s", ProgressText("add", {.programs = 1}, 3));
}

TEST(Progress, OfASearchThereIsNoTotal) {
  const Progress progress = ProgressOf({.schedules_done = 1000}, 2);
  EXPECT_EQ(0, progress.total);
  EXPECT_EQ(-1, progress.seconds_left);
  EXPECT_EQ("@add: 1000 schedules, 500 a second", ProgressText("add", {.schedules_done = 1000}, 2));
}

TEST(Progress, TheListHasTheRunsInProgress) {
  EXPECT_EQ("[]", RunsInProgress());
  RunControl control;
  control.BeginLaunch(8);
  control.EndPrograms(3);
  {
    const ShownRun shown("add", 7, control);
    const std::string json = RunsInProgress();
    EXPECT_EQ(0u, json.find("[{\"kernel\": \"add\", \"session\": 7, \"seconds\": ")) << json;
    EXPECT_NE(json.find("\"unit\": \"programs\", \"done\": 3, \"total\": 8, "), std::string::npos) << json;
  }
  EXPECT_EQ("[]", RunsInProgress());
}

}  // namespace
}  // namespace palladion::bridge
