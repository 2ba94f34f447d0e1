#include "emu/tools/debug/log_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"

namespace palladion::debug {
namespace {

// Which instruction of which program. Where a line of text holds several, their order counts.
using Key = std::pair<std::string, int>;
Key KeyOf(const LogRecord& record) { return {record.program, record.text_line}; }

// "x:f32[8]=hash": equal, as far as both say it.
bool SameOperand(const std::string& a, const std::string& b) {
  const auto parts = [](const std::string& text) {
    const std::size_t equals = text.find('=');
    return std::pair(text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1));
  };
  const auto [name_a, hash_a] = parts(a);
  const auto [name_b, hash_b] = parts(b);
  return name_a == name_b && (hash_a.empty() || hash_b.empty() || hash_a == hash_b);
}

absl::Status ComparableLists(const std::vector<std::string>& a, const std::vector<std::string>& b, const char* what,
                             const InstructionLog& log_a, const InstructionLog& log_b) {
  if (a.empty() || b.empty()) return absl::OkStatus();
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string of_a = i < a.size() ? a[i] : "none", of_b = i < b.size() ? b[i] : "none";
    if (SameOperand(of_a, of_b)) continue;
    return absl::InvalidArgumentError(Cat("the logs cannot be compared: ", what, " ", i, " is ", of_a, " in ",
                                          log_a.path, " and ", of_b, " in ", log_b.path,
                                          "; log one kernel on one set of inputs"));
  }
  return absl::OkStatus();
}

std::string ResultDifference(const LogRecord& a, const LogRecord& b) {
  if (a.op != b.op) return Cat("the operation is ", a.op, " in one and ", b.op, " in the other");
  if (!a.iterations.empty() && !b.iterations.empty() && a.iterations != b.iterations)
    return Cat("the kernel takes another path: iteration ", a.iterations, " in one, ", b.iterations, " in the other");
  if (a.results.size() != b.results.size()) return "it has another number of results";
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    const LogRecord::Value &x = a.results[i], &y = b.results[i];
    if (!x.type.empty() && !y.type.empty() && x.type != y.type)
      return Cat(x.name, " is ", x.type, " in one and ", y.type, " in the other");
    if (x.hash != y.hash) return Cat(x.name, " differs");
  }
  return "";
}

// An instruction without results is known by what it reads and where it writes. Where a block lies is the target's own.
std::string EffectDifference(const LogRecord& a, const LogRecord& b, bool one_target) {
  if (one_target && !a.access.empty() && !b.access.empty() && a.access != b.access)
    return Cat("the access is ", a.access, " in one and ", b.access, " in the other");
  if (!a.results.empty()) return "";
  for (std::size_t i = 0; i < std::min(a.operands.size(), b.operands.size()); ++i) {
    if (a.operands[i].hash != b.operands[i].hash) return Cat("what it is given, ", a.operands[i].name, ", differs");
  }
  return "";
}

class Comparer {
 public:
  Comparer(const InstructionLog& a, const InstructionLog& b) : a_(a), b_(b) {}

  absl::StatusOr<LogComparison> Run() {
    PALLADION_RETURN_IF_ERROR(CheckHeaders());
    Index(a_, lines_a_, programs_a_);
    Index(b_, lines_b_, programs_b_);
    for (const LogRecord& record : b_.records) found_b_[KeyOf(record)].push_back(&record);
    std::map<Key, std::size_t> seen;  // of a's
    for (const LogRecord& record : a_.records) {
      if (!lines_b_.contains(record.text_line)) {
        ++result_.left_out;
        continue;
      }
      const auto found = found_b_.find(KeyOf(record));
      const std::size_t occurrence = seen[KeyOf(record)]++;
      if (found == found_b_.end() || occurrence >= found->second.size()) {
        Differs(record, nullptr, MissingText(record, occurrence, b_, programs_b_));
        continue;
      }
      ++result_.compared;
      const LogRecord& other = *found->second[occurrence];
      std::string what = ResultDifference(record, other);
      if (what.empty())
        what = EffectDifference(record, other, a_.target.empty() || b_.target.empty() || a_.target == b_.target);
      if (!what.empty()) Differs(record, &other, what);
    }
    std::map<Key, std::size_t> matched;
    for (const LogRecord& record : b_.records) {
      if (!lines_a_.contains(record.text_line)) {
        ++result_.left_out;
      } else if (const std::size_t had = seen[KeyOf(record)]; matched[KeyOf(record)]++ >= had) {
        Differs(record, nullptr, MissingText(record, had, a_, programs_a_));
      }
    }
    if (result_.compared > 0 || result_.first.has_value()) return std::move(result_);
    return absl::InvalidArgumentError(
        Cat("the logs ", a_.path, " and ", b_.path, " have no instruction in common: ", "there is nothing to compare"));
  }

 private:
  absl::Status CheckHeaders() const {
    if (a_.kernel != b_.kernel) {
      return absl::InvalidArgumentError(Cat("the logs are of different kernels: @", a_.kernel, " in ", a_.path,
                                            " and @", b_.kernel, " in ", b_.path));
    }
    PALLADION_RETURN_IF_ERROR(ComparableLists(a_.inputs, b_.inputs, "input", a_, b_));
    return ComparableLists(a_.outputs, b_.outputs, "output", a_, b_);
  }

