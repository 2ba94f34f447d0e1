#include "memory_model/bytes/block_pool.h"

#include <new>

namespace palladion::memory_model {

std::byte* BlockPool::Allocate(std::size_t bytes) {
  const std::size_t size = BlockBytes(bytes);
  if (auto found = waiting_.find(size); found != waiting_.end()) {
    std::byte* data = found->second;
    waiting_.erase(found);
    return data;
  }
  if (size > limit_bytes_ - allocated_bytes_ && !keeps_all_) Drain();
  if (size > limit_bytes_ - allocated_bytes_) return nullptr;
  auto* data = static_cast<std::byte*>(::operator new[](size, std::align_val_t{kAlignment}, std::nothrow));
  if (data != nullptr) allocated_bytes_ += size;
  return data;
}

void BlockPool::Release(std::byte* data, std::size_t bytes) { waiting_.emplace(BlockBytes(bytes), data); }

void BlockPool::Delete(std::byte* data) { ::operator delete[](data, std::align_val_t{kAlignment}); }

void BlockPool::Drain() {
  for (const auto& [bytes, data] : waiting_) {
    Delete(data);
    allocated_bytes_ -= bytes;
  }
  waiting_.clear();
}

std::map<std::byte*, std::size_t> BlockPool::Waiting() const {
  std::map<std::byte*, std::size_t> blocks;
  for (const auto& [bytes, data] : waiting_) blocks.emplace(data, bytes);
  return blocks;
}

void BlockPool::SetWaiting(const std::map<std::byte*, std::size_t>& blocks) {
  waiting_.clear();
  for (const auto& [data, bytes] : blocks) waiting_.emplace(bytes, data);
}

}  // namespace palladion::memory_model
