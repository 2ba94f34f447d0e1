// Which cases run, in which shard, and that a run which was stopped goes on where it was.
#include "conformance/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "conformance/results_file.h"
#include "conformance/suite_options.h"
#include "conformance/suite_report.h"
#include "semantics/base/cat.h"
#include "semantics/base/unfinished.h"

namespace palladion::conformance {
namespace {

const std::string kCases = PALLADION_SOURCE_DIR "/conformance/cases";

std::vector<std::string> Names(const std::vector<SelectedCase>& cases) {
  std::vector<std::string> names;
  for (const SelectedCase& selected : cases) names.push_back(selected.name);
  return names;
}

std::vector<std::string> Selected(const std::vector<std::string>& words) { return Names(*SelectCases(words, kCases)); }

TEST(SelectCases, FilesFoldersAndFilters) {
  EXPECT_EQ(std::vector<std::string>{"elementwise/abs"}, Selected({kCases + "/elementwise/abs.case"}));
  EXPECT_EQ(std::vector<std::string>{"elementwise/add"}, Selected({"elementwise/add"}));
  EXPECT_EQ(Selected({kCases + "/elementwise"}), Selected({"elementwise/*"}));
  EXPECT_EQ((std::vector<std::string>{"elementwise/add", "elementwise/and"}), Selected({"elementwise/a?d"}));
  const std::vector<std::string> by_rule = Selected({"elementwise.md#add"});
  EXPECT_NE(by_rule.end(), std::find(by_rule.begin(), by_rule.end(), "elementwise/add"));
  EXPECT_EQ("no case meets 'no such case'; expected a file, a folder, or a part of the names of cases",
            ToStd(SelectCases({"no such case"}, kCases).status().message()));
  EXPECT_FALSE(SelectCases({}, "/no/such/folder").ok());
}

// A folder with two files, of which one has two cases.
class SeveralInAFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.ok()) << folder_.status();
    Write("one.case", kText);
    Write("two.case", Cat("=== right\n", kText, "\n=== wrong\n", kText, "nothing\n"));
  }
  void Write(const std::string& name, std::string_view text) { std::ofstream(Path(name)) << text; }
  std::string Path(const std::string& name) const { return folder_->path() + "/" + name; }
  std::string Name(const std::string& name) const {
    return Cat(std::filesystem::path(folder_->path()).filename().string(), "/", name);
  }
  std::string Error(const std::string& word) const { return std::string(SelectCases({word}, "").status().message()); }

  static constexpr std::string_view kText = "# spec: a.md#b\n# Prose.\n--- kernel\npkir 1;\n--- expect\nprint \"x\"\n";
  absl::StatusOr<Part> folder_ = Part::NewFolder(testing::TempDir());
};

TEST_F(SeveralInAFile, AllOrOneOfThem) {
  EXPECT_EQ((std::vector<std::string>{Name("right"), Name("wrong")}), Selected({Path("two.case")}));
  EXPECT_EQ(std::vector<std::string>{Name("wrong")}, Selected({Path("two.case:wrong")}));
  EXPECT_EQ(std::vector<std::string>{Name("one")}, Selected({Path("one.case:one")}));
  EXPECT_EQ((std::vector<std::string>{Name("right"), Name("wrong")}),
            Selected({Path("two.case:right"), Path("two.case:wrong")}));
  EXPECT_EQ((std::vector<std::string>{Name("right"), Name("wrong")}),
            Selected({Path("two.case:right"), Path("two.case")}));
  EXPECT_EQ((std::vector<std::string>{Name("right"), Name("wrong")}),
            Selected({Path("two.case"), Path("two.case:right")}));
  EXPECT_EQ((std::vector<std::string>{Name("one"), Name("right"), Name("wrong")}), Selected({folder_->path()}));
  EXPECT_EQ(std::vector<std::string>{Name("wrong")}, Selected({folder_->path(), Name("wrong")}));
}

