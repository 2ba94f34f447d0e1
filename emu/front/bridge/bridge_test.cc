// Calls from compiled programs: options, sessions and their reports, kept kernels, interrupts, the C ABI of it.
#include "emu/front/bridge/bridge.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "emu/c_api.h"
#include "emu/testing/kernel_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::bridge {
namespace {

constexpr std::int64_t kShape[] = {8};

struct AddCall {
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {1, 1, 1, 1, 1, 1, 1, 1}, o[8] = {};

  absl::Status Run(Bridge& bridge, const std::string& text, const std::string& options, std::int64_t session) {
    const ConstArray in[] = {{DType::kF32, kShape, reinterpret_cast<const std::byte*>(x)},
                             {DType::kF32, kShape, reinterpret_cast<const std::byte*>(y)}};
    const MutableArray out[] = {{DType::kF32, kShape, reinterpret_cast<std::byte*>(o)}};
    return bridge.Call({.text = text, .options = options, .session = session}, in, out);
  }
};

// Its second block of x is the third: out of bounds.
std::string BadKernel() { return AddKernel("2:i32"); }

std::string JsonOf(const std::optional<Taken>& taken) { return taken.has_value() ? taken->json : "no session"; }

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Bridge, OptionsAreReadAndWrongOnesNamed) {
  const absl::StatusOr<BridgeOptions> how = ParseBridgeOptions(
      "check=1;seeds=3;races=0;fill=random:4;strict=1;threads=2;budget=9;links=ordered;raise=OOB,tpu.access.space,"
      "UNINIT");
  ASSERT_TRUE(how.ok()) << how.status();
  EXPECT_TRUE(how->check);
  EXPECT_EQ(3, how->options.seeds);
  EXPECT_FALSE(how->options.races);
  EXPECT_EQ(Fill::Kind::kRandom, how->options.fill.kind);
  EXPECT_EQ(4u, how->options.fill.seed);
  EXPECT_EQ(LinkOrder::kOrdered, how->options.links);
  EXPECT_TRUE(how->options.strict);
  EXPECT_EQ(2, how->options.threads);
  EXPECT_EQ(9, how->options.run.loop_budget);
  EXPECT_EQ((std::set<FindingCode>{FindingCode::kOutOfBounds, FindingCode::kUninitialised}), how->raise_codes);
  EXPECT_EQ((std::vector<std::string>{"tpu.access.space"}), how->raise_limits);
  EXPECT_FALSE(how->options.run.padded_bounds);
  EXPECT_TRUE(ParseBridgeOptions("bounds=padded")->options.run.padded_bounds);
  EXPECT_TRUE(ParseBridgeOptions("engines_late=1")->options.run.engines_late);
  EXPECT_TRUE(ParseBridgeOptions("raise=all")->raise_all);
  EXPECT_FALSE(ParseBridgeOptions("raise=none")->raise_all);
  EXPECT_FALSE(ParseBridgeOptions("")->check);
  for (const char* wrong : {"seeds=0", "seeds=x", "check=2", "budget=0", "colour=red", "seeds"}) {
    const absl::StatusOr<BridgeOptions> status = ParseBridgeOptions(wrong);
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.status().code()) << wrong;
  }
  EXPECT_TRUE(Has(std::string(ParseBridgeOptions("colour=red").status().message()), "'colour'"));
}

TEST(Bridge, ReportsWaitInTheirSession) {
  Bridge bridge;
  const std::int64_t one = bridge.Open(), other = bridge.Open();
  EXPECT_NE(one, other);
  AddCall call;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(call.Run(bridge, AddKernel(), "", one).ok());
  EXPECT_EQ(8.0f, call.o[7]);
  EXPECT_EQ("{\"calls\": [], \"dropped\": 0}", JsonOf(bridge.Take(other)));
  const std::optional<Taken> left = bridge.Take(one);
  const std::string taken = JsonOf(left);
  ASSERT_EQ(1u, left->reports.size());
  EXPECT_TRUE(Has(taken, ToJson(*left->reports[0])));
  EXPECT_EQ(0u, taken.find("{\"calls\": [{\"count\": 3, \"call\": {\"grid\": [2], \"report\": {\"verdict\": \"ran\""))
      << taken;
  EXPECT_EQ("{\"calls\": [], \"dropped\": 0}", JsonOf(bridge.Take(one)));
  bridge.Close(one);
  EXPECT_FALSE(bridge.Take(one).has_value());
  EXPECT_TRUE(call.Run(bridge, AddKernel(), "", one).ok());  // its report goes nowhere
  EXPECT_TRUE(call.Run(bridge, AddKernel(), "", Bridge::kNoSession).ok());
  EXPECT_TRUE(Has(JsonOf(bridge.Take(Bridge::kNoSession)), "\"count\": 1"));
}

