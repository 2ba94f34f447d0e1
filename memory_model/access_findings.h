// What is said of two accesses that nothing orders, or that no fence lies between: which finding it is, who did what,
// why the order is missing and what would make it. And of an operation that nobody has waited for. A view of what a
// ConcurrencyModel knows; it decides no order. Based on docs/memory-model.md; the words are those of Pallas' users.
#ifndef PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_
#define PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_

#include <functional>
#include <optional>
#include <string>

#include "memory_model/engine/async_engine.h"
#include "memory_model/order/agents.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/order/tracked_memory.h"
#include "semantics/base/finding.h"

namespace palladion::memory_model {

// Names places of the code in messages; lines of the kernel text where nobody does.
using PlaceNamer = std::function<std::string(const CodeSite&)>;
std::string NameOfPlace(const PlaceNamer& namer, const CodeSite& site);

// Two accesses of a buffer: `event`, made from `vantage`, and an earlier one that conflicts with it.
struct UnorderedPair {
  const Tracked& buffer;
  const AccessEvent& event;
  const Vantage& vantage;
  const AccessConflict& conflict;
};

class AccessFindings {
 public:
  struct Sort {
    FindingCode code;
    Severity severity;
    Confidence confidence = Confidence::kProved;
  };

  // All outlive it.
  AccessFindings(const AgentTable& agents, const AsyncEngine& engine, const FenceRule& rule, const PlaceNamer& namer)
      : agents_(agents), engine_(engine), rule_(rule), namer_(namer) {}

  std::optional<Sort> SortOf(const UnorderedPair& pair) const;  // none: the policy asks for no fence there
  Finding Of(const UnorderedPair& pair, const Sort& sort) const;
  // An operation writes `overlap` of what it reads itself.
  Finding CopyOverItself(AgentId operation, const CodeSite& site, const std::string& object,
                         const std::string& overlap) const;
  Finding NotAwaited(const AsyncEngine::Record& operation) const;  // when the kernel ends

 private:
  Between BetweenReadAndWrite(const AccessEvent& read, AgentId operation) const;
  std::string Who(const Tracked& buffer, const AccessEvent& event) const;
  bool IsKeptByScope(const UnorderedPair& pair) const;
  bool BesideOwnPipeline(const UnorderedPair& pair) const;  // a core's own access, and a copy of its blocks
  bool IsSameBeforeAndAfter(const UnorderedPair& pair) const;
  std::string WhyUnordered(const UnorderedPair& pair) const;
  std::string FixFor(FindingCode code, const UnorderedPair& pair) const;
  std::string AwaitOf(AgentId operation) const;
  std::string OrderAfterOperation(const Tracked& buffer, AgentId operation, AgentId later,
                                  const std::string& here) const;
  std::string OrderAgents(const AccessEvent& first, const AccessEvent& later, const std::string& there,
                          const std::string& here) const;
  std::string At(std::string before, const CodeSite& site) const;

  const AgentTable& agents_;
  const AsyncEngine& engine_;
  const FenceRule& rule_;
  const PlaceNamer& namer_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_