TEST_F(SeveralInAFile, EachHasItsPlaceAndItsText) {
  const std::vector<SelectedCase> cases = *SelectCases({folder_->path()}, "");
  ASSERT_EQ(3u, cases.size());
  EXPECT_EQ(Path("one.case"), cases[0].place);
  EXPECT_EQ(Path("two.case:right"), cases[1].place);
  EXPECT_EQ(Path("two.case:wrong"), cases[2].place);
  EXPECT_EQ(2, cases[1].line);
  EXPECT_EQ(10, cases[2].line);
  EXPECT_EQ(cases[0].hash, cases[1].hash) << "the hash is of the case's text, not of its neighbours'";
  EXPECT_NE(cases[0].hash, cases[2].hash);
  EXPECT_TRUE(cases[1].test.ok()) << "a neighbour that cannot be read is no matter of this one";
  EXPECT_EQ(
      Path("two.case") + ":16: expected NAME = [...], NAME either [...] | [...], hash NAME = HEX or print \"...\"",
      ToStd(cases[2].test.status().message()));
  CaseRecord record{.name = cases[2].name};
  SetPlace(cases[2], record);
  EXPECT_EQ(Name("two.case"), record.file);
  EXPECT_EQ(10, record.line);
}

TEST_F(SeveralInAFile, AWrongNameListsThoseThatAreThere) {
  EXPECT_EQ(Path("two.case") + " has no case wrnog; it has right, wrong", Error(Path("two.case:wrnog")));
  EXPECT_EQ(Cat("there is no file ", Path("wrong.case"), "; the case is ", Path("two.case:wrong")),
            Error(Path("wrong.case")));
  EXPECT_NE(std::string::npos, Error(Path("three.case:x")).find("three.case: cannot be read"));
  Write("three.case", Cat("=== one\n", kText));
  EXPECT_EQ(Cat("two cases are called ", Name("one"), ": ", Path("one.case"), " and ", Path("three.case:one"),
                "; rename one or give them one after the other"),
            Error(folder_->path()));
}

TEST(OfTier, TheQuickOneHasEveryRuleOnceAndFewCases) {
  std::vector<SelectedCase> all = *SelectCases({}, kCases);
  const auto rules = [](const std::vector<SelectedCase>& cases) {
    std::set<std::string> found;
    for (const SelectedCase& selected : cases) found.insert(selected.test->specs.begin(), selected.test->specs.end());
    return found;
  };
  const std::set<std::string> wanted = rules(all);
  const std::size_t cases = all.size();
  const std::vector<SelectedCase> quick = OfTier(std::move(all), Tier::kQuick);
  EXPECT_EQ(wanted, rules(quick));
  EXPECT_LE(quick.size(), wanted.size());
  EXPECT_LT(quick.size(), cases);
}

TEST(OfShard, ShardsAreTheSuiteAndDoNotOverlap) {
  const std::vector<SelectedCase> all = *SelectCases({"elementwise/*"}, kCases);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, all.size() + 1}) {
    std::vector<std::string> together;
    for (std::size_t index = 1; index <= count; ++index) {
      const std::vector<std::string> part = Names(OfShard(all, {index, count}));
      together.insert(together.end(), part.begin(), part.end());
    }
    std::sort(together.begin(), together.end());
    EXPECT_EQ(Names(all), together) << count << " shards";
  }
}

class StoppedSuite : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.ok()) << folder_.status();
    file_ = folder_->path() + "/results";
  }

  // Runs until `most` cases are done, with the results in the file.
  SuiteReport Run(std::size_t most) {
    const std::vector<SelectedCase> cases = *SelectCases({"elementwise/a*"}, kCases);
    absl::StatusOr<ResultsFile> results = ResultsFile::Open(file_, "full");
    EXPECT_TRUE(results.ok()) << results.status();
    std::vector<std::optional<CaseRecord>> records(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (const auto done = results->done().find(cases[i].name); done != results->done().end())
        records[i] = done->second;
    }
    std::atomic<bool> interrupted = false;
    ran_ = 0;
    const absl::Status status =
        RunSuite(cases, {.jobs = 2}, interrupted, records, [&](std::size_t, const CaseRecord& record) {
          interrupted = ++ran_ == most;
          return results->Add(record);
        });
    EXPECT_TRUE(status.ok()) << status;
    SuiteReport report;
    for (std::optional<CaseRecord>& record : records) {
      if (record.has_value()) report.records.push_back(*std::move(record));
    }
    report.not_run = cases.size() - report.records.size();
    return report;
  }

  std::string Text() const {
    std::ifstream stream(file_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  absl::StatusOr<Part> folder_ = Part::NewFolder(testing::TempDir());
  std::string file_;
  std::size_t ran_ = 0;
};

TEST_F(StoppedSuite, GoesOnAndSaysTheSame) {
  const SuiteReport whole = Run(1000);
  const std::size_t cases = ran_;
  ASSERT_GT(cases, 4u);
  std::filesystem::remove(file_);
  const SuiteReport stopped = Run(2);
  EXPECT_GT(stopped.not_run, 0u);
  EXPECT_NE(ToSarif(whole), ToSarif(stopped)) << "it says nothing of what did not run";
  EXPECT_NE(std::string::npos, ToJUnit(stopped).find("<error type=\"interrupted\"")) << ToJUnit(stopped);
  // Killed while it wrote a line.
  std::ofstream(file_, std::ios::app) << R"({"case":"elementwise/ac)";
  const SuiteReport resumed = Run(1000);
  EXPECT_EQ(cases, ran_ + stopped.records.size());
  EXPECT_EQ(Summary(whole), Summary(resumed));
  EXPECT_EQ(ToSarif(whole), ToSarif(resumed));
  Run(1000);
  EXPECT_EQ(0u, ran_) << "all is done";
}

