// palladion_time and palladion_advise of the C ABI: a kernel and its arrays in, how long it takes and what would make
// it faster out, as JSON and as text.
#include <functional>
#include <string>
#include <vector>

#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/bridge/timed_arrays.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

// Carries out one kind of request, and can be interrupted.
using TimeFunction =
    std::function<absl::StatusOr<TimeReport>(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                             const TimeWanted& wanted, const RunOptions& run)>;

absl::StatusOr<TimeReport> TimedBy(const palladion_time_request& request, const palladion_array* arrays, std::size_t n,
                                   const TimeFunction& function) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(TextOf(request.text, request.size),
                                                                      {.kernel = std::string(TextOf(request.kernel)),
                                                                       .target = std::string(TextOf(request.target)),
                                                                       .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  if (request.replay != nullptr && *request.replay == '\0')
    return absl::InvalidArgumentError("replay needs the schedule of a timed run; found ''");
  InterruptibleRun interruptible;
  const RunOptions run = interruptible.Options(request.budget);
  TimeWanted wanted{.changes = {request.changes, request.changes + request.n_changes},
                    .kernel_text = TextOf(request.text, request.size),
                    .replay = std::string(TextOf(request.replay))};
  if (request.timeline != nullptr) {
    wanted.compare = TextOf(request.timeline->compare);
    wanted.timeline =
        timing::timeline::TimelineOptions{.unit = request.timeline->unit, .device = request.timeline->device};
  }
  return function(kernel, given, wanted, run);
}

// NULL on an error. `pictures` may be NULL.
char* Respond(const std::function<absl::StatusOr<TimeReport>()>& make, palladion_timeline* pictures, char** text,
              palladion_error* error) {
  char* result = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(const TimeReport timed, make());
    result = CopyText(timed.json);
    SetText(text, timed.text);
    if (pictures == nullptr) return absl::OkStatus();
    pictures->page = CopyText(timed.page);
    pictures->trace = CopyText(timed.trace);
    return absl::OkStatus();
  });
  SetError(status, error);
  return result;
}

absl::StatusOr<TimeReport> TimeOfRequest(const palladion_time_request* request, const palladion_array* arrays,
                                         std::size_t n) {
  if (request == nullptr) return absl::InvalidArgumentError("no request");
  return TimedBy(*request, arrays, n, TimeOfArrays);
}

absl::StatusOr<TimeReport> AdviceOfRequest(const palladion_advise_request* request, const palladion_array* arrays,
                                           std::size_t n) {
  if (request == nullptr) return absl::InvalidArgumentError("no request");
  if (request->time.timeline != nullptr)
    return absl::InvalidArgumentError("palladion_advise draws no timeline; palladion_time does");
  if (request->time.replay != nullptr)
    return absl::InvalidArgumentError("palladion_advise replays no schedule; palladion_time does");
  const AdviceWanted advice{.seeds = request->seeds, .what_ifs = request->what_ifs != 0};
  return TimedBy(request->time, arrays, n,
                 [&](const PreparedKernel& kernel, absl::Span<const ConstArray> given, const TimeWanted& wanted,
                     const RunOptions& run) { return AdviceOfArrays(kernel, given, wanted, run, advice); });
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_time(const palladion_time_request* request, const palladion_array* inputs, size_t n_inputs, char** text,
                     palladion_error* error) {
  return palladion::bridge::Respond([&] { return palladion::bridge::TimeOfRequest(request, inputs, n_inputs); },
                                    request == nullptr ? nullptr : request->timeline, text, error);
}

char* palladion_advise(const palladion_advise_request* request, const palladion_array* inputs, size_t n_inputs,
                       char** text, palladion_error* error) {
  return palladion::bridge::Respond([&] { return palladion::bridge::AdviceOfRequest(request, inputs, n_inputs); },
                                    nullptr, text, error);
}
