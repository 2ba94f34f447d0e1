// palladion_reduce of the C ABI: arrays in, a smaller kernel with its inputs out, as JSON.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/options/check_options.h"
#include "emu/tools/reduce/start.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

using reduce::Input;
using reduce::State;

absl::StatusOr<std::vector<Input>> InputsOf(const PreparedKernel& kernel, const palladion_array* arrays,
                                            std::size_t n) {
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  if (given.size() != kernel.inputs().size()) {
    return absl::InvalidArgumentError(
        Cat("kernel @", kernel.name(), " has ", kernel.inputs().size(), " inputs; ", given.size(), " were given"));
  }
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    PALLADION_ASSIGN_OR_RETURN(
        Tensor value, Tensor::CreateUninitialized(given[i].dtype, {given[i].shape.begin(), given[i].shape.end()}));
    if (value.num_bytes() != 0) std::memcpy(value.bytes(), given[i].data, value.num_bytes());
    inputs.push_back({kernel.inputs()[i].name, "", std::make_shared<const Tensor>(std::move(value))});
  }
  return inputs;
}

// Calls the caller's interestingness test.
absl::StatusOr<bool> IsInteresting(const palladion_reduce_request& request, const State& state) {
  std::vector<palladion_array> arrays;
  std::vector<std::string> dtypes;
  for (const Input& input : state.inputs) dtypes.emplace_back(Name(input.value->dtype()));
  std::vector<Tensor> copies;  // the caller may write into them
  for (const Input& input : state.inputs) copies.push_back(*input.value);
  for (std::size_t i = 0; i < copies.size(); ++i)
    arrays.push_back({copies[i].bytes(), copies[i].shape().data(), copies[i].rank(), dtypes[i].c_str()});
  const int answer = request.keeps(request.context, state.text.c_str(), arrays.data(), arrays.size());
  if (answer < 0) return absl::CancelledError("the function that says what to keep failed");
  return answer != 0;
}

std::string JsonOf(const reduce::Reduced& reduced, const std::string& replay) {
  constexpr std::string_view kEnded[] = {"smallest", "budget", "interrupted"};
  JsonWriter json;
  json.Open('{').Key("text").String(reduced.state.text);
  json.Key("ended").String(kEnded[static_cast<std::size_t>(reduced.ended)]).Key("tried").Number(reduced.tried);
  json.Key("replay").String(replay).Key("inputs").Open('[');
  for (const Input& input : reduced.state.inputs) {
    const Tensor& value = *input.value;
    json.Open('{').Key("name").String(input.name).Key("words").String(input.words);
    json.Key("dtype").String(Name(value.dtype())).Key("shape").Open('[');
    for (const std::int64_t size : value.shape()) json.Number(size);
    const absl::string_view bytes(reinterpret_cast<const char*>(value.bytes()), value.num_bytes());
    json.Close(']').Key("bytes").String(absl::BytesToHexString(bytes)).Close('}');
  }
  json.Close(']').Close('}');
  return json.Take();
}

absl::StatusOr<std::string> ReducedJson(const palladion_reduce_request& request, const palladion_array* arrays,
                                        std::size_t n) {
  if ((request.keep == nullptr) == (request.keeps == nullptr))
    return absl::InvalidArgumentError("say what stays: a finding (keep) or a function (keeps), and not both");
  const reduce::Source source{std::string(TextOf(request.text, request.size)), "<text>",
                              std::string(TextOf(request.kernel)), std::string(TextOf(request.target))};
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, reduce::PrepareForInputs(source));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Input> inputs, InputsOf(kernel, arrays, n));
  InterruptibleRun interruptible;
  const reduce::ReduceOptions options{
      .most_tried = request.candidates, .most_seconds = request.seconds, .control = interruptible.control()};
  if (request.keeps != nullptr) {
    PALLADION_ASSIGN_OR_RETURN(const State start, reduce::StateOf(source, std::move(inputs)));
    PALLADION_ASSIGN_OR_RETURN(const reduce::Reduced reduced,
                               reduce::Reduce(
                                   start, [&](const State& state) { return IsInteresting(request, state); }, options));
    return JsonOf(reduced, "");
  }
  PALLADION_ASSIGN_OR_RETURN(const reduce::FindingChoice choice, reduce::FindingChoiceFromText(request.keep));
  PALLADION_ASSIGN_OR_RETURN(const State start, reduce::StateOf(source, std::move(inputs), choice.line));
  PALLADION_ASSIGN_OR_RETURN(CheckOptions check, options::CheckOptionsOf(TextsOf(request.check)));
  reduce::KeepFindingOptions how{.target = source.target, .check = std::move(check)};
  how.check.run.control = interruptible.control();
  PALLADION_ASSIGN_OR_RETURN(const reduce::ReducedFinding found, reduce::ReduceFinding(start, choice, how, options));
  return JsonOf(found.reduced, found.replay);
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_reduce(const palladion_reduce_request* request, const palladion_array* inputs, size_t n_inputs,
                       palladion_error* error) {
  char* result = nullptr;
  const absl::Status status = palladion::bridge::Guarded([&]() -> absl::Status {
    if (request == nullptr) return absl::InvalidArgumentError("no request");
    PALLADION_ASSIGN_OR_RETURN(const std::string json, palladion::bridge::ReducedJson(*request, inputs, n_inputs));
    result = palladion::bridge::CopyText(json);
    return absl::OkStatus();
  });
  palladion::bridge::SetError(status, error);
  return result;
}