  static void Index(const InstructionLog& log, std::set<int>& lines, std::set<std::string>& programs) {
    for (const LogRecord& record : log.records) {
      lines.insert(record.text_line);
      programs.insert(record.program);
    }
  }

  static std::string MissingText(const LogRecord& record, std::size_t occurrence, const InstructionLog& log,
                                 const std::set<std::string>& programs) {
    if (!programs.contains(record.program)) return Cat(log.path, " has no program (", record.program, ")");
    return Cat("the kernel takes another path: ", log.path, " runs this instruction ", occurrence,
               occurrence == 1 ? " time" : " times", " in that program");
  }

  void Differs(const LogRecord& a, const LogRecord* b, std::string what) {
    ++result_.differing;
    if (result_.first.has_value()) return;
    LogDifference& first = result_.first.emplace();
    first.a = a;
    first.what = std::move(what);
    if (b == nullptr) return;
    first.b = *b;
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
      const bool known = i < b->operands.size();
      first.operands.push_back({a.operands[i].name, known, known && a.operands[i].hash == b->operands[i].hash});
    }
  }

  const InstructionLog &a_, &b_;
  std::set<int> lines_a_, lines_b_;
  std::set<std::string> programs_a_, programs_b_;
  std::map<Key, std::vector<const LogRecord*>> found_b_;
  LogComparison result_;
};

std::string CountText(const LogComparison& comparison) {
  std::string text = Cat(comparison.compared, " records compared, ", comparison.differing, " differ");
  if (comparison.left_out > 0) Append(&text, "; ", comparison.left_out, " are of instructions that only one log has");
  return text;
}

// Where the difference comes from, as far as the operands show it.
std::string Blame(const LogDifference& first) {
  if (!first.b.has_value() || first.a.op != first.b->op) return "";
  bool all_known = true;
  for (const LogDifference::Operand& operand : first.operands) {
    all_known = all_known && operand.known;
    if (operand.known && !operand.same)
      return Cat(operand.name,
                 " differs already, yet no record before this one does: look at what the logs leave out\n");
  }
  if (!all_known) return "";
  const bool reads = first.a.access.starts_with("read");
  return reads ? "the operands are the same: memory differs, or the instruction reads another place\n"
               : "the operands are the same: the instruction itself differs\n";
}

}  // namespace

absl::StatusOr<LogComparison> CompareLogs(const InstructionLog& a, const InstructionLog& b) {
  return Comparer(a, b).Run();
}

std::string ToText(const LogComparison& comparison, const InstructionLog& a, const InstructionLog& b) {
  if (!comparison.first.has_value()) return Cat("the logs are the same: ", CountText(comparison), "\n");
  const LogDifference& first = *comparison.first;
  std::string text = Cat("first difference: ", first.a.op, ", line ", first.a.text_line, " of the kernel text");
  if (!first.a.source.empty()) Append(&text, ", at ", first.a.source);
  Append(&text, "\n  program (", first.a.program, ")");
  if (!first.a.iterations.empty()) Append(&text, ", iteration ", first.a.iterations);
  Append(&text, "\n  ", first.what, "\n");
  if (first.b.has_value()) {
    for (std::size_t i = 0; i < std::min(first.a.results.size(), first.b->results.size()); ++i) {
      const LogRecord::Value &x = first.a.results[i], &y = first.b->results[i];
      Append(&text, "  result ", x.name, ": ", x.hash, x.hash == y.hash ? " in both" : Cat(" / ", y.hash), "\n");
    }
    for (const LogDifference::Operand& operand : first.operands) {
      Append(&text, "  operand ", operand.name, ": ",
             !operand.known ? "not in the other log"
             : operand.same ? "same"
                            : "different",
             "\n");
    }
    Append(&text, "  ", a.path, ":", first.a.log_line, ", ", b.path, ":", first.b->log_line, "\n");
  }
  return text + Blame(first) + CountText(comparison) + "\n";
}

std::string ToJson(const LogComparison& comparison) {
  std::string json =
      Cat("{\"same\": ", comparison.first.has_value() ? "false" : "true", ", \"compared\": ", comparison.compared,
          ", \"differing\": ", comparison.differing, ", \"left_out\": ", comparison.left_out, ", \"first\": ");
  if (!comparison.first.has_value()) return json + "null}";
  const LogDifference& first = *comparison.first;
  Append(&json, "{\"op\": ", JsonString(first.a.op), ", \"text_line\": ", first.a.text_line,
         ", \"source\": ", JsonString(first.a.source), ", \"program\": ", JsonString(first.a.program),
         ", \"iterations\": ", JsonString(first.a.iterations), ", \"what\": ", JsonString(first.what),
         ", \"operands\": [");
  for (std::size_t i = 0; i < first.operands.size(); ++i) {
    const LogDifference::Operand& operand = first.operands[i];
    Append(&json, i == 0 ? "" : ", ", "{\"name\": ", JsonString(operand.name), ", \"state\": ",
           JsonString(!operand.known ? "unknown"
                      : operand.same ? "same"
                                     : "different"),
           "}");
  }
  return json + "]}}";
}

}  // namespace palladion::debug
