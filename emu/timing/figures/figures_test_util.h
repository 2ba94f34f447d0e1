// Kernel texts of conformance/golden, and the page that their times stand on.
#ifndef PALLADION_EMU_TIMING_FIGURES_FIGURES_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_FIGURES_FIGURES_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace palladion::timing::figures::test {

// `path` is from the root of the tree.
inline std::string FileOf(const std::string& path) {
  std::ifstream file(PALLADION_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What stands below the line `=== NAME` of a golden file.
inline std::string TextOf(const std::string& golden, const std::string& name) {
  static constexpr std::string_view kMark = "=== ";
  const std::string all = FileOf("conformance/golden/" + golden);
  const std::size_t title = all.find(std::string(kMark) + name + "\n");
  if (title == std::string::npos) {
    ADD_FAILURE() << "no kernel " << name;
    return "";
  }
  const std::size_t begin = all.find('\n', title) + 1;
  return all.substr(begin, all.find(kMark, begin) - begin);
}

}  // namespace palladion::timing::figures::test

#endif  // PALLADION_EMU_TIMING_FIGURES_FIGURES_TEST_UTIL_H_
