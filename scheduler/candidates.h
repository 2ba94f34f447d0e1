// The runnable agents, by ascending number, and the view of them that a policy gets. A run of many blocks has tens of
// thousands of runnable agents, and at every operation some begin or end a wait: so they are kept in short rows, and no
// policy copies them. Finding one by number is a binary search, finding one by position visits each row once.
#ifndef PALLADION_SCHEDULER_CANDIDATES_H_
#define PALLADION_SCHEDULER_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "scheduler/operation.h"

namespace palladion::scheduler {

struct Candidate {
  AgentOrdinal id;
  std::uint32_t slot = 0;  // small, used again after the agent is done
  AgentRole role = AgentRole::kProgram;
  const Operation* operation = nullptr;  // what it would do
};

class Candidates;

// All agents that can go. References to its candidates are valid until it changes.
class CandidateList {
 public:
  void Insert(const Candidate& candidate);  // its number is not there
  void Erase(AgentOrdinal id);              // is there
  const Candidate* Find(AgentOrdinal id) const;
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  friend class Candidates;

  static constexpr std::size_t kLongestRow = 128;
  struct Row {
    std::vector<Candidate> candidates;  // at least one
    std::size_t engines = 0;            // of these are operations of engines
  };
  std::size_t RowOf(AgentOrdinal id) const;  // where it is or would be; there is one at least
  void Split(std::size_t row);

  std::vector<Row> rows_;
  std::size_t size_ = 0, engines_ = 0;
};

// Some of a list, in its order: all, only engines' operations or all but these; and one may be left out of them.
class Candidates {
 public:
  enum class Who : std::uint8_t { kAll, kEngines, kOthers };

  Candidates(const CandidateList& list) : list_(&list) {}  // NOLINT(google-explicit-constructor): a view

  Candidates Only(Who who) const;                   // of all
  Candidates Without(const Candidate& left) const;  // which is one of the list's, by its number

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const Candidate& operator[](std::size_t position) const;  // below size()
  const Candidate& front() const { return *begin(); }
  const Candidate& back() const { return *Before(AgentOrdinal{std::numeric_limits<std::int32_t>::max()}); }
  const Candidate* Find(AgentOrdinal id) const;
  const Candidate* After(AgentOrdinal id) const;   // the first with a higher number; nullptr: none has
  const Candidate* Before(AgentOrdinal id) const;  // the last with a lower one

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Candidate;
    using difference_type = std::ptrdiff_t;
    using pointer = const Candidate*;
    using reference = const Candidate&;

    Iterator(const Candidates& of, std::size_t row);  // at the first that is shown, of that row or a later one
    reference operator*() const { return *at_; }
    pointer operator->() const { return at_; }
    Iterator& operator++() {
      if (++at_ == end_ || !of_->Shows(*at_)) ToNext();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void ToRow();   // the first in it or in a later one
    void ToNext();  // from at_ on

    const Candidates* of_;
    std::size_t row_;
    const Candidate *at_ = nullptr, *end_ = nullptr;  // in its row; nullptr after the last row
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, list_->rows_.size()}; }

 private:
  bool Shows(const Candidate& candidate) const {
    if (left_out_ != nullptr && candidate.id == left_out_->id) return false;
    return who_ == Who::kAll || (candidate.role == AgentRole::kOperation) == (who_ == Who::kEngines);
  }
  std::size_t Counted(std::size_t all, std::size_t engines) const {
    return who_ == Who::kAll ? all : who_ == Who::kEngines ? engines : all - engines;
  }
  std::size_t CountOfLeftOut() const { return Counted(1, left_out_->role == AgentRole::kOperation ? 1 : 0); }
  std::size_t Shown(const CandidateList::Row& row) const;

  const CandidateList* list_;
  Who who_ = Who::kAll;
  const Candidate* left_out_ = nullptr;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_CANDIDATES_H_
