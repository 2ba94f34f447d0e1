#include "conformance/case_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

std::string_view Trim(std::string_view s) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return s;
}

// Cuts `head` off the front of *s; false, and no change, when it is not there.
bool Eat(std::string_view* s, std::string_view head) {
  if (!s->starts_with(head)) return false;
  *s = Trim(s->substr(head.size()));
  return true;
}

template <class T>
std::optional<T> ParseWhole(std::string_view s, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

// `//` to the end of the line, but not inside quotes.
std::string_view WithoutComment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && line.substr(i, 2) == "//") return line.substr(0, i);
  }
  return line;
}

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool IsEmpty(const CaseSource& source) { return source.text.find_first_not_of("\n\t\r ") == std::string_view::npos; }

class CaseParser {
 public:
  CaseParser(std::string_view text, std::string_view path, int line) : path_(path) {
    case_.path = path_;
    case_.line = line;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines_.push_back(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
  }

  absl::StatusOr<Case> Run() {
    PALLADION_RETURN_IF_ERROR(ParseHeaders());
    PALLADION_RETURN_IF_ERROR(ParseKernel());
    if (AtSection("--- inputs")) {
      PALLADION_RETURN_IF_ERROR(ParseStatements(&CaseParser::ParseInput));
    }
    if (AtSection("--- expect")) {
      PALLADION_RETURN_IF_ERROR(ParseStatements(&CaseParser::ParseExpectation));
    }
    if (next_ < lines_.size()) return Error("expected \"--- inputs\", \"--- expect\" or the end of the case");
    PALLADION_RETURN_IF_ERROR(CheckAsserts());
    return std::move(case_);
  }

 private:
  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(Cat(path_, ":", LineOf(std::min(next_, lines_.size() - 1)), ": ", what));
  }

  // Of the file.
  int LineOf(std::size_t index) const { return case_.line + static_cast<int>(index); }

  bool AtSection(std::string_view marker) {
    if (next_ >= lines_.size() || Trim(lines_[next_]) != marker) return false;
    ++next_;
    return true;
  }

  absl::Status ParseHeaders() {
    for (; next_ < lines_.size() && !lines_[next_].starts_with("---"); ++next_) {
      std::string_view line = Trim(lines_[next_]);
      if (line.empty()) continue;
      if (!Eat(&line, "#")) return Error("expected a header line, # ...");
      PALLADION_RETURN_IF_ERROR(ParseHeader(line));
    }
    if (case_.specs.empty()) return Error("a case names its rule: # spec: file.md#heading");
    if (case_.prose.empty()) return Error("a case says in a line of prose what it shows");
    return absl::OkStatus();
  }

  absl::Status ParseHeader(std::string_view line) {
    if (Eat(&line, "spec:")) return case_.specs.emplace_back(line), absl::OkStatus();
    if (Eat(&line, "finding:")) {
      const std::size_t end = std::min(line.size(), line.find(' '));
      case_.findings.push_back({std::string(line.substr(0, end)), std::string(Trim(line.substr(end)))});
      return absl::OkStatus();
    }
    if (Eat(&line, "error:")) return case_.errors.emplace_back(line), absl::OkStatus();
    if (Eat(&line, "target:")) return case_.target = line, absl::OkStatus();
    if (Eat(&line, "exit:")) {
      const auto code = ParseWhole<int>(line);
      if (!code.has_value() || *code < 0 || *code > 6) return Error("# exit: takes a number from 0 to 6");
      return case_.exit_code = *code, absl::OkStatus();
    }
    if (Eat(&line, "budget:")) {
      case_.budget = ParseWhole<std::int64_t>(line);
      return case_.budget.value_or(0) > 0 ? absl::OkStatus()
                                          : Error("# budget: takes a positive number of loop iterations");
    }
    if (Eat(&line, "proxy:")) {
      case_.proxy = ProxyRuleFromName(line);
      return case_.proxy.has_value() ? absl::OkStatus() : Error("# proxy: takes pallas, strict or lax");
    }
    if (Eat(&line, "links:")) {
      case_.links = LinkOrderFromName(line);
      return case_.links.has_value() ? absl::OkStatus() : Error("# links: takes unordered or ordered");
    }
    if (Eat(&line, "launches:")) {
      case_.launches = ParseWhole<std::int64_t>(line).value_or(0);
      return case_.launches > 1 ? absl::OkStatus() : Error("# launches: takes a number of launches, 2 or more");
    }
    if (Eat(&line, "schedules:")) {
      case_.schedules = ParseWhole<std::int64_t>(line);
      return case_.schedules.value_or(0) > 0 ? absl::OkStatus() : Error("# schedules: takes a positive number");
    }
    // A misspelt header would otherwise pass as prose.
    const std::size_t word = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
    if (word != std::string_view::npos && word > 0 && line[word] == ':')
      return Error(Cat("there is no header # ", line.substr(0, word), ":"));
    Append(&case_.prose, case_.prose.empty() ? "" : "\n", line);
    return absl::OkStatus();
  }

