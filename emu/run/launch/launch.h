// After a launch (run.h): what it leaves to the session, and its findings in the words of a report. Not here: which of
// them follow from others (emu/check/causes.h).
#ifndef PALLADION_EMU_RUN_LAUNCH_LAUNCH_H_
#define PALLADION_EMU_RUN_LAUNCH_LAUNCH_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/launch_options.h"

namespace palladion::launch {

// What the launch leaves goes to the session, and its outputs get what a session writes there. No session: nothing.
absl::Status LeaveTo(Session* session, const agents::SessionState::Launched& launch);

// How the run of a report ended: its error, Cancelled where it was interrupted, else OK.
absl::Status EndOf(const Report& report);

// A finding in the words of a report: places as the user's source lines (reported.cc).
ReportedFinding Reported(const Finding& finding, const Module& module);

// The user's frames of a place, innermost first; none for an invalid id.
std::vector<SourceFrame> FramesOf(const Module& module, LocId loc);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_LAUNCH_H_
