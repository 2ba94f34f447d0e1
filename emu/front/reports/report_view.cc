#include "emu/front/reports/report_view.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/front/reports/causes.h"
#include "emu/front/reports/fidelity_text.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/source_lines.h"

namespace palladion::reports {
namespace {

constexpr std::size_t kExcerptWidth = 96;
constexpr std::size_t kMaxCallers = 3;
constexpr Severity kSeverities[] = {Severity::kDefect, Severity::kWarning, Severity::kNote};  // the worst first

std::size_t Rank(const ReportedFinding& finding) {
  if (!finding.suppressed.empty()) return std::size(kSeverities);
  return static_cast<std::size_t>(Severity::kDefect) - static_cast<std::size_t>(finding.severity);
}

// Code that came with Python, with a package that is installed, or with us: not the user's own.
bool IsLibrary(std::string_view file) {
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python3.", "/palladion/jax/exporter/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.substr(0, 8) == "<frozen ";
}

std::string FrameText(const SourceFrame& frame) {
  std::string text = Cat(Printable(frame.file), ":", frame.line);
  if (frame.column > 0) Append(&text, ":", frame.column);
  if (!frame.function.empty()) Append(&text, " in ", Printable(frame.function));
  return text;
}

std::string KeyOf(const std::vector<SourceFrame>& frames, int text_line) {
  return frames.empty() ? Cat("line ", text_line) : FrameText(frames[0]);
}

std::string KeyOf(const std::optional<ReportedAccess>& access) {
  return access.has_value()
             ? Cat(Name(access->kind), " ", access->object, " ", KeyOf(access->frames, access->text_line))
             : "";
}

// Findings of several calls with one key are shown once. In one report they have been folded before.
std::string KeyOf(const ReportedFinding& finding, const Report& report) {
  return Cat(report.kernel, "\n", report.target, "\n", Code(finding.code), Name(finding.severity), "\n",
             finding.suppressed, "\n", KeyOf(finding.frames, finding.text_line), KeyOf(finding.first), "\n",
             KeyOf(finding.second));
}

bool SamePlace(const ReportedAccess& a, const ReportedAccess& b) {
  return a.source == b.source && a.text_line == b.text_line;
}

class ViewMaker {
 public:
  ViewMaker(const ReportDocument& document, const RenderOptions& options) : document_(document), options_(options) {}

  ReportView All() {
    for (std::size_t i = 0; i < document_.calls.size(); ++i) Call(i);
    for (FindingView& finding : view_.findings) finding.repeated = Repeated(finding);
    view_.tally = Tally();
    FoldSymptoms();
    std::stable_sort(view_.findings.begin(), view_.findings.end(),
                     [](const FindingView& a, const FindingView& b) { return Rank(a.of) < Rank(b.of); });
    const bool several = view_.kernels.size() > 1;
    for (FindingView& finding : view_.findings) {
      if (!several) finding.kernel.clear();
    }
    for (std::size_t i = 0; i < view_.kernels.size(); ++i) view_.kernels[i].findings = Codes(i);
    std::stable_sort(view_.kernels.begin(), view_.kernels.end(),
                     [](const KernelView& a, const KernelView& b) { return a.verdict > b.verdict; });
    Worst();
    return std::move(view_);
  }

