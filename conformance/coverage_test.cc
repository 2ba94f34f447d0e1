// Every rule has a case. A rule is what docs/spec and docs/explanation/memory-model.md state under a name: a paragraph,
// a numbered rule of it ("ref.md#indexing.3"), a row of a table of limits or flows ("tpu-limits.md#tpu.block.lanes"),
// an operation of the public list, a finding code. What is compared: these names and the `# spec:` and `//~` lines of
// the cases. A rule without a case fails here by its name. What it does not catch: a case that names a rule and shows
// something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "conformance/case_file.h"
#include "conformance/case_selection.h"
#include "emu/operations.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"

namespace palladion::conformance {
namespace {

// Paragraphs of operation files that are about several operations.
const char* const kGeneral[] = {
    "gpu-copies.md#leader_tracked",
    "gpu-copies.md#rows",
    "gpu-copies.md#tiles",
    "gpu-devices.md#devices",
    "gpu-devices.md#multicast_ref",
    "gpu-devices.md#order",
    "gpu-devices.md#remote_ref",
    "gpu-tcgen05.md#a-sparse-operand",
    "gpu-tcgen05.md#block-scales",
    "gpu-tmem.md#allocation",
    "gpu-tmem.md#batch-dimensions",
    "gpu-tmem.md#unions",
    "ref.md#indexing",
    "ref.md#views",
    "tpu-copies.md#devices",
};

// Pages about texts and about what is not done: the format of cases and of kernels, and operations without a meaning.
const char* const kNoRules[] = {"cases.md", "unsupported.md"};

// Paragraphs that state no rule a kernel could keep or break, and numbered notes on what a page is about.
const char* const kNotes[] = {
    "definedness.md#cost",
    "definedness.md#fill",
    "gpu-limits.md#1",
    "gpu-limits.md#2",
    "gpu-limits.md#3",
    "gpu-limits.md#4",
    "kernel-text.md#compatibility",
    "kernel-text.md#example",
    "kernel-text.md#grammar",
    "kernel-text.md#instructions-attributes-and-operands",
    "memory-model.md#cost",
    "memory-model.md#limits",
    "tpu-limits.md#1",
    "tpu-limits.md#2",
    "tpu-limits.md#3",
    "tpu-limits.md#4",
    "tpu-limits.md#5",
    "tpu-limits.md#memory-of-sparsecores",  // of kernels that are not run: python/tests/test_fit_over.py
    "tpu-limits.md#what-the-tpus-compiler-may-refuse",
};

template <class List>
bool IsIn(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string NameOf(const OperationDescription& op) { return Cat(op.dialect, op.dialect.empty() ? "" : ".", op.name); }

// "The fence rule": "the-fence-rule". As readers of Markdown make it, but that a dot stays: "tpu.roll".
std::string Slug(std::string_view heading) {
  std::string slug;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == ' ') {
      slug += '-';
    } else if (std::isalnum(letter) != 0 || c == '_' || c == '-' || c == '.') {
      slug += static_cast<char>(std::tolower(letter));
    }
  }
  return slug;
}

struct Rules {
  std::map<std::string, int> headings;       // "file.md#heading", with the number of lines of text below it
  std::map<std::string, std::string> parts;  // a numbered rule or a limit, and the heading that it is under
};

// Reads the names of one page.
class PageReader {
 public:
  PageReader(std::string page, Rules& rules) : page_(std::move(page)), rules_(rules) {}

  void Read(std::string_view line) {
    if (line.starts_with("```")) fenced_ = !fenced_;
    if (fenced_) return;
    if (line.starts_with("#")) return BeginHeading(line);
    if (line.empty()) return;
    if (!heading_.empty()) ++rules_.headings[heading_];
    if (line.starts_with(Cat(number_ + 1, ". "))) {
      ++number_;
      Add(heading_.empty() ? Cat(page_, "#", number_) : Cat(heading_, ".", number_));
    }
    if (line.starts_with("| `")) ReadRow(line.substr(3, line.find('`', 3) - 3));
  }

