// The pages of `palladion explain` are compared with the checks: a wrong kernel has exactly its code, and those that
// the page lists as consequences; the fixed one has no finding; and a page that says that nothing finds it yet must be
// right about that too.
#include "emu/front/reports/explain.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "emu/front/command/command_test_util.h"
#include "emu/front/reports/finding_link.h"
#include "semantics/base/cat.h"

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
    EXPECT_EQ(expected, CodesOf(*page, page->pkir.wrong)) << row.name << "\n" << out_ << err_;
    EXPECT_EQ(std::set<std::string>{}, CodesOf(*page, page->pkir.right)) << row.name << "\n" << out_ << err_;
  }
}

TEST_F(ExplainTest, OneCode) {
  EXPECT_EQ(0, Run({"explain", "OOB"})) << err_;
  EXPECT_EQ(0u, out_.find("OOB (defect)\nAn access must stay inside its ref")) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nA kernel that is wrong:\n\n    import jax\n")) << out_;
  EXPECT_NE(std::string::npos, out_.find("\nThe fix:\n\n"
                                         "    def kernel(x_ref, o_ref):\n"
                                         "        i = pl.program_id(0)\n"
                                         "  -     o_ref[i] = x_ref[i + 1]  # OOB: the last program reads past the end\n"
                                         "  +     o_ref[i] = x_ref[jnp.minimum(i + 1, 3)]\n"))
      << out_;
  EXPECT_TRUE(out_.ends_with("\nAs kernel text: palladion explain OOB --pkir\n")) << out_;
  EXPECT_EQ(0, Run({"explain", "OOB", "--color=always"}));
  EXPECT_NE(std::string::npos, out_.find("\x1b[32m+     o_ref[i]")) << out_;
}

TEST_F(ExplainTest, OneCodeAsKernelText) {
  EXPECT_EQ(0, Run({"explain", "OOB", "--pkir"})) << err_;
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
  EXPECT_EQ(std::string::npos, out_.find("import jax")) << out_;
}

// Readers, and logs that were kept, point to docs/reference/findings.md by them.
TEST_F(ExplainTest, LinksStay) {
  EXPECT_EQ("docs/reference/findings.md#race_ww", LinkOf(FindingCode::kRaceWriteWrite));
  EXPECT_EQ("urn:palladion:finding:race_ww", HelpUriOf(FindingCode::kRaceWriteWrite));
}

TEST_F(ExplainTest, PythonMarksItsMistake) {
  for (const CodeRow& row : AllCodes()) {
    const KernelPair python = PageOf(row.code).value_or(ExplainPage{}).python;
    EXPECT_NE(std::string::npos, python.wrong.find(Cat("# ", row.name, ": "))) << row.name;
    EXPECT_EQ(std::string::npos, python.right.find(Cat("# ", row.name))) << row.name;
  }
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
  ExpectError(4, {"explain", "RACE_W"}, "unknown finding code 'RACE_W'; did you mean RACE_WW or RACE_RW?");
  ExpectError(4, {"explain", "race"}, "'race'; did you mean RACE_WW, RACE_RW, RACE_ASYNC or RACE_XDEV?");
  ExpectError(4, {"explain", "copy.stride"}, "; did you mean copy.strides?");
  ExpectError(4, {"explain", "race_rw"}, "unknown finding code 'race_rw'; did you mean RACE_RW?");
  ExpectError(4, {"explain", "WHATEVER"}, "unknown finding code 'WHATEVER'; `palladion explain` lists them");
  ExpectError(4, {"explain", ""}, "unknown finding code ''");
  ExpectError(4, {"explain", "--pkir"}, "--pkir is of the page of one code: give it");
  ExpectError(4, {"explain", "OOB", "F2I"}, "expected one finding code; found 2");
  ExpectError(4, {"explain", "OOB", "--format=json"}, "--format=json has all codes: give none");
}

}  // namespace
}  // namespace palladion::reports
