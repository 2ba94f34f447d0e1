// What `time` and `trace` share: which SM or core of a chip is drawn, and the picture as a file's text.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_TIMELINE_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_TIMELINE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "emu/chip/machines/description.h"
#include "emu/front/command/command_common.h"
#include "emu/timing/time_kernel.h"
#include "semantics/base/source_lines.h"

namespace palladion::command {

// "sm", or of a TPU "core".
std::string UnitFlag(const machines::Machine& machine);
// By that flag, the first where it is not given. InvalidArgument: the chip has no such one, or the other flag is given.
absl::StatusOr<timing::timeline::TimelineOptions> UnitDrawn(const CommandLine& line, const machines::Machine& machine);

enum class Picture { kPage, kTrace };
// The data of the page that --compare names; "" without it. InvalidArgument: it is no such page.
absl::StatusOr<std::string> ComparedPage(const CommandLine& line);

// All outlive the call.
struct TimedPicture {
  const timing::base::Timed& timed;  // has a timeline
  const Report& report;              // what is marked as wrong
  std::string_view compared = {};    // ComparedPage's
};
std::string TextOf(Picture picture, const KernelFile& file, const TimedPicture& of);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_TIMELINE_H_
