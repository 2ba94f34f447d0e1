// Backends that crash, hang, flood and lie (hostile_backend.sh): the case fails with a message that says so, and the
// ones before and after it pass.
#include "conformance/backend_case.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "absl/strings/str_join.h"
#include "conformance/suite.h"
#include "semantics/base/cat.h"
#include "semantics/base/unfinished.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kCopy = R"(# spec: ref.md#get
# A copy.
--- kernel
pkir 1;
kernel @k {
  grid [];
  in %x: f32[3];
  out %o: f32[3];
  body @k (%xr: ref<default,f32[3]>, %or: ref<default,f32[3]>) {
    %a = get(%xr) : f32[3];
    _ = swap(%or, %a) : f32[3];
    return;
  }
}
--- inputs
x = [1.0, nan, -0.0]
--- expect
o = [1.0, nan, -0.0]
)";

SelectedCase Copy(const std::string& name) { return {.name = name, .test = ParseCase(kCopy, name + ".case")}; }

class BackendTest : public testing::Test {
 protected:
  static std::vector<std::optional<CaseRecord>> Run(const std::string& mistake, std::chrono::milliseconds time) {
    absl::StatusOr<Part> folder = Part::NewFolder(testing::TempDir());
    EXPECT_TRUE(folder.ok()) << folder.status();
    const std::atomic<bool> interrupted = false;
    const SuiteOptions options{
        .jobs = 1,
        .backend =
            BackendOptions{.command = Cat("exec " PALLADION_SOURCE_DIR "/conformance/hostile_backend.sh ", mistake),
                           .time = time,
                           .folder = folder->path()}};
    std::vector<std::optional<CaseRecord>> records;
    const absl::Status status = RunSuite({Copy("a/first"), Copy("a/hostile"), Copy("a/last")}, options, interrupted,
                                         records, [](std::size_t, const CaseRecord&) { return absl::OkStatus(); });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(std::filesystem::is_empty(folder->path())) << "folders of cases are left behind";
    return records;
  }

  // What is said of the case in the middle.
  static std::string Said(const std::string& mistake, Outcome outcome = Outcome::kFailed,
                          std::chrono::milliseconds time = std::chrono::seconds(20)) {
    const auto records = Run(mistake, time);
    for (const std::size_t good : {std::size_t{0}, std::size_t{2}}) {
      EXPECT_TRUE(records[good].has_value() && records[good]->outcome == Outcome::kPassed)
          << mistake << ": "
          << (records[good].has_value() ? absl::StrJoin(records[good]->messages, "\n") : "did not run");
    }
    if (!records[1].has_value()) return "did not run";
    EXPECT_EQ(Name(outcome), Name(records[1]->outcome)) << mistake;
    return absl::StrJoin(records[1]->messages, "\n");
  }
};

TEST_F(BackendTest, AGoodOnePasses) {
  EXPECT_EQ("", Said("none", Outcome::kPassed));
  EXPECT_EQ("", Said("chatter", Outcome::kPassed));
}

TEST_F(BackendTest, OneThatEnds) {
  EXPECT_EQ("the backend: it was ended by signal 11; its last words: out of cheese ", Said("crash"));
  EXPECT_EQ("the backend: it ended with exit code 139 (signal 11); its last words: out of cheese ",
            Said("crash_below"));
  EXPECT_EQ("the backend: it ended with exit code 7; its last words: out of cheese ", Said("exit"));
  EXPECT_EQ("the backend: it ended with exit code 0 in the middle of its answer '{\"case\":\"a/hos'",
            Said("half_line"));
}

TEST_F(BackendTest, OneThatDoesNotAnswer) {
  const std::chrono::milliseconds time(1500);
  EXPECT_EQ("the backend: no answer in 1.5 s; it was ended. --timeout SECONDS gives it more",
            Said("hang", Outcome::kFailed, time));
  EXPECT_EQ("the backend: it closed its standard output and did not end", Said("deaf"));
  // What it has started holds its standard output open, and is ended with it.
  EXPECT_EQ("the backend: no answer in 1.5 s; it was ended. --timeout SECONDS gives it more",
            Said("child", Outcome::kFailed, time));
}

