// conformance_run, also as `palladion conformance`: runs cases from the shell and prints a line for each. For people
// who write cases and for backends that are held against them; --write-hashes fills in the `hash` lines, so it is never
// part of a test. The exit codes are those of the command.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "semantics/base/cat.h"
#include "semantics/base/unfinished.h"
#include "semantics/base/whole_file.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: conformance_run [--write-hashes] [FILE.case | FOLDER]...   (default: the cases that came with it)\n";

constexpr int kFailed = 1, kUsageError = 4, kInterrupted = 6;

// A signal handler is given no object. A case takes a moment, so it is asked for between two of them.
volatile std::sig_atomic_t interrupted = 0;
void Interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // a second one ends the process
}

void ListenFor(int signal) {
  if (std::signal(signal, Interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
}

// In an installed package the cases lie beside the program, in a checkout beside its build folder.
std::string DefaultCases() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& cases : {here / "conformance_cases", here / ".." / "conformance" / "cases"}) {
    if (std::filesystem::is_directory(cases, error)) return cases.lexically_normal().string();
  }
  return "conformance/cases";
}

absl::Status WriteWhole(const std::string& path, const std::string& text) {
  absl::StatusOr<WholeFile> file = WholeFile::Open(path);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Write(text);
  return status.ok() ? file->Commit() : status;
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
    if (text.ok()) {
      if (const absl::Status status = WriteWhole(path, WithHashes(*text, *test, result)); !status.ok()) {
        std::cout << "FAILED  " << path << ": cannot be written: " << std::string(status.message()) << "\n";
        return 1;
      }
    }
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
  for (const int signal : {SIGINT, SIGTERM}) ListenFor(signal);
  std::size_t failed = 0, ran = 0;
  for (; ran < paths.size() && interrupted == 0; ++ran)
    failed += static_cast<std::size_t>(RunOne(paths[ran], write_hashes));
  std::cout << ran - failed << " passed, " << failed << " failed";
  if (ran < paths.size()) std::cout << "; interrupted, " << paths.size() - ran << " did not run";
  std::cout << "\n";
  return failed > 0 ? kFailed : ran < paths.size() ? kInterrupted : 0;
}

}  // namespace
}  // namespace palladion::conformance

int main(int argc, char** argv) {
  palladion::RemoveUnfinishedWhenKilled();
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
