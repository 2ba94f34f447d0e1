// conformance_run, also as `palladion conformance`: runs cases from the shell and prints a line for each. For people
// who write cases and for backends that are held against them; --write-hashes fills in the `hash` lines, so it is never
// part of a test. The exit codes are those of the command.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: conformance_run [--write-hashes] [FILE.case | FOLDER]...   (default: the cases that came with it)\n";

constexpr int kFailed = 1, kUsageError = 4;

// In an installed package the cases lie beside the program, in a checkout beside its build folder.
std::string DefaultCases() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& cases : {here / "conformance_cases", here / ".." / "conformance" / "cases"}) {
    if (std::filesystem::is_directory(cases, error)) return cases.lexically_normal().string();
  }
  return "conformance/cases";
}

// 0: passed, 1: failed.
int RunOne(const std::string& path, bool write_hashes) {
  absl::StatusOr<Case> test = ReadCase(path);
  if (!test.ok()) {
    std::cout << "FAILED  " << std::string(test.status().message()) << "\n";
    return 1;
  }
  CaseResult result = RunCase(*test);
  if (write_hashes) {
    absl::StatusOr<std::string> text = ReadText(path);
    if (text.ok()) std::ofstream(path, std::ios::binary) << WithHashes(*text, *test, result);
    test = ReadCase(path);
    if (test.ok()) result = RunCase(*test);
  }
  std::cout << (result.failures.empty() ? "passed  " : "FAILED  ") << path << "\n";
  for (const std::string& failure : result.failures) std::cout << "    " << failure << "\n";
  return result.failures.empty() ? 0 : 1;
}

int RunAll(const std::vector<std::string>& words, bool write_hashes) {
  std::vector<std::string> paths;
  for (const std::string& word : words) {
    if (word.ends_with(".case")) {
      paths.push_back(word);
      continue;
    }
    absl::StatusOr<std::vector<std::string>> found = FindCases(word);
    if (!found.ok()) {
      std::cerr << std::string(found.status().message()) << "\n";
      return kUsageError;
    }
    paths.insert(paths.end(), found->begin(), found->end());
  }
  int failed = 0;
  for (const std::string& path : paths) failed += RunOne(path, write_hashes);
  std::cout << paths.size() - static_cast<std::size_t>(failed) << " passed, " << failed << " failed\n";
  return failed > 0 ? kFailed : 0;
}

}  // namespace
}  // namespace palladion::conformance

int main(int argc, char** argv) {
  std::vector<std::string> words;
  bool write_hashes = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--write-hashes") {
      write_hashes = true;
    } else if (word.starts_with("-")) {
      std::cerr << palladion::conformance::kUsage;
      return palladion::conformance::kUsageError;
    } else {
      words.push_back(word);
    }
  }
  if (words.empty()) words.push_back(palladion::conformance::DefaultCases());
  return palladion::conformance::RunAll(words, write_hashes);
}
