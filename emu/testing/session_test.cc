// Semaphores that one kernel gives and another takes, and what stays in flight between the two. Spec:
// docs/spec/tpu-sessions.md.
#include "emu/session.h"

#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion {
namespace {

constexpr std::string_view kV5e = "mosaic_tpu/v5e";

std::string Copy(std::string_view what, std::string_view rows, std::string_view sem = "%sr") {
  const std::string_view more = what == "dma_start" ? "priority=0, add=false" : "insert_dummy_device=false";
  return Cat("    ", what, "{device_id_type=mesh, ", more, "}(src=%xr.at[", rows, ", *], dst=%yr.at[", rows,
             ", *], dst_sem=", sem, ", src_sem=none, device_id=none);\n");
}

// x and y: f32[16,128]; y comes out as z, in the same memory. `semaphore` is a line of an operand.
std::string Kernel(std::string_view name, std::string_view before, std::string_view after, std::string_view params,
                   std::string_view body) {
  return Cat("pkir 1;\nkernel @", name,
             " {\n  backend mosaic_tpu;\n  in %x: f32[16,128] space any;\n  in %y: f32[16,128] space any;\n", before,
             "  out %z: f32[16,128] space any alias %y;\n", after,
             "  grid [];\n  scratch %own: ref<semaphore,dma_sem[]>;\n  body @", name,
             " (%xr: ref<any,f32[16,128]>, %yr: ref<any,f32[16,128]>, ", params, ", %or: ref<semaphore,dma_sem[]>) {\n",
             body, "    return;\n  }\n}\n");
}
constexpr std::string_view kZ = "%zr: ref<any,f32[16,128]>";

std::string Starts(std::string_view body, std::string_view type = "dma_sem[]") {
  return Kernel("start", "", Cat("  out %sem: ref<semaphore,", type, ">;\n"),
                Cat(kZ, ", %sr: ref<semaphore,", type, ">"), body);
}
std::string Waits(std::string_view body, std::string_view type = "dma_sem[]") {
  return Kernel("wait", Cat("  in %sem: ref<semaphore,", type, ">;\n"), "", Cat("%sr: ref<semaphore,", type, ">, ", kZ),
                body);
}
// Takes x and y alone.
std::string Uses(std::string_view body) { return Kernel("use", "", "", kZ, body); }

Tensor Iota() { return *TensorFromText(DType::kF32, {16, 128}, "iota"); }
Tensor Zeros() { return *TensorFromText(DType::kF32, {16, 128}, "zeros"); }

struct Result {
  Report report;
  std::vector<Tensor> outputs;
};

// A check, whose every schedule begins with what the session holds.
Result CheckIn(Session& session, const std::string& text, const std::vector<Tensor>& inputs) {
  Result result;
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = std::string(kV5e)});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return result;
  CheckOptions options{.seeds = 16, .all_seeds = true, .threads = 1};
  options.run.session = &session;
  absl::StatusOr<Report> report = Check(*kernel, inputs, options, &result.outputs);
  EXPECT_TRUE(report.ok()) << report.status() << "\n" << text;
  if (report.ok()) result.report = *std::move(report);
  return result;
}

const std::string kStart = Starts(Copy("dma_start", "0 +: 8"));
const std::string kWait = Waits(Copy("dma_wait", "0 +: 8"));

TEST(SessionTest, ACopyThatOneKernelStartsIsAwaitedInTheNext) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(started.report)) << ToText(started.report);
  ASSERT_EQ(2u, started.outputs.size());
  EXPECT_TRUE(IsNaN(started.outputs[0], 0));  // in flight
  EXPECT_EQ(0.0F, started.outputs[0].data<float>()[8 * 128]);
  const Result ended = CheckIn(session, kWait, {Iota(), started.outputs[0], started.outputs[1]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(ended.report)) << ToText(ended.report);
  EXPECT_EQ(Verdict::kProved, started.report.verdict);  // every schedule leaves the same copy
  EXPECT_EQ(Verdict::kProved, ended.report.verdict);
  EXPECT_EQ(16, ended.report.schedules);
  for (std::size_t i = 0; i < 16 * 128; ++i)
    ASSERT_EQ(i < 8 * 128 ? static_cast<float>(i) : 0.0F, ended.outputs[0].data<float>()[i]) << i;
  EXPECT_TRUE(session.End().empty());
}

