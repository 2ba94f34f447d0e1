#include "emu/front/bridge/bridge.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "emu/check/inline_suppressions.h"
#include "emu/check/into_arrays.h"
#include "emu/check/plain_run.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/bridge/progress.h"
#include "emu/front/bridge/timed_arrays.h"
#include "emu/front/reports/report_view.h"
#include "emu/kernel/prepared_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"
#include "semantics/base/json.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

// Sizes of the grid for a picture; -1 where an operand holds it.
std::vector<std::int64_t> GridOf(const PreparedKernel& kernel) {
  std::vector<std::int64_t> sizes;
  for (const GridDim& dim : kernel.state().program().grid) sizes.push_back(dim.bound.valid() ? -1 : dim.size);
  return sizes;
}

// {"grid": [..], "report": {..}}, with further members.
std::string DepositText(const std::vector<std::int64_t>& grid, const Report& report, std::string_view more = "") {
  return Cat("{\"grid\": [", absl::StrJoin(grid, ", "), "], \"report\": ", ToJson(report), more, "}");
}

// Members of a deposit: the time, or why there is none.
std::string TimeMembers(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunOptions& run) {
  const absl::StatusOr<TimeReport> timed = TimeOfArrays(kernel, inputs, {}, run);
  if (!timed.ok()) return Cat(", \"time_refused\": ", JsonString(ToStd(timed.status().message())));
  return Cat(", \"time\": ", timed->json, ", \"time_text\": ", JsonString(timed->text));
}

// Of a call that can be replayed, beside its report; the inputs are arrays.
std::string KeptMember(const KeptCall& call) {
  return Cat(", \"launched\": {\"text\": ", JsonString(call.text), ", \"kernel\": ", JsonString(call.kernel),
             ", \"target\": ", JsonString(call.target), ", \"options\": ", JsonString(call.options),
             ", \"launches\": ", call.launches, "}");
}

bool IsShownBySchedule(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const ReportedFinding& finding) { return !finding.replay.empty(); });
}

// Nothing large where nothing was found.
KeptCall Kept(const BridgeRequest& request, const Report& report, std::vector<Tensor> before, std::int64_t launches) {
  if (!IsShownBySchedule(report)) return {};
  return {std::string(request.text),
          std::string(request.kernel),
          std::string(request.target),
          std::string(request.options),
          launches,
          std::move(before)};
}

// The outputs of a kernel that could not run.
void Poison(absl::Span<const MutableArray> outputs) {
  constexpr std::byte kOnes{0xff}, kTrue{1};  // NaN, and a bool that XLA takes for one
  for (const MutableArray& output : outputs) {
    std::size_t bytes = StorageBytes(output.dtype);
    for (const std::int64_t size : output.shape) bytes *= static_cast<std::size_t>(size);
    std::fill_n(output.data, bytes, output.dtype == DType::kBool ? kTrue : kOnes);
  }
}

// By its code, or by the limit that ends its message in brackets.
bool IsNamed(const ReportedFinding& finding, const BridgeOptions& how) {
  const auto ends = [&](const std::string& limit) { return absl::EndsWith(finding.message, Cat("[", limit, "]")); };
  return how.raise_codes.count(finding.code) > 0 || std::any_of(how.raise_limits.begin(), how.raise_limits.end(), ends);
}

// Notes of a code that is always a note are what the caller names it for; other notes of a named code stay notes.
bool Raises(const BridgeOptions& how, const ReportedFinding& finding, const Report& report) {
  if (how.raise_all) return Counts(finding, report);
  const bool only_note = palladion::RowOf(finding.code).severity == Severity::kNote && finding.suppressed.empty();
  return (only_note || Counts(finding, report)) && IsNamed(finding, how);
}

