#include "memory_model/bytes/launch_buffers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

LaunchBuffers::~LaunchBuffers() {
  for (const MemoryBuffer& buffer : all_) {
    if (buffer.owned) BlockPool::Delete(buffer.data);
  }
}

MemoryBuffer LaunchBuffers::MakeBuffer(const AllocRequest& request) const {
  MemoryBuffer buffer{.name = request.name, .dtype = request.dtype, .words = request.words_per_element};
  buffer.element_size = ElementSize(static_cast<std::int64_t>(StorageBytes(request.dtype) * request.words_per_element));
  buffer.shape.assign(request.shape.begin(), request.shape.end());
  buffer.stride.resize(buffer.shape.size());
  std::int64_t stride = buffer.element_size.value();
  for (std::size_t d = buffer.shape.size(); d-- > 0;) {
    buffer.stride[d] = stride;
    stride *= buffer.shape[d];
  }
  buffer.bytes = ByteCount(stride);
  buffer.is_output = request.is_output;
  const bool own = request.place.has_value() && request.place->memory == PlaceLevel::kThread;
  buffer.moves = moves_ || (own && buffer.elements() <= ElementCount(1));
  buffer.made = request.loc;
  buffer.made_line = request.text_line;
  buffer.defined = BufferDefinedness(buffer.elements(), buffer.element_size);
  return buffer;
}

BufferId LaunchBuffers::Add(MemoryBuffer buffer) {
  if (!free_ids_.empty()) {
    const BufferId id = free_ids_.back();
    free_ids_.pop_back();
    (*this)[id] = std::move(buffer);
    return id;
  }
  all_.push_back(std::move(buffer));
  return BufferId{static_cast<std::int32_t>(all_.size() - 1)};
}

BufferId LaunchBuffers::Adopt(const AllocRequest& request, std::byte* data) {
  MemoryBuffer buffer = MakeBuffer(request);
  buffer.data = data;
  return Add(std::move(buffer));
}

absl::StatusOr<BufferId> LaunchBuffers::Alloc(const AllocRequest& request) {
  MemoryBuffer buffer = MakeBuffer(request);
  buffer.data = pool_.Allocate(buffer.bytes.size());
  if (buffer.data == nullptr) {
    return absl::ResourceExhaustedError(Cat("no memory for '", buffer.name, "': ", buffer.bytes.value(),
                                            " bytes on top of ", pool_.allocated_bytes(),
                                            " of scratch; use smaller shapes or a larger host"));
  }
  buffer.owned = true;
  return Add(std::move(buffer));
}

void LaunchBuffers::Free(BufferId id) {
  MemoryBuffer& buffer = (*this)[id];
  SettleAll(buffer);
  if (buffer.owned) pool_.Release(buffer.data, buffer.bytes.size());
  buffer = MemoryBuffer{};
  free_ids_.push_back(id);
}

void LaunchBuffers::FillAll(MemoryBuffer& buffer) {
  buffer.unfilled = false;
  FillPoison(buffer, buffer.data, buffer.elements());
}

void LaunchBuffers::Fill(BufferId id) {
  MemoryBuffer& buffer = (*this)[id];
  SettleAll(buffer);
  if (fills_late_ && buffer.owned) {
    buffer.unfilled = true;
  } else if (buffer.moves) {
    FillAll(buffer);
  }
}

CowReadId LaunchBuffers::BeginCowRead(BufferId id, ValueView view) {
  MemoryBuffer& buffer = (*this)[id];
  const CowReadId read = cow_reads_.Add(id, std::move(view), buffer.element_size);
  buffer.cow_reads.push_back(read);
  return read;
}

ValueView LaunchBuffers::Take(CowReadId id, std::vector<std::byte>* bytes) {
  CowRead& read = cow_reads_[id];
  ValueView view;
  if (read.settled) {
    bytes->swap(read.bytes);
  } else {
    view = std::move(read.view);
    auto& cow_reads = (*this)[read.buffer].cow_reads;
    cow_reads.erase(std::find(cow_reads.begin(), cow_reads.end(), id));
  }
  cow_reads_.Remove(id);
  return view;
}

void LaunchBuffers::SettleCowReads(MemoryBuffer& buffer, const std::byte* first, const std::byte* last) {
  auto& cow_reads = buffer.cow_reads;
  cow_reads.erase(std::remove_if(cow_reads.begin(), cow_reads.end(),
                                 [&](CowReadId read) { return cow_reads_.Settle(read, first, last); }),
                  cow_reads.end());
}

namespace {

// But for its definedness, and its copy-on-write reads.
MemoryBuffer CopyOf(const MemoryBuffer& buffer) {
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
          .moves = buffer.moves,
          .made = buffer.made,
          .made_line = buffer.made_line,
          .defined = {},
          .stored_by = {}};
}

}  // namespace

LaunchBuffers::Saved LaunchBuffers::Save() {
  pool_.KeepAll();
  Saved saved{.buffers = {}, .contents = {}, .free_ids = free_ids_};
  for (MemoryBuffer& buffer : all_) {
    if (buffer.unfilled) FillAll(buffer);
    saved.buffers.push_back(CopyOf(buffer));
    saved.contents.emplace_back(buffer.data, buffer.data + buffer.bytes.size());
  }
  return saved;
}

void LaunchBuffers::Restore(const Saved& saved) {
  // Every block that was ever allocated is owned by a buffer or pooled; those that no saved buffer owns are free.
  std::map<std::byte*, std::size_t> blocks = pool_.Waiting();
  for (const MemoryBuffer& buffer : all_) {
    if (buffer.owned) blocks.emplace(buffer.data, BlockPool::BlockBytes(buffer.bytes.size()));
  }
  for (const MemoryBuffer& buffer : saved.buffers) {
    if (buffer.owned) blocks.erase(buffer.data);
  }
  pool_.SetWaiting(blocks);
  all_.clear();
  for (std::size_t i = 0; i < saved.buffers.size(); ++i) {
    all_.push_back(CopyOf(saved.buffers[i]));
    std::copy(saved.contents[i].begin(), saved.contents[i].end(), all_[i].data);
  }
  free_ids_ = saved.free_ids;
}

}  // namespace palladion::memory_model
