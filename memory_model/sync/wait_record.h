// What a blocked agent waits for: a row of the deadlock report.
#ifndef PALLADION_MEMORY_MODEL_SYNC_WAIT_RECORD_H_
#define PALLADION_MEMORY_MODEL_SYNC_WAIT_RECORD_H_

#include <string>

#include "memory_model/order/agents.h"

namespace palladion::memory_model {

struct WaitRecord {
  AgentId agent;
  std::string object;  // "barrier full[1]"
  std::string needs;   // "completion 3"
  std::string has;     // "2 completions and 1 of 2 arrivals"
  CodeSite site;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_WAIT_RECORD_H_