TEST(SessionTest, ARunIsAsGoodAsACheck) {
  Session session;
  absl::StatusOr<PreparedKernel> start = PrepareText(kStart, {.target = std::string(kV5e)});
  absl::StatusOr<PreparedKernel> wait = PrepareText(kWait, {.target = std::string(kV5e)});
  ASSERT_TRUE(start.ok() && wait.ok());
  const std::vector<Tensor> first = {Iota(), Zeros()};
  absl::StatusOr<RunResult> started = palladion::Run(*start, first, {.session = &session});
  ASSERT_TRUE(started.ok()) << started.status();
  const std::vector<Tensor> second = {Iota(), started->outputs[0], started->outputs[1]};
  absl::StatusOr<RunResult> ended = palladion::Run(*wait, second, {.session = &session});
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(1023.0F, ended->outputs[0].data<float>()[1023]);
  EXPECT_TRUE(session.End().empty());
  // Without a session the copy has landed when its kernel ends.
  started = palladion::Run(*start, first, {});
  ASSERT_TRUE(started.ok());
  EXPECT_EQ(1023.0F, started->outputs[0].data<float>()[1023]);
}

TEST(SessionTest, NoAgentWaits) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  const std::vector<Report> left = session.End();
  ASSERT_EQ(1u, left.size());
  EXPECT_EQ("start", left[0].kernel);
  EXPECT_EQ(threads::Codes{"NOT_AWAITED"}, threads::CodesOf(left[0]));
  EXPECT_EQ(11, left[0].findings[0].text_line);
  EXPECT_TRUE(session.End().empty());
}

// To the other half, by a copy of the kernel's own.
std::string Get(std::string_view rows) {
  const std::string refs =
      Cat("src=%yr.at[", rows, ", *], dst=%zr.at[8 +: 8, *], dst_sem=%or, src_sem=none, device_id=none");
  return Cat("    dma_start{device_id_type=mesh, priority=0, add=false}(", refs,
             ");\n    dma_wait{device_id_type=mesh, insert_dummy_device=false}(", refs, ");\n");
}

TEST(SessionTest, ReadBeforeItWasWaitedFor) {
  for (const bool early : {false, true}) {
    Session session;
    const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
    const std::vector<Tensor> next = {Iota(), started.outputs[0], started.outputs[1]};
    const std::string wait = Copy("dma_wait", "0 +: 8"), get = Get("0 +: 8");
    const Result ended = CheckIn(session, Waits(early ? get + wait : wait + get), next);
    EXPECT_EQ(early, threads::CodesOf(ended.report).contains("RACE_RW")) << ToText(ended.report);
    EXPECT_EQ(early, !threads::CodesOf(ended.report).empty());
  }
}

// The copy lands in the kernel's own memory, not in the caller's.
TEST(SessionTest, TheArrayIsAnInputAlone) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  std::string text = Waits(Copy("dma_wait", "0 +: 8") + Get("0 +: 8"));
  const std::string_view alias = " alias %y";
  text.erase(text.find(alias), alias.size());
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = std::string(kV5e)});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {Iota(), started.outputs[0], started.outputs[1]};
  absl::StatusOr<RunResult> ended = palladion::Run(*kernel, inputs, {.session = &session});
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(1023.0F, ended->outputs[0].data<float>()[2047]);
  EXPECT_TRUE(IsNaN(inputs[1], 0));
}