// OK, or what the caller should raise: the findings as every report renders them. `launches` of the kernel, as one.
absl::Status Raised(const BridgeOptions& how, const Report& report, std::int64_t launches = 1) {
  if (how.never_raise) return absl::OkStatus();
  reports::ReportDocument document;
  document.calls.push_back({.report = report,
                            .replay_before = Cat("palladion.emulate(\"", report.target, "\", replay=\""),
                            .replay_after = launches > 1 ? Cat("\", launches=", launches, ")") : "\")"});
  std::vector<ReportedFinding>& raised = document.calls[0].report.findings;
  raised.erase(std::remove_if(raised.begin(), raised.end(),
                              [&](const ReportedFinding& finding) { return !Raises(how, finding, report); }),
               raised.end());
  if (!raised.empty()) {
    SourceFiles sources;
    const reports::RenderOptions options{
        .python = true, .source_line = [&](const std::string& f, int n) { return sources.Line(f, n); }};
    return absl::FailedPreconditionError(
        Cat("kernel @", report.kernel, ":\n", ToText(document, options, {.end = false})));
  }
  if (report.error.has_value()) return absl::InternalError(Cat("kernel @", report.kernel, ": ", report.error->message));
  if (report.interrupted) return absl::CancelledError(Cat("kernel @", report.kernel, ": interrupted"));
  return absl::OkStatus();
}

std::size_t HashOf(const BridgeRequest& request) {
  const std::hash<std::string_view> hash;
  std::size_t sum = hash(request.text);
  for (const std::string_view part : {request.kernel, request.target, request.options}) sum = sum * 31 + hash(part);
  return sum;
}

}  // namespace

std::size_t KeptCall::bytes() const {
  std::size_t bytes = text.size();
  for (const Tensor& input : inputs) bytes += input.num_bytes();
  return bytes;
}

// Counts a call of a session while it lives.
class Bridge::PendingCall {
 public:
  PendingCall(Bridge& bridge, std::int64_t session) : bridge_(bridge), session_(session) { Add(1); }
  ~PendingCall() {
    Add(-1);
    bridge_.call_ended_.notify_all();
  }
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

 private:
  void Add(std::int64_t n) const {
    const std::lock_guard<std::mutex> lock(bridge_.sessions_mutex_);
    if (const auto found = bridge_.sessions_.find(session_); found != bridge_.sessions_.end())
      found->second.pending += n;
  }

  Bridge& bridge_;
  std::int64_t session_;
};

std::int64_t Bridge::Open() {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  sessions_.try_emplace(++last_session_);
  return last_session_;
}

void Bridge::Close(std::int64_t session) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  if (session != kNoSession) sessions_.erase(session);
}

// A call makes its RunControl before it looks whether it is cancelled, so none is missed.
void Bridge::Cancel(std::int64_t session) {
  {
    const std::lock_guard<std::mutex> lock(sessions_mutex_);
    if (session != kNoSession) cancelled_.insert(session);
  }
  InterruptRuns();
}

bool Bridge::IsCancelled(std::int64_t session) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  return cancelled_.count(session) > 0;
}

std::optional<Taken> Bridge::Take(std::int64_t session) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return std::nullopt;
  Session& left = found->second;
  Taken taken{.json = "{\"calls\": [", .reports = {}};
  for (const Deposit& deposit : left.deposits) {
    Append(&taken.json, taken.reports.empty() ? "" : ", ", "{\"count\": ", deposit.count, ", \"call\": ", deposit.json,
           deposit.kept == nullptr ? "" : KeptMember(*deposit.kept), "}");
    taken.reports.push_back(deposit.report);
    taken.kept.push_back(deposit.kept);
  }
  Append(&taken.json, "], \"dropped\": ", left.dropped, "}");
  left.by_json.clear();
  left.deposits.clear();
  left.dropped = 0;
  left.kept_bytes = 0;
  return taken;
}

std::int64_t Bridge::Pending(std::int64_t session) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? 0 : found->second.pending;
}

