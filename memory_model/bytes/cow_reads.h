// Copy-on-write for engines: elements that an engine has read stay where they are in a buffer until a write is about to
// change them, and are copied only then. It does not know buffers or bounds; a reader says where the elements lie, and
// a writer asks for those that overlap. Limit: all bytes between the first and the last element of a read count as
// read.
#ifndef PALLADION_MEMORY_MODEL_BYTES_COW_READS_H_
#define PALLADION_MEMORY_MODEL_BYTES_COW_READS_H_

#include <cstddef>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/base/units.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

struct CowRead {
  BufferId buffer;
  ValueView view;
  ElementSize element_size{1};
  bool settled = false;
  std::vector<std::byte> bytes;  // of one that is settled: its elements, row-major
};

class CowReads {
 public:
  CowReadId Add(BufferId buffer, ValueView view, ElementSize element_size);
  CowRead& operator[](CowReadId read) { return cow_reads_[read.index()]; }
  void Remove(CowReadId read);
  // Its elements are copied out where one may lie in first .. last - 1. Is it settled then?
  bool Settle(CowReadId read, const std::byte* first, const std::byte* last);

 private:
  std::vector<CowRead> cow_reads_;
  std::vector<CowReadId> free_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_COW_READS_H_
