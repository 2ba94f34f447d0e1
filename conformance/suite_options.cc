#include "conformance/suite_options.h"

#include <algorithm>
#include <array>
#include <thread>

#include "absl/strings/numbers.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

constexpr std::array<std::string_view, 4> kFormats = {"text", "json", "junit", "sarif"};
constexpr std::size_t kMostJobs = 1024;
constexpr double kMostSeconds = 1e6;

absl::Status Wrong(std::string_view option, std::string_view expected, std::string_view found) {
  return absl::InvalidArgumentError(Cat("--", option, ": expected ", expected, "; found '", found, "'"));
}

std::optional<std::size_t> Number(std::string_view text) {
  std::uint32_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(text), &number)) return std::nullopt;
  return number;
}

absl::Status SetTier(const std::string& value, ConformanceLine& line) {
  if (value != "quick" && value != "full") return Wrong("tier", "quick or full", value);
  line.tier = value == "quick" ? Tier::kQuick : Tier::kFull;
  return absl::OkStatus();
}

absl::Status SetShard(const std::string& value, ConformanceLine& line) {
  const std::size_t slash = std::min(value.find('/'), value.size());
  const std::optional<std::size_t> index = Number(value.substr(0, slash));
  const std::optional<std::size_t> count = Number(slash < value.size() ? value.substr(slash + 1) : "");
  if (!index.has_value() || !count.has_value() || *index < 1 || *index > *count)
    return Wrong("shard", "I/N, I from 1 to N", value);
  line.shard = {*index, *count};
  return absl::OkStatus();
}

absl::Status SetJobs(const std::string& value, ConformanceLine& line) {
  const std::optional<std::size_t> jobs = Number(value);
  if (!jobs.has_value() || *jobs < 1 || *jobs > kMostJobs)
    return Wrong("jobs", Cat("a whole number from 1 to ", kMostJobs), value);
  line.jobs = *jobs;
  return absl::OkStatus();
}

absl::Status SetTimeout(const std::string& value, ConformanceLine& line) {
  double seconds = 0;
  if (!absl::SimpleAtod(value, &seconds) || !(seconds > 0) || seconds > kMostSeconds)
    return Wrong("timeout", "seconds, more than 0", value);
  line.time = std::chrono::milliseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1000)));
  return absl::OkStatus();
}

absl::Status SetFormat(const std::string& value, ConformanceLine& line) {
  const auto found = std::find(kFormats.begin(), kFormats.end(), value);
  if (found == kFormats.end()) return Wrong("format", "text, json, junit or sarif", value);
  line.format = static_cast<ReportFormat>(found - kFormats.begin());
  return absl::OkStatus();
}

absl::Status SetExec(const std::string& value, ConformanceLine& line) {
  line.backend = value;
  return value.empty() ? Wrong("exec", "a command for the shell", value) : absl::OkStatus();
}

absl::Status SetResume(const std::string& value, ConformanceLine& line) {
  line.resume = value;
  return value.empty() ? Wrong("resume", "a file", value) : absl::OkStatus();
}

absl::Status SetOutput(const std::string& value, ConformanceLine& line) {
  line.output = value;
  return value.empty() ? Wrong("output", "a file", value) : absl::OkStatus();
}

struct LineOption {
  std::string_view name;
  absl::Status (*set)(const std::string& value, ConformanceLine& line);
};
constexpr std::array<LineOption, 8> kOptions = {{{"tier", SetTier},
                                                 {"shard", SetShard},
                                                 {"jobs", SetJobs},
                                                 {"exec", SetExec},
                                                 {"timeout", SetTimeout},
                                                 {"resume", SetResume},
                                                 {"format", SetFormat},
                                                 {"output", SetOutput}}};

absl::Status NoOption(const std::string& name) {
  std::string all = "--write-hashes";
  for (const LineOption& option : kOptions) Append(&all, ", --", option.name);
  return absl::InvalidArgumentError(Cat("there is no option '", name, "'; expected one of ", all));
}

absl::Status SetFromEnvironment(const Environment& environment, ConformanceLine& line) {
  const std::optional<std::string> count = environment("GTEST_TOTAL_SHARDS");
  if (!count.has_value()) return absl::OkStatus();
  const std::string index = environment("GTEST_SHARD_INDEX").value_or("");
  const std::optional<std::size_t> from_zero = Number(index);
  if (!from_zero.has_value() || !SetShard(Cat(*from_zero + 1, "/", *count), line).ok()) {
    return absl::InvalidArgumentError(Cat("GTEST_SHARD_INDEX='", index, "', GTEST_TOTAL_SHARDS='", *count,
                                          "': expected an index from 0, less than the total"));
  }
  line.shard_status_file = environment("GTEST_SHARD_STATUS_FILE").value_or("");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConformanceLine> ParseConformanceLine(const std::vector<std::string>& arguments,
                                                     const Environment& environment) {
  ConformanceLine line;
  line.jobs = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostJobs);
  PALLADION_RETURN_IF_ERROR(SetFromEnvironment(environment, line));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("-")) {
      line.words.push_back(word);
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const auto same = [&](const LineOption& option) { return Cat("--", option.name) == name; };
    const auto option = std::find_if(kOptions.begin(), kOptions.end(), same);
    if (word == "--write-hashes") {
      line.write_hashes = true;
    } else if (option == kOptions.end()) {
      return NoOption(name);
    } else if (name != word) {
      PALLADION_RETURN_IF_ERROR(option->set(word.substr(name.size() + 1), line));
    } else if (++i < arguments.size()) {
      PALLADION_RETURN_IF_ERROR(option->set(arguments[i], line));
    } else {
      return absl::InvalidArgumentError(Cat(name, " needs a value"));
    }
  }
  if (line.write_hashes && (line.backend.has_value() || !line.resume.empty()))
    return absl::InvalidArgumentError("--write-hashes writes our own results: not with --exec or --resume");
  return line;
}

}  // namespace palladion::conformance
