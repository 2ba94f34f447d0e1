// The pages of `palladion explain` are compared with the checks: a wrong kernel has exactly its code, and those that
// the page lists as consequences; the fixed one has no finding; and a page that says that nothing finds it yet must be
// right about that too.
#include "emu/front/reports/explain.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "emu/front/command/command_test_util.h"

namespace palladion::reports {
namespace {

class ExplainTest : public command::CommandTest {
 protected:
  // The codes of the findings; "exit N" where there is no report.
  std::set<std::string> CodesOf(const ExplainPage& page, const std::string& text) {
    std::vector<std::string> arguments = {"check", Write("k.pkir", text), "--format", "json"};
    arguments.insert(arguments.end(), page.options.begin(), page.options.end());
    const int code = Run(arguments);
    if (out_.find("\"error\": null") == std::string::npos) return {"exit " + std::to_string(code)};
    std::set<std::string> codes;
    const std::string key = "\"code\": \"";
    for (std::size_t at = out_.find(key); at != std::string::npos; at = out_.find(key, at + 1))
      codes.insert(out_.substr(at + key.size(), out_.find('"', at + key.size()) - at - key.size()));
    return codes;
  }
};

TEST_F(ExplainTest, EveryCodeHasAPageAndEveryPageACode) {
  for (const CodeRow& row : AllCodes())
    EXPECT_TRUE(PageOf(row.code).has_value())
        << "emu/front/reports/explain/" << row.name << ".txt is missing or malformed";
  for (const EmbeddedPage& page : EmbeddedPages()) EXPECT_TRUE(CodeFromName(page.code).has_value()) << page.code;
}

TEST_F(ExplainTest, WrongKernelsHaveTheirCodeAndMendedOnesNone) {
  for (const CodeRow& row : AllCodes()) {
    const std::optional<ExplainPage> page = PageOf(row.code);
    if (!page.has_value()) continue;  // the test before this one says so
    std::set<std::string> expected(page->also.begin(), page->also.end());
    EXPECT_TRUE(expected.insert(std::string(row.name)).second) << row.name << " is no consequence of itself";
    EXPECT_EQ(expected, CodesOf(*page, page->wrong)) << row.name << "\n" << out_ << err_;
    EXPECT_EQ(std::set<std::string>{}, CodesOf(*page, page->right)) << row.name << "\n" << out_ << err_;
  }
}

TEST_F(ExplainTest, OneCode) {
  EXPECT_EQ(0, Run({"explain", "OOB"})) << err_;
  EXPECT_EQ(0u, out_.find("OOB (defect)\nAn access must stay inside its ref")) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nA kernel that is wrong:\n\n    pkir 1;\n    kernel @shift {\n")) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nThe fix:\n\n"
                                         "        %i = program_id{axis=0}() : i32[];\n"
                                         "        %next = add(%i, 1:i32) : i32[];\n"
                                         "  -     %v = get(%xr.at[%next]) : i32[];\n"
                                         "  +     %last = min(%next, 3:i32) : i32[];\n"
                                         "  +     %v = get(%xr.at[%last]) : i32[];\n"
                                         "        _ = swap(%or.at[%i], %v) : i32[];\n"
                                         "        return;\n"))
      << out_;
  EXPECT_EQ(0, Run({"explain", "OOB", "--color=always"}));
  EXPECT_NE(std::string::npos, out_.find("\x1b[32m+     %last")) << out_;
}

TEST_F(ExplainTest, AllCodes) {
  EXPECT_EQ(0, Run({"explain"}));
  EXPECT_EQ(static_cast<std::ptrdiff_t>(AllCodes().size()), std::count(out_.begin(), out_.end(), '\n'));
  EXPECT_EQ(0u, out_.find("OOB              defect   An access must")) << out_;
  EXPECT_EQ(0, Run({"explain", "--format=json"}));
  EXPECT_EQ(0u, out_.find("[{\"code\": \"OOB\", \"severity\": \"defect\", \"rule\": ")) << out_;
}

TEST_F(ExplainTest, UnknownCodes) {
  EXPECT_EQ(0, Run({"explain", "ILLEGAL"}));
  EXPECT_NE(std::string::npos, out_.find("\n    copy.strides "));
  EXPECT_EQ(0, Run({"explain", "copy.strides"}));
  EXPECT_TRUE(out_.starts_with("copy.strides (ILLEGAL)\nevery stride of the GMEM array but the last")) << out_;
  ExpectError(4, {"explain", "copy.stride"}, "unknown finding code 'copy.stride'");
  ExpectError(4, {"explain", "RACE_W"}, "unknown finding code 'RACE_W'; did you mean RACE_WW?");
  ExpectError(4, {"explain", "race_rw"}, "unknown finding code 'race_rw'; did you mean RACE_RW?");
  ExpectError(4, {"explain", "WHATEVER"}, "unknown finding code 'WHATEVER'; `palladion explain` lists them");
  ExpectError(4, {"explain", ""}, "unknown finding code ''");
  ExpectError(4, {"explain", "OOB", "F2I"}, "expected one finding code; found 2");
  ExpectError(4, {"explain", "OOB", "--format=json"}, "--format=json has all codes: give none");
}

}  // namespace
}  // namespace palladion::reports