 private:
  void Call(std::size_t number) {
    const ReportedCall& call = document_.calls[number];
    const std::size_t kernel = KernelOf(call);
    std::map<std::string, std::size_t> seen;  // of this call: what one report lists separately stays separate
    const std::vector<std::optional<std::size_t>> causes = CausesOf(call.report);
    std::vector<std::size_t> view;
    for (const ReportedFinding& finding : call.report.findings) {
      std::string key = KeyOf(finding, call.report);
      Append(&key, "\n", seen[key]++);
      const auto [place, is_new] = known_.try_emplace(key, view_.findings.size());
      if (is_new) view_.findings.push_back(One(finding, number));
      view.push_back(place->second);
      FindingView& known = view_.findings[place->second];
      known.times += (is_new ? -1 : 0) + finding.count * call.count;
      known.calls += is_new ? call.count - 1 : call.count;
      codes_[kernel][Cat(Code(finding.code), finding.suppressed.empty() ? "" : " suppressed")].insert(place->second);
    }
    causes_.resize(view_.findings.size());
    for (std::size_t i = 0; i < causes.size(); ++i)
      causes_[view[i]].insert(causes[i].has_value() ? std::optional(view[*causes[i]]) : std::nullopt);
    for (const ReportedRemark& remark : call.report.remarks) {
      std::string line = LineOf(remark, options_);
      if (document_.calls.size() > 1) line = Cat("@", Printable(call.report.kernel), ": ", line);
      if (std::find(view_.remarks.begin(), view_.remarks.end(), line) == view_.remarks.end())
        view_.remarks.push_back(std::move(line));
    }
    if (std::string line = FidelityLine(call.report); !line.empty()) {
      if (document_.calls.size() > 1) line = Cat("@", Printable(call.report.kernel), ": ", line);
      if (std::find(view_.fidelity.begin(), view_.fidelity.end(), line) == view_.fidelity.end())
        view_.fidelity.push_back(std::move(line));
    }
    if (call.report.error.has_value()) {
      const std::string whose = document_.calls.size() > 1 && !call.report.kernel.empty()
                                    ? Cat("kernel @", Printable(call.report.kernel), ": ")
                                    : "";
      const ReportedError error{call.report.error->kind, whose + PrintableLines(call.report.error->message)};
      const auto same = [&error](const ReportedError& e) { return e.kind == error.kind && e.message == error.message; };
      if (std::none_of(view_.errors.begin(), view_.errors.end(), same)) view_.errors.push_back(error);
    }
    view_.calls += call.count;
  }

  // One that stands for itself in some call, or follows from several, does so here.
  std::optional<std::size_t> CauseOf(std::size_t finding) const {
    const std::set<std::optional<std::size_t>>& causes = causes_[finding];
    return causes.size() == 1 && *causes.begin() != finding ? *causes.begin() : std::nullopt;
  }

  bool IsSymptom(std::size_t i) const { return CauseOf(i).has_value() && !CauseOf(*CauseOf(i)).has_value(); }

  void FoldSymptoms() {
    std::vector<FindingView> kept;
    std::vector<std::size_t> place(view_.findings.size());
    for (std::size_t i = 0; i < view_.findings.size(); ++i) {
      if (IsSymptom(i)) continue;
      place[i] = kept.size();
      kept.push_back(std::move(view_.findings[i]));
    }
    for (std::size_t i = 0; i < view_.findings.size(); ++i) {
      if (IsSymptom(i)) kept[place[*CauseOf(i)]].symptoms.push_back(std::move(view_.findings[i]));
    }
    view_.findings = std::move(kept);
  }

  std::size_t KernelOf(const ReportedCall& call) {
    const Report& report = call.report;
    const KernelView made{.kernel = Printable(report.kernel),
                          .target = Printable(report.target),
                          .verdict = VerdictOf(report),
                          .findings = {},
                          .calls = 0,
                          .least_schedules = report.schedules,
                          .most_schedules = report.schedules};
    std::size_t i = 0;
    for (; i < view_.kernels.size(); ++i) {
      const KernelView& known = view_.kernels[i];
      if (known.kernel == made.kernel && known.target == made.target && known.verdict == made.verdict) break;
    }
    if (i == view_.kernels.size()) view_.kernels.push_back(made);
    KernelView& kernel = view_.kernels[i];
    kernel.calls += call.count;
    kernel.least_schedules = std::min(kernel.least_schedules, report.schedules);
    kernel.most_schedules = std::max(kernel.most_schedules, report.schedules);
    return i;
  }