  absl::Status ParseKernel() {
    if (!AtSection("--- kernel")) return Error("expected \"--- kernel\"");
    case_.kernel_line = LineOf(next_);
    for (int text_line = 1; next_ < lines_.size() && !lines_[next_].starts_with("---"); ++next_, ++text_line) {
      const std::string_view line = lines_[next_];
      Append(&case_.kernel, line, "\n");
      const std::size_t mark = line.rfind("//~");
      if (mark == std::string_view::npos) continue;
      std::istringstream codes{std::string(line.substr(mark + 3))};
      for (std::string code; codes >> code;) {
        std::string_view name = code;
        const bool first = Eat(&name, "first:");
        const std::size_t at = std::min(name.size(), name.find('@'));
        const std::string pair(name.substr(std::min(name.size(), at + 1)));
        case_.guilty.push_back({std::string(name.substr(0, at)), text_line, first, pair});
      }
    }
    return case_.kernel.empty() ? Error("the kernel is empty") : absl::OkStatus();
  }

  // A statement is a line, and goes on while a bracket is open or the line ends in = or |.
  absl::Status ParseStatements(absl::Status (CaseParser::*parse)(std::string_view)) {
    while (next_ < lines_.size() && !lines_[next_].starts_with("---")) {
      statement_line_ = LineOf(next_);
      std::string statement;
      for (; next_ < lines_.size(); ++next_) {
        const std::string_view part = Trim(WithoutComment(lines_[next_]));
        if (lines_[next_].starts_with("---")) return Error("a bracket is not closed");
        Append(&statement, statement.empty() ? "" : " ", part);
        const bool quoted = statement.find('"') != std::string::npos;
        const auto count = [&](char c) { return std::count(statement.begin(), statement.end(), c); };
        const bool goes_on = !quoted && !statement.empty() &&
                             (count('[') > count(']') || statement.back() == '=' || statement.back() == '|');
        if (!goes_on) break;
      }
      if (!Trim(statement).empty()) PALLADION_RETURN_IF_ERROR((this->*parse)(Trim(statement)));
      ++next_;
    }
    return absl::OkStatus();
  }

  static std::string_view TakeName(std::string_view* s) {
    const std::size_t end = std::min(s->size(), s->find_first_of(" =\t"));
    const std::string_view name = s->substr(0, end);
    *s = Trim(s->substr(end));
    return name;
  }

  absl::Status ParseInput(std::string_view s) {
    const std::string_view name = TakeName(&s);
    if (name.empty() || !Eat(&s, "=") || s.empty()) return Error("expected NAME = VALUE");
    for (const CaseInput& input : case_.inputs) {
      if (input.name == name) return Error(Cat("input ", name, " comes twice"));
    }
    case_.inputs.push_back({std::string(name), std::string(s), statement_line_});
    return absl::OkStatus();
  }

  CaseOutput& Output(std::string_view name) {
    for (CaseOutput& output : case_.outputs) {
      if (output.name == name) return output;
    }
    case_.outputs.push_back({.name = std::string(name), .line = statement_line_});
    return case_.outputs.back();
  }

  absl::Status TakeList(std::string_view* s, CaseOutput& output) {
    const std::size_t end = s->find(']');
    if (!s->starts_with("[") || end == std::string_view::npos) return Error("expected a list, [ ... ]");
    output.lists.emplace_back(s->substr(0, end + 1));
    *s = Trim(s->substr(end + 1));
    return absl::OkStatus();
  }

  absl::Status ParseExpectation(std::string_view s) {
    if (s.starts_with("hash ")) return ParseHash(s.substr(5));
    if (s.starts_with("print ")) return ParsePrint(Trim(s.substr(6)));
    const std::string_view name = TakeName(&s);
    CaseOutput& output = Output(name);
    if (name.empty() || !output.lists.empty()) return Error(Cat("output '", name, "' is expected twice"));
    if (Eat(&s, "=")) {
      PALLADION_RETURN_IF_ERROR(TakeList(&s, output));
      if (Eat(&s, "ulp")) {
        const auto ulp = ParseWhole<std::uint64_t>(s);
        if (!ulp.has_value() || *ulp == 0) return Error("ulp takes a positive number of steps");
        output.ulp = *ulp;
        s = {};
      }
    } else if (Eat(&s, "either")) {
      do {
        PALLADION_RETURN_IF_ERROR(TakeList(&s, output));
      } while (Eat(&s, "|"));
      if (output.lists.size() < 2) return Error("either needs two lists or more");
    } else {
      return Error("expected NAME = [...], NAME either [...] | [...], hash NAME = HEX or print \"...\"");
    }
    return s.empty() ? absl::OkStatus() : Error(Cat("expected the end of the line; found '", s.substr(0, 40), "'"));
  }

