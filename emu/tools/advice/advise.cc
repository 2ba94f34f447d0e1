#include "emu/tools/advice/advise.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "emu/check.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/run_control.h"
#include "semantics/base/status.h"
#include "semantics/ir/printer.h"

namespace palladion::advice {
namespace {

constexpr std::string_view kChangedPath = "the changed kernel";

// By the codes' names: of several, the first is reported.
struct ByName {
  bool operator()(FindingCode a, FindingCode b) const { return Code(a) < Code(b); }
};

// What was found of a kind, other than notes.
using Counts = std::map<FindingCode, std::int64_t, ByName>;
Counts CountsOf(const Report& report) {
  Counts counts;
  for (const ReportedFinding& finding : report.findings) {
    if (finding.severity != Severity::kNote) counts[finding.code] += finding.count;
  }
  return counts;
}

// What the first has not, or not as often; "" where there is nothing.
std::string NewIn(const Report& report, const Report& before) {
  Counts old = CountsOf(before);
  for (const auto& [code, count] : CountsOf(report)) {
    if (count <= old[code]) continue;
    const auto first = std::find_if(report.findings.begin(), report.findings.end(),
                                    [&of = code](const ReportedFinding& one) { return one.code == of; });
    return Cat(Code(code), ", which the kernel as it is has not: ", first->message);
  }
  if (report.verdict == Verdict::kNondeterministic && before.verdict != Verdict::kNondeterministic)
    return "its outputs differ between schedules";
  return "";
}

// Which output differs first; "" where none does.
std::string Differs(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                    const std::vector<OperandDescription>& outputs) {
  if (before.size() != after.size()) return "it has other outputs";
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool same = before[i].num_bytes() == after[i].num_bytes() &&
                      std::memcmp(before[i].bytes(), after[i].bytes(), before[i].num_bytes()) == 0;
    if (!same) return Cat("other results in ", i < outputs.size() ? outputs[i].name : Cat("output ", i));
  }
  return "";
}

std::string OtherTraffic(const timing::report::Timing& before, const timing::report::Timing& after) {
  const auto less = [](const timing::report::OperandTraffic& a, const timing::report::OperandTraffic& b) {
    return a.operand < b.operand;
  };
  std::vector<timing::report::OperandTraffic> a = before.traffic, b = after.traffic;
  std::sort(a.begin(), a.end(), less);
  std::sort(b.begin(), b.end(), less);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const bool same = i < a.size() && i < b.size() && a[i].operand == b[i].operand && a[i].read == b[i].read &&
                      a[i].written == b[i].written;
    if (!same) return Cat("it moves other bytes of ", i < a.size() ? a[i].operand : b[i].operand);
  }
  return "";
}

constexpr std::string_view kRandom = "random(seed=1,lo=-1,hi=1)";

// Several elements, each with the same bytes.
bool IsAllAlike(const Tensor& value) {
  if (value.num_elements() < 2) return false;
  const std::size_t size = value.num_bytes() / static_cast<std::size_t>(value.num_elements());
  return std::memcmp(value.bytes(), value.bytes() + size, value.num_bytes() - size) == 0;
}

// No output would differ if its elements came from other places.
bool ShowNothing(const std::vector<Tensor>& outputs) {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), IsAllAlike);
}

struct TimeAndUncertainty {
  machines::Nanoseconds time;
  std::optional<double> uncertainty;
};

class Adviser {
 public:
  explicit Adviser(const Request& request) : request_(request) {}

  absl::StatusOr<Advice> Take() && {
    module_ = request_.kernel.state().module();
    std::erase_if(module_.kernels, [&](const Kernel& kernel) { return kernel.name != request_.kernel.name(); });
    PALLADION_RETURN_IF_ERROR(RunAsItIs());
    for (const ChangeRow& change : request_.changes) {
      Found found = change.find(module_);
      if (found.candidates.empty() && found.not_tried.empty())
        found.not_tried.push_back(
            {.what = std::string(change.name), .text_line = 0, .loc = {}, .why = std::string(change.none)});
      for (NotTried& one : found.not_tried) advice_.not_tried.push_back(std::move(one));
      PALLADION_RETURN_IF_ERROR(TryAll(change, found.candidates));
    }
    if (request_.what_ifs) {
      PALLADION_ASSIGN_OR_RETURN(advice_.what_ifs, WhatIfs(CallOf(request_.kernel)));
    }
    const auto faster = [](const auto& a, const auto& b) {
      if (!a.time.has_value() || !b.time.has_value()) return a.time.has_value() && !b.time.has_value();
      return *a.time < *b.time;
    };
    std::stable_sort(advice_.tried.begin(), advice_.tried.end(), faster);
    std::stable_sort(advice_.what_ifs.begin(), advice_.what_ifs.end(), faster);
    return std::move(advice_);
  }

 private:
  // Of a series only as far as each is faster than the one before.
  absl::Status TryAll(const ChangeRow& change, const std::vector<Candidate>& candidates) {
    std::map<std::string, std::optional<machines::Nanoseconds>> last;  // of each series; nothing: it is over
    for (const Candidate& candidate : candidates) {
      const auto before = last.try_emplace(candidate.series, advice_.timing.time).first;
      if (!candidate.series.empty() && !before->second.has_value()) continue;
      PALLADION_ASSIGN_OR_RETURN(Tried tried, Try(candidate));
      tried.change = change.name;
      if (!candidate.series.empty()) {
        const bool faster = tried.time.has_value() && *tried.time < *before->second;
        before->second = faster ? tried.time : std::nullopt;
      }
      advice_.tried.push_back(std::move(tried));
    }
    return absl::OkStatus();
  }

