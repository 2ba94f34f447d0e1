// The part of a failing run that explains it: at most twelve lanes (the agents of the finding, and those that
// synchronise with them), what each of these did before the finding, and their synchronisation; the rest is only
// counted. Down the page the order is that of the schedule, not of time. One choice for all forms: SVG (picture_svg.h),
// page and JSON (picture_json.h). Based on: space-time diagrams of message passing, error traces of model checkers, and
// the two stacks of a data-race detector.
#ifndef PALLADION_EMU_TOOLS_SCHEDULE_PICTURE_H_
#define PALLADION_EMU_TOOLS_SCHEDULE_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/tools/schedule/failing_run.h"
#include "semantics/ir/module.h"

namespace palladion::schedule {

struct PictureOptions {
  std::size_t lanes = 12;         // at most
  std::size_t before = 6;         // operations of an agent before its side of the finding
  std::size_t synchronised = 12;  // of the latest synchronisations of two agents of the finding
  std::size_t rows = 3000;        // at most, with those that are collapsed
};

// A line of the user's source, or of the kernel text where that is not known.
struct ShownLine {
  std::string place;  // "kernel.py:12"
  std::string text;   // "" where it could not be read
};

struct PictureLane {
  std::string name;         // "thread 1", "operations of thread 1"
  std::string short_name;   // what fits beside a row
  bool operations = false;  // asynchronous ones, of an agent
  bool involved = false;    // the finding is about it
  std::int64_t all = 0;     // operations that it has in the run
};

enum class RowMark : std::uint8_t { kNone, kFirst, kSecond, kWaiting };
std::string_view Name(RowMark mark);  // "", "first", "second", "waiting"

struct PictureRow {
  std::int64_t number = 0;  // of the operation, in the run
  std::size_t lane = 0;
  OpKind kind = OpKind::kAccess;
  RowMark mark = RowMark::kNone;
  bool shown = false;  // else it is collapsed, until a reader asks for it
  bool blocked = false;
  std::string text;
  std::size_t line = 0;  // of SchedulePicture::lines
};

struct PictureEdge {
  std::size_t from = 0, to = 0;  // rows
  EdgeKind kind = EdgeKind::kSync;
};

struct SchedulePicture {
  std::string title, message;  // "RACE_ASYNC: ...", of the finding
  std::string why, fix, replay, kernel, target;
  std::string severity;
  std::string missing;  // what the red edge says
  std::vector<PictureLane> lanes;
  std::vector<PictureRow> rows;
  std::vector<PictureEdge> edges;
  std::vector<PictureEdge> red;  // the edge that is missing, or the circle of waits
  std::vector<ShownLine> lines;
  std::vector<std::size_t> sides;  // rows of the two sides, or of the waits
  std::int64_t operations = 0;     // of the run
  std::int64_t lanes_left_out = 0, not_kept = 0;
};

// What a picture is made with besides the run.
struct PictureSources {
  const Module& module;
  std::string_view kernel_text, kernel_path;
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line = {};
};

SchedulePicture DrawSchedule(const FailingRun& run, const PictureSources& sources, const PictureOptions& options = {});

// A few lines for a terminal.
std::string TextOf(const SchedulePicture& picture);
// One SVG, without scripts and fonts of its own, in the colours that a reader prefers.
std::string SvgOf(const SchedulePicture& picture);
std::string JsonOf(const SchedulePicture& picture);
// One HTML file, without anything from elsewhere.
std::string PageOf(const SchedulePicture& picture);

}  // namespace palladion::schedule

#endif  // PALLADION_EMU_TOOLS_SCHEDULE_PICTURE_H_
