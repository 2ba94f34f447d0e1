// Predicted times as `palladion time` and Python report them: text for people, JSON for programs.
#ifndef PALLADION_EMU_TIMING_REPORT_FORMAT_H_
#define PALLADION_EMU_TIMING_REPORT_FORMAT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "emu/chip/machines/amount.h"
#include "emu/timing/report/timing.h"
#include "semantics/ir/module.h"

namespace palladion::timing::report {

struct TimingTextOptions {
  std::string kernel_path;  // where lines of the kernel's text are
  std::size_t lines = 12;   // at most so many of the source lines that took most
  // The user's line, if its file can be read.
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line;
};

// `module`: the kernel's, for the places of its instructions.
std::string TimingText(const Timing& timing, const Module& module, const TimingTextOptions& options);
std::string TimingJson(const Timing& timing, const Module& module);  // an object on one line

// Its words: "41.2 us", "7.31 %", "give or take 16 %".
std::string TimeText(machines::Nanoseconds time);
std::string PercentText(double share);
std::string HowFarOffText(std::optional<double> uncertainty);

}  // namespace palladion::timing::report

#endif  // PALLADION_EMU_TIMING_REPORT_FORMAT_H_
