// For tests of kernels as C++ functions: arrays, and findings with the line of this source that they are at.
#ifndef PALLADION_EMU_FRONT_CPP_KERNEL_TEST_UTIL_H_
#define PALLADION_EMU_FRONT_CPP_KERNEL_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "emu/kernel.h"
#include "semantics/base/cat.h"

namespace palladion::cpp_kernels {

template <class T>
Tensor ArrayOf(std::vector<std::int64_t> shape, const std::vector<T>& values) {
  Tensor tensor(KernelDType<T>(), std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<T>()[i] = values[i];
  return tensor;
}

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  return {tensor.span<T>().begin(), tensor.span<T>().end()};
}

inline Report Checked(const FunctionKernel& kernel, const std::vector<Tensor>& inputs, CheckOptions options = {},
                      std::vector<Tensor>* outputs = nullptr) {
  absl::StatusOr<Report> report = CheckKernel(kernel, inputs, options, outputs);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

// The first finding with the code; nullptr: there is none.
inline const ReportedFinding* Find(const Report& report, std::string_view code) {
  for (const ReportedFinding& finding : report.findings) {
    if (Code(finding.code) == code) return &finding;
  }
  return nullptr;
}

inline std::string Codes(const Report& report) {
  std::string codes;
  for (const ReportedFinding& finding : report.findings)
    codes += Cat(Code(finding.code), " at ", finding.source, ": ", finding.message, "\n");
  return codes;
}

// Whether the finding's place is that line of the file.
inline bool IsAt(const std::vector<SourceFrame>& frames, std::string_view file, int line) {
  return frames.size() == 1 && std::string_view(frames[0].file).ends_with(file) && frames[0].line == line;
}

// The finding's own schedule alone shows it again.
inline void ExpectReplays(const FunctionKernel& kernel, const std::vector<Tensor>& inputs,
                          const ReportedFinding& finding) {
  ASSERT_NE("", finding.replay);
  const Report again = Checked(kernel, inputs, {.replay = finding.replay, .step_budget = 100'000});
  const ReportedFinding* const found = Find(again, Code(finding.code));
  ASSERT_NE(nullptr, found) << finding.replay << "\n" << Codes(again);
  EXPECT_EQ(finding.message, found->message);
  EXPECT_EQ(finding.source, found->source);
}

}  // namespace palladion::cpp_kernels

#endif  // PALLADION_EMU_FRONT_CPP_KERNEL_TEST_UTIL_H_