  FindingView One(const ReportedFinding& finding, std::size_t number) const {
    const ReportedCall& call = document_.calls[number];
    FindingView view;
    view.severity = finding.severity;
    view.code = finding.code;
    view.message = PrintableLines(finding.message);
    view.allowed = options_.allowed.count(finding.code) > 0;
    view.kernel = Cat("@", Printable(call.report.kernel), " on ", Printable(call.report.target));
    if (finding.first.has_value()) view.places.push_back(Access(1, *finding.first, nullptr));
    if (finding.second.has_value())
      view.places.push_back(Access(2, *finding.second, finding.first.has_value() ? &*finding.first : nullptr));
    if (view.places.empty()) {
      PlaceView place;
      Place(finding.frames, finding.text_line, &place);
      if (place.at.empty() && place.text_place.empty()) place.at = Printable(finding.source);
      view.places.push_back(std::move(place));
    }
    view.why = Printable(finding.why);
    view.fix = Printable(finding.fix);
    view.confidence = finding.confidence;
    if (!finding.replay.empty()) view.replay = Printable(Cat(call.replay_before, finding.replay, call.replay_after));
    view.suppressed = Printable(finding.suppressed);
    view.checked = call.report.checked;
    view.call = number;
    view.of = finding;
    return view;
  }

  PlaceView Access(int number, const ReportedAccess& access, const ReportedAccess* other) const {
    PlaceView place;
    place.number = number;
    place.what = Printable(TextOf(access));
    place.same_place = other != nullptr && SamePlace(*other, access);
    if (place.same_place) return place;
    Place(access.frames, access.text_line, &place);
    if (place.at.empty() && place.text_place.empty()) place.at = Printable(access.source);
    return place;
  }

  void Place(const std::vector<SourceFrame>& frames, int text_line, PlaceView* place) const {
    const std::size_t shown = UserFrame(frames);
    const bool any_user = !frames.empty() && !IsLibrary(frames[shown].file);
    if (!frames.empty()) place->at = FrameText(frames[shown]);
    if (shown > 0)
      place->folded = Cat("inside ", Plural(static_cast<std::int64_t>(shown), "frame"), " of libraries, the innermost ",
                          FrameText(frames[0]));
    if (frames.empty() || !PythonLine(frames[shown], place)) TextLine(text_line, frames.empty(), place);
    for (std::size_t i = shown + 1; i < frames.size(); ++i) {
      if (any_user && IsLibrary(frames[i].file)) {
        ++place->more_callers;
      } else if (place->callers.size() < kMaxCallers) {
        place->callers.push_back(FrameText(frames[i]));
      } else {
        ++place->more_callers;
      }
    }
  }

  bool PythonLine(const SourceFrame& frame, PlaceView* place) const {
    if (!options_.source_line) return false;
    const std::optional<std::string> line = options_.source_line(frame.file, frame.line);
    if (!line.has_value()) return false;
    Show(*line, frame.line, frame.column, place);
    return true;
  }

  // Who calls from Python has no kernel text before them, unless it is all there is.
  void TextLine(int text_line, bool all_there_is, PlaceView* place) const {
    if (text_line <= 0 || (options_.python && !all_there_is)) return;
    const std::optional<std::string> line = LineOfText(options_.kernel_text, text_line);
    place->text_place = line.has_value()  ? Cat(Printable(options_.kernel_path), ":", text_line)
                        : options_.python ? Cat("line ", text_line, " of what palladion.export writes")
                                          : Cat("line ", text_line, " of the kernel text");
    if (line.has_value()) Show(*line, text_line, 0, place);
  }

  static void Show(std::string_view line, int number, int column, PlaceView* place) {
    const Excerpt excerpt = MakeExcerpt(line, column, kExcerptWidth);
    place->line = LineView{number, excerpt.text, excerpt.caret};
  }

  static std::string Repeated(const FindingView& finding) {
    if (finding.times <= 1) return "";
    return Cat(finding.times, " times", finding.calls > 1 ? Cat(" in ", finding.calls, " calls") : "",
               ", the first is shown");
  }