 private:
  void BeginHeading(std::string_view line) {
    number_ = 0;
    heading_ = line.starts_with("## ") ? Cat(page_, "#", Slug(line.substr(3))) : "";
    if (heading_.empty()) return;
    EXPECT_TRUE(rules_.headings.emplace(heading_, 0).second) << heading_ << " comes twice";
  }

  // Rows of the tables of limits and of flows are rules.
  void ReadRow(std::string_view name) {
    if (page_.ends_with("-limits.md")) Add(Cat(page_, "#", name));
    if (heading_ == "definedness.md#flow") Add(Cat(heading_, ".", name));
  }

  void Add(const std::string& part) {
    EXPECT_TRUE(rules_.parts.emplace(part, heading_).second) << part << " comes twice";
  }

  const std::string page_;
  Rules& rules_;
  std::string heading_;
  int number_ = 0;
  bool fenced_ = false;
};

Rules ReadRules() {
  std::vector<std::filesystem::path> pages = {PALLADION_SOURCE_DIR "/docs/explanation/memory-model.md"};
  for (const auto& entry : std::filesystem::directory_iterator(PALLADION_SOURCE_DIR "/docs/spec")) {
    if (entry.path().filename() != "coverage.md") pages.push_back(entry.path());
  }
  Rules rules;
  for (const std::filesystem::path& path : pages) {
    absl::StatusOr<std::string> text = ReadText(path.string());
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) continue;
    PageReader reader(path.filename().string(), rules);
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) reader.Read(line);
  }
  return rules;
}

std::vector<SelectedCase> ReadCases() {
  absl::StatusOr<std::vector<SelectedCase>> cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  EXPECT_TRUE(cases.ok()) << cases.status();
  if (!cases.ok()) return {};
  for (const SelectedCase& selected : *cases) EXPECT_TRUE(selected.test.ok()) << selected.test.status();
  std::erase_if(*cases, [](const SelectedCase& selected) { return !selected.test.ok(); });
  return *std::move(cases);
}

// Each `# spec:` with the cases that name it.
std::map<std::string, std::set<std::string>> ReadSpecsOfCases() {
  std::map<std::string, std::set<std::string>> specs;
  for (const SelectedCase& selected : ReadCases()) {
    for (const std::string& spec : selected.test->specs) specs[spec].insert(selected.name);
  }
  return specs;
}

