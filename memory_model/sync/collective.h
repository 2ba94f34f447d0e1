// Operations that several members make together without waiting: a multicast copy, which every block of a
// cluster has to issue. The k-th one of each member must be the same, described in words. Based on what Pallas asks of
// collective copies; where members must meet, there is Rendezvous. What it does not see: whether the members'
// operations are at the same time.
#ifndef PALLADION_MEMORY_MODEL_SYNC_COLLECTIVE_H_
#define PALLADION_MEMORY_MODEL_SYNC_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "memory_model/order/agents.h"
#include "semantics/base/finding_log.h"

namespace palladion::memory_model {

using CollectiveId = Id<struct CollectiveTag>;

class CollectiveLog {
 public:
  // Names are for messages: of what the members make, "copies to blocks along x", and of each of them.
  CollectiveLog(CollectiveId id, std::string name, std::vector<std::string> members)
      : id_(id),
        name_(std::move(name)),
        members_(std::move(members)),
        made_(members_.size(), 0),
        ended_(members_.size()) {}

  void Enter(std::size_t member, std::string what, const CodeSite& site, FindingLog* log);
  // It makes no more: at `site` it comes to its end.
  void MemberEnds(std::size_t member, const CodeSite& site, FindingLog* log);

  std::size_t open() const { return open_.size(); }  // operations that some have made and some have not

 private:
  struct Operation {
    std::size_t first;  // the member that made it first
    std::string what;
    CodeSite site;
    std::size_t makers = 0;
  };
  struct Ended {
    bool ended = false;
    CodeSite site;
  };
  struct Side {
    std::size_t member;
    CodeSite site;
  };
  void CheckEnded(std::size_t member, FindingLog* log) const;
  void Report(const Side& first, const Side& second, std::string message, FindingLog* log) const;

  CollectiveId id_;
  std::string name_;
  std::vector<std::string> members_;
  std::vector<std::int64_t> made_;  // by member: how many
  std::vector<Ended> ended_;        // by member
  std::int64_t closed_ = 0;         // that all have made
  std::deque<Operation> open_;      // the ones after
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_COLLECTIVE_H_
