// Every operation has its four quarters: a registry row, a paragraph of the specification and a case (the function is
// what the case runs). What is compared: the public list of operations, the headings of docs/spec, the `# spec:` lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "emu/operations.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

// Paragraphs of operation files that are about several operations.
const char* const kGeneral[] = {"ref.md#indexing", "ref.md#views", "tpu-copies.md#devices"};

std::string NameOf(const OperationDescription& op) { return Cat(op.dialect, op.dialect.empty() ? "" : ".", op.name); }

// "file.md#heading" of every second-level heading, with the number of lines of text below it.
std::map<std::string, int> ReadHeadings() {
  std::map<std::string, int> headings;
  for (const auto& entry : std::filesystem::directory_iterator(PALLADION_SOURCE_DIR "/docs/spec")) {
    absl::StatusOr<std::string> text = ReadText(entry.path().string());
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) continue;
    std::istringstream lines(*text);
    std::string current;
    bool fenced = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("```")) fenced = !fenced;
      if (!fenced && line.starts_with("#")) {
        current = line.starts_with("## ") ? Cat(entry.path().filename().string(), "#", line.substr(3)) : "";
        if (!current.empty()) {
          EXPECT_TRUE(headings.emplace(current, 0).second) << current << " comes twice";
        }
      } else if (!current.empty() && !line.empty()) {
        ++headings[current];
      }
    }
  }
  return headings;
}

// Each `# spec:` with the cases that name it.
std::map<std::string, std::set<std::string>> ReadSpecsOfCases() {
  std::map<std::string, std::set<std::string>> specs;
  absl::StatusOr<std::vector<std::string>> paths = FindCases(PALLADION_SOURCE_DIR "/conformance/cases");
  EXPECT_TRUE(paths.ok()) << paths.status();
  if (!paths.ok()) return specs;
  for (const std::string& path : *paths) {
    absl::StatusOr<Case> test = ReadCase(path);
    EXPECT_TRUE(test.ok()) << test.status();
    if (!test.ok()) continue;
    for (const std::string& spec : test->specs) specs[spec].insert(path);
  }
  return specs;
}

TEST(Coverage, EveryOperationHasItsParagraph) {
  const std::map<std::string, int> headings = ReadHeadings();
  ASSERT_GT(Operations().size(), 100u);
  for (const OperationDescription& op : Operations()) {
    const auto found = headings.find(op.spec);
    EXPECT_TRUE(found != headings.end()) << NameOf(op) << ": docs/spec has no heading for " << op.spec
                                         << "; write ## and the name there";
    if (found != headings.end()) {
      EXPECT_GT(found->second, 0) << op.spec << " is empty";
    }
  }
}

TEST(Coverage, EveryImplementedOperationHasACase) {
  const auto specs = ReadSpecsOfCases();
  for (const OperationDescription& op : Operations()) {
    if (!op.implemented) continue;
    EXPECT_EQ(1u, specs.count(op.spec)) << NameOf(op) << ": no case has the line # spec: " << op.spec;
  }
}

TEST(Coverage, EveryUnsupportedOperationSaysWhy) {
  for (const OperationDescription& op : Operations()) {
    EXPECT_EQ(op.implemented, op.reason.empty()) << NameOf(op);
  }
}

TEST(Coverage, EveryCaseNamesAParagraph) {
  const std::map<std::string, int> headings = ReadHeadings();
  for (const auto& [spec, cases] : ReadSpecsOfCases())
    EXPECT_EQ(1u, headings.count(spec)) << *cases.begin() << ": # spec: " << spec << " is no heading of docs/spec";
}

TEST(Coverage, EveryGeneralParagraphHasACase) {
  const auto specs = ReadSpecsOfCases();
  for (const char* general : kGeneral) EXPECT_EQ(1u, specs.count(general)) << general;
  for (const auto& [heading, lines] : ReadHeadings()) {
    if (!heading.starts_with("grid.md#")) continue;
    EXPECT_EQ(1u, specs.count(heading)) << "no case has the line # spec: " << heading;
  }
}

TEST(Coverage, EveryParagraphOfAnOperationFileIsAnOperation) {
  std::set<std::string> known(std::begin(kGeneral), std::end(kGeneral)), files;
  for (const OperationDescription& op : Operations()) {
    known.insert(op.spec);
    files.insert(op.spec.substr(0, op.spec.find('#')));
  }
  for (const auto& [heading, lines] : ReadHeadings()) {
    if (files.count(heading.substr(0, heading.find('#'))) == 0) continue;
    EXPECT_EQ(1u, known.count(heading)) << heading << ": no operation names this paragraph; is it general (kGeneral)?";
  }
}

}  // namespace
}  // namespace palladion::conformance
