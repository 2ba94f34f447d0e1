// What is said about undefined elements that matter. Rules: docs/spec/definedness.md#reported.
#ifndef PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_FINDINGS_H_
#define PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_FINDINGS_H_

#include <string_view>
#include <vector>

#include "memory_model/bytes/memory_buffer.h"
#include "memory_model/bytes/origin.h"
#include "memory_model/bytes/undefined_stores.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/finding.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

// Names for origins, stores and agents.
struct UndefinedContext {
  const Origins& origins;
  const UndefinedStores& stores;
  const AgentNaming& naming;
};

// Is what has the mark undefined, and no result that is only not the same on every machine (a division by zero)?
bool HoldsNothing(const Origins& origins, DefinedMark mark);
bool AnyHoldsNothing(const Origins& origins, const MemoryBuffer& buffer);

// An undefined value is used, as `use` says; the mark's origin has not been reported yet.
Finding UndefinedUse(const UndefinedContext& context, DefinedMark mark, std::string_view use, const Site& site);

// What of an output is undefined at the end, but for origins that have been reported. `device`: whose output it is, in
// words; "" where there is one device. `site` is where it is declared.
std::vector<Finding> UndefinedOutput(const UndefinedContext& context, const MemoryBuffer& buffer,
                                     std::string_view device, const Site& site);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_UNDEFINED_FINDINGS_H_
