// palladion_time and palladion_advise of the C ABI: a kernel and its arrays in, how long it takes and what would make
// it faster out, as JSON and as text.
#include <functional>
#include <string>
#include <vector>

#include "emu/bridge/c_arrays.h"
#include "emu/bridge/interrupt.h"
#include "emu/bridge/timed_arrays.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

// What the request asks for, while somebody may interrupt it.
using Ask = std::function<absl::StatusOr<TimeTold>(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                                   absl::Span<const std::string> changes, const RunOptions& run)>;

absl::StatusOr<TimeTold> Asked(const palladion_time_request& request, const palladion_array* arrays, std::size_t n,
                               const Ask& ask) {
  PALLADION_ASSIGN_OR_RETURN(
      const PreparedKernel kernel,
      PrepareText(TextOf(request.text, request.size),
                  {.kernel = OrEmpty(request.kernel), .target = OrEmpty(request.target), .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  const InterruptEavesdropper listener(InterruptEavesdropper::For::kRun);
  RunControl control(HeardInterrupts());
  RunOptions run;
  if (request.budget != 0) run.loop_budget = request.budget;
  run.control = &control;
  return ask(kernel, given, std::vector<std::string>(request.changes, request.changes + request.n_changes), run);
}

// NULL on an error.
char* Told(const std::function<absl::StatusOr<TimeTold>()>& ask, char** text, char** error) {
  char* result = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(const TimeTold told, ask());
    result = CopyText(told.json);
    SetText(text, told.text);
    return absl::OkStatus();
  });
  if (!status.ok()) SetText(error, ErrorText(status));
  return result;
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_time(const palladion_time_request* request, const palladion_array* inputs, size_t n_inputs, char** text,
                     char** error) {
  return palladion::bridge::Told(
      [&]() -> absl::StatusOr<palladion::bridge::TimeTold> {
        if (request == nullptr) return absl::InvalidArgumentError("no request");
        return palladion::bridge::Asked(*request, inputs, n_inputs, palladion::bridge::TimeOfArrays);
      },
      text, error);
}

char* palladion_advise(const palladion_advise_request* request, const palladion_array* inputs, size_t n_inputs,
                       char** text, char** error) {
  return palladion::bridge::Told(
      [&]() -> absl::StatusOr<palladion::bridge::TimeTold> {
        if (request == nullptr) return absl::InvalidArgumentError("no request");
        const palladion::bridge::AdviceAsked asked{.seeds = request->seeds, .what_ifs = request->what_ifs != 0};
        return palladion::bridge::Asked(
            request->time, inputs, n_inputs,
            [&](const palladion::PreparedKernel& kernel, absl::Span<const palladion::ConstArray> arrays,
                absl::Span<const std::string> changes, const palladion::RunOptions& run) {
              return palladion::bridge::AdviceOfArrays(kernel, arrays, changes, run, asked);
            });
      },
      text, error);
}
