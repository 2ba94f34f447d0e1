// Copy-on-write for engines: elements that an engine has read stay where they are in a buffer until a write is about to
// change them, and are copied only then. It does not know buffers or bounds; a reader says where the elements lie, and
// a writer asks for those that overlap. Limit: all bytes between the first and the last element of a loan count as
// read.
#ifndef PALLADION_MEMORY_MODEL_BYTES_LOANS_H_
#define PALLADION_MEMORY_MODEL_BYTES_LOANS_H_

#include <cstddef>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/base/units.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

struct Loan {
  BufferId buffer;
  ValueView view;
  ElementSize element_size{1};
  bool settled = false;
  std::vector<std::byte> bytes;  // of one that is settled: its elements, row-major
};

class Loans {
 public:
  LoanId Add(BufferId buffer, ValueView view, ElementSize element_size);
  Loan& operator[](LoanId loan) { return loans_[loan.index()]; }
  void Remove(LoanId loan);
  // Its elements are copied out where one may lie in first .. last - 1. Is it settled then?
  bool Settle(LoanId loan, const std::byte* first, const std::byte* last);

 private:
  std::vector<Loan> loans_;
  std::vector<LoanId> free_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_LOANS_H_
