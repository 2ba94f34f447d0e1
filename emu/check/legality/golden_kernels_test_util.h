// Kernels of conformance/golden that JAX's own lowering takes or refuses. Each entry of a file is a line
// `=== NAME TARGET lowered|refused` and the kernel's text. The files are compressed
// (conformance/golden/golden_files.py).
#ifndef PALLADION_EMU_CHECK_LEGALITY_GOLDEN_KERNELS_TEST_UTIL_H_
#define PALLADION_EMU_CHECK_LEGALITY_GOLDEN_KERNELS_TEST_UTIL_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace palladion::legality {

struct GoldenKernel {
  std::string name, target, verdict, text;
};

// A file that is not there, is damaged or ends too early fails the test.
inline std::string ReadGoldenText(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path << " cannot be opened";
  if (file == nullptr) return text;
  std::array<char, 1 << 16> part;
  int bytes = 0;
  while ((bytes = gzread(file, part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  EXPECT_EQ(gzdirect(file), 0) << path << " is not compressed";
  EXPECT_EQ(bytes, 0) << path << " is damaged";
  EXPECT_EQ(gzclose(file), Z_OK) << path << " ends too early";
  return text;
}

inline std::istringstream OpenGolden(const std::string& file_name) {
  return std::istringstream(ReadGoldenText(PALLADION_SOURCE_DIR "/conformance/golden/" + file_name + ".gz"));
}

inline std::vector<GoldenKernel> ReadGoldenKernels(const std::string& file_name) {
  std::istringstream file = OpenGolden(file_name);
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
  std::istringstream file = OpenGolden(file_name);
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
