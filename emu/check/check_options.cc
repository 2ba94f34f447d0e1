#include "emu/check/check_options.h"

#include "memory_model/order/fence_rule.h"
#include "semantics/base/cat.h"

namespace palladion::check {

absl::Status ExpectCheckOptions(const CheckOptions& options) {
  if (options.seeds < 1)
    return absl::InvalidArgumentError(
        Cat("seeds must be at least 1: a check that runs nothing is no pass; found ", options.seeds));
  if (options.exhaustive && !options.replay.empty())
    return absl::InvalidArgumentError("a replay is one schedule, and exhaustive is all of them: give one of the two");
  if (options.parts.has_value() && !options.replay.empty())
    return absl::InvalidArgumentError("a replay is one schedule and has no parts: give one of the two");
  if (options.step_budget < 1)
    return absl::InvalidArgumentError(Cat("the step budget must be at least 1; found ", options.step_budget));
  if (!memory_model::FencePolicyFromName(options.proxy).has_value())
    return absl::InvalidArgumentError(Cat("proxy must be pallas, strict or lax; found '", options.proxy, "'"));
  if (options.links != "unordered" && options.links != "ordered")
    return absl::InvalidArgumentError(Cat("links must be unordered or ordered; found '", options.links, "'"));
  return absl::OkStatus();
}

}  // namespace palladion::check
