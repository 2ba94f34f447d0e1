#include "conformance/backend_protocol.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/dtype.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFields = R"(expected {"case": "...", "status": "ran", "not_supported" or "error", ...})";

Json Described(const OperandDescription& operand) {
  return {{"dtype", std::string(Name(operand.dtype))}, {"shape", operand.shape}};
}

std::string Quoted(std::string_view text) { return Cat("'", PlainText(text, 100), "'"); }

absl::StatusOr<AnswerStatus> StatusOf(const std::string& name) {
  if (name == "ran") return AnswerStatus::kRan;
  if (name == "not_supported") return AnswerStatus::kNotSupported;
  if (name == "error") return AnswerStatus::kError;
  return absl::InvalidArgumentError(
      Cat("the answer's status is ", Quoted(name), "; expected 'ran', 'not_supported' or 'error'"));
}

// Nothing where the member is missing or null.
template <typename T>
std::optional<T> Member(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

absl::StatusOr<BackendAnswer> AnswerOf(const Json& json) {
  BackendAnswer answer;
  PALLADION_ASSIGN_OR_RETURN(answer.status, StatusOf(json.at("status").get<std::string>()));
  answer.message = PlainText(Member<std::string>(json, "message").value_or(""));
  answer.outputs = Member<std::map<std::string, std::string>>(json, "outputs");
  answer.findings = Member<std::vector<std::string>>(json, "findings");
  answer.finds = Member<std::vector<std::string>>(json, "finds");
  answer.printed = Member<std::vector<std::string>>(json, "printed");
  return answer;
}

}  // namespace

std::string InputFile(const OperandDescription& input) { return input.name + ".npy"; }

std::string RequestLine(const BackendRequest& request) {
  Json inputs = Json::object(), outputs = Json::object();
  for (const OperandDescription& input : request.inputs) {
    inputs[input.name] = Described(input);
    inputs[input.name]["file"] = InputFile(input);
  }
  for (const OperandDescription& output : request.outputs) outputs[output.name] = Described(output);
  Json json = {{"case", request.name},           {"folder", request.folder}, {"kernel", std::string(kKernelFile)},
               {"target", request.test->target}, {"inputs", inputs},         {"outputs", outputs}};
  if (request.test->schedules.has_value()) json["schedules"] = *request.test->schedules;
  if (request.test->budget.has_value()) json["budget"] = *request.test->budget;
  if (request.test->proxy.has_value()) json["proxy"] = std::string(Name(*request.test->proxy));
  if (request.test->links.has_value()) json["links"] = std::string(Name(*request.test->links));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<BackendAnswer> ParseAnswer(std::string_view line, std::string_view name) {
  const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!json.is_object())
    return absl::InvalidArgumentError(Cat("the answer is no JSON object: ", kFields, "; found ", Quoted(line)));
  for (const char* const field : {"case", "status"}) {
    if (const auto found = json.find(field); found == json.end() || !found->is_string())
      return absl::InvalidArgumentError(
          Cat("the answer has no text \"", field, "\": ", kFields, "; found ", Quoted(line)));
  }
  try {
    if (const std::string answered = json.at("case").get<std::string>(); answered != name) {
      return absl::InvalidArgumentError(
          Cat("the answer is to another case: expected '", name, "', found ", Quoted(answered)));
    }
    return AnswerOf(json);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        Cat("the answer is not of this form: ", kFields, "; ", PlainText(error.what(), 200)));
  }
}

std::string PlainText(std::string_view text, std::size_t most) {
  std::string plain(text.substr(0, most));
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? plain + "..." : plain;
}

}  // namespace palladion::conformance
