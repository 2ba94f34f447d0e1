#include "scheduler/candidates.h"

#include <algorithm>
#include <utility>

namespace palladion::scheduler {
namespace {

bool IsBefore(const Candidate& candidate, AgentOrdinal id) { return candidate.id < id; }

}  // namespace

std::size_t CandidateList::RowOf(AgentOrdinal id) const {
  const auto after = std::partition_point(rows_.begin(), rows_.end(),
                                          [&](const Row& row) { return !(id < row.candidates.front().id); });
  return static_cast<std::size_t>(after - rows_.begin()) - (after == rows_.begin() ? 0 : 1);
}

void CandidateList::Insert(const Candidate& candidate) {
  const bool engine = candidate.role == AgentRole::kOperation;
  ++size_;
  engines_ += engine ? 1 : 0;
  // Most come to be in order, so the last row is filled before there is another one.
  if (rows_.empty() ||
      (rows_.back().candidates.size() >= kLongestRow && rows_.back().candidates.back().id < candidate.id))
    rows_.emplace_back();
  Row& row = rows_.back().candidates.empty() ? rows_.back() : rows_[RowOf(candidate.id)];
  row.engines += engine ? 1 : 0;
  row.candidates.insert(std::lower_bound(row.candidates.begin(), row.candidates.end(), candidate.id, IsBefore),
                        candidate);
  if (row.candidates.size() > kLongestRow) Split(static_cast<std::size_t>(&row - rows_.data()));
}

void CandidateList::Split(std::size_t row) {
  std::vector<Candidate>& all = rows_[row].candidates;
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  Row second{.candidates = {half, all.end()}};
  all.erase(half, all.end());
  second.engines = static_cast<std::size_t>(
      std::count_if(second.candidates.begin(), second.candidates.end(),
                    [](const Candidate& candidate) { return candidate.role == AgentRole::kOperation; }));
  rows_[row].engines -= second.engines;
  rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(row) + 1, std::move(second));
}

void CandidateList::Erase(AgentOrdinal id) {
  const std::size_t at = RowOf(id);
  Row& row = rows_[at];
  const auto candidate = std::lower_bound(row.candidates.begin(), row.candidates.end(), id, IsBefore);
  const std::size_t engine = candidate->role == AgentRole::kOperation ? 1 : 0;
  --size_;
  engines_ -= engine;
  row.engines -= engine;
  row.candidates.erase(candidate);
  if (row.candidates.empty()) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (at + 1 < rows_.size() && row.candidates.size() + rows_[at + 1].candidates.size() <= kLongestRow / 2) {
    // Rows that have become short are one, or there would be as many rows as there once were candidates.
    const Row& next = rows_[at + 1];
    row.engines += next.engines;
    row.candidates.insert(row.candidates.end(), next.candidates.begin(), next.candidates.end());
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

const Candidate* CandidateList::Find(AgentOrdinal id) const {
  if (rows_.empty()) return nullptr;
  const std::vector<Candidate>& row = rows_[RowOf(id)].candidates;
  const auto at = std::lower_bound(row.begin(), row.end(), id, IsBefore);
  return at == row.end() || at->id != id ? nullptr : &*at;
}

Candidates Candidates::Only(Who who) const {
  Candidates some = *this;
  some.who_ = who;
  return some;
}

Candidates Candidates::Without(const Candidate& left) const {
  Candidates some = *this;
  some.left_out_ = &left;
  return some;
}

std::size_t Candidates::size() const {
  const std::size_t all = Counted(list_->size_, list_->engines_);
  return left_out_ == nullptr ? all : all - CountOfLeftOut();
}

std::size_t Candidates::Shown(const CandidateList::Row& row) const {
  const std::size_t all = Counted(row.candidates.size(), row.engines);
  const bool has_left_out = left_out_ != nullptr && !(left_out_->id < row.candidates.front().id) &&
                            !(row.candidates.back().id < left_out_->id);
  return has_left_out ? all - CountOfLeftOut() : all;
}

const Candidate& Candidates::operator[](std::size_t position) const {
  auto row = list_->rows_.begin();
  for (std::size_t shown = Shown(*row); position >= shown; shown = Shown(*row)) {
    position -= shown;
    ++row;
  }
  if (Shown(*row) == row->candidates.size()) return row->candidates[position];
  auto at = row->candidates.begin();
  for (;; ++at) {
    if (Shows(*at) && position-- == 0) return *at;
  }
}

const Candidate* Candidates::Find(AgentOrdinal id) const {
  const Candidate* const found = list_->Find(id);
  return found != nullptr && Shows(*found) ? found : nullptr;
}

const Candidate* Candidates::After(AgentOrdinal id) const {
  if (list_->rows_.empty()) return nullptr;
  for (Iterator at(*this, list_->RowOf(id)); at != end(); ++at) {
    if (id < at->id) return &*at;
  }
  return nullptr;
}

const Candidate* Candidates::Before(AgentOrdinal id) const {
  if (list_->rows_.empty()) return nullptr;
  for (std::size_t row = list_->RowOf(id) + 1; row-- > 0;) {
    const std::vector<Candidate>& all = list_->rows_[row].candidates;
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (at->id < id && Shows(*at)) return &*at;
    }
  }
  return nullptr;
}

Candidates::Iterator::Iterator(const Candidates& of, std::size_t row) : of_(&of), row_(row) { ToRow(); }

void Candidates::Iterator::ToRow() {
  const std::vector<CandidateList::Row>& rows = of_->list_->rows_;
  while (row_ < rows.size() && of_->Shown(rows[row_]) == 0) ++row_;
  if (row_ == rows.size()) {
    at_ = end_ = nullptr;
    return;
  }
  at_ = rows[row_].candidates.data();
  end_ = at_ + rows[row_].candidates.size();
  while (!of_->Shows(*at_)) ++at_;
}

void Candidates::Iterator::ToNext() {
  while (at_ != end_ && !of_->Shows(*at_)) ++at_;
  if (at_ != end_) return;
  ++row_;
  ToRow();
}

}  // namespace palladion::scheduler