TEST_F(StoppedSuite, AFileOfSomethingElseIsRefused) {
  const auto refused = [&](const std::string& text) {
    std::ofstream(file_) << text;
    const absl::Status status = ResultsFile::Open(file_, "full").status();
    EXPECT_EQ(text, Text()) << "the file was changed";
    return std::string(status.message());
  };
  EXPECT_NE(std::string::npos, refused("notes\n").find("no file of results of this suite"));
  EXPECT_NE(std::string::npos, refused("notes").find("no file of results"));
  EXPECT_NE(std::string::npos,
            refused("{\"palladion_conformance\":1,\"suite\":\"quick\"}\n").find("expected the first"));
  EXPECT_NE(std::string::npos,
            refused("{\"palladion_conformance\":1,\"suite\":\"full\"}\n{\"case\":3}\n").find("line 2"));
}

TEST_F(StoppedSuite, TwoRunsDoNotShareAFile) {
  absl::StatusOr<ResultsFile> first = ResultsFile::Open(file_, "full");
  ASSERT_TRUE(first.ok());
  EXPECT_NE(std::string::npos,
            std::string(ResultsFile::Open(file_, "full").status().message()).find("another run writes to it"));
}

absl::StatusOr<ConformanceLine> Parsed(const std::vector<std::string>& words,
                                       const std::map<std::string, std::string>& environment = {}) {
  return ParseConformanceLine(words, [&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(ConformanceLine, OptionsAndTheirMistakes) {
  const absl::StatusOr<ConformanceLine> line =
      Parsed({"--tier=quick", "--shard", "2/3", "a.case", "--jobs=4", "--timeout=0.5", "--format", "junit"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(Tier::kQuick, line->tier);
  EXPECT_EQ(2u, line->shard.index);
  EXPECT_EQ(3u, line->shard.count);
  EXPECT_EQ(500, line->time.count());
  EXPECT_EQ(ReportFormat::kJUnit, line->format);
  for (const char* word :
       {"--shard=0/3", "--shard=4/3", "--shard=1", "--shard=-1/3", "--jobs=0", "--jobs=x", "--tier=slow", "--timeout=0",
        "--timeout=nan", "--format=xml", "--exec=", "--shrad=1/2", "--jobs"}) {
    EXPECT_FALSE(Parsed({word}).ok()) << word;
  }
}

TEST(ConformanceLine, GoogleTestsShards) {
  const absl::StatusOr<ConformanceLine> line =
      Parsed({}, {{"GTEST_TOTAL_SHARDS", "3"}, {"GTEST_SHARD_INDEX", "2"}, {"GTEST_SHARD_STATUS_FILE", "/tmp/x"}});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(3u, line->shard.index);
  EXPECT_EQ("/tmp/x", line->shard_status_file);
  EXPECT_FALSE(Parsed({}, {{"GTEST_TOTAL_SHARDS", "3"}, {"GTEST_SHARD_INDEX", "3"}}).ok());
  EXPECT_FALSE(Parsed({}, {{"GTEST_TOTAL_SHARDS", "3"}}).ok());
}

}  // namespace
}  // namespace palladion::conformance
