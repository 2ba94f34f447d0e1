// The part of the C ABI that calls from compiled programs and their sessions use.
#include <csignal>
#include <mutex>

#include "absl/strings/str_join.h"
#include "emu/bridge.h"
#include "emu/c_api.h"
#include "emu/c_arrays.h"
#include "semantics/base/status.h"
#include "semantics/base/target_names.h"

namespace {

using palladion::Bridge;
using palladion::BridgeRequest;
using palladion::Guarded;
using palladion::ProcessBridge;
using palladion::TextOf;

BridgeRequest RequestOf(const palladion_call_request* request) {
  return {.text = TextOf(request->text, request->size),
          .kernel = TextOf(request->kernel),
          .target = TextOf(request->target),
          .options = TextOf(request->options),
          .session = request->session};
}

// Who listened for SIGINT before us, and how many want to listen. A signal handler can be given no object.
struct ::sigaction listened_before;
int listeners = 0;

void OnInterrupt(int signal, siginfo_t* info, void* context) {
  ProcessBridge().Interrupt();
  if ((listened_before.sa_flags & SA_SIGINFO) != 0) {
    listened_before.sa_sigaction(signal, info, context);
  } else if (listened_before.sa_handler != SIG_DFL && listened_before.sa_handler != SIG_IGN) {
    listened_before.sa_handler(signal);
  }
}

std::mutex& ListenersMutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

int palladion_call_prepare(const palladion_call_request* request, char** error) {
  const absl::Status status = Guarded([&] { return ProcessBridge().Prepare(RequestOf(request)); });
  if (!status.ok()) palladion::SetText(error, palladion::ErrorText(status));
  return static_cast<int>(palladion::ExitCodeOf(status));
}

int palladion_call(const palladion_call_request* request, const palladion_array* inputs, size_t n_inputs,
                   palladion_array* outputs, size_t n_outputs, char** error) {
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::ConstArray> in, palladion::ConstArrays(inputs, n_inputs));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::MutableArray> out,
                               palladion::MutableArrays(outputs, n_outputs));
    return ProcessBridge().Call(RequestOf(request), in, out);
  });
  if (!status.ok()) palladion::SetText(error, palladion::ErrorText(status));
  return static_cast<int>(palladion::ExitCodeOf(status));
}

int64_t palladion_session_open(void) { return ProcessBridge().Open(); }

void palladion_session_close(int64_t session) { ProcessBridge().Close(session); }

int64_t palladion_session_pending(int64_t session) { return ProcessBridge().Pending(session); }

int palladion_session_wait(int64_t session, int64_t milliseconds) {
  return ProcessBridge().Wait(session, milliseconds) ? 1 : 0;
}

char* palladion_session_take(int64_t session) { return palladion::CopyText(ProcessBridge().Take(session)); }

void palladion_interrupts_listen(void) {
  const std::lock_guard<std::mutex> lock(ListenersMutex());
  ProcessBridge();  // made here, not in a signal handler
  if (listeners++ > 0) return;
  struct ::sigaction action = {};
  action.sa_sigaction = OnInterrupt;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, nullptr, &listened_before);
  const bool handled = (listened_before.sa_flags & SA_SIGINFO) != 0 ||
                       (listened_before.sa_handler != SIG_DFL && listened_before.sa_handler != SIG_IGN);
  if (!handled) return;  // nobody to hand it on to: the process ends, or was told to ignore it
  action.sa_flags = SA_SIGINFO | (listened_before.sa_flags & (SA_RESTART | SA_ONSTACK));
  ::sigaction(SIGINT, &action, nullptr);
}

void palladion_interrupts_ignore(void) {
  const std::lock_guard<std::mutex> lock(ListenersMutex());
  if (listeners == 0 || --listeners > 0) return;
  struct ::sigaction now = {};
  ::sigaction(SIGINT, nullptr, &now);
  // Whoever has set a handler of their own since then keeps it.
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnInterrupt)
    ::sigaction(SIGINT, &listened_before, nullptr);
}

char* palladion_targets(void) { return palladion::CopyText(absl::StrJoin(palladion::TargetNames(), "\n")); }
