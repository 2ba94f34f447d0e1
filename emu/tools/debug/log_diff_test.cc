// Comparing logs: an injected change is found at its line, the order of programs does not matter, and what is no log or
// not of the same kernel is refused.
#include "emu/tools/debug/log_diff.h"

#include <gtest/gtest.h>

#include <sstream>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::debug {
namespace {

const char* const kHeader = "palladion-log 1\nkernel k\nin x:f32[4]=00000000000000aa\n";

absl::StatusOr<InstructionLog> Read(const std::string& text, const std::string& path = "a.log") {
  std::istringstream in(text);
  return ReadLog(in, path);
}

struct Hashes {
  const char *result, *operand;
};

std::string Line(const char* program, const char* iterations, int line, const char* op, const Hashes& hashes) {
  return Cat(program, "\t", iterations, "\t", line, "\t", op, "\t%r:f32[4]=", hashes.result, "\t%o=", hashes.operand,
             "\t-\tk.py:", line, ":1 in k\n");
}

LogComparison Compared(const std::string& a, const std::string& b) {
  const absl::StatusOr<InstructionLog> left = Read(kHeader + a, "a.log"), right = Read(kHeader + b, "b.log");
  EXPECT_TRUE(left.ok()) << left.status();
  EXPECT_TRUE(right.ok()) << right.status();
  const absl::StatusOr<LogComparison> comparison = CompareLogs(*left, *right);
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return *comparison;
}

std::string ErrorOf(const std::string& a, const std::string& b) {
  const absl::StatusOr<InstructionLog> left = Read(a, "a.log"), right = Read(b, "b.log");
  if (!left.ok()) return std::string(left.status().message());
  if (!right.ok()) return std::string(right.status().message());
  return std::string(CompareLogs(*left, *right).status().message());
}

TEST(LogDiff, ProgramsInAnyOrder) {
  const std::string zero = Line("0", "-", 5, "add", {"1", "2"}) + Line("0", "-", 6, "mul", {"3", "1"});
  const std::string one = Line("1", "-", 5, "add", {"4", "5"}) + Line("1", "-", 6, "mul", {"6", "4"});
  const LogComparison same = Compared(zero + one, one + zero);
  EXPECT_FALSE(same.first.has_value());
  EXPECT_EQ(4, same.compared);
}

TEST(LogDiff, TheFirstInTheOrderOfTheFirstLog) {
  const std::string a = Line("0", "-", 5, "add", {"1", "2"}) + Line("0", "-", 6, "mul", {"3", "1"});
  const LogComparison found = Compared(a, Line("0", "-", 6, "mul", {"9", "1"}) + Line("0", "-", 5, "add", {"8", "2"}));
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ(5, found.first->a.text_line);
  EXPECT_EQ(2, found.differing);
  ASSERT_EQ(1u, found.first->operands.size());
  EXPECT_TRUE(found.first->operands[0].same);
  const std::string text = ToText(found, *Read(kHeader, "a.log"), *Read(kHeader, "b.log"));
  EXPECT_NE(std::string::npos, text.find("first difference: add, line 5 of the kernel text, at k.py:5:1 in k")) << text;
  EXPECT_NE(std::string::npos, text.find("operand %o: same")) << text;
  EXPECT_NE(std::string::npos, text.find("the instruction itself differs")) << text;
}

TEST(LogDiff, AnOccurrenceIsMatchedWithItsNumber) {
  const std::string a = Line("0", "0", 5, "add", {"1", "2"}) + Line("0", "1", 5, "add", {"3", "1"});
  const LogComparison found = Compared(a, Line("0", "-", 5, "add", {"1", "2"}) + Line("0", "-", 5, "add", {"7", "1"}));
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ("1", found.first->a.iterations);
  EXPECT_EQ("%r differs", found.first->what);
}

TEST(LogDiff, AnotherPathThroughTheKernel) {
  const std::string turn = Line("0", "0", 5, "add", {"1", "2"}), again = Line("0", "1", 5, "add", {"3", "1"});
  EXPECT_NE(std::string::npos, Compared(turn + again, turn).first->what.find("another path")) << "fewer turns";
  EXPECT_NE(std::string::npos, Compared(turn, turn + again).first->what.find("runs this instruction 1 time")) << "more";
  const std::string other = Line("1", "-", 5, "add", {"3", "1"});
  EXPECT_EQ("b.log has no program (1)", Compared(turn + other, turn).first->what);
}

TEST(LogDiff, InstructionsThatABackendDoesNotLogAreLeftOut) {
  const std::string add = Line("0", "-", 5, "add", {"1", "2"}), mul = Line("0", "-", 6, "mul", {"3", "1"});
  const LogComparison same = Compared(add + mul, mul);
  EXPECT_FALSE(same.first.has_value());
  EXPECT_EQ(1, same.compared);
  EXPECT_EQ(1, same.left_out);
  EXPECT_NE(std::string::npos, ErrorOf(kHeader + add, kHeader + mul).find("nothing to compare"));
}

TEST(LogDiff, AStoreIsKnownByWhatItIsGiven) {
  const std::string store = "0\t-\t7\tswap\t-\t%v=1\twrite o[0:4]=1\t-\n";
  EXPECT_EQ("what it is given, %v, differs", Compared(store, "0\t-\t7\tswap\t-\t%v=2\t-\t-\n").first->what);
  EXPECT_NE(std::string::npos,
            Compared(store, "0\t-\t7\tswap\t-\t%v=1\twrite o[4:8]=1\t-\n").first->what.find("the access is"));
}

TEST(LogDiff, RefusesWhatCannotBeCompared) {
  const std::string add = Line("0", "-", 5, "add", {"1", "2"});
  const std::string good = kHeader + add;
  EXPECT_NE(std::string::npos, ErrorOf(good, "palladion-log 1\nkernel other\n" + add).find("different kernels"));
  EXPECT_NE(std::string::npos,
            ErrorOf(good, "palladion-log 1\nkernel k\nin x:f32[4]=00000000000000ab\n" + add).find("input 0 is"));
  EXPECT_NE(std::string::npos, ErrorOf("", good).find("the file is empty"));
  EXPECT_NE(std::string::npos, ErrorOf("pkir 1;\n", good).find("a.log:1: not a line of an instruction log"));
  EXPECT_NE(std::string::npos, ErrorOf(Cat(kHeader, "0\tx\n"), good).find("a.log:4:"));
  EXPECT_NE(std::string::npos, ErrorOf(Cat(kHeader, "0\t-\tfive\tadd\t-\t-\t-\t-\n"), good).find("found 'five'"));
  EXPECT_NE(std::string::npos, ErrorOf(Cat(kHeader, "0\t-\t5\tadd\t%r\t-\t-\t-\n"), good).find("%name:type=hash"));
  EXPECT_NE(std::string::npos, ErrorOf(Cat(kHeader, "what 3\n"), good).find("unknown header 'what'"));
  EXPECT_NE(std::string::npos, ErrorOf("palladion-log 1\n" + add, good).find("names no kernel"));
}

// Version 1 has no end mark; from version 2 on a log that was cut anywhere is refused.
TEST(LogDiff, ALogThatWasCutOffIsRefusedWhereverItWasCut) {
  const std::string add = Line("0", "-", 5, "add", {"1", "2"}), mul = Line("0", "-", 6, "mul", {"3", "1"});
  const std::string whole = "palladion-log 2\nkernel k\nin x:f32[4]=00000000000000aa\n" + add + mul + "end 2\n";
  EXPECT_EQ(2, CompareLogs(*Read(whole), *Read(kHeader + add + mul))->compared);
  for (std::size_t n = std::string("palladion-log 2\n").size(); n < whole.size(); ++n)
    EXPECT_NE(std::string::npos, ErrorOf(whole.substr(0, n), whole).find(": this log was cut off: ")) << n;
  std::string lost = whole;
  lost.erase(lost.find(mul), mul.size());
  EXPECT_NE(std::string::npos, ErrorOf(lost, whole).find("its last line counts 2 records, and 1 are there"));
  EXPECT_NE(std::string::npos, ErrorOf(whole + "end 2\n", whole).find("it goes on after its end"));
  EXPECT_NE(std::string::npos, ErrorOf(whole + "end x\n", whole).find("it goes on after its end"));
}

class LogCommandTest : public command::CommandTest {};

// The text with one operation flipped is, to `diff`, a backend that compiles this line wrongly.
TEST_F(LogCommandTest, FindsAnInjectedChange) {
  const std::string text = AddKernel();
  std::string wrong = text;
  wrong.replace(wrong.find("add(%a, %b)"), 11, "sub(%a, %b)");
  const std::string a = Write("a.pkir", text), b = Write("b.pkir", wrong);
  const auto log = [&](const std::string& file, const std::string& to) {
    return Run({"log", file, "--in", "x=iota", "--in", "y=full(2)", "-o", Path(to)});
  };
  ASSERT_EQ(0, log(a, "a.log")) << err_;
  EXPECT_EQ(Cat("wrote ", Path("a.log"), "\n"), out_);
  ASSERT_EQ(0, log(b, "b.log")) << err_;
  EXPECT_EQ(1, Run({"diff", Path("a.log"), Path("b.log")})) << err_;
  EXPECT_NE(std::string::npos, out_.find("first difference: add, line 12 of the kernel text\n  program (0)\n")) << out_;
  EXPECT_NE(std::string::npos, out_.find("the operation is add in one and sub in the other")) << out_;
  EXPECT_EQ(0, Run({"diff", Path("a.log"), Path("a.log")})) << err_;
  EXPECT_EQ(1, Run({"diff", Path("a.log"), Path("b.log"), "--format", "json"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("\"text_line\": 12, ")) << out_;
}

// A softmax of a product, and a loop.
const char* const kHead =
    "pkir 1;\nkernel @k {\n  in %x: f32[6,5]; in %y: f32[5,6]; grid []; out %o: f32[6];\n"
    "  body @k (%xr: ref<default,f32[6,5]>, %yr: ref<default,f32[5,6]>, %orf: ref<default,f32[6]>) {\n";
const std::vector<std::string>& SoftmaxBody() {
  static const std::vector<std::string>* const kBody = new std::vector<std::string>{
      "%a = get(%xr) : f32[6,5];",
      "%b = get(%yr) : f32[5,6];",
      "%c = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[6,6];",
      "%m = reduce_max{axes=[1]}(%c) : f32[6];",
      "%w = broadcast_in_dim{shape=[6,6], dims=[0]}(%m) : f32[6,6];",
      "%d = sub(%c, %w) : f32[6,6];",
      "%e = exp(%d) : f32[6,6];",
      "%s = reduce_sum{axes=[1]}(%e) : f32[6];",
      "%l = scan{length=3}(init=%s) (%t: f32[6]) {",
      "%u = mul(%t, 0.5:f32) : f32[6];",
      "return %u;",
      "} : f32[6];",
      "_ = swap(%orf, %l) : f32[6];",
      "return;",
      "}",
      "}",
  };
  return *kBody;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// As a backend that compiles one operation wrongly: its log has the right name and a wrong value. Each of these is
// named at its own line, whatever comes of it later.
TEST_F(LogCommandTest, NamesTheLineOfEachOperationThatIsWrong) {
  const auto log = [&](const std::vector<std::string>& lines) {
    std::string text = kHead;
    for (const std::string& line : lines) text += line + "\n";
    EXPECT_EQ(0, Run({"log", Write("k.pkir", text), "--in", "x=random(seed=1,lo=-1,hi=1)", "--in",
                      "y=random(seed=2,lo=-1,hi=1)"}))
        << err_;
    return out_;
  };
  const std::string right = Write("right.log", log(SoftmaxBody()));
  EXPECT_EQ(0, Run({"diff", right, right})) << out_;
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"reduce_max", "reduce_min"},  {"sub", "add"}, {"exp", "exp2"},
      {"reduce_sum", "reduce_prod"}, {"mul", "add"}, {"dims=[0]", "dims=[1]"},
  };
  for (std::size_t m = 0; m < mistakes.size(); ++m) {
    const std::string from = mistakes[m].first, to = mistakes[m].second;
    std::vector<std::string> lines = SoftmaxBody();
    std::size_t at = 0;
    while (at < lines.size() && lines[at].find(from) == std::string::npos) ++at;
    ASSERT_LT(at, lines.size()) << from;
    lines[at] = Replaced(lines[at], from, to);
    const std::string wrong = Write("wrong.log", Replaced(log(lines), Cat("\t", to, "\t"), Cat("\t", from, "\t")));
    EXPECT_EQ(1, Run({"diff", right, wrong})) << out_;
    const std::string first_line = out_.substr(0, out_.find('\n') + 1);
    EXPECT_NE(std::string::npos, first_line.find(Cat(", line ", 5 + at, " of the kernel text\n"))) << from << "\n"
                                                                                                   << out_;
    EXPECT_NE(std::string::npos, out_.find("the operands are the same: the instruction itself differs")) << out_;
  }
}

TEST_F(LogCommandTest, Errors) {
  const std::string file = Write("add.pkir", AddKernel());
  ExpectError(4, {"diff", file}, "expected two logs to compare; found 1");
  ExpectError(4, {"diff", file, file}, ":1: not a line of an instruction log");
  ExpectError(4, {"diff", Path("none.log"), file}, "none.log': cannot be read");
  ExpectError(4, {"diff", directory_.string(), file}, "expected an instruction log; found a directory");
  ExpectError(4, {"log", file, "--in", "x=iota"}, "no value for input 'y'");
  ExpectError(4, {"log", file, "--in", "x=iota", "--in", "y=iota", "-o", Path("no/a.log")}, "cannot be written");
  ExpectError(4, {"log", file, "--program", "1,x", "--in", "x=iota", "--in", "y=iota"}, "--program must be an index");
}

TEST_F(LogCommandTest, AFullDiskIsAnError) {
  const std::string file = Write("add.pkir", AddKernel());
  ExpectError(6, {"log", file, "--in", "x=iota", "--in", "y=iota", "-o", "/dev/full"}, "cannot be written to its end");
}

}  // namespace
}  // namespace palladion::debug
