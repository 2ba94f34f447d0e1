// Reading an instruction log.
#include <charconv>
#include <string_view>

#include "absl/strings/str_split.h"
#include "emu/tools/debug/log_diff.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::debug {
namespace {

constexpr std::size_t kFields = 8;

absl::Status Malformed(const InstructionLog& log, std::int64_t line, const std::string& what) {
  return absl::InvalidArgumentError(
      Cat(log.path, ":", line, ": not a line of an instruction log: ", what, "; the format is in docs/guides/log.md"));
}

std::string OrEmpty(absl::string_view field) { return field == "-" ? std::string() : std::string(field); }

// "%c:f32[8]=0123456789abcdef", separated by spaces; the type may be missing. False: not that.
bool ReadValues(absl::string_view field, std::vector<LogRecord::Value>& values) {
  if (field == "-") return true;
  for (absl::string_view part : absl::StrSplit(field, ' ', absl::SkipEmpty())) {
    const std::size_t equals = part.rfind('=');
    if (equals == absl::string_view::npos || equals == 0 || equals + 1 == part.size()) return false;
    const absl::string_view named = part.substr(0, equals);
    const std::size_t colon = named.find(':');
    values.push_back({.name = std::string(named.substr(0, colon)),
                      .type = colon == absl::string_view::npos ? "" : std::string(named.substr(colon + 1)),
                      .hash = std::string(part.substr(equals + 1))});
  }
  return true;
}

absl::Status ReadRecord(absl::string_view line, std::int64_t number, InstructionLog& log) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
  if (fields.size() != kFields)
    return Malformed(log, number, Cat("expected ", kFields, " fields with tabs between them; found ", fields.size()));
  LogRecord record{.program = OrEmpty(fields[0]),
                   .iterations = OrEmpty(fields[1]),
                   .op = OrEmpty(fields[3]),
                   .results = {},
                   .operands = {},
                   .access = OrEmpty(fields[6]),
                   .source = OrEmpty(fields[7]),
                   .log_line = number};
  const auto [end, error] = std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), record.text_line);
  if (error != std::errc() || end != fields[2].data() + fields[2].size() || record.text_line < 1)
    return Malformed(log, number,
                     Cat("the third field is a line number of the kernel text; found '", ToStd(fields[2]), "'"));
  if (!ReadValues(fields[4], record.results) || !ReadValues(fields[5], record.operands))
    return Malformed(log, number, "results and operands are written %name:type=hash and %name=hash");
  log.records.push_back(std::move(record));
  return absl::OkStatus();
}

}  // namespace

// How a log of version 2 ends: "end" and the number of its records.
absl::Status CheckEnd(const InstructionLog& log, const std::string& end, std::int64_t line) {
  std::size_t records = 0;
  const auto [rest, error] = std::from_chars(end.data(), end.data() + end.size(), records);
  if (error != std::errc() || rest != end.data() + end.size())
    return Malformed(log, line, Cat("'end' is followed by the number of records; found '", end.substr(0, 60), "'"));
  if (records == log.records.size()) return absl::OkStatus();
  return Malformed(log, line,
                   Cat("its last line counts ", records, " records, and ", log.records.size(),
                       " are there: some were lost; write the log anew"));
}

absl::Status CutOff(const InstructionLog& log, std::int64_t line) {
  return absl::InvalidArgumentError(
      Cat(log.path, ":", line,
          ": this log was cut off: a log ends with the line 'end' and the number of its records, and "
          "this one does not; its writer was stopped or the disk was full: write it anew"));
}

absl::StatusOr<InstructionLog> ReadLog(std::istream& in, const std::string& path) {
  InstructionLog log{.path = path, .kernel = {}, .target = {}, .inputs = {}, .outputs = {}, .records = {}};
  std::string line;
  std::int64_t number = 0;
  bool has_end = false, ended = false;  // logs of version 1 have no end mark
  while (std::getline(in, line)) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1) has_end = line == "palladion-log 2";
    if (number == 1 && !has_end && line != "palladion-log 1") {
      return Malformed(log, number, Cat("expected 'palladion-log 2'; found '", line.substr(0, 60), "'"));
    }
    if (has_end && in.eof()) return CutOff(log, number);  // in the middle of a line
    if (ended) return Malformed(log, number, "it goes on after its end");
    if (number == 1 || line.empty() || line[0] == '#') continue;
    if (line.find('\t') != std::string::npos) {
      PALLADION_RETURN_IF_ERROR(ReadRecord(line, number, log));
      continue;
    }
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "kernel") {
      log.kernel = rest;
    } else if (key == "in") {
      log.inputs.push_back(rest);
    } else if (key == "out") {
      log.outputs.push_back(rest);
    } else if (key == "target") {
      log.target = rest;
    } else if (key == "end" && has_end) {
      PALLADION_RETURN_IF_ERROR(CheckEnd(log, rest, number));
      ended = true;
    } else {
      return Malformed(log, number, Cat("unknown header '", key.substr(0, 60), "'"));
    }
  }
  if (in.bad()) return absl::InvalidArgumentError(Cat(path, ": cannot be read to its end"));
  if (number == 0) return Malformed(log, 1, "the file is empty");
  if (has_end && !ended) return CutOff(log, number);
  if (log.kernel.empty()) return Malformed(log, number, "the header names no kernel");
  return log;
}

}  // namespace palladion::debug
