#include "emu/check/options.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

constexpr std::array<std::string_view, 2> kLinkOrders = {"unordered", "ordered"};

}  // namespace

std::string_view Name(ProxyRule rule) { return memory_model::Name(check::PolicyOf(rule)); }

std::optional<ProxyRule> ProxyRuleFromName(std::string_view name) {
  for (const ProxyRule rule : {ProxyRule::kPallas, ProxyRule::kStrict, ProxyRule::kLax}) {
    if (memory_model::FencePolicyFromName(name) == check::PolicyOf(rule)) return rule;
  }
  return std::nullopt;
}

std::string_view Name(LinkOrder order) { return kLinkOrders[static_cast<std::size_t>(order)]; }

std::optional<LinkOrder> LinkOrderFromName(std::string_view name) {
  const auto* const found = std::find(kLinkOrders.begin(), kLinkOrders.end(), name);
  if (found == kLinkOrders.end()) return std::nullopt;
  return static_cast<LinkOrder>(found - kLinkOrders.begin());
}

}  // namespace palladion

namespace palladion::check {

memory_model::FencePolicy PolicyOf(ProxyRule rule) {
  switch (rule) {
    case ProxyRule::kPallas:
      return memory_model::FencePolicy::kPallas;
    case ProxyRule::kStrict:
      return memory_model::FencePolicy::kStrict;
    case ProxyRule::kLax:
      return memory_model::FencePolicy::kLax;
  }
  return memory_model::FencePolicy::kPallas;
}

std::string NameOf(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::kPoison:
      return "nan";
    case Fill::Kind::kZero:
      return "zero";
    case Fill::Kind::kRandom:
      return Cat("random:", fill.seed);
    case Fill::Kind::kIntMax:
      return "intmax";
  }
  return "";
}

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
  return absl::OkStatus();
}

}  // namespace palladion::check