TEST(Bridge, DifferentReportsAreBounded) {
  Bridge bridge;
  AddCall call;
  for (std::size_t i = 0; i < Bridge::kMaxReports + 5; ++i) {
    call.x[0] = static_cast<float>(i);  // the kernel prints it
    ASSERT_TRUE(call.Run(bridge, AddKernel(), "", Bridge::kNoSession).ok());
  }
  EXPECT_TRUE(Has(JsonOf(bridge.Take(Bridge::kNoSession)), "\"dropped\": 5}"));
}

TEST(Bridge, FindingsFailTheCallOnRequest) {
  Bridge bridge;
  AddCall call;
  for (const char* goes_on : {"", "raise=none", "raise=RACE_WW", "raise=never"})
    EXPECT_TRUE(call.Run(bridge, BadKernel(), goes_on, Bridge::kNoSession).ok()) << goes_on;
  bridge.Take(Bridge::kNoSession);
  for (const char* fails : {"raise=all", "raise=RACE_WW,OOB_BLOCK", "check=1;seeds=2;raise=all"}) {
    const absl::Status status = call.Run(bridge, BadKernel(), fails, Bridge::kNoSession);
    EXPECT_EQ(absl::StatusCode::kFailedPrecondition, status.code()) << fails << JsonOf(bridge.Take(Bridge::kNoSession));
    EXPECT_TRUE(Has(std::string(status.message()), "kernel @add:\nerror[")) << status;
    EXPECT_TRUE(
        Has(JsonOf(bridge.Take(Bridge::kNoSession)), "\"verdict\": \"defect\""));  // the report is there all the same
  }
}

// JAX's question whether there was a race counts equal bytes, too, which are a note here.
TEST(Bridge, ANamedNoteFailsTheCall) {
  constexpr std::string_view kText = R"(pkir 1;
kernel @same {
  backend mosaic_tpu;
  params {dimension_semantics=["parallel"]};
  in %x: f32[8,128];
  out %o: f32[8,128];
  grid [2];
  body @same (%x_ref: ref<default,f32[8,128]>, %o_ref: ref<default,f32[8,128]>) {
    %0 = get(%x_ref) : f32[8,128];
    _ = swap(%o_ref, %0) : f32[8,128];
    return;
  }
}
)";
  Bridge bridge;
  static constexpr std::int64_t kTile[] = {8, 128};
  std::vector<float> x(1024, 1.0f), o(1024);
  const auto run = [&](std::string_view options) {
    const ConstArray in[] = {{DType::kF32, kTile, reinterpret_cast<const std::byte*>(x.data())}};
    const MutableArray out[] = {{DType::kF32, kTile, reinterpret_cast<std::byte*>(o.data())}};
    return bridge.Call({.text = kText, .target = "v5p", .options = options}, in, out);
  };
  EXPECT_TRUE(run("check=1;seeds=4;raise=RACE_WW").ok());
  const absl::Status status = run("check=1;seeds=4;raise=SAME_VALUE");
  EXPECT_TRUE(Has(std::string(status.message()), "note[SAME_VALUE]")) << status;
}

TEST(Bridge, WhatCannotRunIsAReportToo) {
  Bridge bridge;
  AddCall call;
  EXPECT_FALSE(call.Run(bridge, "pkir 1; kernel", "", Bridge::kNoSession).ok());
  EXPECT_TRUE(Has(JsonOf(bridge.Take(Bridge::kNoSession)), "\"verdict\": \"unsupported\""));
  EXPECT_FALSE(bridge.Prepare({.text = "pkir 1; kernel"}).ok());
  const std::string text = AddKernel();
  EXPECT_TRUE(bridge.Prepare({.text = text}).ok());
  EXPECT_FALSE(bridge.Prepare({.text = text, .target = "abacus"}).ok());
  EXPECT_FALSE(bridge.Call({.text = text}, {}, {}).ok());  // no arrays
  float o[8] = {};
  const MutableArray out[] = {{DType::kF32, kShape, reinterpret_cast<std::byte*>(o)}};
  EXPECT_TRUE(bridge.Call({.text = text, .options = "raise=never"}, {}, out).ok());
  EXPECT_TRUE(std::isnan(o[0]) && std::isnan(o[7]));
  EXPECT_TRUE(Has(JsonOf(bridge.Take(Bridge::kNoSession)), "\"error\""));
  EXPECT_EQ(0, bridge.Pending(Bridge::kNoSession));
}

