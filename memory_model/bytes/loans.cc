#include "memory_model/bytes/loans.h"

#include <algorithm>
#include <utility>

namespace palladion::memory_model {

LoanId Loans::Add(BufferId buffer, ValueView view, ElementSize element_size) {
  if (free_.empty()) {
    free_.push_back(LoanId{static_cast<std::int32_t>(loans_.size())});
    loans_.emplace_back();
  }
  const LoanId id = free_.back();
  free_.pop_back();
  Loan& loan = loans_[id.index()];
  loan.buffer = buffer, loan.view = std::move(view), loan.element_size = element_size, loan.settled = false;
  return id;
}

void Loans::Remove(LoanId loan) { free_.push_back(loan); }

bool Loans::Settle(LoanId id, const std::byte* first, const std::byte* last) {
  Loan& loan = loans_[id.index()];
  if (last <= loan.view.data || loan.view.End(loan.element_size) <= first) return false;
  loan.bytes.resize((loan.view.elements() * loan.element_size).size());
  CopyOut(loan.view, loan.element_size, loan.bytes.data());
  return loan.settled = true;
}

}  // namespace palladion::memory_model
