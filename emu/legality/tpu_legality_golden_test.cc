// The rules of TPU kernels against JAX: kernels that its Mosaic lowering takes or refuses
// (conformance/golden/make_tpu_legality_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emu/checks/contracts.h"
#include "emu/emulate.h"

namespace palladion {
namespace {

struct GoldenKernel {
  std::string name, target, verdict, text;
};

std::vector<GoldenKernel> ReadGolden() {
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/tpu_legality.txt");
  std::vector<GoldenKernel> kernels;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("=== ")) {
      kernels.back().text += line + "\n";
      continue;
    }
    std::istringstream words(line.substr(4));
    GoldenKernel& kernel = kernels.emplace_back();
    words >> kernel.name >> kernel.target >> kernel.verdict;
  }
  return kernels;
}

// Kernels on which we do not say what JAX says yet: each is a rule that is missing, or one too many.
std::set<std::string> ReadOpen() {
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/tpu_legality_open.txt");
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

// What is malformed is refused too; a kernel that we cannot run is neither.
std::string VerdictOn(const GoldenKernel& golden) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(golden.text, {.kernel = "", .target = golden.target, .path = ""});
  if (absl::IsInvalidArgument(kernel.status())) return "refused";
  if (!kernel.ok()) return "unsupported";
  const std::vector<Finding> findings = StaticFindings(kernel->state());
  const bool illegal =
      std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.code == FindingCode::kIllegal; });
  return illegal ? "refused" : "lowered";
}

TEST(TpuLegalityGolden, RefusesWhatJaxRefusesAndNothingElseButWhatIsOpen) {
  const std::set<std::string> open = ReadOpen();
  std::map<std::string, int> agreed;
  for (const GoldenKernel& golden : ReadGolden()) {
    const std::string verdict = VerdictOn(golden);
    if (open.contains(golden.name)) {
      EXPECT_NE(golden.verdict, verdict) << golden.name << ": take it out of tpu_legality_open.txt";
      continue;
    }
    EXPECT_EQ(golden.verdict, verdict) << golden.name << "\n" << golden.text;
    ++agreed[golden.verdict];
  }
  EXPECT_GT(agreed["lowered"], 900);
  EXPECT_GT(agreed["refused"], 300);
}

}  // namespace
}  // namespace palladion
