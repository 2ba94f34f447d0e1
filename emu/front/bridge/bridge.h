// Kernel calls that come from inside compiled programs (XLA's), where a call brings nothing but buffers and attributes:
// prepared kernels are found by their text, and reports are kept here until the opener of the session takes them.
//
//   Bridge& bridge = ProcessBridge();
//   std::int64_t session = bridge.Open();
//   bridge.Call({.text = text, .target = "triton/h100", .options = "check=1;seeds=16", .session = session}, in, out);
//   bridge.Take(session);                     // the calls since the last time, equal ones folded
//
// State: kernels, which are immutable and bounded in number and size, and the reports of sessions that are open. A call
// that fails or is stopped leaves its report and nothing else. Everything here may be used from any thread. During a
// call, SIGINT and SIGTERM end it early (emu/front/bridge/interrupt.h), and emu/front/bridge/progress.h shows its
// progress. What it does not do: synchronise calls on several devices. Where a kernel reaches other devices, Python
// (palladion/jax/device_mesh.py) collects their calls, and one of them brings the arrays of all.
#ifndef PALLADION_EMU_FRONT_BRIDGE_BRIDGE_H_
#define PALLADION_EMU_FRONT_BRIDGE_BRIDGE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/session.h"

namespace palladion::bridge {

// `options` is a list "name=value;name=value" of options of a check (emu/front/options/check_options.h) and
//   check  0: run in program order with the checks that are always on (the default); 1: check
//   time   1: how long the kernel takes on the chip of its target, or why that is not known, stands beside its report
//   engines_late  1: with check=0, copies happen at their wait
//   launches  N: a kernel that several devices run together is checked as N launches in a row, too
//   raise  which findings make the call fail: "none" (the default), "all" that count, or a list of codes and limits,
//          "RACE_WW,tpu.access.space", which also keep a kernel that its target refuses from running; "never": not even
//          a kernel that cannot run, whose outputs are then poison. The report says what happened
struct BridgeRequest {
  std::string_view text, kernel, target, options;  // kernel and target as for PrepareText
  std::int64_t session = 0;
};

struct BridgeOptions {
  bool check = false;
  bool time = false;
  std::int64_t launches = 1;
  CheckOptions options;
  bool raise_all = false, never_raise = false;
  std::set<FindingCode> raise_codes;
  std::vector<std::string> raise_limits;
};

// InvalidArgument: an option that is not known, or a value that is none.
absl::StatusOr<BridgeOptions> ParseBridgeOptions(std::string_view text);

// What replays the findings of a checked call.
struct KeptCall {
  std::string text, kernel, target, options;  // of its BridgeRequest
  std::int64_t launches = 1;                  // in a row
  std::vector<Tensor> inputs;                 // as they were before it ran
  std::size_t bytes() const;
};

// What calls left in a session, equal ones folded.
struct Taken {
  std::string json;                                    // {"calls": [{"count": 2, "call": {...}}], "dropped": 0}
  std::vector<std::shared_ptr<const Report>> reports;  // of the calls
  std::vector<std::shared_ptr<const KeptCall>> kept;   // nullptr: no schedule shows a finding of it, or it was too much
};

class Bridge {
 public:
  static constexpr std::size_t kMaxKernels = 512;                     // prepared, of all sessions together
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 28;  // of those
  static constexpr std::size_t kMaxReports = 4096;                    // different ones of one session that wait
  static constexpr std::size_t kMaxKeptBytes = std::size_t{1} << 28;  // of these, with their inputs
  static constexpr std::int64_t kNoSession = 0;                       // always open: calls outside of any session

  Bridge() { sessions_.try_emplace(kNoSession); }
  std::int64_t Open();
  void Close(std::int64_t session);                 // what waits there is dropped, and so is what its calls leave later
  void Cancel(std::int64_t session);                // its calls end as interrupted, those that come later too
  std::optional<Taken> Take(std::int64_t session);  // nothing where it is not open
  std::int64_t Pending(std::int64_t session);       // calls that have not returned
  // false: calls had not returned when the time was over.
  bool Wait(std::int64_t session, std::int64_t milliseconds);