TEST_F(BackendTest, OneThatWritesTooMuch) {
  EXPECT_EQ("the backend: it wrote more than 1048576 bytes to its standard output without the end of a line",
            Said("flood"));
  EXPECT_NE("", Said("lines"));  // the first alone is no answer, and more may be there when it is read
  EXPECT_EQ(
      "the backend: it wrote more than one line to its standard output: behind the first is '{} '; what it prints "
      "otherwise goes to its standard error",
      Said("two_lines"));
}

TEST_F(BackendTest, OneWhoseAnswerIsNone) {
  EXPECT_EQ(
      "the backend: the answer is no JSON object: expected {\"case\": \"...\", \"status\": \"ran\", \"not_supported\" "
      "or \"error\", ...}; found 'done'",
      Said("words"));
  EXPECT_NE(std::string::npos, Said("deep").find("the answer is no JSON object"));
  EXPECT_EQ("the backend: the answer is to another case: expected 'a/hostile', found 'a/first'", Said("other_case"));
  EXPECT_EQ("the backend: the answer is to another case: expected 'a/hostile', found '?[31m'", Said("control"));
  EXPECT_NE(std::string::npos, Said("status").find("status is 'passed'; expected 'ran', 'not_supported' or 'error'"));
  EXPECT_NE(std::string::npos, Said("member").find("the answer is not of this form"));
}

TEST(BackendProtocol, AnAnswerWithoutAMemberSaysWhich) {
  const auto error = [](std::string_view line) { return std::string(ParseAnswer(line, "a").status().message()); };
  EXPECT_EQ(error("{}").find("the answer has no text \"case\": expected {\"case\": "), 0U) << error("{}");
  EXPECT_EQ(error(R"({"case": 3, "status": "ran"})").find("the answer has no text \"case\""), 0U);
  EXPECT_EQ(error(R"({"case": "a"})").find("the answer has no text \"status\""), 0U);
  EXPECT_TRUE(ParseAnswer(R"({"case": "a", "status": "ran"})", "a").ok());
}

TEST_F(BackendTest, OneWhoseFilesAreWrong) {
  EXPECT_EQ("the answer has no output 'o'", Said("no_outputs"));
  EXPECT_EQ("the answer has an output 'p', which the kernel has not", Said("too_many"));
  for (const char* mistake : {"no_file", "device", "pipe"})
    EXPECT_EQ("o: there is no file 'o.npy' in the case's folder", Said(mistake));
  EXPECT_EQ("o: its file is '../o.npy'; expected the name of a file in the case's folder", Said("outside"));
  EXPECT_NE(std::string::npos, Said("empty").find("o.npy: not a"));
  EXPECT_NE(std::string::npos, Said("truncated").find("its shape f32[3] needs 12 bytes and 2 follow the header"));
  EXPECT_NE(std::string::npos, Said("huge").find("its shape f32[1099511627776,4] needs more than 1 TiB"));
  EXPECT_EQ("o: expected f32[3], found f32[3,1]", Said("shape"));
  EXPECT_NE(std::string::npos, Said("dtype").find("<i4"));
}

TEST_F(BackendTest, OneThatIsWrong) {
  EXPECT_EQ(
      "o: element [0]: expected 1.0, found 0.0; element [1]: expected nan, found 0.0; element [2]: expected -0.0, "
      "found 0.0",
      Said("value"));
  EXPECT_EQ("finding OOB was reported, and the case has none of that code", Said("findings"));
  EXPECT_EQ("the backend answers with an error: no ? such thing", Said("error"));
}

TEST_F(BackendTest, OneThatSaysThatItCannot) {
  EXPECT_EQ("not supported: no copies", Said("not_supported", Outcome::kUnsupported));
}

