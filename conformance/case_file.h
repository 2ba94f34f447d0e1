// One conformance case, read from its file. Format: docs/spec/cases.md. Numbers of lists stay text here: what they mean
// depends on the operand's type, which only the prepared kernel knows.
#ifndef PALLADION_CONFORMANCE_CASE_FILE_H_
#define PALLADION_CONFORMANCE_CASE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

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
  std::string path;
  std::vector<std::string> specs;  // "elementwise.md#add"
  std::string prose;
  std::string target = "generic";
  int exit_code = 0;
  std::vector<ExpectedFinding> findings;
  std::vector<std::string> errors;        // parts of the message of an exit code from 3 on
  std::optional<std::int64_t> budget;     // loop iterations
  std::optional<std::int64_t> schedules;  // the kernel is checked, with so many seeds; else it runs once
  std::int64_t launches = 1;              // of the kernel, in a row
  std::string proxy;                      // the fence policy of the check; "": the default
  std::string links;                      // the order of links of the check; "": the default
  std::string kernel;
  std::vector<GuiltyLine> guilty;
  std::vector<CaseInput> inputs;
  std::vector<CaseOutput> outputs;
  std::vector<std::string> printed;
};

// InvalidArgument, as "path:line: ...": anything that is not the format, a name that comes twice, a case that asserts
// nothing.
absl::StatusOr<Case> ParseCase(std::string_view text, std::string_view path);

// The same of a file. InvalidArgument also when it cannot be read.
absl::StatusOr<Case> ReadCase(const std::string& path);

absl::StatusOr<std::string> ReadText(const std::string& path);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_FILE_H_