TEST(Bridge, KeepsABoundedNumberOfKernels) {
  Bridge bridge;
  AddCall call;
  for (std::size_t i = 0; i < Bridge::kMaxKernels + 20; ++i)
    ASSERT_TRUE(bridge.Prepare({.text = Cat(AddKernel(), "// ", i, "\n")}).ok());
  EXPECT_TRUE(call.Run(bridge, Cat(AddKernel(), "// 0\n"), "", Bridge::kNoSession).ok());
}

TEST(Bridge, ManyThreadsCallAtOnce) {
  Bridge bridge;
  const std::int64_t session = bridge.Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&bridge, session] {
      AddCall call;
      for (int k = 0; k < 20; ++k) EXPECT_TRUE(call.Run(bridge, AddKernel(), "check=1;seeds=2", session).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(bridge.Wait(session, 0));
  EXPECT_TRUE(Has(JsonOf(bridge.Take(session)), "\"count\": 160"));
}

int handled = 0;

TEST(BridgeApi, AnInterruptReachesTheHandlerFromBefore) {
  struct ::sigaction mine = {}, before = {}, after = {};
  mine.sa_handler = [](int) { ++handled; };
  ::sigaction(SIGINT, &mine, &before);
  palladion_interrupts_listen();
  palladion_interrupts_listen();
  ::raise(SIGINT);
  palladion_interrupts_ignore();
  ::raise(SIGINT);
  palladion_interrupts_ignore();
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(mine.sa_handler, after.sa_handler);
  palladion_interrupts_ignore();  // once too often does nothing
  EXPECT_EQ(2, handled);
  ::sigaction(SIGINT, &before, nullptr);
}

TEST(BridgeApi, CallsLikeTheHandlerDoes) {
  const std::string text = AddKernel();
  const std::int64_t session = palladion_session_open();
  float x[8] = {1}, o[8] = {};
  palladion_array in[] = {{x, kShape, 1, "f32"}, {x, kShape, 1, "f32"}};
  palladion_array out[] = {{o, kShape, 1, "f32"}};
  palladion_call_request request = {text.data(), text.size(), nullptr, "triton/h100", "raise=all", session};
  EXPECT_EQ(PALLADION_CLEAN, palladion_call_prepare(&request, nullptr));
  EXPECT_EQ(PALLADION_CLEAN, palladion_call(&request, in, 2, out, 1, nullptr));
  EXPECT_EQ(2.0f, o[0]);
  EXPECT_EQ(0, palladion_session_pending(session));
  EXPECT_EQ(1, palladion_session_wait(session, 0));
  palladion_taken* taken = palladion_session_take(session);
  char* json = palladion_taken_json(taken);
  EXPECT_TRUE(Has(json, "\"target\": \"triton/h100\"")) << json;
  palladion_report* report = palladion_taken_report(taken, 0);
  ASSERT_NE(nullptr, report);
  EXPECT_EQ(nullptr, palladion_taken_report(taken, 1));
  palladion_free_taken(taken);
  char* of_report = palladion_report_json(report);  // it outlives what it was taken from
  EXPECT_TRUE(Has(json, of_report));
  palladion_free_report(report);
  palladion_free_string(of_report);
  palladion_free_string(json);
  palladion_session_close(session);
  EXPECT_EQ(nullptr, palladion_session_take(session));
  palladion_error error = {};
  EXPECT_EQ(PALLADION_MALFORMED, palladion_call(&request, in, 1, out, 1, &error));
  EXPECT_EQ(PALLADION_MALFORMED, error.code);
  EXPECT_TRUE(Has(error.message, "inputs")) << error.message;
  palladion_free_string(error.message);
  request.target = "abacus";
  EXPECT_EQ(PALLADION_MALFORMED, palladion_call_prepare(&request, &error));
  EXPECT_TRUE(Has(error.message, "unknown target 'abacus'")) << error.message;
  palladion_free_string(error.message);
  char* targets = palladion_targets();
  EXPECT_EQ(0u, std::string(targets).find("generic\ntriton/h100\n"));
  palladion_free_string(targets);
}

}  // namespace
}  // namespace palladion::bridge
