// The C ABI: errors come back as text and code, never as a crash; the caller's floating-point environment is given
// back.
#include "emu/c_api.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/testing/kernel_test_util.h"

namespace palladion::bridge {
namespace {

// Takes the text over.
std::string Taken(char* text) {
  std::string copy = text == nullptr ? "(null)" : text;
  palladion_free_string(text);
  return copy;
}

// The text of an error; the code first: "4: ...". Leaves it empty, for the next.
std::string Taken(palladion_error& error) {
  const palladion_error taken = std::exchange(error, palladion_error{});
  return std::to_string(taken.code) + ": " + Taken(taken.message);
}

// The JSON of a report, which is freed.
std::string Taken(palladion_report* report) {
  std::string json = report == nullptr ? "(null)" : Taken(palladion_report_json(report));
  palladion_free_report(report);
  return json;
}

palladion_program* Prepare(const std::string& text, const char* kernel = nullptr, const char* target = nullptr) {
  palladion_error error = {};
  palladion_program* program = palladion_prepare(text.data(), text.size(), kernel, target, &error);
  EXPECT_NE(nullptr, program) << Taken(error);
  return program;
}

std::string PrepareError(const std::string& text, const char* kernel = nullptr, const char* target = nullptr) {
  palladion_error error = {};
  EXPECT_EQ(nullptr, palladion_prepare(text.data(), text.size(), kernel, target, &error));
  return Taken(error);
}

TEST(CApi, WhatAnotherHostMayHaveMemoryForIsMarked) {
  palladion_error error = {};
  const auto thrown = []() -> absl::Status { throw std::bad_alloc(); };
  EXPECT_EQ(PALLADION_BUDGET, SetError(Guarded(thrown), &error));
  EXPECT_EQ(1, error.out_of_memory);
  EXPECT_EQ("6: out of memory", Taken(error));
  EXPECT_EQ(PALLADION_BUDGET, SetError(absl::ResourceExhaustedError("out of memory, says a kernel"), &error));
  EXPECT_EQ(0, error.out_of_memory);
  Taken(error);
}

struct AddArrays {
  std::int64_t shape[1] = {8};
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {1, 1, 1, 1, 1, 1, 1, 1}, o[8] = {};
  palladion_array in[2] = {{x, shape, 1, "f32"}, {y, shape, 1, "f32"}};
  palladion_array out[1] = {{o, shape, 1, "f32"}};
  std::size_t n_in = 2, n_out = 1;
};

TEST(CApi, RunsAKernel) {
  palladion_program* program = Prepare(AddKernel(), "add", "triton/h100");
  AddArrays arrays;
  palladion_report* report = nullptr;
  palladion_error error = {};
  EXPECT_EQ(PALLADION_CLEAN, palladion_run(program, arrays.in, 2, arrays.out, 1, &report, &error));
  EXPECT_EQ(0u, Taken(report).find("{\"verdict\": \"ran\", \"kernel\": \"add\", \"target\": \"triton/h100\""));
  EXPECT_EQ(8.0f, arrays.o[7]);
  EXPECT_EQ(7.0f, arrays.x[7]);
  EXPECT_EQ(PALLADION_CLEAN,
            palladion_run(program, arrays.in, 2, arrays.out, 1, nullptr, nullptr));  // a report that is not wanted
  palladion_free_program(program);
}

TEST(CApi, SeveralLaunchesInARow) {
  const std::string text =
      "pkir 1;\nkernel @k { backend mosaic_tpu; out %o: i32[] space smem; grid [];\n  body @k (%or: ref<smem,i32[]>) "
      "{\n"
      "    _ = swap(%or, 1:i32) : i32[];\n    return; } }\n";
  palladion_error error = {};
  palladion_program* program =
      palladion_prepare_launches(text.data(), text.size(), nullptr, "mosaic_tpu/v5e", 2, &error);
  ASSERT_NE(nullptr, program) << Taken(error);
  std::int32_t first = 0, second = 0;
  palladion_array out[2] = {{&first, nullptr, 0, "i32"}, {&second, nullptr, 0, "i32"}};
  EXPECT_EQ(PALLADION_CLEAN, palladion_check(program, nullptr, 0, out, 2, nullptr, nullptr, nullptr));
  EXPECT_EQ(2, first + second);
  palladion_free_program(program);
  EXPECT_EQ(nullptr, palladion_prepare_launches(text.data(), text.size(), nullptr, nullptr, 0, &error));
  EXPECT_NE(std::string::npos, Taken(error).find("must be from 1 to 64; found 0"));
}

TEST(CApi, ChecksAKernel) {
  palladion_program* program = Prepare(AddKernel());
  AddArrays arrays;
  palladion_report* report = nullptr;
  palladion_error error = {};
  EXPECT_EQ(PALLADION_CLEAN, palladion_check(program, arrays.in, 2, arrays.out, 1, nullptr, &report, &error));
  EXPECT_NE(std::string::npos, Taken(report).find("\"checked\": true"));
  EXPECT_EQ(8.0f, arrays.o[7]);
  EXPECT_EQ(PALLADION_CLEAN, palladion_check(program, arrays.in, 2, nullptr, 0, nullptr, nullptr,
                                             nullptr));  // outputs that are not wanted
  const auto refused = [&](const char* option) {
    const char* const options[] = {"races=1", option, nullptr};
    EXPECT_EQ(PALLADION_MALFORMED, palladion_check(program, arrays.in, 2, arrays.out, 1, options, &report, &error));
    EXPECT_EQ(nullptr, report);
    return Taken(error);
  };
  EXPECT_NE(std::string::npos,
            refused("seeds=0").find("seeds must be 1 or more, below 2^63: a check that runs nothing"));
  EXPECT_NE(std::string::npos, refused("proxy=lenient").find("proxy must be pallas, strict or lax; found 'lenient'"));
  EXPECT_NE(std::string::npos, refused("sedes=4").find("a check has no option 'sedes'; it has seeds, exhaustive"));
  EXPECT_NE(std::string::npos, refused("races").find("races must be 0 or 1; found ''"));
  EXPECT_EQ(PALLADION_MALFORMED, palladion_check(program, arrays.in, 1, arrays.out, 1, nullptr, &report, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
  arrays.out[0].dtype = "i32";
  EXPECT_EQ(PALLADION_MALFORMED, palladion_check(program, arrays.in, 2, arrays.out, 1, nullptr, &report, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
  EXPECT_EQ(PALLADION_MALFORMED, palladion_check(nullptr, arrays.in, 2, nullptr, 0, nullptr, nullptr, nullptr));
  palladion_free_program(program);
}

TEST(CApi, MutantsOfAText) {
  const std::string text = AddKernel();
  palladion_error error = {};
  const std::string list = Taken(palladion_mutants(text.data(), text.size(), nullptr, 0, &error));
  EXPECT_NE(std::string::npos, list.find("\"name\": \"drop_store_0\""));
  EXPECT_EQ(nullptr, palladion_mutants("pkir", 4, nullptr, 0, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
}

TEST(CApi, ErrorsAreTexts) {
  EXPECT_EQ(0u, PrepareError("").find("4: <text>:1:1: "));
  EXPECT_EQ(0u, PrepareError(VectorKernel("sc.barrier();")).find("3: <text>:9: kernel @k: "));
  EXPECT_EQ(0u, PrepareError(AddKernel(), "sub").find("4: no kernel 'sub'"));
  EXPECT_EQ(0u, PrepareError(AddKernel(), nullptr, "cuda").find("4: unknown target 'cuda'"));
  char* full = palladion_resolve_target("h100", "mosaic_gpu", nullptr);
  EXPECT_EQ("mosaic_gpu/h100", Taken(full));
  full = palladion_resolve_target(nullptr, nullptr, nullptr);
  EXPECT_EQ("generic", Taken(full));
  palladion_error why = {};
  EXPECT_EQ(nullptr, palladion_resolve_target("h100", "mosaic_tpu", &why));
  EXPECT_EQ(0u, Taken(why).find("4: the target 'h100' does not fit a kernel, which is written for TPUs"));
  palladion_error error = {};
  EXPECT_EQ(nullptr, palladion_prepare(nullptr, 0, nullptr, nullptr, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
  EXPECT_EQ(nullptr, palladion_prepare("x", 1, nullptr, nullptr, nullptr));  // an error that is not wanted
  EXPECT_EQ(nullptr, palladion_kernels("x", 1, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
  EXPECT_EQ(nullptr, palladion_canonical("x", 1, &error));
  EXPECT_EQ(0u, Taken(error).find("4: "));
  EXPECT_EQ(nullptr, palladion_text_json("x", 1, &error));
  EXPECT_EQ(0u, Taken(error).find("4: <text>:1:1: "));
  palladion_free_program(nullptr);
  palladion_free_string(nullptr);
}

TEST(CApi, TextsOfAText) {
  const std::string text = AddKernel() + "kernel @second { grid [0]; body @b () { return; } }\n";
  palladion_error error = {};
  EXPECT_EQ("add\nsecond", Taken(palladion_kernels(text.data(), text.size(), &error)));
  const std::string canonical = Taken(palladion_canonical(text.data(), text.size(), &error));
  EXPECT_EQ(canonical, Taken(palladion_canonical(canonical.data(), canonical.size(), &error)));
  const std::string json = Taken(palladion_text_json(text.data(), text.size(), &error));
  EXPECT_EQ(0u, json.find("{\"version\": 1, \"producer\": "));
  EXPECT_NE(std::string::npos, json.find("\"kernels\": [{\"name\": \"add\", \"line\": "));
  EXPECT_NE(std::string::npos, json.find("{\"name\": \"second\", "));
  EXPECT_EQ(0u, Taken(palladion_operations()).find("[\n{\"dialect\": "));
  EXPECT_EQ(0u, Taken(palladion_finding_codes()).find("[{\"code\": \"OOB\", \"severity\": \"defect\", \"rule\": "));
  EXPECT_EQ(0u, Taken(palladion_explain("OOB", &error)).find("{\"name\": \"OOB\", \"text\": \"OOB (defect)"));
  EXPECT_EQ(0u, Taken(palladion_explain("copy.strides", &error)).find("{\"name\": \"copy.strides\", \"text\": "));
  EXPECT_EQ(nullptr, palladion_explain("oob", &error));
  EXPECT_EQ("4: unknown finding code 'oob'; did you mean OOB?", Taken(error));
  const std::string chips = Taken(palladion_chips());
  const std::string h100 =
      "{\"name\": \"h100\", \"device_kind\": \"NVIDIA H100 80GB HBM3\", \"tpu\": false, \"generation\": 9, \"cores\": "
      "132, \"hbm_bytes\": 85520809984}";
  EXPECT_NE(std::string::npos, chips.find(h100)) << chips;
}

TEST(CApi, ArraysThatDoNotFit) {
  palladion_program* program = Prepare(AddKernel());
  const auto expect = [&](auto spoil, const std::string& message) {
    AddArrays a;
    spoil(a);
    palladion_report* report = nullptr;
    palladion_error error = {};
    EXPECT_EQ(PALLADION_MALFORMED, palladion_run(program, a.in, a.n_in, a.out, a.n_out, &report, &error));
    EXPECT_EQ(nullptr, report);
    const std::string text = Taken(error);
    EXPECT_NE(std::string::npos, text.find(message)) << text;
    EXPECT_EQ(0u, text.find("4: ")) << text;
    EXPECT_EQ(0.0f, a.o[7]);
  };
  std::int64_t four[] = {4}, square[] = {2, 4}, negative[] = {-8};
  expect([](AddArrays& a) { a.n_in = 1; }, "the kernel has 2 inputs; found 1");
  expect([](AddArrays& a) { a.n_out = 0; }, "the kernel has 1 outputs; found 0");
  expect([&](AddArrays& a) { a.in[1].shape = four; }, "operand 'y' (args[1]) must be f32[8]; found f32[4]");
  expect([&](AddArrays& a) { a.out[0].shape = square, a.out[0].rank = 2; },
         "operand 'o' (outputs) must be f32[8]; found f32[2,4]");
  expect([&](AddArrays& a) { a.in[0].shape = negative; }, "found f32[-8]");
  expect([](AddArrays& a) { a.in[0].rank = -1; }, "must have a rank of 0 or more and as many sizes; found rank -1");
  expect([](AddArrays& a) { a.in[0].shape = nullptr; }, "found rank 1 and no sizes");
  expect([](AddArrays& a) { a.in[0].dtype = "float"; }, "unknown dtype 'float'");
  expect([](AddArrays& a) { a.in[0].dtype = nullptr; }, "unknown dtype ''");
  expect([](AddArrays& a) { a.in[0].dtype = "i32"; }, "must be f32[8]; found i32[8]");
  expect([](AddArrays& a) { a.in[0].data = nullptr; }, "operand 'x' (args[0]) has no data: the pointer is null");
  expect([](AddArrays& a) { a.out[0].data = nullptr; }, "operand 'o' (outputs) has no data: the pointer is null");
  AddArrays a;
  palladion_report* report = nullptr;
  palladion_error error = {};
  EXPECT_EQ(PALLADION_MALFORMED, palladion_run(program, nullptr, 2, a.out, 1, &report, &error));
  EXPECT_NE(std::string::npos, Taken(error).find("expected 2 arrays; found the null pointer"));
  EXPECT_EQ(PALLADION_MALFORMED, palladion_run(nullptr, a.in, 2, a.out, 1, &report, &error));
  EXPECT_NE(std::string::npos, Taken(error).find("no program"));
  palladion_free_program(program);
}

TEST(CApi, CodesOfFindingsAndBudget) {
  palladion_program* program = Prepare(AddKernel("7:i32"));
  AddArrays a;
  palladion_report* report = nullptr;
  palladion_error error = {};
  EXPECT_EQ(PALLADION_DEFECT, palladion_run(program, a.in, 2, a.out, 1, &report, &error));
  EXPECT_EQ(0u, Taken(report).find("{\"verdict\": \"defect\""));
  palladion_free_program(program);
  program = Prepare(
      "pkir 1;\nkernel @m { grid [1]; body @b () { run_scoped() (%s: ref<vmem,f32[68719476736]>) { return; }; return; "
      "} }\n");
  EXPECT_EQ(PALLADION_BUDGET, palladion_run(program, nullptr, 0, nullptr, 0, &report, &error));
  EXPECT_EQ(0u, Taken(error).find("6: kernel @m, at line 2 of the kernel text"));
  palladion_free_program(program);
}

// The report of a kernel that reads outside its arrays.
palladion_report* OutOfBounds() {
  palladion_program* program = Prepare(AddKernel("7:i32"));
  AddArrays a;
  palladion_report* report = nullptr;
  EXPECT_EQ(PALLADION_DEFECT, palladion_run(program, a.in, 2, a.out, 1, &report, nullptr));
  palladion_free_program(program);
  return report;
}

std::string Rendered(const palladion_report* report, palladion_form form, const char* allowed = nullptr) {
  const palladion_rendered_call call = {report, 2, "again(", ")"};
  palladion_render_request request = {};
  request.form = form, request.calls = &call, request.n_calls = 1;
  request.allowed = &allowed, request.n_allowed = allowed == nullptr ? 0 : 1;
  palladion_error error = {};
  const std::string text = Taken(palladion_render(&request, &error));
  EXPECT_EQ("0: (null)", Taken(error));
  return text;
}

TEST(CApi, AReportIsRenderedFromItsHandle) {
  palladion_report* report = OutOfBounds();
  const std::string text = Rendered(report, PALLADION_FORM_TEXT);
  const std::string findings = Rendered(report, PALLADION_FORM_FINDINGS), end = Rendered(report, PALLADION_FORM_END);
  EXPECT_EQ(0u, text.find("error[OOB_BLOCK]: ")) << text;
  EXPECT_NE(std::string::npos, text.find("  (4 times in 2 calls, the first is shown)")) << text;
  EXPECT_NE(std::string::npos, text.find("not checked (seeds=16 checks it); 1 finding, 2 calls\n")) << text;
  EXPECT_EQ(text, findings + "\n" + end);
  EXPECT_EQ(std::string::npos, text.find("(allowed)"));
  EXPECT_NE(std::string::npos, Rendered(report, PALLADION_FORM_TEXT, "OOB_BLOCK").find("(allowed)"));
  EXPECT_EQ(text, Rendered(report, PALLADION_FORM_TEXT, "no_code"));
  EXPECT_EQ(0u, Rendered(report, PALLADION_FORM_PARTS).find("{\"verdict\": \"defect\", \"tally\": \"1 defect\""));
  palladion_free_report(report);
  palladion_error error = {};
  EXPECT_EQ(nullptr, palladion_render(nullptr, &error));
  EXPECT_EQ("4: no request", Taken(error));
  const palladion_rendered_call none = {nullptr, 1, nullptr, nullptr};
  palladion_render_request request = {};
  request.calls = &none, request.n_calls = 1;
  EXPECT_EQ(nullptr, palladion_render(&request, &error));
  EXPECT_EQ("4: the call 0 has no report", Taken(error));
  palladion_free_report(nullptr);
}

TEST(CApi, AReportOfAnotherProcessIsReadAndItsFindingsStandAlone) {
  palladion_report* report = OutOfBounds();
  const std::string json = Taken(palladion_report_json(report));
  palladion_error error = {};
  palladion_report* read = palladion_report_read(json.data(), json.size(), &error);
  ASSERT_NE(nullptr, read) << Taken(error);
  EXPECT_EQ(json, Taken(palladion_report_json(read)));
  EXPECT_EQ(Rendered(report, PALLADION_FORM_TEXT), Rendered(read, PALLADION_FORM_TEXT));
  palladion_free_report(read);
  const std::size_t first = 0, second = 1;
  palladion_report* alone = palladion_report_of_findings(report, &first, 1, &error);
  ASSERT_NE(nullptr, alone) << Taken(error);
  EXPECT_EQ(0u, Rendered(alone, PALLADION_FORM_FINDINGS).find("error[OOB_BLOCK]: "));
  EXPECT_NE(std::string::npos, Taken(alone).find("\"kernel\": \"\""));
  EXPECT_EQ(nullptr, palladion_report_of_findings(report, &second, 1, &error));
  EXPECT_EQ("4: the report has 1 findings; found the number 1", Taken(error));
  EXPECT_EQ(nullptr, palladion_report_read("{", 1, &error));
  EXPECT_EQ(0u, Taken(error).find("4: not a report: "));
  palladion_free_report(report);
}

TEST(CApi, TestsMakeOneLog) {
  palladion_report* report = OutOfBounds();
  const palladion_rendered_call call = {report, 1, nullptr, nullptr};
  const char* allowed = "OOB_BLOCK";
  palladion_sarif_test tests[2] = {};
  tests[0].name = "test_a", tests[0].calls = &call, tests[0].n_calls = 1;
  tests[1] = tests[0];
  tests[1].name = "test_b", tests[1].allowed = &allowed, tests[1].n_allowed = 1;
  const std::string log = Taken(palladion_sarif(tests, 2, "/", nullptr));
  EXPECT_NE(std::string::npos, log.find("\"tests\": [\"test_a\"]")) << log;
  EXPECT_NE(std::string::npos, log.find("the marker palladion of test_b allows it")) << log;
  palladion_free_report(report);
}

TEST(CApi, ErrorsHaveCodes) {
  palladion_error error = {};
  const std::string unsupported = VectorKernel("sc.barrier();");
  EXPECT_EQ(nullptr, palladion_prepare(unsupported.data(), unsupported.size(), nullptr, nullptr, &error));
  EXPECT_EQ(PALLADION_UNSUPPORTED, error.code);
  EXPECT_EQ(0, error.interrupted);
  Taken(error);
  const absl::Status statuses[] = {absl::OkStatus(), absl::UnimplementedError("m"), absl::FailedPreconditionError("m"),
                                   absl::InternalError("m"), absl::CancelledError("m")};
  const char* const texts[] = {"0: (null)", "3: m", "4: m", "5: INTERNAL: m", "6: CANCELLED: m"};
  for (std::size_t i = 0; i < std::size(statuses); ++i) {
    const palladion_code code = SetError(statuses[i], &error);
    EXPECT_EQ(code, error.code);
    EXPECT_EQ(absl::IsCancelled(statuses[i]), error.interrupted != 0);
    EXPECT_EQ(texts[i], Taken(error));
    EXPECT_EQ(code, SetError(statuses[i], nullptr));
  }
}

TEST(CApi, SeedsOfACheckInPartsGiveTheReportOfAll) {
  const std::string text =
      "pkir 1;\nkernel @t { grid [4]; in %x: i32[4]; out %o: i32[4] alias %x; body @b (%xr: ref<default,i32[4]>, %r: "
      "ref<default,i32[4]>) {\n  %p = program_id{axis=0}() : i32[];\n"
      "  %t = atomic_rmw{op=add}(%r.at[0], 1:i32) : i32[]; _ = swap(%r.at[%p], %t) : i32[]; return; } }\n";
  palladion_program* program = Prepare(text);
  std::int64_t shape[] = {4};
  std::int32_t x[4] = {};
  palladion_array in[] = {{x, shape, 1, "i32"}};
  const char* const seeds[] = {"seeds=20", nullptr};
  palladion_report* report = nullptr;
  palladion_error error = {};
  const palladion_code code = palladion_check(program, in, 1, nullptr, 0, seeds, &report, &error);
  const std::string whole = Taken(report);
  std::string parts = "[";
  for (const auto& [first, last] : {std::pair{9, 20}, std::pair{1, 9}}) {
    parts += Taken(palladion_check_seeds(program, in, 1, seeds, first, last, &error)) + (first == 1 ? "]" : ",");
  }
  const auto joined = [&](const std::string& json) {
    const std::string option = "parts=" + json;
    const char* const options[] = {"seeds=20", option.c_str(), nullptr};
    return palladion_check(program, in, 1, nullptr, 0, options, &report, &error);
  };
  EXPECT_EQ(code, joined(parts));
  EXPECT_EQ(whole, Taken(report));
  for (const char* wrong : {"{", "{}", "[3]", "[{\"made_for\": \"another\"}]"}) {
    EXPECT_EQ(PALLADION_MALFORMED, joined(wrong)) << wrong;
    EXPECT_EQ(0u, Taken(error).find("4: ")) << wrong;
  }
  EXPECT_EQ(nullptr, palladion_check_seeds(program, in, 1, seeds, 0, 3, &error));
  EXPECT_NE(std::string::npos, Taken(error).find("some of the seeds 1 to 19; found the seeds 0 to 2"));
  const char* const hurried[] = {"seeds=20", "seconds=1e-9", nullptr};
  EXPECT_EQ(nullptr, palladion_check_seeds(program, in, 1, hurried, 1, 20, &error));
  EXPECT_EQ(1, error.interrupted);
  EXPECT_EQ("6: CANCELLED: interrupted", Taken(error));
  EXPECT_EQ(nullptr, palladion_check_seeds(nullptr, in, 1, nullptr, 1, 2, &error));
  EXPECT_EQ(0u, Taken(error).find("4: no program"));
  palladion_free_program(program);
}

// XLA calls out with flush-to-zero and denormals-are-zero set; a caller may also round upwards.
TEST(CApi, TheCallersFloatingPointEnvironmentDoesNotMatter) {
  const std::string text =
      "pkir 1;\nkernel @tiny { grid [1]; in %x: f32[4]; out %o: f32[4]; body @b (%xr: ref<default,f32[4]>, %r: "
      "ref<default,f32[4]>) {\n"
      "  %v = get(%xr) : f32[4]; %h = mul(%v, 0.5:f32) : f32[4]; %s = add(%h, 1e-45:f32) : f32[4]; _ = swap(%r, %s) : "
      "f32[4]; return; } }\n";
  std::int64_t shape[] = {4};
  float x[4] = {1.1754944e-38f, 2e-45f, 1.0f, 1.0000001f};
  const auto run = [&](unsigned mode) {
    std::vector<float> o(4);
    palladion_array in[] = {{x, shape, 1, "f32"}}, out[] = {{o.data(), shape, 1, "f32"}};
    const unsigned before = _mm_getcsr();
    _mm_setcsr(mode);
    palladion_error error = {};
    palladion_program* program = palladion_prepare(text.data(), text.size(), nullptr, nullptr, &error);
    const unsigned after_prepare = _mm_getcsr();
    const int code = program == nullptr ? -1 : palladion_run(program, in, 1, out, 1, nullptr, nullptr);
    const unsigned after_run = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(0, code) << Taken(error);
    EXPECT_EQ(mode, after_prepare);
    EXPECT_EQ(mode, after_run);
    palladion_free_program(program);
    return o;
  };
  const std::vector<float> expected = run(0x1f80);
  EXPECT_EQ(5.877473e-39f, expected[0]);
  EXPECT_NE(0.0f, expected[1]);
  for (const unsigned mode : {0x1f80u | 0x8040u, 0x1f80u | 0x4000u, 0x1f80u | 0xe040u}) {  // FTZ and DAZ; upwards; all
    const std::vector<float> found = run(mode);
    EXPECT_EQ(0, std::memcmp(expected.data(), found.data(), 16)) << std::hex << mode;
  }
}

}  // namespace
}  // namespace palladion::bridge
