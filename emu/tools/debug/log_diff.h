// Where two instruction logs of one kernel diverge, to find an instruction that a backend compiles wrongly. Records are
// matched by program, line of the text and occurrence, so programs may come in any order, and a log may leave
// instructions out. Format: docs/guides/log.md.
#ifndef PALLADION_EMU_TOOLS_DEBUG_LOG_DIFF_H_
#define PALLADION_EMU_TOOLS_DEBUG_LOG_DIFF_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace palladion::debug {

// One line of a log.
struct LogRecord {
  std::string program;     // "2,0"; "" for a kernel without a grid
  std::string iterations;  // "3.0"; "" outside loops, or where the writer does not say
  int text_line = 0;
  std::string op;
  struct Value {
    std::string name, type, hash;  // type: "" for an operand
  };
  std::vector<Value> results, operands;
  std::string access;  // "" where there is none, or where the writer does not say
  std::string source;
  std::int64_t log_line = 0;  // in the file
};

struct InstructionLog {
  std::string path, kernel, target;          // target: "" where the writer does not say
  std::vector<std::string> inputs, outputs;  // "x:f32[8]=0123456789abcdef", "o:f32[8]"
  std::vector<LogRecord> records;
};

// InvalidArgument: what is not a log, with the place.
absl::StatusOr<InstructionLog> ReadLog(std::istream& in, const std::string& path);

struct LogDifference {
  LogRecord a;                 // or b's where only b has it
  std::optional<LogRecord> b;  // the same instruction there
  std::string what;            // "%c differs", "the kernel takes another path"
  struct Operand {
    std::string name;
    bool known = false, same = false;
  };
  std::vector<Operand> operands;
};

struct LogComparison {
  std::optional<LogDifference> first;  // in a's order
  std::int64_t compared = 0, differing = 0;
  std::int64_t left_out = 0;  // records of instructions that the other log never has
};

// InvalidArgument: logs of different kernels or inputs, or nothing to compare.
absl::StatusOr<LogComparison> CompareLogs(const InstructionLog& a, const InstructionLog& b);

std::string ToText(const LogComparison& comparison, const InstructionLog& a, const InstructionLog& b);
std::string ToJson(const LogComparison& comparison);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_LOG_DIFF_H_
