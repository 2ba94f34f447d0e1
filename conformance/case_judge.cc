#include "conformance/case_judge.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

std::string ShapeIndex(std::int64_t i, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = Cat(i % shape[d], text.empty() ? "" : ",", text);
    i /= shape[d];
  }
  return text;
}

}  // namespace

void CheckExit(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  if (ran.exit_code != test.exit_code) {
    failures.push_back(Cat("exit code: expected ", test.exit_code, ", found ", ran.exit_code,
                           ran.error.empty() ? "" : ": ", ran.error));
  }
  for (const std::string& part : test.errors) {
    if (ran.error.find(part) == std::string::npos)
      failures.push_back(Cat("error: expected a message with '", part, "'; found '", ran.error, "'"));
  }
}

namespace {

// Is this what the line says? Of a pair, both lines are looked at.
bool Meets(const ReportedFinding& finding, const GuiltyLine& guilty, const std::vector<GuiltyLine>& all) {
  if (Code(finding.code) != guilty.code) return false;
  if (guilty.pair.empty()) {
    return guilty.first ? finding.first.has_value() && finding.first->text_line == guilty.text_line
                        : finding.text_line == guilty.text_line;
  }
  if (!finding.first.has_value() || !finding.second.has_value()) return false;
  std::set<int> lines;
  for (const GuiltyLine& other : all) {
    if (other.code == guilty.code && other.pair == guilty.pair) lines.insert(other.text_line);
  }
  return lines == std::set<int>{finding.first->text_line, finding.second->text_line};
}

}  // namespace

namespace {

// A line of the kernel, as an editor shows it.
std::string InFile(const Case& test, int text_line) {
  return text_line > 0 ? Cat(" (", test.path, ":", test.kernel_line + text_line - 1, ")") : "";
}

}  // namespace

// Every finding is announced by its line, every announced line has its finding, and every # finding: was reported.
void CheckFindings(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  for (const ReportedFinding& finding : ran.report.findings) {
    const auto announces = [&](const GuiltyLine& g) { return !g.first && Meets(finding, g, test.guilty); };
    if (std::any_of(test.guilty.begin(), test.guilty.end(), announces)) continue;
    const std::string first = finding.first.has_value() ? Cat(", and ", finding.first->text_line) : "";
    failures.push_back(Cat("finding ", Code(finding.code), " on line ", finding.text_line, first, " of the kernel",
                           InFile(test, finding.text_line), ", which no //~ announces: ", finding.message));
  }
  for (const GuiltyLine& guilty : test.guilty) {
    const auto meets = [&](const ReportedFinding& f) { return Meets(f, guilty, test.guilty); };
    if (std::any_of(ran.report.findings.begin(), ran.report.findings.end(), meets)) continue;
    failures.push_back(Cat("expected ", guilty.first ? "the first access of " : "finding ", guilty.code,
                           guilty.pair.empty() ? "" : Cat("@", guilty.pair), " on line ", guilty.text_line,
                           " of the kernel", InFile(test, guilty.text_line), "; there is none"));
  }
  for (const ExpectedFinding& expected : test.findings) {
    const auto meets = [&](const ReportedFinding& f) {
      return Code(f.code) == expected.code && f.message.find(expected.part) != std::string::npos;
    };
    if (std::any_of(ran.report.findings.begin(), ran.report.findings.end(), meets)) continue;
    failures.push_back(
        Cat("expected finding ", expected.code, " with '", expected.part, "' in its message; it was not reported"));
  }
}

void CheckPrinted(const Case& test, const std::vector<std::string>& found, std::vector<std::string>& failures) {
  for (std::size_t i = 0; i < std::max(test.printed.size(), found.size()); ++i) {
    const std::string expected = i < test.printed.size() ? Cat("\"", test.printed[i], "\"") : "nothing";
    const std::string printed = i < found.size() ? Cat("\"", found[i], "\"") : "nothing";
    if (expected != printed) failures.push_back(Cat("printed line ", i, ": expected ", expected, ", found ", printed));
  }
}

