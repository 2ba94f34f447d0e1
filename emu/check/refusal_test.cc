// What a check reports of a kernel that its target refuses before it runs.
#include "emu/check/refusal.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/emulate.h"
#include "emu/report.h"

namespace palladion::check {
namespace {

// What a check says of a text that cannot be prepared: why, and that its chip has no such operation. Where the text has
// no form at all, why alone.
TEST(Refused, TheReportHasWhatTheTargetRefuses) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  mesh gpu {grid=[1], grid_names=[\"g\"], cluster=[], "
      "cluster_names=[], threads=none, thread_name=none};\n  body @k () {\n    commit_tmem();\n    sc.barrier();\n    "
      "return;\n  }\n}\n";
  const PrepareOptions options{.kernel = "", .target = "mosaic_gpu/h100", .path = ""};
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, options);
  ASSERT_EQ(absl::StatusCode::kUnimplemented, kernel.status().code()) << kernel.status();
  const Report report = RefusalReport(kernel.status(), text, options);
  ASSERT_EQ(1u, report.findings.size());
  EXPECT_EQ("ILLEGAL", Code(report.findings[0].code));
  EXPECT_EQ(6, report.findings[0].text_line);
  ASSERT_TRUE(report.error.has_value());
  EXPECT_EQ("unsupported", Name(report.error->kind));
  EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));

  const Report malformed = RefusalReport(PrepareText("pkir 2;", options).status(), "pkir 2;", options);
  EXPECT_TRUE(malformed.findings.empty());
  EXPECT_EQ(ExitCode::kMalformed, ExitCodeOf(malformed));
}

}  // namespace
}  // namespace palladion::check
