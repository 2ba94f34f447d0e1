#include "memory_model/bytes/loans.h"

#include <algorithm>
#include <utility>

#include "memory_model/bytes/memory.h"

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

// ---- Memory

namespace {

// Where the elements of a box that lies in its array are.
ValueView ViewOf(const MemoryBuffer& buffer, const BoxAccess& access) {
  ValueView view{.data = buffer.data, .dims = {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
    view.data += access.start[d] * buffer.stride[d];
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
    const std::size_t d = access.order[j];
    if (access.count[d] != 1) view.dims.push_back({access.count[d], access.step[d] * buffer.stride[d]});
  }
  return view;
}

}  // namespace

LoanId Memory::Lend(const BoxAccess& access) {
  Buffer& buffer = Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty || !reach.all_copied || access.mask.lanes != nullptr || !buffer.moves) return {};
  Announce(AccessKind::kRead, access, reach, nullptr);
  const LoanId loan = shared_->loans.Add(access.buffer, ViewOf(buffer, access), buffer.element_size);
  buffer.lent.push_back(loan);
  if (tracker_ != nullptr) tracker_->Load(buffer, access, reach, false);
  return loan;
}

ValueView Memory::Take(LoanId id, std::vector<std::byte>* bytes) {
  Loan& loan = shared_->loans[id];
  ValueView view;
  if (loan.settled) {
    bytes->swap(loan.bytes);
  } else {
    view = std::move(loan.view);
    auto& lent = Of(loan.buffer).lent;
    lent.erase(std::find(lent.begin(), lent.end(), id));
  }
  shared_->loans.Remove(id);
  return view;
}

void Memory::Settle(Buffer& buffer, const std::byte* first, const std::byte* last) {
  auto& lent = buffer.lent;
  lent.erase(
      std::remove_if(lent.begin(), lent.end(), [&](LoanId loan) { return shared_->loans.Settle(loan, first, last); }),
      lent.end());
}

ValueView Memory::Room(const BoxAccess& access) {
  Buffer& buffer = Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty || !reach.all_copied || access.mask.lanes != nullptr || !buffer.moves) return {};
  ValueView view = ViewOf(buffer, access);
  if (view.elements() <= ElementCount(most_values_)) return {};
  Announce(AccessKind::kWrite, access, reach, nullptr);
  if (!buffer.lent.empty()) Settle(buffer, view.data, view.End(buffer.element_size));
  return view;
}

void Memory::Wrote(const BoxAccess& access) {
  Buffer& buffer = Of(access.buffer);
  if (tracker_ != nullptr) tracker_->Store(buffer, access, ReachOf(buffer.shape, access));
}

}  // namespace palladion::memory_model