TEST(SessionTest, AKernelBetweenTouchesWhatIsInFlight) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  const Result beside = CheckIn(session, Uses(""), {Iota(), started.outputs[0]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(beside.report)) << ToText(beside.report);
  const Result between = CheckIn(session, Uses(Get("0 +: 8")), {Iota(), started.outputs[0]});
  EXPECT_TRUE(threads::CodesOf(between.report).contains("RACE_ASYNC")) << ToText(between.report);
  // What another kernel hands on unread is still the array of the copy.
  const Result ended = CheckIn(session, kWait, {Iota(), beside.outputs[0], started.outputs[1]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(ended.report)) << ToText(ended.report);
  EXPECT_EQ(1023.0F, ended.outputs[0].data<float>()[1023]);
}

TEST(SessionTest, TheKernelThatWaitsHasNotTheArray) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  const Result ended = CheckIn(session, kWait, {Iota(), Zeros(), started.outputs[1]});
  EXPECT_EQ(threads::Codes{"USE_AFTER_SCOPE"}, threads::CodesOf(ended.report)) << ToText(ended.report);
  EXPECT_TRUE(session.End().empty());
}

// Two arrays of one form with a copy of the same elements in flight into each: they are not confused.
TEST(SessionTest, TheKernelThatWaitsHasTheArrayOfAnotherCopy) {
  Session session;
  const Result first = CheckIn(session, kStart, {Iota(), Zeros()});
  const Result second = CheckIn(session, kStart, {Iota(), Zeros()});
  const Result wrong = CheckIn(session, kWait, {Iota(), second.outputs[0], first.outputs[1]});
  EXPECT_EQ(threads::Codes{"USE_AFTER_SCOPE"}, threads::CodesOf(wrong.report)) << ToText(wrong.report);
  const Result right = CheckIn(session, kWait, {Iota(), second.outputs[0], second.outputs[1]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(right.report)) << ToText(right.report);
}

TEST(SessionTest, WaitedForTwice) {
  Session session;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  const std::vector<Tensor> next = {Iota(), started.outputs[0], started.outputs[1]};
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(CheckIn(session, kWait, next).report));
  EXPECT_EQ(threads::Codes{"DEADLOCK"}, threads::CodesOf(CheckIn(session, kWait, next).report));
}

TEST(SessionTest, ANewSemaphoreHoldsNothing) {
  Session session;
  const Tensor none = *TensorFromText(DType::kI16, {}, "[0]");
  EXPECT_EQ(threads::Codes{"DEADLOCK"}, threads::CodesOf(CheckIn(session, kWait, {Iota(), Zeros(), none}).report));
}

// Two semaphores, two copies; one kernel waits for one of them and passes the other on.
TEST(SessionTest, AnArrayOfSemaphoresOverThreeKernels) {
  Session session;
  const Result started = CheckIn(
      session,
      Starts(Cat(Copy("dma_start", "0 +: 8", "%sr.at[0]"), Copy("dma_start", "8 +: 8", "%sr.at[1]")), "dma_sem[2]"),
      {Iota(), Zeros()});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(started.report)) << ToText(started.report);
  const Result first = CheckIn(session, Waits(Copy("dma_wait", "8 +: 8", "%sr.at[1]"), "dma_sem[2]"),
                               {Iota(), started.outputs[0], started.outputs[1]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(first.report)) << ToText(first.report);
  EXPECT_TRUE(IsNaN(first.outputs[0], 0));
  EXPECT_EQ(2047.0F, first.outputs[0].data<float>()[2047]);
  const Result second = CheckIn(session, Waits(Copy("dma_wait", "0 +: 8", "%sr.at[0]"), "dma_sem[2]"),
                                {Iota(), first.outputs[0], started.outputs[1]});
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(second.report)) << ToText(second.report);
  for (std::size_t i = 0; i < 16 * 128; ++i) ASSERT_EQ(static_cast<float>(i), second.outputs[0].data<float>()[i]) << i;
  EXPECT_TRUE(session.End().empty());
}

