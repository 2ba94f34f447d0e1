// palladion_time of the C ABI: a kernel and its arrays in, how long it takes out, as JSON and as text.
#include <string>
#include <vector>

#include "emu/bridge/c_arrays.h"
#include "emu/bridge/interrupt.h"
#include "emu/bridge/timed_arrays.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

absl::StatusOr<TimeTold> TimeAsked(const palladion_time_request& request, const palladion_array* arrays,
                                   std::size_t n) {
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
  TimeWanted wanted{.changes = {request.changes, request.changes + request.n_changes},
                    .kernel_text = TextOf(request.text, request.size)};
  if (request.timeline != nullptr) wanted.timeline.emplace().unit = request.timeline->unit;
  return TimeOfArrays(kernel, given, wanted, run);
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_time(const palladion_time_request* request, const palladion_array* inputs, size_t n_inputs, char** text,
                     char** error) {
  char* result = nullptr;
  const absl::Status status = palladion::bridge::Guarded([&]() -> absl::Status {
    if (request == nullptr) return absl::InvalidArgumentError("no request");
    PALLADION_ASSIGN_OR_RETURN(const palladion::bridge::TimeTold told,
                               palladion::bridge::TimeAsked(*request, inputs, n_inputs));
    result = palladion::bridge::CopyText(told.json);
    palladion::bridge::SetText(text, told.text);
    if (request->timeline != nullptr) {
      request->timeline->page = palladion::bridge::CopyText(told.page);
      request->timeline->trace = palladion::bridge::CopyText(told.trace);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) palladion::bridge::SetText(error, palladion::bridge::ErrorText(status));
  return result;
}
