// Runs a case and says how what came out differs from what it expects. Rules: docs/spec/cases.md.
#ifndef PALLADION_CONFORMANCE_CASE_RUNNER_H_
#define PALLADION_CONFORMANCE_CASE_RUNNER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_file.h"
#include "emu/emulate.h"

namespace palladion::conformance {

struct CaseResult {
  std::vector<std::string> failures;  // empty: the case passes
  int exit_code = 0;
  std::vector<std::pair<std::string, std::uint64_t>> hashes;  // of each output, when there are any
};

// kAsWritten: the kernel of the file. kAll: also its canonical text, which must parse to itself and give the same bits,
// and the program that is prepared for logs.
enum class Forms : std::uint8_t { kAsWritten, kAll };

// Prepares and runs the kernel in these forms, and compares.
CaseResult RunCase(const Case& test, Forms forms = Forms::kAll);

// The inputs that the case gives to the kernel. InvalidArgument with the case's place: they do not fit it.
absl::StatusOr<std::vector<Tensor>> MakeInputs(const Case& test, const PreparedKernel& kernel);

// The case's text with the hash of every output that has no exact list; a hash that is there is replaced.
std::string WithHashes(const std::string& text, const Case& test, const CaseResult& result);

// Every *.case file below `folder`, sorted. InvalidArgument when there is none.
absl::StatusOr<std::vector<std::string>> FindCases(const std::string& folder);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_RUNNER_H_
