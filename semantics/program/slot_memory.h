// Where each slot lies in a frame's arena: first fit over freed ranges, 64-byte aligned.
#ifndef PALLADION_SEMANTICS_PROGRAM_SLOT_MEMORY_H_
#define PALLADION_SEMANTICS_PROGRAM_SLOT_MEMORY_H_

#include <cstddef>
#include <map>

namespace palladion {

class SlotMemory {
 public:
  std::size_t Allocate(std::size_t bytes);  // its offset
  void Free(std::size_t offset, std::size_t bytes);
  std::size_t size() const { return size_; }  // bytes the arena needs

 private:
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes, never adjacent to each other
  std::size_t size_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_SLOT_MEMORY_H_
