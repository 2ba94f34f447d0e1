// The part of the C ABI that calls from compiled programs and their sessions use.
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/c_api.h"
#include "emu/front/bridge/bridge.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_report.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/bridge/progress.h"
#include "semantics/base/status.h"
#include "semantics/base/target_names.h"

// The arrays of what was kept point into it.
struct palladion_taken {
  struct Inputs {
    std::vector<std::string> dtypes;
    std::vector<palladion_array> arrays;
  };
  palladion::bridge::Taken taken;
  std::vector<Inputs> inputs;  // of the calls
};

namespace {

using palladion::bridge::Bridge;
using palladion::bridge::BridgeRequest;
using palladion::bridge::Guarded;
using palladion::bridge::InterruptEavesdropper;
using palladion::bridge::ProcessBridge;
using palladion::bridge::TextOf;

BridgeRequest RequestOf(const palladion_call_request* request) {
  return {.text = TextOf(request->text, request->size),
          .kernel = TextOf(request->kernel),
          .target = TextOf(request->target),
          .options = TextOf(request->options),
          .session = request->session};
}

// Sessions that want to listen; a C function has no object to keep it in.
struct Listening {
  std::mutex mutex;
  int sessions = 0;
  std::optional<InterruptEavesdropper> eavesdropper;
};
Listening& ProcessListening() {
  static Listening* const listening = new Listening;
  return *listening;
}

}  // namespace

palladion_code palladion_call_prepare(const palladion_call_request* request, palladion_error* error) {
  const absl::Status status = Guarded([&] { return ProcessBridge().Prepare(RequestOf(request)); });
  return palladion::bridge::SetError(status, error);
}

palladion_code palladion_call(const palladion_call_request* request, const palladion_array* inputs, size_t n_inputs,
                              palladion_array* outputs, size_t n_outputs, palladion_error* error) {
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::ConstArray> in,
                               palladion::bridge::ConstArrays(inputs, n_inputs));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::MutableArray> out,
                               palladion::bridge::MutableArrays(outputs, n_outputs));
    return ProcessBridge().Call(RequestOf(request), in, out);
  });
  return palladion::bridge::SetError(status, error);
}

int64_t palladion_session_open(void) { return ProcessBridge().Open(); }

void palladion_session_close(int64_t session) { ProcessBridge().Close(session); }

void palladion_session_end_semaphores(int64_t session) { ProcessBridge().EndSemaphores(session); }

int64_t palladion_session_pending(int64_t session) { return ProcessBridge().Pending(session); }

int palladion_session_wait(int64_t session, int64_t milliseconds) {
  return ProcessBridge().Wait(session, milliseconds) ? 1 : 0;
}

palladion_taken* palladion_session_take(int64_t session) {
  std::optional<palladion::bridge::Taken> found = ProcessBridge().Take(session);
  if (!found.has_value()) return nullptr;
  auto* const taken = new palladion_taken{*std::move(found), {}};
  taken->inputs.resize(taken->taken.kept.size());
  for (std::size_t call = 0; call < taken->inputs.size(); ++call) {
    if (taken->taken.kept[call] == nullptr) continue;
    const std::vector<palladion::Tensor>& tensors = taken->taken.kept[call]->inputs;
    auto& [dtypes, arrays] = taken->inputs[call];
    for (const palladion::Tensor& tensor : tensors) dtypes.emplace_back(palladion::Name(tensor.dtype()));
    for (std::size_t i = 0; i < tensors.size(); ++i)
      arrays.push_back({.data = const_cast<std::byte*>(tensors[i].bytes()),  // an input, which is only read
                        .shape = tensors[i].shape().data(),
                        .rank = static_cast<int>(tensors[i].shape().size()),
                        .dtype = dtypes[i].c_str()});
  }
  return taken;
}

const palladion_array* palladion_taken_inputs(const palladion_taken* taken, size_t call, size_t* n_inputs) {
  *n_inputs = taken == nullptr || call >= taken->inputs.size() ? 0 : taken->inputs[call].arrays.size();
  return *n_inputs == 0 ? nullptr : taken->inputs[call].arrays.data();
}

char* palladion_taken_json(const palladion_taken* taken) {
  return palladion::bridge::CopyText(taken == nullptr ? "" : taken->taken.json);
}

palladion_report* palladion_taken_report(const palladion_taken* taken, size_t call) {
  if (taken == nullptr || call >= taken->taken.reports.size()) return nullptr;
  return new palladion_report{taken->taken.reports[call]};
}

void palladion_free_taken(palladion_taken* taken) { delete taken; }

void palladion_interrupts_listen(void) {
  Listening& listening = ProcessListening();
  const std::lock_guard<std::mutex> lock(listening.mutex);
  if (listening.sessions++ == 0) listening.eavesdropper.emplace(InterruptEavesdropper::For::kSession);
}

void palladion_interrupts_ignore(void) {
  Listening& listening = ProcessListening();
  const std::lock_guard<std::mutex> lock(listening.mutex);
  if (listening.sessions > 0 && --listening.sessions == 0) listening.eavesdropper.reset();
}

int64_t palladion_interrupt_count(void) { return palladion::bridge::InterruptCount().load(); }

void palladion_session_cancel(int64_t session) { ProcessBridge().Cancel(session); }

char* palladion_progress(void) { return palladion::bridge::CopyText(palladion::bridge::RunsInProgress()); }

char* palladion_targets(void) { return palladion::bridge::CopyText(absl::StrJoin(palladion::TargetNames(), "\n")); }

char* palladion_resolve_target(const char* name, const char* backend, palladion_error* error) {
  const absl::StatusOr<palladion::Target> target = palladion::ResolveTarget(TextOf(name), {.backend = TextOf(backend)});
  if (target.ok()) return palladion::bridge::CopyText(palladion::ToString(*target));
  palladion::bridge::SetError(target.status(), error);
  return nullptr;
}