bool Bridge::Wait(std::int64_t session, std::int64_t milliseconds) {
  std::unique_lock<std::mutex> lock(sessions_mutex_);
  return call_ended_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] {
    const auto found = sessions_.find(session);
    return found == sessions_.end() || found->second.pending == 0;
  });
}

void Bridge::Leave(std::int64_t session, std::string json, const Report& report, KeptCall call) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  Session& left = found->second;
  if (const auto known = left.by_json.find(json); known != left.by_json.end()) {
    ++known->second->count;
    return;
  }
  if (left.deposits.size() >= kMaxReports) {
    ++left.dropped;
    return;
  }
  left.deposits.push_back({std::move(json), std::make_shared<const Report>(report), 1, nullptr});
  if (!call.text.empty() && left.kept_bytes + call.bytes() <= kMaxKeptBytes) {
    left.kept_bytes += call.bytes();
    left.deposits.back().kept = std::make_shared<const KeptCall>(std::move(call));
  }
  left.by_json.emplace(left.deposits.back().json, &left.deposits.back());
}

std::shared_ptr<palladion::Session> Bridge::Between(std::int64_t session) {
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? between_silent_ : found->second.between;
}

void Bridge::EndSemaphores(std::int64_t session) {
  for (Report& report : Between(session)->End()) {
    check::ApplyInlineSuppressions(nullptr, report);
    Leave(session, DepositText({}, report), report);
  }
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.last = {};  // its number may be given again
    found->second.rows.clear();
  }
}

