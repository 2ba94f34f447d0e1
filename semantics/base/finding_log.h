// A log of findings without duplicates. Memory and the synchronisation model keep one within a run, a check keeps one
// over all of its schedules. Two findings are the same if they have the same code, the same places of both accesses in
// either order (at a barrier within a run: in the same order), and the same object, where objects are numbered. Numbers
// are valid within one run: over several runs the places in the text identify the objects.
#ifndef PALLADION_SEMANTICS_BASE_FINDING_LOG_H_
#define PALLADION_SEMANTICS_BASE_FINDING_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "semantics/base/finding.h"

namespace palladion {

class FindingLog {
 public:
  static constexpr std::int64_t kNoObject = -1;

  struct Where {
    LocId loc;
    int text_line = 0;
    friend bool operator==(const Where& a, const Where& b) { return a.loc == b.loc && a.text_line == b.text_line; }
    friend bool operator<(const Where& a, const Where& b) {
      return a.text_line != b.text_line ? a.text_line < b.text_line : a.loc < b.loc;
    }
  };

  // What makes two findings one; it can be had without the cost of their text.
  struct Key {
    // Of a finding that names two accesses, the later one last; of one that names one access and is at its place; of
    // any: its own place stands for an access that it does not name.
    Key(FindingCode of_code, Where one, Where other, std::int64_t of_object = kNoObject);
    static Key OfOne(FindingCode code, Where where, std::int64_t object = kNoObject);
    explicit Key(const Finding& finding, std::int64_t of_object = kNoObject);

    FindingCode code;
    Where low, high;      // the two places; of two accesses that are alike in ascending order
    bool turned = false;  // the first of them is `high`: not compared
    std::uint8_t sides;   // which accesses it names
    std::int64_t object;
    friend bool operator==(const Key& a, const Key& b);
    friend bool operator<(const Key& a, const Key& b);
  };

  // True: it is new, and Add is to follow. False: it has been counted.
  bool IsNew(const Key& key);
  void Add(Finding finding) { findings_.push_back(std::move(finding)); }

  // Of two that are the same in one run the worse one is kept, and they are counted. A race found in both orders of its
  // accesses is counted for each order, and the larger count is kept.
  void Take(Finding finding);

  // For callers that join the findings of several runs in another way.
  std::optional<std::size_t> Find(const Key& key) const;
  void Push(Finding finding);                     // one that Find does not find
  void Replace(std::size_t at, Finding finding);  // what is there becomes another finding

  const std::vector<Finding>& findings() const { return findings_; }
  Finding& operator[](std::size_t at) { return findings_[at]; }
  const Finding& operator[](std::size_t at) const { return findings_[at]; }
  std::size_t size() const { return findings_.size(); }

 private:
  struct Met {
    std::size_t at = 0;
    std::array<std::int64_t, 2> times = {0, 0};  // this way round, and the other
  };
  void Count(Met& met, const Key& key, std::int64_t times);

  std::map<Key, Met> met_;
  std::vector<Finding> findings_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_FINDING_LOG_H_
