#include "emu/bridge/timed_arrays.h"

#include <cstring>
#include <utility>
#include <vector>

#include "emu/agents/prepared_kernel.h"
#include "emu/launch/launch.h"
#include "emu/reports/source_lines.h"
#include "emu/time/time_kernel.h"
#include "emu/time/timing_told.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::bridge {

absl::StatusOr<TimeTold> TimeOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                      absl::Span<const std::string> changes, const RunOptions& run) {
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, time::MachineOf(kernel, changes));
  std::vector<Tensor> inputs;
  for (const ConstArray& one : arrays) {
    PALLADION_ASSIGN_OR_RETURN(Tensor value,
                               Tensor::CreateUninitialized(one.dtype, {one.shape.begin(), one.shape.end()}));
    if (value.num_bytes() != 0) std::memcpy(value.bytes(), one.data, value.num_bytes());
    inputs.push_back(std::move(value));
  }
  PALLADION_ASSIGN_OR_RETURN(const time::Timed timed,
                             time::TimeKernel({.kernel = kernel, .inputs = inputs, .machine = machine, .run = run}));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
  const Module& module = kernel.state().module();
  reports::SourceFiles sources;
  const time::TimingTextOptions options{.kernel_path = "<text>", .source_line = [&](const std::string& file, int line) {
                                          return sources.Line(file, line);
                                        }};
  return TimeTold{time::TimingJson(timed.timing, module),
                  Cat(kernel.name(), " ", time::TimingText(timed.timing, module, options))};
}

}  // namespace palladion::bridge
