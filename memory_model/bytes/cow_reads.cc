#include "memory_model/bytes/cow_reads.h"

#include <algorithm>
#include <utility>

namespace palladion::memory_model {

CowReadId CowReads::Add(BufferId buffer, ValueView view, ElementSize element_size) {
  if (free_.empty()) {
    free_.push_back(CowReadId{static_cast<std::int32_t>(cow_reads_.size())});
    cow_reads_.emplace_back();
  }
  const CowReadId id = free_.back();
  free_.pop_back();
  CowRead& read = cow_reads_[id.index()];
  read.buffer = buffer, read.view = std::move(view), read.element_size = element_size, read.settled = false;
  return id;
}

void CowReads::Remove(CowReadId read) { free_.push_back(read); }

bool CowReads::Settle(CowReadId id, const std::byte* first, const std::byte* last) {
  CowRead& read = cow_reads_[id.index()];
  if (last <= read.view.data || read.view.End(read.element_size) <= first) return false;
  read.bytes.resize((read.view.elements() * read.element_size).size());
  CopyOut(read.view, read.element_size, read.bytes.data());
  return read.settled = true;
}

}  // namespace palladion::memory_model
