// Kernels over threads of GPU blocks, for tests: their text from a body, and what a check finds in them.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_TEST_UTIL_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

// %x: i32[128] and %o: i32[128] in global memory; `mesh` as in "grid=[2], grid_names=[\"b\"], cluster=[],
// cluster_names=[], threads=none, thread_name=none"; the body has line 8 of the text as its first.
inline std::string ThreadKernel(const std::string& mesh, const std::string& body) {
  return Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  in %x: i32[128] space gmem;\n"
      "  out %o: i32[128] space gmem;\n  mesh gpu {",
      mesh, "};\n  body @k (%xr: ref<gmem,i32[128]> as \"x_ref\", %or: ref<gmem,i32[128]> as \"o_ref\") {\n", body,
      "    return;\n  }\n}\n");
}

inline std::string Threads(int n) {
  return Cat("grid=[], grid_names=[], cluster=[], cluster_names=[], threads=", n, ", thread_name=\"wg\"");
}
inline std::string Grid(int n) {
  return Cat("grid=[", n, "], grid_names=[\"b\"], cluster=[], cluster_names=[], threads=none, thread_name=none");
}

// What each of the threads, or blocks, does: the first text is number 0's.
inline std::string EachDoes(const std::string& axis, const std::vector<std::string>& bodies) {
  std::string text = Cat("    %me = axis_index{axis=\"", axis, "\"}() : i32[];\n    cond(%me)");
  for (const std::string& body : bodies) Append(&text, " {\n", body, "      return; }");
  return text + ";\n";
}

inline Report CheckThreads(const std::string& text, const CheckOptions& options = {.seeds = 16, .threads = 1}) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
  absl::StatusOr<Report> report = Check(*kernel, inputs, options);
  EXPECT_TRUE(report.ok()) << report.status() << "\n" << text;
  return report.ok() ? *std::move(report) : Report{};
}

inline std::set<std::string> CodesOf(const Report& report) {
  std::set<std::string> codes;
  for (const ReportedFinding& finding : report.findings) codes.insert(std::string(Code(finding.code)));
  return codes;
}

inline std::string MessageOf(const Report& report, const std::string& code) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [&](const ReportedFinding& finding) { return Code(finding.code) == code; });
  return found == report.findings.end() ? "" : found->message;
}

using Codes = std::set<std::string>;

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_TEST_UTIL_H_