namespace {

// The text of each number of "[...]".
std::vector<std::string_view> Numbers(std::string_view list) {
  std::vector<std::string_view> numbers;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.size(), list.find(','));
    std::string_view number = list.substr(0, comma);
    const std::size_t first = std::min(number.size(), number.find_first_not_of(" \t"));
    number = number.substr(first);
    numbers.push_back(number.substr(0, number.find_last_not_of(" \t") + 1));
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return numbers;
}

// How `found` differs from the list, "" when it does not.
std::string Difference(const CaseOutput& output, std::string_view list, const Tensor& found) {
  absl::StatusOr<Tensor> expected = TensorFromText(found.dtype(), found.shape(), list);
  if (!expected.ok()) return std::string(expected.status().message());
  const std::vector<std::string_view> numbers = Numbers(list);
  const std::size_t element_bytes = StorageBytes(found.dtype());
  std::string text;
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < found.num_elements(); ++i) {
    const std::string_view number = numbers[static_cast<std::size_t>(i)];
    const std::size_t at = static_cast<std::size_t>(i) * element_bytes;
    bool same = std::equal(found.bytes() + at, found.bytes() + at + element_bytes, expected->bytes() + at);
    if (number == "nan") {
      same = same || IsNaN(found, i);
    } else if (output.ulp > 0 && !number.starts_with("0x")) {
      const std::optional<std::uint64_t> distance = UlpDistance(*expected, found, i);
      same = distance.has_value() && *distance <= output.ulp;
    }
    if (same || ++differing > 5) continue;
    Append(&text, text.empty() ? "" : "; ", "element [", ShapeIndex(i, found.shape()), "]: expected ", number,
           ", found ", ElementText(found, i));
  }
  if (differing > 5) Append(&text, "; and ", differing - 5, " more");
  return text;
}

}  // namespace

std::vector<std::string> ListDifferences(const CaseOutput& output, const Tensor& found) {
  std::vector<std::string> differences;
  for (const std::string& list : output.lists) {
    differences.push_back(Difference(output, list, found));
    if (differences.back().empty()) return {};
  }
  return differences;
}

std::string HashDifference(const CaseOutput& output, const Tensor& found) {
  if (!output.hash.has_value() || Fnv1a(found) == *output.hash) return "";
  return Cat("hash: expected ", absl::StrFormat("%016x", *output.hash), ", found ",
             absl::StrFormat("%016x", Fnv1a(found)));
}

namespace {

void CheckOutput(const Case& test, const CaseOutput& output, const Tensor& found, std::vector<std::string>& failures) {
  const std::string place = Cat(test.path, ":", output.line, ": ", output.name);
  for (const std::string& difference : ListDifferences(output, found)) failures.push_back(Cat(place, ": ", difference));
  if (const std::string difference = HashDifference(output, found); !difference.empty())
    failures.push_back(Cat(place, ": ", difference));
  if (!output.exact() && !output.hash.has_value()) {
    failures.push_back(Cat(place, ": an output without an exact list needs its hash: hash ", output.name, " = ",
                           absl::StrFormat("%016x", Fnv1a(found))));
  }
}

}  // namespace

void CheckOutputs(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  for (const CaseOutput& output : test.outputs) {
    const auto same = [&](const OperandDescription& d) { return d.name == output.name; };
    if (std::none_of(ran.described.begin(), ran.described.end(), same)) {
      failures.push_back(Cat(test.path, ":", output.line, ": the kernel has no output '", output.name, "'"));
    }
  }
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    const auto same = [&](const CaseOutput& o) { return o.name == ran.described[i].name; };
    const auto expected = std::find_if(test.outputs.begin(), test.outputs.end(), same);
    if (expected == test.outputs.end() && test.schedules.has_value() && !test.guilty.empty()) continue;
    if (expected == test.outputs.end()) {
      failures.push_back(Cat("output '", ran.described[i].name, "' is not checked: expect a list or a hash of it"));
    } else {
      CheckOutput(test, *expected, ran.outputs[i], failures);
    }
  }
}

}  // namespace palladion::conformance