TEST(BackendProcess, OneThatEndsAfterItsAnswer) {
  const std::atomic<bool> interrupted = false;
  auto process = BackendProcess::Start("read line; echo \"$line\"");
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE((*process)->HasEnded());
  EXPECT_EQ("words", *(*process)->Ask("words\n", std::chrono::seconds(20), interrupted));
  while (!(*process)->HasEnded()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(BackendTest, AnInterruptEndsOneThatHangs) {
  const std::atomic<bool> interrupted = true;
  Backend backend(
      {.command = PALLADION_SOURCE_DIR "/conformance/hostile_backend.sh none", .folder = testing::TempDir()},
      interrupted);
  CaseRecord record{.name = "a/first"};
  EXPECT_TRUE(absl::IsCancelled(backend.Run(*Copy("a/first").test, record)));
}

// What an answer is worth, by what the case is about.
Case CaseOf(std::string_view headers, std::string_view code) {
  std::string text(kCopy);
  if (headers.find("# error:") != std::string_view::npos) text.resize(text.find("--- expect"));
  text.replace(0, 0, headers);
  if (!code.empty()) text.replace(text.find("get(%xr) : f32[3];") + 18, 0, Cat("  //~ ", code));
  return *ParseCase(text, "c.case");
}

CaseRecord Judged(const Case& test, const BackendAnswer& answer) {
  CaseRecord record{.name = "a/first"};
  JudgeAnswer({.name = record.name, .folder = testing::TempDir(), .test = &test}, answer, record);
  return record;
}

TEST(JudgeAnswer, FindingsOfAWrongKernel) {
  const Case test = CaseOf("# exit: 1\n", "RACE_WW");
  EXPECT_EQ(Outcome::kUnsupported, Judged(test, {}).outcome);
  const CaseRecord found = Judged(test, {.findings = {{"RACE_WW"}}});
  EXPECT_EQ(Outcome::kPassed, found.outcome);
  EXPECT_EQ(std::vector<std::string>{"RACE_WW"}, found.codes.found);
  const CaseRecord missed = Judged(test, {.findings = std::vector<std::string>{}});
  EXPECT_EQ(Outcome::kFailed, missed.outcome);
  EXPECT_EQ(std::vector<std::string>{"RACE_WW"}, missed.codes.missed);
  const CaseRecord wrong = Judged(test, {.findings = {{"RACE_WW", "OOB"}}});
  EXPECT_EQ(Outcome::kFailed, wrong.outcome);
  EXPECT_EQ(std::vector<std::string>{"OOB"}, wrong.codes.wrong);
}

TEST(JudgeAnswer, AnErrorOfAWrongKernelIsNoFailure) {
  const BackendAnswer error = {.status = AnswerStatus::kError, .message = "it hangs"};
  EXPECT_EQ(Outcome::kUnsupported, Judged(CaseOf("# exit: 1\n", "RACE_WW"), error).outcome);
  EXPECT_EQ(Outcome::kFailed, Judged(CaseOf("", ""), error).outcome);
}

TEST(JudgeAnswer, ABackendThatLooksForAFamily) {
  const std::vector<std::string> none, races = {"RACE_*"};
  EXPECT_EQ(Outcome::kPassed, Judged(CaseOf("# exit: 1\n", "RACE_WW"), {.findings = races, .finds = races}).outcome);
  EXPECT_EQ(Outcome::kFailed, Judged(CaseOf("# exit: 1\n", "RACE_WW"), {.findings = none, .finds = races}).outcome);
  EXPECT_EQ(Outcome::kUnsupported, Judged(CaseOf("# exit: 1\n", "OOB"), {.findings = none, .finds = races}).outcome);
  EXPECT_EQ(Outcome::kFailed, Judged(CaseOf("# exit: 1\n", "OOB"), {.findings = races, .finds = races}).outcome);
}

TEST(JudgeAnswer, ARefusal) {
  const Case test = CaseOf("# exit: 6\n# error: budget\n", "");
  EXPECT_EQ(Outcome::kPassed, Judged(test, {.status = AnswerStatus::kError}).outcome);
  EXPECT_EQ(Outcome::kFailed, Judged(test, {}).outcome);
  EXPECT_EQ(Outcome::kUnsupported, Judged(test, {.status = AnswerStatus::kNotSupported}).outcome);
}

}  // namespace
}  // namespace palladion::conformance