  absl::Status ParseHash(std::string_view s) {
    s = Trim(s);
    CaseOutput& output = Output(TakeName(&s));
    if (!Eat(&s, "=") || s.size() != 16) return Error("expected hash NAME = and 16 hexadecimal digits");
    if (output.hash.has_value()) return Error(Cat("output '", output.name, "' has two hashes"));
    output.hash = ParseWhole<std::uint64_t>(s, 16);
    return output.hash.has_value() ? absl::OkStatus() : Error("expected 16 hexadecimal digits");
  }

  absl::Status ParsePrint(std::string_view s) {
    if (s.size() < 2 || !s.starts_with("\"") || !s.ends_with("\"")) return Error("expected print \"...\"");
    case_.printed.emplace_back(s.substr(1, s.size() - 2));
    return absl::OkStatus();
  }

  absl::Status CheckAsserts() {
    if (case_.exit_code >= 3 && case_.errors.empty())
      return Error("an exit code from 3 on needs # error: with a part of its message");
    if (case_.exit_code < 3 && !case_.errors.empty()) return Error("# error: goes with an exit code from 3 on");
    if (case_.exit_code >= 3 && (!case_.outputs.empty() || !case_.guilty.empty() || !case_.printed.empty())) {
      return Error("a run that ends with an exit code from 3 on has no outputs and no findings");
    }
    if (case_.proxy.has_value() && !case_.schedules.has_value())
      return Error("# proxy: goes with # schedules:, because only a check asks for fences");
    if (case_.links.has_value() && !case_.schedules.has_value())
      return Error("# links: goes with # schedules:, because only a check tries orders");
    for (const GuiltyLine& line : case_.guilty) {
      const auto whole = [&](const GuiltyLine& g) { return !g.first && g.code == line.code; };
      if (line.first && std::none_of(case_.guilty.begin(), case_.guilty.end(), whole))
        return Error(Cat("first:", line.code, " needs the line that //~ ", line.code, " is reported on"));
      const auto same = [&](const GuiltyLine& g) { return g.code == line.code && g.pair == line.pair; };
      if (!line.pair.empty() && (line.first || std::count_if(case_.guilty.begin(), case_.guilty.end(), same) > 2))
        return Error(Cat(line.code, "@", line.pair, " stands on one line or on two, without first:"));
    }
    if (case_.exit_code == 0 && case_.outputs.empty() && case_.guilty.empty() && case_.printed.empty())
      return Error("the case asserts nothing");
    return absl::OkStatus();
  }

  std::string path_;
  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;
  int statement_line_ = 0;
  Case case_;
};

}  // namespace

absl::StatusOr<std::vector<CaseSource>> SplitCases(std::string_view text, std::string_view path) {
  const auto error = [&](int line, std::string_view what) {
    return absl::InvalidArgumentError(Cat(path, ":", line, ": ", what));
  };
  std::vector<CaseSource> cases;
  if (!text.starts_with("===") && text.find("\n===") == std::string_view::npos) {
    cases.push_back({.name = std::filesystem::path(path).stem().string(), .text = text});
    return cases;
  }
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view first = text.substr(0, text.find('\n'));
    const std::string_view rest = text.substr(std::min(text.size(), first.size() + 1));
    if (std::string_view name = first; Eat(&name, "===")) {
      if (name.empty() || !std::all_of(name.begin(), name.end(), IsOfName))
        return error(line, "expected === NAME, of letters, digits, _, - and .");
      const auto same = [&](const CaseSource& one) { return one.name == name; };
      if (std::any_of(cases.begin(), cases.end(), same)) return error(line, Cat("case ", name, " comes twice"));
      if (!cases.empty() && IsEmpty(cases.back())) return error(line, Cat("case ", cases.back().name, " is empty"));
      cases.push_back({std::string(name), rest.substr(0, 0), line + 1});
    } else if (!cases.empty()) {
      CaseSource& own = cases.back();
      own.text = {own.text.data(), static_cast<std::size_t>(rest.data() - own.text.data())};
    } else if (!Trim(first).empty()) {
      return error(line, "a file with several cases begins with === NAME");
    }
    text = rest;
  }
  if (IsEmpty(cases.back())) return error(cases.back().line - 1, Cat("case ", cases.back().name, " is empty"));
  for (CaseSource& one : cases) {
    while (one.text.ends_with("\n\n")) one.text.remove_suffix(1);
  }
  return cases;
}

absl::StatusOr<Case> ParseCase(std::string_view text, std::string_view path, int line) {
  return CaseParser(text, path, line).Run();
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) return absl::InvalidArgumentError(Cat(path, ": cannot be read, or is empty"));
  return std::move(text).str();
}

}  // namespace palladion::conformance
