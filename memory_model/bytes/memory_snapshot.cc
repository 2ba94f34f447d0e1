// Memory as a value: for exhaustive search, which returns to each choice once for every way on.
#include <algorithm>
#include <map>
#include <utility>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {

struct Memory::Saved {
  std::vector<Buffer> buffers;
  std::vector<std::vector<std::byte>> contents;  // of each buffer
  std::vector<BufferId> free_ids;
  FindingLog log;
  PrintedLines printed;
};

MemoryBuffer Memory::CopyOf(const Buffer& buffer) {
  return {.name = buffer.name,
          .dtype = buffer.dtype,
          .words = buffer.words,
          .element_size = buffer.element_size,
          .shape = buffer.shape,
          .stride = buffer.stride,
          .data = buffer.data,
          .bytes = buffer.bytes,
          .owned = buffer.owned,
          .is_output = buffer.is_output,
          .device = buffer.device,
          .of = buffer.of,
          .made = buffer.made,
          .made_line = buffer.made_line,
          .defined = {},
          .stored_by = {}};
}

std::shared_ptr<const Memory::Saved> Memory::Save() {
  pool_.KeepAll();
  auto saved = std::make_shared<Saved>(
      Saved{.buffers = {}, .contents = {}, .free_ids = free_ids_, .log = log_, .printed = printed_});
  for (Buffer& buffer : buffers_) {
    if (buffer.unfilled) FillAll(buffer);
    saved->buffers.push_back(CopyOf(buffer));
    saved->contents.emplace_back(buffer.data, buffer.data + buffer.bytes.size());
  }
  return saved;
}

void Memory::Restore(const Saved& saved) {
  // Every block that was ever allocated is owned by a buffer or pooled; those that no saved buffer owns are free.
  std::map<std::byte*, std::size_t> blocks = pool_.Waiting();
  for (const Buffer& buffer : buffers_) {
    if (buffer.owned) blocks.emplace(buffer.data, BlockPool::BlockBytes(buffer.bytes.size()));
  }
  for (const Buffer& buffer : saved.buffers) {
    if (buffer.owned) blocks.erase(buffer.data);
  }
  pool_.SetWaiting(blocks);
  buffers_.clear();
  for (std::size_t i = 0; i < saved.buffers.size(); ++i) {
    buffers_.push_back(CopyOf(saved.buffers[i]));
    std::copy(saved.contents[i].begin(), saved.contents[i].end(), buffers_[i].data);
  }
  free_ids_ = saved.free_ids;
  log_ = saved.log;
  printed_ = saved.printed;
}

}  // namespace palladion::memory_model
