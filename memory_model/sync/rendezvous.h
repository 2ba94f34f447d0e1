// Where several agents must meet and do the same: a collective allocation, a collective copy. An agent that enters says
// in words what it does; all go on, ordered after each other, once the last has entered. A difference is a finding, and
// so is an agent that ends without having entered.
#ifndef PALLADION_MEMORY_MODEL_SYNC_RENDEZVOUS_H_
#define PALLADION_MEMORY_MODEL_SYNC_RENDEZVOUS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "memory_model/order/agents.h"
#include "memory_model/sync/wait_record.h"
#include "semantics/base/finding_log.h"

namespace palladion::memory_model {

using RendezvousId = Id<struct RendezvousTag>;

// What members do together, in words. Two places of the kernel are two, though they may have one line of Python.
struct JointWork {
  JointWork(std::string words, int where = 0) : what(std::move(words)), place(where) {}
  std::string what;
  int place = 0;
};

class Rendezvous {
 public:
  Rendezvous(RendezvousId id, std::string name, std::vector<AgentId> members)
      : id_(id),
        name_(std::move(name)),
        members_(std::move(members)),
        entered_(members_.size(), 0),
        ended_(members_.size(), false) {}

  // `agent` is a member that is not waiting here. It may go on once CanLeave; then Leave.
  void Enter(AgentId agent, JointWork work, const CodeSite& site, AgentTable* agents, FindingLog* log);
  bool CanLeave(AgentId agent) const { return entered_[IndexOf(agent)] <= met_; }
  void Leave(AgentId agent, AgentTable* agents);
  WaitRecord Waiting(AgentId agent, const CodeSite& site, const AgentTable& agents) const;

  // The agent ends: it enters no more.
  void MemberEnds(AgentId agent, const AgentTable& agents, FindingLog* log);

  // f(agent) for all agents that a finding may name.
  template <class F>
  void ForEachAgent(const F& f) const {
    for (const AgentId member : members_) f(member);
  }

  std::int64_t met() const { return met_; }  // how often all have

 private:
  struct Entry {
    AgentId who;
    std::string what;
    int place = 0;
    CodeSite site;
  };
  std::size_t IndexOf(AgentId agent) const;
  void CheckEnded(const AgentTable& agents, FindingLog* log) const;
  void Report(const Entry& first, const Entry& second, std::string message, const AgentTable& agents,
              FindingLog* log) const;

  RendezvousId id_;
  std::string name_;
  std::vector<AgentId> members_;
  std::vector<std::int64_t> entered_;  // by member: how often
  std::vector<bool> ended_;            // by member
  std::vector<Entry> waiting_;         // of the current meeting
  std::int64_t met_ = 0;
  ClockBundle gathering_, last_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_RENDEZVOUS_H_
