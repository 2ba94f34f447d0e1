#include "memory_model/order/fence_rule.h"

namespace palladion::memory_model {
namespace {

constexpr std::string_view kNames[] = {"pallas", "strict", "lax"};

}  // namespace

std::string_view Name(FencePolicy policy) { return kNames[static_cast<std::size_t>(policy)]; }

std::optional<FencePolicy> FencePolicyFromName(std::string_view name) {
  for (const FencePolicy policy : {FencePolicy::kPallas, FencePolicy::kStrict, FencePolicy::kLax}) {
    if (Name(policy) == name) return policy;
  }
  return std::nullopt;
}

std::optional<FenceRule::Verdict> FenceRule::Judge(const AccessEvent& first, AccessKind second, ProxySpace space,
                                                   Between between) const {
  if (!Conflict(first.kind, second)) return std::nullopt;
  if (space == ProxySpace::kTensor) {
    return Verdict{FindingCode::kBarrierTensorOrder, Severity::kDefect, Confidence::kProved};
  }
  if (first.writes()) return Verdict{FindingCode::kProxy, Severity::kDefect, Confidence::kProved};
  const bool unordered = between == Between::kNothing;
  switch (policy_) {
    case FencePolicy::kPallas:
      if (between == Between::kBarrier) return std::nullopt;
      if (unordered) return Verdict{FindingCode::kProxy, Severity::kDefect, Confidence::kProved};
      return Verdict{FindingCode::kProxyWar, Severity::kNote, Confidence::kPolicyDependent};
    case FencePolicy::kStrict:
      return Verdict{FindingCode::kProxy, Severity::kDefect,
                     unordered ? Confidence::kProved : Confidence::kPolicyDependent};
    case FencePolicy::kLax:
      break;
  }
  return std::nullopt;
}

}  // namespace palladion::memory_model
