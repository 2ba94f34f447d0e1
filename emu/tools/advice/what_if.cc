#include "emu/tools/advice/what_if.h"

#include <utility>

#include "emu/chip/machines/keys.h"
#include "emu/chip/machines/units.h"
#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::advice {
namespace {

std::optional<machines::Number> NumberOf(const machines::Machine& machine, std::string_view name) {
  for (std::size_t row = 0; row < machines::key_table::kCount; ++row) {
    if (machines::key_table::kRows[row].name == name) return machine.At(row);
  }
  return std::nullopt;
}

std::string Changed(std::string_view name, const machines::Number& number, bool halved) {
  return Cat(name, "=", machines::PrintValue((halved ? 0.5 : 2) * number.written), number.unit.empty() ? "" : " ",
             number.unit);
}

}  // namespace

absl::Span<const RateRow> AllRates() {
  static constexpr RateRow kRows[] = {
      {"dram.peak", ""},       {"l2.bandwidth", "l2.slice_rate"},
      {"smem.port", ""},       {"tma.row_rate", ""},
      {"issue.slots", ""},     {"tensor.bf16", ""},
      {"mxu.count", ""},       {"slot.valu", ""},
      {"grid.step", "", true},
  };
  return kRows;
}

absl::StatusOr<std::vector<WhatIf>> WhatIfs(const timing::base::TimedCall& call) {
  std::vector<WhatIf> found;
  for (const RateRow& row : AllRates()) {
    const std::optional<machines::Number> number = NumberOf(call.machine, row.rate);
    if (!number.has_value()) continue;
    std::vector<std::string> changes = {Changed(row.rate, *number, row.halved)};
    WhatIf one{.rate = std::string(row.rate), .with = "", .time = {}, .refused = "", .halved = row.halved};
    const std::optional<machines::Number> with = NumberOf(call.machine, row.with);
    if (with.has_value()) {
      changes.push_back(Changed(row.with, *with, row.halved));
      one.with = row.with;
    }
    machines::Machine machine = call.machine;
    if (const absl::Status set = machine.Set(changes); !set.ok()) {
      one.refused = std::string(ToStd(set.message()));
      found.push_back(std::move(one));
      continue;
    }
    PALLADION_ASSIGN_OR_RETURN(
        const timing::base::Timed timed,
        timing::TimeKernel(
            {.kernel = call.kernel, .inputs = call.inputs, .machine = machine, .run = call.run, .timeline = {}}));
    PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
    one.time = timed.timing.time;
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace palladion::advice