  // What outlives the launches of a session. One that is not open is of calls that leave no report: other devices make
  // the same ones with one.
  std::shared_ptr<palladion::Session> Between(std::int64_t session);
  // No call of the session follows: semaphores that its kernels returned and that are not zero, and copies that no
  // kernel has waited for, are left as reports of these kernels, and forgotten.
  void EndSemaphores(std::int64_t session);

  // What is wrong with the kernel, the target or the options, before anything runs. The kernel is kept.
  absl::Status Prepare(const BridgeRequest& request);

  // Runs the kernel and leaves its report. A status that is not OK is what the caller should raise: that nothing could
  // run, or findings that `raise` names.
  absl::Status Call(const BridgeRequest& request, absl::Span<const ConstArray> inputs,
                    absl::Span<const MutableArray> outputs);

 private:
  struct Kernel {
    std::string text, kernel, target, options;
    PreparedKernel prepared;
    std::optional<PreparedKernel> timed;     // observable; where times are requested
    std::optional<PreparedKernel> in_a_row;  // of several devices; where several launches are requested
    BridgeOptions how;
  };
  struct Row {
    PreparedKernel kernel;
    std::int64_t launches = 1;
  };
  // The launch before, of several devices, and what came out of it.
  struct Launched {
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::size_t> outputs;  // hashes
  };
  struct Deposit {
    std::string json;
    std::shared_ptr<const Report> report;
    std::int64_t count = 0;
    std::shared_ptr<const KeptCall> kept;
  };
  struct Session {
    std::list<Deposit> deposits;
    std::unordered_map<std::string_view, Deposit*> by_json;  // of `deposits`
    std::int64_t dropped = 0, pending = 0;
    std::size_t kept_bytes = 0;  // of `deposits`
    Launched last;
    std::set<std::shared_ptr<const Kernel>> rows;  // that were looked at as two launches in a row
    std::shared_ptr<palladion::Session> between = std::make_shared<palladion::Session>();  // its launches
  };
  class PendingCall;

  absl::StatusOr<std::shared_ptr<const Kernel>> Find(const BridgeRequest& request);
  absl::StatusOr<Report> Run(const Kernel& kernel, absl::Span<const ConstArray> inputs,
                             absl::Span<const MutableArray> outputs, const RunOptions& here,
                             std::vector<Tensor>* before) const;
  static std::optional<Report> RefusedBefore(const Kernel& kernel);
  // A schedule that is replayed is one of the launches in a row: what one launch gives is wanted alone.
  static bool ReplaysRow(const Kernel& kernel) {
    return kernel.in_a_row.has_value() && !kernel.how.options.replay.empty();
  }
  // InvalidArgument, Unimplemented: the call takes what the one before it made, and the kernel has no such form.
  absl::StatusOr<std::optional<Row>> RowOf(const BridgeRequest& request, const std::shared_ptr<const Kernel>& kernel,
                                           absl::Span<const ConstArray> inputs);
  void Remember(std::int64_t session, const std::shared_ptr<const Kernel>& kernel,
                absl::Span<const MutableArray> outputs);
  bool IsCancelled(std::int64_t session);
  // `json` has the report and what else is known of the call.
  void Leave(std::int64_t session, std::string json, const Report& report, KeptCall call = {});

  std::mutex kernels_mutex_;
  std::list<std::shared_ptr<const Kernel>> kernels_;  // the one used last is first
  std::unordered_multimap<std::size_t, std::list<std::shared_ptr<const Kernel>>::iterator> by_hash_;
  std::size_t text_bytes_ = 0;

  std::mutex sessions_mutex_;
  std::condition_variable call_ended_;
  std::map<std::int64_t, Session> sessions_;
  std::int64_t last_session_ = kNoSession;
  std::set<std::int64_t> cancelled_;
  const std::shared_ptr<palladion::Session> between_silent_ = std::make_shared<palladion::Session>();
};

// The one that compiled code reaches, which can be given no object.
Bridge& ProcessBridge();

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_BRIDGE_H_