TEST(SessionTest, ARegularSemaphoreKeepsItsCount) {
  const auto signal = [](int n) {
    return Starts(Cat("    semaphore_signal{device_id_type=mesh}(ref=%sr, inc=", n, ":i32, device_id=none);\n"),
                  "sem[]");
  };
  const std::string wait = Waits("    semaphore_wait(ref=%sr, value=2:i32, decrement=true);\n", "sem[]");
  for (const int n : {1, 2, 3}) {
    Session session;
    const Result started = CheckIn(session, signal(n), {Iota(), Zeros()});
    EXPECT_EQ(threads::Codes{}, threads::CodesOf(started.report)) << ToText(started.report);
    const Result ended = CheckIn(session, wait, {Iota(), started.outputs[0], started.outputs[1]});
    EXPECT_EQ(n < 2 ? threads::Codes{"DEADLOCK"} : threads::Codes{}, threads::CodesOf(ended.report))
        << ToText(ended.report);
    const std::vector<Report> left = session.End();
    EXPECT_EQ(n == 2, left.empty());
    if (n == 3) {
      EXPECT_EQ(threads::Codes{"SEM_LEAK"}, threads::CodesOf(left[0]));
    }
  }
}

TEST(SessionTest, ACopyToScratchDoesNotOutliveTheKernel) {
  Session session;
  std::string text = kStart;
  const auto replace = [&](std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(std::string::npos, at) << from;
    text.replace(at, from.size(), to);
  };
  replace("  body", "  scratch %b: ref<vmem,f32[8,128]>;\n  body");
  replace("dma_sem[]>) {", "dma_sem[]>, %br: ref<vmem,f32[8,128]>) {");
  replace("dst=%yr.at[0 +: 8, *]", "dst=%br");
  const Result started = CheckIn(session, text, {Iota(), Zeros()});
  EXPECT_EQ(threads::Codes{"NOT_AWAITED"}, threads::CodesOf(started.report)) << ToText(started.report);
}

absl::Status RunStatus(Session& session, const std::string& text, const std::vector<Tensor>& inputs) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = std::string(kV5e)});
  return kernel.ok() ? palladion::Run(*kernel, inputs, {.session = &session}).status() : kernel.status();
}

TEST(SessionTest, WhatIsNoSemaphoreOfTheSession) {
  Session session, other;
  const Result started = CheckIn(session, kStart, {Iota(), Zeros()});
  const std::vector<Tensor> next = {Iota(), started.outputs[0], started.outputs[1]};
  const std::string stranger(RunStatus(other, kWait, next).message());
  EXPECT_NE(std::string::npos, stranger.find("operand 'sem' is no semaphore of this session")) << stranger;
  const std::string regular = Waits("    semaphore_wait(ref=%sr, value=1:i32, decrement=true);\n", "sem[]");
  const std::string kind(RunStatus(session, regular, next).message());
  EXPECT_NE(std::string::npos, kind.find("operand 'sem' must be sem[]; found dma_sem[], which kernel @start gave"))
      << kind;
}

TEST(SessionTest, WhereThereAreNone) {
  std::string text = kStart;
  text.replace(text.find("grid []"), 7, "params {dimension_semantics=[\"parallel\"]};\n  grid [2]");
  Session session;
  EXPECT_EQ(absl::StatusCode::kUnimplemented, RunStatus(session, text, {Iota(), Zeros()}).code());
}

