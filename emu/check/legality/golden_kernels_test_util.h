// Kernels of conformance/golden that JAX's own lowering takes or refuses. Each entry of a file is a line
// `=== NAME TARGET lowered|refused` and the kernel's text.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GOLDEN_KERNELS_TEST_UTIL_H_
#define PALLADION_EMU_CHECK_LEGALITY_GOLDEN_KERNELS_TEST_UTIL_H_

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace palladion::legality {

struct GoldenKernel {
  std::string name, target, verdict, text;
};

inline std::vector<GoldenKernel> ReadGoldenKernels(const std::string& file_name) {
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/" + file_name);
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

// The same of a file in which kernels that begin alike are together: a line `@ TARGET` and how they begin, then a line
// for each, `NAME lowered|refused` and the rest of it.
inline std::vector<GoldenKernel> ReadSweptKernels(const std::string& file_name) {
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/" + file_name);
  std::vector<GoldenKernel> kernels;
  std::string target, begin;
  for (std::string line, rest; std::getline(file, line);) {
    std::istringstream words(line);
    if (line.starts_with("@ ")) {
      words >> rest >> target;
      std::getline(words, begin);
      continue;
    }
    GoldenKernel& kernel = kernels.emplace_back();
    kernel.target = target;
    words >> kernel.name >> kernel.verdict;
    std::getline(words, rest);
    kernel.text = "pkir 1;\nproducer \"jax 0.10.2\";\n" + begin + "\n" + rest + "\n";
  }
  return kernels;
}

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GOLDEN_KERNELS_TEST_UTIL_H_
