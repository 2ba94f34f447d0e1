// The host memory of allocations: blocks are kept when they are freed, for kernels allocate the same scopes again and
// again, and together they stay below a limit.
#ifndef PALLADION_MEMORY_MODEL_BYTES_BLOCK_POOL_H_
#define PALLADION_MEMORY_MODEL_BYTES_BLOCK_POOL_H_

#include <cstddef>
#include <map>

namespace palladion::memory_model {

class BlockPool {
 public:
  explicit BlockPool(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() { Drain(); }

  std::byte* Allocate(std::size_t bytes);            // nullptr: over the limit, or the host has no more
  void Release(std::byte* data, std::size_t bytes);  // as many as were asked for; it may be given out again
  static void Delete(std::byte* data);               // it is gone, whatever the pool has counted
  std::size_t allocated_bytes() const { return allocated_bytes_; }  // given out and kept

  // From now on every block stays where it is, so that a state of all of them can be returned to.
  void KeepAll() { keeps_all_ = true; }
  // The blocks with their bytes: those that wait here. Set: these are the ones that wait.
  std::map<std::byte*, std::size_t> Waiting() const;
  void SetWaiting(const std::map<std::byte*, std::size_t>& blocks);
  static std::size_t BlockBytes(std::size_t bytes) { return bytes < kAlignment ? kAlignment : bytes; }

 private:
  static constexpr std::size_t kAlignment = 64;
  void Drain();

  const std::size_t limit_bytes_;
  std::size_t allocated_bytes_ = 0;
  bool keeps_all_ = false;
  std::multimap<std::size_t, std::byte*> waiting_;  // by size
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_BLOCK_POOL_H_