// The barrier semaphore of a collective id is one for all kernels.
TEST(SessionTest, ABarrierSemaphoreThatAKernelLeft) {
  const auto kernel = [](int signals, int waits) {
    return Cat(
        "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  params {collective_id=7};\n  devices {x=2};\n"
        "  out %o: i32[] space smem;\n  grid [];\n  body @k (%or: ref<smem,i32[]>) {\n"
        "    %me = axis_index{axis=\"x\"}() : i32[];\n    %to = sub(1:i32, %me) : i32[];\n"
        "    %b = get_barrier_semaphore() : ref<semaphore,barrier_sem[]>;\n"
        "    semaphore_signal{device_id_type=mesh}(ref=%b, inc=",
        signals, ":i32, device_id=%to);\n    semaphore_wait(ref=%b, value=", waits,
        ":i32, decrement=true);\n    _ = swap(%or, %me) : i32[];\n    return;\n  }\n}\n");
  };
  Session session;
  EXPECT_EQ(threads::Codes{"SEM_LEAK"}, threads::CodesOf(CheckIn(session, kernel(2, 1), {}).report));
  // One of each was there; the others of the session come too late to be missed.
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(CheckIn(session, kernel(1, 2), {}).report));
  EXPECT_EQ(threads::Codes{"DEADLOCK"}, threads::CodesOf(CheckIn(session, kernel(1, 2), {}).report));
}

// Five devices in a ring: each copies to the memory of the one on its right, once both neighbours have signalled
// their entry. `twice`: and then that they have seen both of their neighbours' entries.
std::string RingText(bool twice, std::string_view params = "collective_id=7") {
  const auto both = [](std::string_view semaphore) {
    std::string text;
    for (const std::string_view to : {"%left", "%right"})
      Append(&text, "    semaphore_signal{device_id_type=mesh}(ref=", semaphore, ", inc=1:i32, device_id=", to, ");\n");
    return Cat(text, "    semaphore_wait(ref=", semaphore, ", value=2:i32, decrement=true);\n");
  };
  const std::string copy = "(src=%xr, dst=%br, dst_sem=%recv, src_sem=%send, device_id=%right);\n";
  const std::string keep = "(src=%br, dst=%or, dst_sem=%recv, src_sem=none, device_id=none);\n";
  const std::string start = "    dma_start{device_id_type=mesh, priority=0, add=false}";
  const std::string wait = "    dma_wait{device_id_type=mesh, insert_dummy_device=false}";
  return Cat(
      "pkir 1;\nkernel @ring {\n  backend mosaic_tpu;\n  params {", params,
      "};\n  devices {x=5};\n  in %x: f32[1] space any;\n  out %o: f32[1] space any;\n  grid [];\n"
      "  scratch %b: ref<vmem,f32[1]>;\n  scratch %s: ref<semaphore,dma_sem[]>;\n"
      "  scratch %r: ref<semaphore,dma_sem[]>;\n  scratch %h: ref<semaphore,sem[]>;\n"
      "  body @ring (%xr: ref<any,f32[1]>, %or: ref<any,f32[1]>, %br: ref<vmem,f32[1]>, %send: "
      "ref<semaphore,dma_sem[]>, %recv: ref<semaphore,dma_sem[]>, %heard: ref<semaphore,sem[]>) {\n"
      "    %me = axis_index{axis=\"x\"}() : i32[];\n    %a = add(%me, 1:i32) : i32[];\n"
      "    %right = rem(%a, 5:i32) : i32[];\n    %c = add(%me, 4:i32) : i32[];\n"
      "    %left = rem(%c, 5:i32) : i32[];\n    %bar = get_barrier_semaphore() : ref<semaphore,barrier_sem[]>;\n",
      both("%bar"), twice ? both("%heard") : "", start, copy, wait,
      "(src=%br, dst=%xr, dst_sem=%send, src_sem=%recv, device_id=%right);\n", wait, copy, start, keep, wait, keep,
      "    return;\n  }\n}\n");
}

