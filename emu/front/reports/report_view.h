// The layout of a report, before rendering: the one structure from which text (report_text.cc) and the pages of
// notebooks (report_view_json.cc, python/palladion/report/report_html.py) are made. It decides the order, what is
// counted instead of repeated, which frames are folded and which line is shown. All its texts are printable.
//
//   ReportView view = ViewOf(document, options);      // of a command: one report; of a session: its calls
#ifndef PALLADION_EMU_FRONT_REPORTS_REPORT_VIEW_H_
#define PALLADION_EMU_FRONT_REPORTS_REPORT_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emu/report.h"

namespace palladion::reports {

// A kernel call and those equal to it.
struct ReportedCall {
  Report report;
  std::int64_t count = 1;
  std::vector<std::int64_t> grid = {};
  std::string replay_before = {},
              replay_after = {};  // what a schedule is put between to see it again; empty: the bare schedule
};

struct ReportDocument {
  std::vector<ReportedCall> calls;
  std::int64_t dropped = 0;     // calls without a report
  std::string difference = {};  // of the results from a reference
};

struct RenderOptions {
  bool python = false;  // the reader calls us from Python: no words about lines of kernel text or options
  std::set<FindingCode> allowed = {};  // that this reader lets pass
  std::string_view kernel_text = {};
  std::string kernel_path = {};
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line = {};
};

struct LineView {
  int number = 0;
  std::string text;
  std::size_t caret = 0;
};

// A place, with its line and its callers. Frames of libraries are folded: the user's line is the one that is shown.
struct PlaceView {
  int number = 0;           // 1 or 2: an access; 0: the finding's own place
  std::string what;         // "write of o_ref[0:8] by program (0)"
  bool same_place = false;  // as (1)
  std::string at;           // "kernels.py:41:9 in body"
  std::string text_place;   // "k.pkir:3"; where there is no line of Python
  std::optional<LineView> line;
  std::string folded;  // "inside 2 frames of libraries, the innermost jax/…/pipeline.py:12:3 in loop"
  std::vector<std::string> callers;
  std::int64_t more_callers = 0;
};

struct FindingView {
  Severity severity = Severity::kDefect;
  FindingCode code = FindingCode::kOutOfBounds;
  std::string message;
  std::string repeated;  // "12 times in 3 calls, the first is shown"; "" for once
  std::int64_t times = 1, calls = 1;
  bool allowed = false;
  std::string kernel;  // "@k on triton/h100"
  std::vector<PlaceView> places;
  std::string why, fix, replay, suppressed;
  Confidence confidence = Confidence::kProved;
  bool checked = true;
  std::size_t call = 0;               // which one has the first of them
  ReportedFinding of;                 // as it came
  std::vector<FindingView> symptoms;  // what follows from it (causes.h)
};

// A kernel on a target with one verdict.
struct KernelView {
  std::string kernel, target;
  Verdict verdict = Verdict::kRan;
  std::string findings;  // "1 RACE_WW, 2 OOB"
  std::int64_t calls = 0, least_schedules = 0, most_schedules = 0;
};

struct ReportView {
  std::vector<FindingView> findings;   // worst first, the suppressed ones last; symptoms are under their causes
  std::vector<KernelView> kernels;     // worst first
  std::vector<std::string> remarks;    // each once, with its kernel where there are several
  std::vector<std::string> fidelity;   // likewise, of kernels of which not all is exact
  std::vector<ReportedError> errors;   // with their kernels where there are several calls
  Verdict verdict = Verdict::kProved;  // the worst of all calls; without a call it says nothing
  std::string tally;                   // "2 defects (with 3 symptoms), 1 note"; "" for none
  std::int64_t calls = 0;
};

ReportView ViewOf(const ReportDocument& document, const RenderOptions& options);

// The first frame that is the user's own, else the innermost: what came with Python, with a package that is installed,
// or with us is folded.
std::size_t UserFrame(const std::vector<SourceFrame>& frames);

// "error", "warning", "note": what a reader sees.
std::string_view WordOf(Severity severity);

// "" for what is proved, which is not worth a line.
std::string_view WordOf(Confidence confidence);

// "write of o_ref[0:8] by program (0)".
std::string TextOf(const ReportedAccess& access);

// The finding's line of a summary: where it is.
std::string PlaceOf(const FindingView& finding);

// The remark with its place: the user's frame, else the line of the kernel text.
std::string LineOf(const ReportedRemark& remark, const RenderOptions& options);

std::string Plural(std::int64_t n, std::string_view word);

struct TextLayout {
  bool color = false;
  std::size_t width = 110;
  bool findings = true, end = true;  // what is found; the verdict and what it is worth
  bool details = false;              // how often each check looked, and bounds on what seeds would have hit
};
std::string ToText(const ReportDocument& document, const RenderOptions& options, const TextLayout& layout);

// The same as JSON, for callers with a layout of their own.
std::string ReportViewJson(const ReportDocument& document, const RenderOptions& options);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_REPORT_VIEW_H_