  timing::base::TimedCall CallOf(const PreparedKernel& kernel) const {
    return {
        .kernel = kernel, .inputs = request_.inputs, .machine = request_.machine, .run = request_.run, .timeline = {}};
  }

  absl::StatusOr<PreparedKernel> Prepared(const Module& module, bool observable) const {
    return PrepareText(Print(module), {.kernel = "",
                                       .target = request_.kernel.target(),
                                       .path = std::string(kChangedPath),
                                       .observable = observable});
  }

  absl::StatusOr<Report> Checked(const Module& module, absl::Span<const Tensor> inputs,
                                 std::vector<Tensor>* outputs) const {
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, Prepared(module, false));
    CheckOptions options;
    options.seeds = request_.seeds;
    options.run = request_.run;
    PALLADION_ASSIGN_OR_RETURN(Report report, Check(kernel, inputs, options, outputs));
    if (report.interrupted) return InterruptedStatus();
    return report;
  }

  absl::Status RunAsItIs() {
    PALLADION_ASSIGN_OR_RETURN(timing::base::Timed timed, timing::TimeKernel(CallOf(request_.kernel)));
    PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
    advice_.timing = std::move(timed.timing);
    timed_report_ = std::move(timed.report);
    PALLADION_ASSIGN_OR_RETURN(advice_.report, Checked(module_, request_.inputs, &outputs_));
    advice_.schedules = advice_.report.schedules;
    return CheckOnOthers();
  }

  // Where inputs are all alike, what changes are compared with is computed from random ones, if the kernel runs on
  // them.
  absl::Status CheckOnOthers() {
    compared_on_.assign(request_.inputs.begin(), request_.inputs.end());
    const std::vector<OperandDescription>& described = request_.kernel.inputs();
    for (std::size_t i = 0; i < std::min(compared_on_.size(), described.size()); ++i) {
      if (!IsFloat(compared_on_[i].dtype()) || !IsAllAlike(compared_on_[i])) continue;
      PALLADION_ASSIGN_OR_RETURN(compared_on_[i],
                                 TensorFromText(compared_on_[i].dtype(), compared_on_[i].shape(), kRandom));
      advice_.random.push_back(described[i].name);
    }
    if (advice_.random.empty()) return absl::OkStatus();
    std::vector<Tensor> outputs;
    absl::StatusOr<Report> report = Checked(module_, compared_on_, &outputs);
    if (!report.ok() && IsInterrupted(report.status())) return report.status();
    if (!report.ok() || !launch::EndOf(*report).ok()) {
      advice_.random.clear();
      compared_on_.assign(request_.inputs.begin(), request_.inputs.end());
      return absl::OkStatus();
    }
    compared_report_ = *std::move(report);
    outputs_ = std::move(outputs);
    return absl::OkStatus();
  }

  absl::StatusOr<Tried> Try(const Candidate& candidate) const {
    Tried tried{.change = {},
                .what = candidate.what,
                .text_line = candidate.text_line,
                .loc = candidate.loc,
                .time = {},
                .uncertainty = {},
                .refused = "",
                .text = Print(candidate.module)};
    const absl::StatusOr<TimeAndUncertainty> time = TimeOf(candidate);
    if (time.ok()) {
      tried.time = time->time;
      tried.uncertainty = time->uncertainty;
    } else if (IsInterrupted(time.status())) {
      return time.status();
    } else {
      tried.refused = std::string(ToStd(time.status().message()));
    }
    return tried;
  }

  // An error says why it is no advice.
  absl::StatusOr<TimeAndUncertainty> TimeOf(const Candidate& candidate) const {
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, Prepared(candidate.module, true));
    PALLADION_ASSIGN_OR_RETURN(const timing::base::Timed timed, timing::TimeKernel(CallOf(kernel)));
    PALLADION_RETURN_IF_ERROR(Refuse(NewIn(timed.report, timed_report_)));
    PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
    if (candidate.same_traffic) PALLADION_RETURN_IF_ERROR(Refuse(OtherTraffic(advice_.timing, timed.timing)));
    std::vector<Tensor> outputs;
    PALLADION_ASSIGN_OR_RETURN(const Report report, Checked(candidate.module, compared_on_, &outputs));
    PALLADION_RETURN_IF_ERROR(Refuse(NewIn(report, compared_report_.has_value() ? *compared_report_ : advice_.report)));
    PALLADION_RETURN_IF_ERROR(launch::EndOf(report));
    PALLADION_RETURN_IF_ERROR(Refuse(Differs(outputs_, outputs, request_.kernel.outputs())));
    if (ShowNothing(outputs_))
      return absl::FailedPreconditionError(
          "its outputs are equal, but all their elements are alike on these inputs, so that shows nothing");
    return TimeAndUncertainty{.time = timed.timing.time, .uncertainty = timed.timing.uncertainty};
  }

  static absl::Status Refuse(const std::string& why) {
    return why.empty() ? absl::OkStatus() : absl::FailedPreconditionError(why);
  }

  const Request& request_;
  Module module_;
  Report timed_report_;
  std::vector<Tensor> compared_on_;        // inputs
  std::optional<Report> compared_report_;  // of the kernel as it is, on them; nothing: they are the given ones
  std::vector<Tensor> outputs_;            // of the same
  Advice advice_;
};

}  // namespace

absl::StatusOr<Advice> Advise(const Request& request) { return Adviser(request).Take(); }

}  // namespace palladion::advice
