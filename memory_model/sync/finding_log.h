// The findings of a run, each once: equal ones at one place are counted.
#ifndef PALLADION_MEMORY_MODEL_SYNC_FINDING_LOG_H_
#define PALLADION_MEMORY_MODEL_SYNC_FINDING_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "semantics/base/finding.h"

namespace palladion {

class FindingLog {
 public:
  // What makes two findings one, without the cost of their text.
  struct Key {
    FindingCode code;
    LocId first_loc, second_loc;
    int first_line = 0, second_line = 0;
    std::int64_t object = -1;
  };

  // True: it is new, and Add is to follow. False: it has been counted.
  bool IsNew(const Key& key) {
    const auto [at, added] = index_.try_emplace(Tuple(key), findings_.size());
    if (!added) ++findings_[at->second].count;
    return added;
  }
  void Add(Finding finding) { findings_.push_back(std::move(finding)); }

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  using Index = std::tuple<FindingCode, LocId, LocId, int, int, std::int64_t>;
  static Index Tuple(const Key& key) {
    return {key.code, key.first_loc, key.second_loc, key.first_line, key.second_line, key.object};
  }
  std::map<Index, std::size_t> index_;
  std::vector<Finding> findings_;
};

}  // namespace palladion

#endif  // PALLADION_MEMORY_MODEL_SYNC_FINDING_LOG_H_