  std::string Codes(std::size_t kernel) const {
    const auto found = codes_.find(kernel);
    if (found == codes_.end()) return "none";
    return absl::StrJoin(found->second, ", ", [](std::string* out, const auto& code) {
      Append(out, code.second.size(), " ", Printable(code.first));
    });
  }

  void Worst() {
    bool any = false;
    for (const ReportedCall& call : document_.calls) {
      const Verdict verdict = VerdictOf(call.report);
      if (!any || verdict > view_.verdict) view_.verdict = verdict;
      any = true;
    }
    if (!document_.difference.empty() && view_.verdict < Verdict::kDefect) view_.verdict = Verdict::kDefect;
  }

  std::string Tally() const {
    bool strict = false;
    for (const ReportedCall& call : document_.calls) strict |= call.report.strict;
    std::int64_t numbers[std::size(kSeverities) + 1] = {}, symptoms = 0;
    for (std::size_t i = 0; i < view_.findings.size(); ++i) {
      ++(IsSymptom(i) ? symptoms : numbers[std::min(Rank(view_.findings[i].of), std::size(kSeverities))]);
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::size(kSeverities); ++i) {
      if (numbers[i] == 0) continue;
      parts.push_back(Plural(numbers[i], Name(kSeverities[i])));
      if (symptoms > 0) parts.back() += Cat(" with ", Plural(std::exchange(symptoms, 0), "symptom"));
      if (i == 1 && strict) parts.back() += options_.python ? " (they count: strict)" : " (they count: --strict)";
    }
    if (numbers[std::size(kSeverities)] > 0) parts.push_back(Cat(numbers[std::size(kSeverities)], " suppressed"));
    return absl::StrJoin(parts, ", ");
  }

  const ReportDocument& document_;
  const RenderOptions& options_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::set<std::optional<std::size_t>>> causes_;  // of each finding, in each call that has it
  std::map<std::size_t, std::map<std::string, std::set<std::size_t>>> codes_;  // of each kernel: its findings
  ReportView view_;
};

}  // namespace

std::string_view WordOf(Severity severity) { return severity == Severity::kDefect ? "error" : Name(severity); }

std::string_view WordOf(Confidence confidence) { return confidence == Confidence::kProved ? "" : Name(confidence); }

std::string TextOf(const ReportedAccess& access) {
  return Cat(Name(access.kind), access.object.empty() ? "" : " of ", access.object, access.box,
             access.agent.empty() ? "" : " by ", access.agent);
}

std::string Plural(std::int64_t n, std::string_view word) { return Cat(n, " ", word, n == 1 ? "" : "s"); }

std::size_t UserFrame(const std::vector<SourceFrame>& frames) {
  const auto users =
      std::find_if(frames.begin(), frames.end(), [](const SourceFrame& frame) { return !IsLibrary(frame.file); });
  return users == frames.end() ? 0 : static_cast<std::size_t>(users - frames.begin());
}

ReportView ViewOf(const ReportDocument& document, const RenderOptions& options) {
  return ViewMaker(document, options).All();
}

std::string LineOf(const ReportedRemark& remark, const RenderOptions& options) {
  std::string line = Printable(remark.words);
  if (!remark.frames.empty()) {
    Append(&line, ", at ", FrameText(remark.frames[UserFrame(remark.frames)]));
  } else if (remark.text_line > 0 && !options.kernel_path.empty()) {
    Append(&line, ", at ", Printable(options.kernel_path), ":", remark.text_line);
  } else if (remark.text_line > 0) {
    Append(&line, ", at line ", remark.text_line,
           options.python ? " of what palladion.export writes" : " of the kernel text");
  }
  return line;
}

std::string PlaceOf(const FindingView& finding) {
  if (finding.places.empty()) return "";
  const PlaceView& last = finding.places.back().same_place ? finding.places.front() : finding.places.back();
  return last.at.empty() ? last.text_place : last.at;
}

}  // namespace palladion::reports
