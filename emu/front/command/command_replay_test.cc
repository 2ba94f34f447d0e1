// run, why, log and time with --replay: the run of a schedule, and not that of program order. That it is the run of the
// check that named the schedule, of every case with a finding: conformance/replay_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

// Thread 1 writes and thread 0 reads, with nothing between: in program order thread 1 goes on first from where they
// meet, and the reader finds what was written.
constexpr const char* kRace = R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: i32[128] space gmem;
  out %o: i32[128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=2, thread_name="wg"};
  body @k (%xr: ref<gmem,i32[128]> as "x_ref", %or: ref<gmem,i32[128]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,i32[128]> as "s") {
      %wg = axis_index{axis="wg"}() : i32[];
      cond(%wg) {
        %r = get(%s) : i32[128];
        _ = swap(%or, %r) : i32[128];
        return;
      } {
        %u = get(%xr) : i32[128];
        _ = swap(%s, %u) : i32[128];
        return;
      };
      return;
    };
    return;
  }
}
)";

// The programs of a parallel grid write one element.
constexpr const char* kLast = R"(pkir 1;
kernel @store {
  backend triton;
  grid [4];
  in %x: i32[1];
  out %o: i32[1];
  body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]> as "o_ref") {
    %p = program_id{axis=0}() : i32[];
    _ = swap(%or.at[0], %p) : i32[];
    return;
  }
}
)";

class ReplayCommandTest : public CommandTest {
 protected:
  // Of the report's finding with this code.
  std::string ScheduleOf(const std::string& file, const std::string& code, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"check", file, "--in", "x=iota", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    Run(words);
    const std::size_t finding = out_.find(Cat("\"code\": \"", code, "\""));
    const std::string key = "\"replay\": \"";
    const std::size_t at = finding == std::string::npos ? finding : out_.find(key, finding);
    if (at == std::string::npos) return out_ + err_;
    return out_.substr(at + key.size(), out_.find('"', at + key.size()) - at - key.size());
  }

  std::int32_t LastOf(const std::string& directory) const {
    const absl::StatusOr<Tensor> o = ReadNpy(Path(directory + "/o.npy"), DType::kI32);
    return o.ok() ? o->data<std::int32_t>()[o->num_elements() - 1] : -1;
  }
};

TEST_F(ReplayCommandTest, RunWritesTheOutputsOfThatSchedule) {
  const std::string file = Write("last.pkir", kLast);
  const std::string schedule = ScheduleOf(file, "NONDET", {"--no-races"});
  ASSERT_EQ(0u, schedule.find("s2:")) << schedule;
  EXPECT_EQ(0, Run({"run", file, "--in", "x=iota", "--out", Path("plain")})) << err_;
  EXPECT_EQ(1, Run({"run", file, "--in", "x=iota", "--out", Path("replayed"), "--replay", schedule})) << err_;
  EXPECT_NE(std::string::npos, out_.find("error[RACE_WW]")) << out_;  // what that schedule shows
  EXPECT_EQ(3, LastOf("plain"));
  EXPECT_EQ(0, LastOf("replayed"));
  const std::string named = Write("schedule", schedule + "\n");
  EXPECT_EQ(1, Run({"run", file, "--in", "x=iota", "--stats", "--replay", "@" + named})) << err_;
}

TEST_F(ReplayCommandTest, RunWhyAndLogAreOfOneRun) {
  const std::string file = Write("race.pkir", kRace);
  const std::string schedule = ScheduleOf(file, "UNINIT");
  ASSERT_EQ(0u, schedule.find("s2:")) << schedule;
  Run({"run", file, "--in", "x=iota", "--out", Path("plain")});
  EXPECT_EQ(127, LastOf("plain"));
  Run({"run", file, "--in", "x=iota", "--out", Path("replayed"), "--replay", schedule});
  EXPECT_NE(127, LastOf("replayed"));
  EXPECT_EQ(0, Run({"why", file, "--in", "x=iota", "--element", "o[5]"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("x[5] = 5: input")) << out_;
  EXPECT_EQ(0, Run({"why", file, "--in", "x=iota", "--element", "o[5]", "--replay", schedule})) << err_;
  EXPECT_NE(std::string::npos, out_.find("never written")) << out_;
  // The reader's lines come first.
  EXPECT_EQ(0, Run({"log", file, "--in", "x=iota"})) << err_;
  const auto reads_first = [&] { return out_.find("read s[") < out_.find("write s["); };
  EXPECT_FALSE(reads_first()) << out_;
  EXPECT_EQ(1, Run({"log", file, "--in", "x=iota", "--replay", schedule})) << err_;
  EXPECT_NE(std::string::npos, out_.find("# defect UNINIT")) << out_;
  EXPECT_TRUE(reads_first()) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nend ")) << out_;
}

TEST_F(ReplayCommandTest, WhatWouldNotBeThatRunIsRefused) {
  const std::string race = Write("race.pkir", kRace), last = Write("last.pkir", kLast);
  const std::string schedule = ScheduleOf(race, "UNINIT");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run", "--stats"}, {"why", "--element", "o[0]"}, {"log"}, {"time"}}) {
    const auto with = [&](const std::string& file, const std::vector<std::string>& more) {
      std::vector<std::string> words = command;
      words.insert(words.begin() + 1, {file, "--in", "x=iota", "--target", file == race ? "h100" : "triton/h100"});
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    ExpectError(4, with(race, {"--replay", ""}), "--replay needs the schedule that a report names; found ''");
    ExpectError(4, with(race, {"--replay", "nonsense"}), "schedule");
    ExpectError(4, with(last, {"--replay", schedule}), "recorded for");
    ExpectError(4, with(race, {"--replay", "@" + Path("no")}), "no");
    if (command[0] == "time") continue;
    ExpectError(4, with(race, {"--fill", "zero"}), "it goes with --replay SCHEDULE");
    ExpectError(4, with(race, {"--replay", schedule, "--fill", "zero"}), "fill=zero");
    if (command[0] == "why") continue;
    ExpectError(4, with(race, {"--replay", schedule, "--program", "0"}), "so --program does not go with it");
  }
}

TEST_F(ReplayCommandTest, TimeTakesItsOwnScheduleAlone) {
  const std::string file = Write("race.pkir", kRace), written = Path("schedule");
  const std::vector<std::string> time = {"time", file, "--in", "x=iota", "--target", "h100"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = time;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(0, Run(with({"--schedule", written}))) << err_;
  const std::string plain = out_.substr(0, out_.find("wrote "));
  EXPECT_EQ(0, Run(with({"--replay", "@" + written}))) << err_;
  EXPECT_EQ(plain, out_);
  const std::string other = ScheduleOf(file, "UNINIT", {"--target", "h100"});
  ExpectError(4, with({"--replay", other}), "the chip's times decide what comes next in a timed run");
  const std::string last = Write("last.pkir", kLast);
  const std::string order = ScheduleOf(last, "NONDET", {"--no-races", "--target", "triton/h100"});
  ExpectError(4, {"time", last, "--in", "x=iota", "--target", "triton/h100", "--replay", order},
              "blocks of Triton kernels queue for more memory");
  ExpectError(3, {"time", last, "--in", "x=iota", "--target", "triton/h100", "--schedule", Path("none")},
              "palladion check names schedules that replay");
}

}  // namespace
}  // namespace palladion::command
