// The conformance cases of a file. Format: docs/spec/cases.md. Numbers of lists stay text here: what they mean depends
// on the operand's type, which only the prepared kernel knows. Lines are the file's, as an editor shows them, except
// those of the kernel's text, which are the kernel's own: a case says the same wherever it stands in a file.
#ifndef PALLADION_CONFORMANCE_CASE_FILE_H_
#define PALLADION_CONFORMANCE_CASE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/check.h"

namespace palladion::conformance {

struct CaseInput {
  std::string name;
  std::string value;  // "[1, 2]", "iota", ...
  int line = 0;       // of the file
};

struct CaseOutput {
  std::string name;
  std::vector<std::string> lists;  // more than one: any of them; none: only the hash is asserted
  std::uint64_t ulp = 0;
  std::optional<std::uint64_t> hash;
  int line = 0;

  bool exact() const { return lists.size() == 1 && ulp == 0; }
};

// A finding that must be reported.
struct ExpectedFinding {
  std::string code;
  std::string part;  // of its message
};

// A line of the kernel that ends in "//~ CODE", or in "//~ first:CODE" where the first of the two accesses is there.
// "//~ CODE@PAIR" on two lines, or on one: the two accesses of one finding are there, whichever came first.
struct GuiltyLine {
  std::string code;
  int text_line = 0;  // of the kernel text, from 1
  bool first = false;
  std::string pair;  // "" without @
};

struct Case {
  std::string path;                // of the file
  int line = 1;                    // of the file, where the case begins
  int kernel_line = 0;             // of the file: the kernel's first line
  std::vector<std::string> specs;  // "elementwise.md#add"
  std::string prose;
  std::string target = "generic";
  int exit_code = 0;
  std::vector<ExpectedFinding> findings;
  std::vector<std::string> errors;        // parts of the message of an exit code from 3 on
  std::optional<std::int64_t> budget;     // loop iterations
  std::optional<std::int64_t> schedules;  // the kernel is checked, with so many seeds; else it runs once
  std::int64_t launches = 1;              // of the kernel, in a row
  std::optional<ProxyRule> proxy;         // of the check; nullopt: the default
  std::optional<LinkOrder> links;         // the same
  std::string kernel;
  std::vector<GuiltyLine> guilty;
  std::vector<CaseInput> inputs;
  std::vector<CaseOutput> outputs;
  std::vector<std::string> printed;
};

// The text of one case, where it stands in its file.
struct CaseSource {
  std::string name;       // behind "=== ", or the file's name without ".case"
  std::string_view text;  // without empty lines before the next "==="
  int line = 1;           // of the file, where the text begins
};

// The cases of a file: each follows a line "=== NAME". A file without such a line is one case. InvalidArgument, as
// "path:line: ...": text before the first such line, a name of other characters than letters, digits, _, - and ., or
// one that comes twice, a case without text.
absl::StatusOr<std::vector<CaseSource>> SplitCases(std::string_view text, std::string_view path);

// Of one case, whose text begins on `line` of the file. InvalidArgument, as "path:line: ...": anything that is not the
// format, a name that comes twice, a case that asserts nothing.
absl::StatusOr<Case> ParseCase(std::string_view text, std::string_view path, int line = 1);

absl::StatusOr<std::string> ReadText(const std::string& path);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_FILE_H_
