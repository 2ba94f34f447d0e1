// Findings about two unordered accesses, or two accesses without a fence between them: the code, both accesses, why the
// order is missing and what would establish it. Also findings about operations without a wait. A read-only view of a
// ConcurrencyModel; it decides no order. Based on docs/explanation/memory-model.md, in the terms of Pallas' users.
#ifndef PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_
#define PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "memory_model/engine/async_engine.h"
#include "memory_model/order/agents.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/order/promises.h"
#include "memory_model/order/tracked_memory.h"
#include "memory_model/sync/barrier.h"
#include "memory_model/sync/semaphore.h"
#include "semantics/base/finding.h"
#include "semantics/base/live_table.h"

namespace palladion::memory_model {

// Names places of the code in messages; lines of the kernel text by default.
using PlaceNamer = std::function<std::string(const CodeSite&)>;
std::string NameOfPlace(const PlaceNamer& namer, const CodeSite& site);

// Two accesses of a buffer: `event`, made from `vantage`, and an earlier one that conflicts with it.
struct UnorderedPair {
  const Tracked& buffer;
  const AccessEvent& event;
  const Vantage& vantage;
  const AccessConflict& conflict;
};

// A race of agents of two blocks, of which neither is an operation.
bool IsRaceOfBlocks(const UnorderedPair& pair, const AgentTable& agents);

// What of a model the findings look at.
struct ModelParts {
  const AgentTable& agents;
  const AsyncEngine& engine;
  const LiveTable<BarrierId, Barrier>& barriers;
  const LiveTable<SemaphoreId, Semaphore>& semaphores;
  const Promises& promises;
};

class AccessFindings {
 public:
  struct Sort {
    FindingCode code;
    Severity severity;
    Confidence confidence = Confidence::kProved;
  };

  // All outlive it.
  AccessFindings(const ModelParts& parts, const FenceRule& rule, const PlaceNamer& namer)
      : agents_(parts.agents), engine_(parts.engine), parts_(parts), rule_(rule), namer_(namer) {}

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
  // Of one core, with copies of blocks that its pipeline makes: one such, and another access; or a fetch and a flush.
  bool BesideOwnPipeline(const UnorderedPair& pair) const;
  bool IsOfFlushAndFetch(const UnorderedPair& pair) const;
  bool IsPipelines(AgentId who, AgentId other) const;
  Finding AliasOf(const UnorderedPair& pair, const Sort& sort) const;  // alias_findings.cc
  bool IsSameBeforeAndAfter(const UnorderedPair& pair) const;
  std::string WhyUnordered(const UnorderedPair& pair) const;
  static bool Inside(const Place& place, const Place& memory);  // is the place in the one that the memory belongs to?

  // access_fixes.cc: the change that would order a pair.
  std::string FixFor(FindingCode code, const UnorderedPair& pair) const;
  // Two accesses in the order that the kernel means.
  struct Wanted {
    const Tracked& buffer;
    const AccessEvent &first, &later;
    std::string there, here;  // " after the access at kernel.py:7", " before the access at kernel.py:9"
  };
  Wanted WantedOf(const UnorderedPair& pair) const;
  std::string Order(const Wanted& wanted) const;
  bool IsRemote(AgentId operation) const { return agents_.SemaphoreOf(operation, Half::kRead).valid(); }
  std::string AwaitOf(AgentId operation, std::uint32_t halves) const;
  std::string InReceiver(AgentId operation, std::uint32_t halves) const;
  std::string OrderAfterOperation(const Wanted& wanted) const;
  std::string OrderAfterRemoteWrite(const Wanted& wanted) const;
  std::optional<std::string> WhereAnotherWasTaken(const Wanted& wanted) const;
  std::string OrderBlocks(const Wanted& wanted, const std::string& await) const;
  std::string OrderAgents(const Wanted& wanted) const;
  std::string BarrierBetween(const Wanted& wanted) const;  // that orders all but the tensor core; "" where none does
  std::string OrderTensorCore(const Wanted& wanted) const;
  std::string OrderBeforeEnd(const Wanted& wanted) const;
  bool IsAwaitedAtOnce(const Wanted& wanted) const;
  std::string Issue(const AccessEvent& operation) const;
  Mend MendFor(FindingCode code, const UnorderedPair& pair) const;
  Mend MendOfWait(const Wanted& wanted) const;
  Mend MendOfEnd(const Wanted& wanted) const;
  Mend MendOfIssue(AgentId operation, int line) const;
  std::string At(std::string before, const CodeSite& site) const;

  const AgentTable& agents_;
  const AsyncEngine& engine_;
  const ModelParts parts_;
  const FenceRule& rule_;
  const PlaceNamer& namer_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ACCESS_FINDINGS_H_
