// A timeline with the data shown beside it: for a page (page.h), and for Perfetto's events (trace.h).
#ifndef PALLADION_EMU_TIMING_TIMELINE_SHOWN_H_
#define PALLADION_EMU_TIMING_TIMELINE_SHOWN_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "emu/report.h"
#include "emu/timing/report/timing.h"
#include "emu/timing/timeline/timeline.h"
#include "semantics/ir/module.h"

namespace palladion::timing::timeline {

// All outlive the call.
struct TimelineShown {
  const Timeline& timeline;
  const report::Timing& timing;
  const Report& report;  // of the timed run
  const Module& module;  // the kernel's
  std::string_view kernel_text;
  std::string kernel_path;
  // The user's line, if its file can be read.
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line;
  std::string_view compared = {};  // the data of another run's page (DataOfPage), shown beside; "": none
};

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_SHOWN_H_
