#include "emu/front/command/command_timeline.h"

#include <charconv>
#include <cstdint>

#include "emu/chip/machines/keys.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/timeline/page.h"
#include "emu/timing/timeline/trace.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {

std::string UnitFlag(const machines::Machine& machine) {
  return machine.family() == machines::Family::kTpu ? "core" : "sm";
}

absl::StatusOr<timing::timeline::TimelineOptions> UnitDrawn(const CommandLine& line, const machines::Machine& machine) {
  const std::string flag = UnitFlag(machine), other = flag == "core" ? "sm" : "core";
  if (line.Has(other))
    return absl::InvalidArgumentError(Cat("--", other, ": ", machine.name(), " has ",
                                          flag == "core" ? "cores, no SMs" : "SMs, and no cores that run programs",
                                          "; which of them is drawn says --", flag, " N"));
  timing::timeline::TimelineOptions options;
  if (line.Has("device")) {
    const std::string device = line.Flag("device");
    const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), options.device);
    if (error != std::errc() || end != device.data() + device.size() || options.device < 0)
      return absl::InvalidArgumentError(
          Cat("--device must be a device of the kernel's mesh, from 0; found '", device, "'"));
  }
  if (!line.Has(flag)) return options;
  const std::string text = line.Flag(flag);
  PALLADION_ASSIGN_OR_RETURN(const machines::Count cores, machine.Get(machines::Key<machines::Count>("chip.cores")));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.unit);
  if (error == std::errc() && end == text.data() + text.size() && options.unit >= 0 &&
      static_cast<double>(options.unit) < cores.value())
    return options;
  const auto count = static_cast<std::int64_t>(cores.value());
  const std::string most = count == 1 ? "0, the only core" : Cat("0 to ", count - 1, ", one of the ", count);
  return absl::InvalidArgumentError(
      Cat("--", flag, " must be ", most, " that ", machine.name(), " has; found '", text, "'"));
}

absl::StatusOr<std::string> ComparedPage(const CommandLine& line) {
  if (!line.Has("compare")) return std::string();
  if (!line.Has("page")) return absl::InvalidArgumentError("--compare is part of the page; give --page PAGE.html");
  const std::string path = line.Flag("compare");
  PALLADION_ASSIGN_OR_RETURN(const std::string page, ReadFile(path));
  absl::StatusOr<std::string> data = timing::timeline::DataOfPage(page);
  if (data.ok()) return data;
  return absl::InvalidArgumentError(Cat("--compare ", path, ": ", data.status().message()));
}

std::string TextOf(Picture picture, const KernelFile& file, const TimedPicture& of) {
  SourceFiles sources;
  const timing::timeline::TimelineShown shown{
      .timeline = *of.timed.timeline,
      .timing = of.timed.timing,
      .report = of.report,
      .module = file.kernel.state().module(),
      .kernel_text = file.text,
      .kernel_path = file.path,
      .source_line = [&](const std::string& path, int number) { return sources.Line(path, number); },
      .compared = of.compared};
  return picture == Picture::kPage ? timing::timeline::TimelinePage(shown) : timing::timeline::TimelineTrace(shown);
}

}  // namespace palladion::command
