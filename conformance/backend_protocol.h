// What a backend is asked, and how it answers: one line of JSON each way for each case. For readers:
// docs/guides/backends.md. Based on nlohmann-json. Answers are foreign text: a malformed one is an error that says why.
#ifndef PALLADION_CONFORMANCE_BACKEND_PROTOCOL_H_
#define PALLADION_CONFORMANCE_BACKEND_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_file.h"
#include "emu/emulate.h"

namespace palladion::conformance {

inline constexpr std::string_view kKernelFile = "kernel.pkir";

struct BackendRequest {
  std::string name;    // of the case
  std::string folder;  // where the kernel and the inputs lie, and the outputs are to be written
  const Case* test = nullptr;
  std::vector<OperandDescription> inputs, outputs;  // in the kernel's order
};

// The file that an input is written to.
std::string InputFile(const OperandDescription& input);

// On one line, with its end.
std::string RequestLine(const BackendRequest& request);

enum class AnswerStatus : std::uint8_t { kRan, kNotSupported, kError };

struct BackendAnswer {
  AnswerStatus status = AnswerStatus::kRan;
  std::string message;
  std::optional<std::map<std::string, std::string>> outputs;  // files of the folder, by the output's name
  std::optional<std::vector<std::string>> findings;           // codes; nothing: it does not look for any
  std::optional<std::vector<std::string>> finds;  // the codes that it looks for; nothing: all. "RACE_*" is a family
  std::optional<std::vector<std::string>> printed;
};

// InvalidArgument: no JSON object, another case's name, a status that is none, a member of another type.
absl::StatusOr<BackendAnswer> ParseAnswer(std::string_view line, std::string_view name);

// Text of a backend for terminals and reports: at most `most` bytes of it, and nothing that is no printable ASCII.
std::string PlainText(std::string_view text, std::size_t most = 2000);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_BACKEND_PROTOCOL_H_