namespace {

// The report, in which findings that a comment on their line accepts do not count.
absl::StatusOr<Report> WithoutAccepted(const PreparedKernel& kernel, absl::StatusOr<Report> report) {
  if (report.ok()) check::ApplyInlineSuppressions(&kernel.state().module(), *report);
  return report;
}

absl::StatusOr<PreparedKernel> InARow(const BridgeRequest& request, std::int64_t launches) {
  return PrepareLaunches(request.text, launches,
                         {.kernel = std::string(request.kernel), .target = std::string(request.target)});
}

std::size_t HashOfContents(const void* data, DType dtype, absl::Span<const std::int64_t> shape) {
  std::size_t bytes = StorageBytes(dtype);
  for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
  return std::hash<std::string_view>()({static_cast<const char*>(data), bytes});
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Bridge::Kernel>> Bridge::Find(const BridgeRequest& request) {
  const std::size_t hash = HashOf(request);
  {
    const std::lock_guard<std::mutex> lock(kernels_mutex_);
    for (auto [it, end] = by_hash_.equal_range(hash); it != end; ++it) {
      const Kernel& known = **it->second;
      if (known.text != request.text || known.kernel != request.kernel || known.target != request.target ||
          known.options != request.options)
        continue;
      kernels_.splice(kernels_.begin(), kernels_, it->second);
      return kernels_.front();
    }
  }
  PALLADION_ASSIGN_OR_RETURN(BridgeOptions how, ParseBridgeOptions(request.options));
  PALLADION_ASSIGN_OR_RETURN(
      PreparedKernel prepared,
      PrepareText(request.text, {.kernel = std::string(request.kernel), .target = std::string(request.target)}));
  std::optional<PreparedKernel> timed;
  if (how.time) {
    PALLADION_ASSIGN_OR_RETURN(timed, PrepareText(request.text, {.kernel = std::string(request.kernel),
                                                                 .target = std::string(request.target),
                                                                 .observable = true}));
  }
  std::optional<PreparedKernel> in_a_row;
  if (how.launches > 1 && prepared.state().program().several_devices()) {
    PALLADION_ASSIGN_OR_RETURN(in_a_row, InARow(request, how.launches));
  }
  auto made = std::make_shared<const Kernel>(
      Kernel{std::string(request.text), std::string(request.kernel), std::string(request.target),
             std::string(request.options), std::move(prepared), std::move(timed), std::move(in_a_row), std::move(how)});
  const std::lock_guard<std::mutex> lock(kernels_mutex_);
  kernels_.push_front(made);
  by_hash_.emplace(hash, kernels_.begin());
  text_bytes_ += made->text.size();
  while (kernels_.size() > 1 && (kernels_.size() > kMaxKernels || text_bytes_ > kMaxTextBytes)) {
    const auto last = std::prev(kernels_.end());
    text_bytes_ -= (*last)->text.size();
    const auto entry = std::find_if(by_hash_.begin(), by_hash_.end(), [&](const auto& e) { return e.second == last; });
    by_hash_.erase(entry);
    kernels_.erase(last);
  }
  return made;
}

// What is known before a run, where the caller is to raise it: then nothing runs.
std::optional<Report> Bridge::RefusedBefore(const Kernel& kernel) {
  if (kernel.how.check || kernel.how.options.run.legality == LegalityMode::kOff) return std::nullopt;
  Report report = check::ReportBeforeRun(kernel.prepared.state(), kernel.how.options.run.legality);
  report.strict = kernel.how.options.strict;
  check::ApplyInlineSuppressions(&kernel.prepared.state().module(), report);
  if (Raised(kernel.how, report).ok()) return std::nullopt;
  return report;
}

absl::Status Bridge::Prepare(const BridgeRequest& request) { return Find(request).status(); }

absl::StatusOr<Report> Bridge::Run(const Kernel& kernel, absl::Span<const ConstArray> inputs,
                                   absl::Span<const MutableArray> outputs, const RunOptions& here,
                                   std::vector<Tensor>* before) const {
  CheckOptions options = kernel.how.options;
  options.run.control = here.control;
  options.run.session = here.session;
  if (!kernel.how.check || ReplaysRow(kernel)) {
    absl::StatusOr<Report> report = RunInto(kernel.prepared, inputs, outputs, options.run);
    if (report.ok()) report->strict = kernel.how.options.strict;
    return WithoutAccepted(kernel.prepared, std::move(report));
  }
  return WithoutAccepted(kernel.prepared, check::CheckInto({kernel.prepared, inputs, outputs, options, before}));
}

// The kernel as so many launches, where they are wanted or where this call takes what the call before it made: f(f(x)).
// Known by equal bytes: compiled code gives no more than that, and callbacks get copies. Nothing for a kernel that was
// looked at in that way before.
absl::StatusOr<std::optional<Bridge::Row>> Bridge::RowOf(const BridgeRequest& request,
                                                         const std::shared_ptr<const Kernel>& kernel,
                                                         absl::Span<const ConstArray> inputs) {
  if (kernel->in_a_row.has_value()) return Row{*kernel->in_a_row, kernel->how.launches};
  if (!kernel->how.check || !kernel->prepared.state().program().several_devices()) return std::nullopt;
  {
    const std::lock_guard<std::mutex> lock(sessions_mutex_);
    const auto session = sessions_.find(request.session);
    if (session == sessions_.end() || session->second.last.kernel != kernel) return std::nullopt;
    const std::vector<std::size_t>& made = session->second.last.outputs;
    const bool follows = std::any_of(inputs.begin(), inputs.end(), [&](const ConstArray& input) {
      return std::find(made.begin(), made.end(), HashOfContents(input.data, input.dtype, input.shape)) != made.end();
    });
    if (!follows || !session->second.rows.insert(kernel).second) return std::nullopt;
  }
  PALLADION_ASSIGN_OR_RETURN(PreparedKernel two, InARow(request, 2));
  return Row{std::move(two), 2};
}

// What a call that follows may take.
void Bridge::Remember(std::int64_t session, const std::shared_ptr<const Kernel>& kernel,
                      absl::Span<const MutableArray> outputs) {
  if (!kernel->how.check || !kernel->prepared.state().program().several_devices()) return;
  std::vector<std::size_t> made;
  for (const MutableArray& output : outputs) made.push_back(HashOfContents(output.data, output.dtype, output.shape));
  const std::lock_guard<std::mutex> lock(sessions_mutex_);
  if (const auto found = sessions_.find(session); found != sessions_.end())
    found->second.last = {kernel, std::move(made)};
}

namespace {

void SayWhyNotInARow(const absl::Status& status, Report& report) {
  Append(&report.argument, report.argument.empty() ? "" : "; ",
         "this launch takes what the one before it made, and two in a row were not checked: ", ToStd(status.message()));
}

}  // namespace

absl::Status Bridge::Call(const BridgeRequest& request, absl::Span<const ConstArray> inputs,
                          absl::Span<const MutableArray> outputs) {
  const PendingCall pending(*this, request.session);
  const absl::StatusOr<std::shared_ptr<const Kernel>> kernel = Find(request);
  if (!kernel.ok()) {
    const Report report = ErrorReport(kernel.status(), std::string(request.kernel), std::string(request.target));
    Leave(request.session, DepositText({}, report), report);
    return kernel.status();
  }
  const PreparedKernel& prepared = (*kernel)->prepared;
  const InterruptEavesdropper listener(InterruptEavesdropper::For::kRun);
  RunControl control(InterruptCount());
  if (IsCancelled(request.session)) return absl::CancelledError(Cat("kernel @", prepared.name(), ": interrupted"));
  const ShownRun shown(prepared.name(), request.session, control);
  if (const std::optional<Report> refused = RefusedBefore(**kernel)) {
    Leave(request.session, DepositText(GridOf(prepared), *refused), *refused);
    return Raised((*kernel)->how, *refused);
  }
  const std::shared_ptr<palladion::Session> between = Between(request.session);
  // Before the run, which may write outputs over inputs.
  RunOptions timed = (*kernel)->how.options.run;
  timed.control = &control;
  const std::string time = (*kernel)->timed.has_value() ? TimeMembers(*(*kernel)->timed, inputs, timed) : "";
  const BridgeOptions& how = (*kernel)->how;
  const absl::StatusOr<std::optional<Row>> row_or = RowOf(request, *kernel, inputs);
  const std::optional<Row> row = row_or.ok() ? *row_or : std::nullopt;
  absl::StatusOr<Report> in_a_row = Report();
  std::vector<Tensor> before, before_row;
  if (row.has_value()) {
    CheckOptions options = how.options;
    options.run.control = &control;
    in_a_row = WithoutAccepted(row->kernel, check::CheckInto({row->kernel, inputs, {}, options, &before_row}));
    if (!how.never_raise) PALLADION_RETURN_IF_ERROR(in_a_row.status());
  }
  absl::StatusOr<Report> report =
      Run(**kernel, inputs, outputs, {.control = &control, .session = between.get()}, &before);
  if (report.ok() && !row_or.ok()) SayWhyNotInARow(row_or.status(), *report);
  if (!report.ok()) {
    const Report refused = ErrorReport(report.status(), prepared.name(), prepared.target());
    Leave(request.session, DepositText(GridOf(prepared), refused), refused);
    if (!how.never_raise) return report.status();
    Poison(outputs);
    return absl::OkStatus();
  }
  Remember(request.session, *kernel, outputs);
  if (!ReplaysRow(**kernel))
    Leave(request.session, DepositText(GridOf(prepared), *report, time), *report,
          Kept(request, *report, std::move(before), 1));
  absl::Status raised = Raised(how, *report);
  if (row.has_value() && in_a_row.ok()) {
    Leave(request.session, DepositText(GridOf(prepared), *in_a_row, Cat(", \"launches\": ", row->launches)), *in_a_row,
          Kept(request, *in_a_row, std::move(before_row), row->launches));
    raised.Update(Raised(how, *in_a_row, row->launches));
  }
  return raised;
}

Bridge& ProcessBridge() {
  static Bridge* const bridge = new Bridge;  // never destroyed: XLA's threads may still call when the process ends
  return *bridge;
}

}  // namespace palladion::bridge