TEST(Coverage, EveryOperationHasItsParagraph) {
  const Rules rules = ReadRules();
  ASSERT_GT(Operations().size(), 100u);
  for (const OperationDescription& op : Operations()) {
    const auto found = rules.headings.find(op.spec);
    EXPECT_TRUE(found != rules.headings.end())
        << NameOf(op) << ": docs/spec has no heading for " << op.spec << "; write ## and the name there";
    if (found != rules.headings.end()) {
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

TEST(Coverage, EveryCaseNamesARule) {
  const Rules rules = ReadRules();
  for (const auto& [spec, cases] : ReadSpecsOfCases()) {
    EXPECT_TRUE(rules.headings.count(spec) > 0 || rules.parts.count(spec) > 0)
        << *cases.begin() << ": # spec: " << spec << " is no paragraph, numbered rule or limit of docs/spec";
  }
}

// A case that names a part of a paragraph is one of the paragraph, unless that is an operation.
TEST(Coverage, EveryRuleHasACase) {
  const Rules rules = ReadRules();
  const auto specs = ReadSpecsOfCases();
  const auto stated = [](const std::string& rule) {
    return !IsIn(kNoRules, rule.substr(0, rule.find('#'))) && !IsIn(kNotes, rule);
  };
  std::set<std::string> covered;
  for (const auto& [part, heading] : rules.parts) {
    if (specs.count(part) > 0) covered.insert(heading);
    if (!stated(part) || !stated(heading)) continue;
    EXPECT_EQ(1u, specs.count(part)) << "no case has the line # spec: " << part;
  }
  std::set<std::string> unsupported;
  for (const OperationDescription& op : Operations()) {
    if (!op.implemented) unsupported.insert(op.spec);
  }
  for (const auto& [heading, lines] : rules.headings) {
    if (!stated(heading) || unsupported.count(heading) > 0) continue;
    EXPECT_TRUE(specs.count(heading) > 0 || covered.count(heading) > 0)
        << "no case has the line # spec: " << heading << ", or one of its numbered rules";
  }
  for (const char* note : kNotes)
    EXPECT_TRUE(rules.headings.count(note) > 0 || rules.parts.count(note) > 0) << note << " is gone: leave it out";
}

TEST(Coverage, EveryFindingCodeHasACase) {
  std::set<std::string> announced;
  for (const SelectedCase& selected : ReadCases()) {
    const Case& test = *selected.test;
    for (const GuiltyLine& line : test.guilty) announced.insert(line.code);
    for (const ExpectedFinding& finding : test.findings) announced.insert(finding.code);
  }
  for (const CodeRow& row : AllCodes()) {
    EXPECT_EQ(1u, announced.count(std::string(row.name)))
        << row.name << ": no case announces it with //~ or # finding:";
  }
}

void AddVerdicts(const Case& test, std::map<std::string, int>& verdicts) {
  ++verdicts[Cat("exit code ", test.exit_code)];
  for (const CaseOutput& output : test.outputs) {
    if (output.exact()) ++verdicts["these numbers"];
    if (output.ulp > 0) ++verdicts["within some ulps"];
    if (output.lists.size() > 1) ++verdicts["one of several"];
    for (const std::string& list : output.lists) {
      if (list.find("nan") != std::string::npos) ++verdicts["any NaN"];
    }
  }
  for (const GuiltyLine& line : test.guilty) {
    ++verdicts[line.pair.empty() && !line.first ? "a finding at its line" : "a finding at both lines"];
    if (line.code == "ILLEGAL" || line.code == "CAPACITY") ++verdicts[Cat(line.code, " on ", test.target)];
  }
  if (test.schedules.has_value() && test.guilty.empty()) ++verdicts["nothing is found"];
}

// The table of docs/spec/cases.md. Exit code 5 is an error of ours, which no case asks for.
TEST(Coverage, EveryKindOfVerdictHasACase) {
  std::map<std::string, int> verdicts;
  for (const SelectedCase& selected : ReadCases()) AddVerdicts(*selected.test, verdicts);
  for (const char* kind : {"these numbers",
                           "within some ulps",
                           "one of several",
                           "any NaN",
                           "a finding at its line",
                           "a finding at both lines",
                           "nothing is found",
                           "exit code 0",
                           "exit code 1",
                           "exit code 2",
                           "exit code 3",
                           "exit code 4",
                           "exit code 6",
                           "ILLEGAL on triton/h100",
                           "ILLEGAL on mosaic_gpu/h100",
                           "ILLEGAL on mosaic_gpu/h200",
                           "ILLEGAL on mosaic_gpu/b200",
                           "ILLEGAL on mosaic_tpu/v5e",
                           "ILLEGAL on mosaic_tpu/v6e",
                           "ILLEGAL on mosaic_tpu/v7x",
                           "CAPACITY on mosaic_tpu/v5e",
                           "CAPACITY on mosaic_tpu/v7x",
                           "CAPACITY on mosaic_gpu/h100"}) {
    EXPECT_LT(0, verdicts[kind]) << "no case has the verdict: " << kind;
  }
}

TEST(Coverage, EveryParagraphOfAnOperationFileIsAnOperation) {
  std::set<std::string> known(std::begin(kGeneral), std::end(kGeneral)), files;
  for (const OperationDescription& op : Operations()) {
    known.insert(op.spec);
    files.insert(op.spec.substr(0, op.spec.find('#')));
  }
  for (const auto& [heading, lines] : ReadRules().headings) {
    if (files.count(heading.substr(0, heading.find('#'))) == 0) continue;
    EXPECT_EQ(1u, known.count(heading)) << heading << ": no operation names this paragraph; is it general (kGeneral)?";
  }
}

}  // namespace
}  // namespace palladion::conformance
