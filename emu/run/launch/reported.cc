// A finding as a report has it: what the module's tables know is looked up here, so that a report needs none.
#include <utility>

#include "emu/run/launch/launch.h"
#include "emu/run/launch/mended.h"

namespace palladion::launch {
namespace {

constexpr std::size_t kMaxFrames = 20;  // of a deep user stack; a hand-made module may even link frames in a ring

std::string SourceOf(const Module& module, LocId loc) { return loc.valid() ? Describe(module, loc) : ""; }

std::optional<ReportedAccess> Reported(const std::optional<FindingAccess>& access, const Module& module) {
  if (!access.has_value()) return std::nullopt;
  return ReportedAccess{.kind = access->kind,
                        .agent = access->agent,
                        .object = access->object,
                        .box = access->box,
                        .source = SourceOf(module, access->loc),
                        .text_line = access->text_line,
                        .frames = FramesOf(module, access->loc)};
}

}  // namespace

std::vector<SourceFrame> FramesOf(const Module& module, LocId loc) {
  std::vector<SourceFrame> frames;
  while (loc.valid() && loc.index() < module.locs.size() && frames.size() < kMaxFrames) {
    const Loc& place = module.locs[loc.index()];
    frames.push_back({module.files[place.file.index()], place.line, place.column, place.function});
    loc = place.via;
  }
  return frames;
}

ReportedFinding Reported(const Finding& finding, const Module& module) {
  Mended mended = MendedIn(module, finding);
  return {.code = finding.code,
          .severity = finding.severity,
          .message = finding.message,
          .source = SourceOf(module, finding.loc),
          .text_line = finding.text_line,
          .count = finding.count,
          .first = Reported(finding.first, module),
          .second = Reported(finding.second, module),
          .why = finding.why,
          .fix = std::move(mended.fix),
          .confidence = finding.confidence,
          .frames = FramesOf(module, finding.loc),
          .edits = std::move(mended.edits)};
}

}  // namespace palladion::launch
