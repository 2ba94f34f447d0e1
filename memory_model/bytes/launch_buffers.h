// The buffers of one launch: where their bytes are, their initial contents, and which elements engines have read
// copy-on-write. It knows no bounds and no findings: Memory has checked them.
#ifndef PALLADION_MEMORY_MODEL_BYTES_LAUNCH_BUFFERS_H_
#define PALLADION_MEMORY_MODEL_BYTES_LAUNCH_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "memory_model/bytes/block_pool.h"
#include "memory_model/bytes/cow_reads.h"
#include "memory_model/bytes/memory_buffer.h"
#include "semantics/port/machine.h"
#include "semantics/tensor/fill.h"

namespace palladion::memory_model {

class LaunchBuffers {
 public:
  // Alloc fails once the allocations that live together would hold more bytes than the limit.
  explicit LaunchBuffers(std::size_t limit_bytes) : pool_(limit_bytes) { all_.reserve(8); }
  LaunchBuffers(const LaunchBuffers&) = delete;
  LaunchBuffers& operator=(const LaunchBuffers&) = delete;
  ~LaunchBuffers();

  BufferId Adopt(const AllocRequest& request, std::byte* data);  // the caller's array, which it keeps alive
  absl::StatusOr<BufferId> Alloc(const AllocRequest& request);   // holds anything: Fill comes next
  void Free(BufferId buffer);

  MemoryBuffer& operator[](BufferId id) { return all_[id.index()]; }
  const MemoryBuffer& operator[](BufferId id) const { return all_[id.index()]; }
  MemoryBuffer& Touched(BufferId id) {  // to read or write its bytes
    MemoryBuffer& buffer = all_[id.index()];
    if (buffer.unfilled && buffer.moves) FillAll(buffer);
    return buffer;
  }
  std::vector<MemoryBuffer>& all() { return all_; }

  // What new memory, padding and masked-off lanes hold.
  void SetFill(palladion::Fill fill) {
    filler_ = Filler(fill);
    fills_late_ = fill.kind != palladion::Fill::Kind::kRandom;  // whose numbers go on in the order of allocations
  }
  Filler& filler() { return filler_; }
  void Fill(BufferId buffer);  // all of it, at once or on first touch
  // So many elements of the buffer's type, wherever they are.
  void FillPoison(const MemoryBuffer& buffer, std::byte* at, ElementCount elements) {
    filler_(buffer.dtype, at, elements.size() * buffer.words);
  }

  // Of buffers from here on no byte moves, but of single numbers in a thread's own memory; false: all move.
  void MoveNothing(bool nothing) { moves_ = !nothing; }

  // Elements that stay where they are until they are taken, or first .. last - 1 is settled.
  CowReadId BeginCowRead(BufferId buffer, ValueView view);
  ValueView Take(CowReadId read, std::vector<std::byte>* bytes);
  void Settle(MemoryBuffer& buffer, const std::byte* first, const std::byte* last) {
    if (!buffer.cow_reads.empty()) SettleCowReads(buffer, first, last);
  }
  void SettleAll(MemoryBuffer& buffer) { Settle(buffer, buffer.data, buffer.data + buffer.bytes.value()); }

  // All buffers with their bytes, and back to them; not copy-on-write reads, and not what is undefined. Every
  // allocation is at the place where it was; from the first Save on, freed memory is kept.
  struct Saved {
    std::vector<MemoryBuffer> buffers;
    std::vector<std::vector<std::byte>> contents;  // of each buffer
    std::vector<BufferId> free_ids;
  };
  Saved Save();
  void Restore(const Saved& saved);

 private:
  MemoryBuffer MakeBuffer(const AllocRequest& request) const;
  BufferId Add(MemoryBuffer buffer);
  void FillAll(MemoryBuffer& buffer);
  void SettleCowReads(MemoryBuffer& buffer, const std::byte* first, const std::byte* last);

  std::vector<MemoryBuffer> all_;
  std::vector<BufferId> free_ids_;
  CowReads cow_reads_;
  BlockPool pool_;
  Filler filler_;
  bool fills_late_ = true;
  bool moves_ = true;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_LAUNCH_BUFFERS_H_