Report CheckLaunches(const std::string& text, std::int64_t launches, std::vector<Tensor>* outputs = nullptr) {
  absl::StatusOr<PreparedKernel> kernel = PrepareLaunches(text, launches, {.target = std::string(kV5e)});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  absl::StatusOr<Report> report =
      Check(*kernel, {*TensorFromText(DType::kF32, {5, 1}, "iota")}, {.seeds = 256, .threads = 1}, outputs);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

TEST(LaunchesInARow, ADeviceIsOneLaunchAhead) {
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(CheckLaunches(RingText(false), 1)));
  const Report report = CheckLaunches(RingText(false), 2);
  EXPECT_TRUE(threads::CodesOf(report).contains("PEER_LIFETIME")) << ToText(report);
  std::vector<Tensor> outputs;
  const Report right = CheckLaunches(RingText(true), 2, &outputs);
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(right)) << ToText(right);
  ASSERT_EQ(2u, outputs.size());
  for (const Tensor& output : outputs) EXPECT_EQ(4.0F, output.data<float>()[0]);
}

// y is what the launch before gave.
TEST(LaunchesInARow, AnOutputInTheMemoryOfAnInputGoesOn) {
  const auto copy = [](std::string_view refs) {
    return Cat("    dma_start{device_id_type=mesh, priority=0, add=false}(", refs,
               ", dst_sem=%s, src_sem=none, device_id=none);\n    dma_wait{device_id_type=mesh, "
               "insert_dummy_device=false}(",
               refs, ", dst_sem=%s, src_sem=none, device_id=none);\n");
  };
  std::string text = Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  in %y: f32[4] space any;\n  out %z: f32[4] space any alias %y;\n"
      "  grid [1];\n  scratch %b: ref<vmem,f32[4]>;\n  scratch %d: ref<semaphore,dma_sem[]>;\n"
      "  body @k (%yr: ref<any,f32[4]>, %zr: ref<any,f32[4]>, %br: ref<vmem,f32[4]>, %s: ref<semaphore,dma_sem[]>) {\n",
      copy("src=%yr, dst=%br"),
      "    %v = get(%br) : f32[4];\n    %w = add(%v, 1.0:f32) : f32[4];\n    _ = swap(%br, %w) : f32[4];\n",
      copy("src=%br, dst=%zr"), "    return;\n  }\n}\n");
  absl::StatusOr<PreparedKernel> kernel = PrepareLaunches(text, 3, {.target = std::string(kV5e)});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  absl::StatusOr<RunResult> run = palladion::Run(*kernel, {*TensorFromText(DType::kF32, {4}, "iota")}, {});
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(1u, run->outputs.size());
  EXPECT_EQ(6.0F, run->outputs[0].data<float>()[3]);
  text.replace(text.find("space any alias"), 9, "space vmem");
  EXPECT_EQ(absl::StatusCode::kUnimplemented, PrepareLaunches(text, 3, {.target = std::string(kV5e)}).status().code());
}

TEST(LaunchesInARow, WhatHasNone) {
  const auto why = [](const std::string& text, std::int64_t launches = 2) {
    const absl::Status status = PrepareLaunches(text, launches, {.target = std::string(kV5e)}).status();
    return std::string(status.message());
  };
  EXPECT_NE(std::string::npos, why(kStart).find("goes from launch to launch by itself")) << why(kStart);
  EXPECT_NE(std::string::npos, why(RingText(false), 65).find("from 1 to 64"));
  std::string barrier = RingText(false, "");
  for (std::size_t at; (at = barrier.find("    %bar = ")) != std::string::npos;)
    barrier.erase(at, barrier.find('\n', at) + 1 - at);
  for (std::size_t at; (at = barrier.find("%bar,")) != std::string::npos;) barrier.replace(at, 4, "%heard");
  EXPECT_NE(std::string::npos, why(barrier).find("each launch begins with a barrier of all devices")) << why(barrier);
  std::string grid = RingText(false);
  grid.replace(grid.find("grid []"), 7, "grid [2]");
  EXPECT_NE(std::string::npos, why(grid).find("only a kernel of one program")) << why(grid);
}

}  // namespace
}  // namespace palladion
