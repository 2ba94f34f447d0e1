#include "memory_model/bytes/memory.h"

#include <algorithm>
#include <new>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

std::shared_ptr<Memory::Buffers> Memory::MakeBuffers() { return std::make_shared<Buffers>(); }

Memory::Memory(std::shared_ptr<Buffers> buffers, std::int32_t device, std::size_t limit_bytes)
    : shared_(std::move(buffers)),
      buffers_(shared_->all),
      free_ids_(shared_->free_ids),
      device_(device),
      limit_bytes_(limit_bytes) {}

Memory::~Memory() {
  const bool others = shared_.use_count() > 1;
  for (std::size_t i = buffers_.size(); i-- > 0;) {
    Buffer& buffer = buffers_[i];
    if (buffer.of != this) continue;
    if (buffer.owned) ::operator delete[](buffer.data, std::align_val_t{kAlignment});
    if (!others) continue;
    buffer = Buffer{};
    free_ids_.push_back(BufferId{static_cast<std::int32_t>(i)});
  }
  DrainPool();
}

Memory::Buffer Memory::MakeBuffer(const AllocRequest& request) const {
  Buffer buffer{.name = request.name, .dtype = request.dtype, .words = request.words_per_element};
  buffer.element_bytes = StorageBytes(request.dtype) * request.words_per_element;
  buffer.shape.assign(request.shape.begin(), request.shape.end());
  buffer.stride.resize(buffer.shape.size());
  auto stride = static_cast<std::int64_t>(buffer.element_bytes);
  for (std::size_t d = buffer.shape.size(); d-- > 0;) {
    buffer.stride[d] = stride;
    stride *= buffer.shape[d];
  }
  buffer.bytes = static_cast<std::size_t>(stride);
  buffer.is_output = request.is_output;
  buffer.made = request.loc;
  buffer.made_line = request.text_line;
  buffer.defined =
      BufferDefinedness(buffer.bytes / std::max<std::size_t>(1, buffer.element_bytes), buffer.element_bytes);
  return buffer;
}

BufferId Memory::Add(Buffer buffer) {
  buffer.of = this;
  buffer.device = device_;
  if (!free_ids_.empty()) {
    const BufferId id = free_ids_.back();
    free_ids_.pop_back();
    Of(id) = std::move(buffer);
    return id;
  }
  buffers_.push_back(std::move(buffer));
  return BufferId{static_cast<std::int32_t>(buffers_.size() - 1)};
}

BufferId Memory::Adopt(const AllocRequest& request, std::byte* data) {
  Buffer buffer = MakeBuffer(request);
  buffer.data = data;
  return Add(std::move(buffer));
}

std::byte* Memory::Allocate(std::size_t bytes) {
  const std::size_t size = BlockBytes(bytes);
  if (auto found = pool_.find(size); found != pool_.end()) {
    std::byte* data = found->second;
    pool_.erase(found);
    return data;
  }
  if (size > limit_bytes_ - allocated_bytes_ && !keep_pool_) DrainPool();
  if (size > limit_bytes_ - allocated_bytes_) return nullptr;
  auto* data = static_cast<std::byte*>(::operator new[](size, std::align_val_t{kAlignment}, std::nothrow));
  if (data != nullptr) allocated_bytes_ += size;
  return data;
}

void Memory::DrainPool() {
  for (const auto& [bytes, data] : pool_) {
    ::operator delete[](data, std::align_val_t{kAlignment});
    allocated_bytes_ -= bytes;
  }
  pool_.clear();
}

// What a kernel prints is kept until the run ends, so a print in a long loop needs an end too.
void Memory::Print(std::string line) {
  constexpr std::size_t kLineCost = 64;
  printed_bytes_ += line.size() + kLineCost;
  if (printed_bytes_ <= kMaxPrintedBytes) {
    printed_.push_back(std::move(line));
    return;
  }
  if (dropped_lines_++ > 0) printed_.pop_back();
  printed_.push_back(
      Cat("... ", dropped_lines_, " more lines; a run keeps the first ", kMaxPrintedBytes, " bytes of debug_print"));
}

void Memory::Running(const RunningAgent& now) {
  if (tracking_ != nullptr) tracking_->program.assign(now.index.begin(), now.index.end());
  for (AccessObserver* observer : observers_) observer->Running(now);
}

absl::Status Memory::Wait(const WaitTarget& target, const Site& site) {
  if (target.kind != WaitTarget::Kind::kQueue || target.queue != AsyncQueue::kBlocks)
    return Machine::Wait(target, site);
  for (AccessObserver* observer : observers_) observer->Awaited(target);
  return absl::OkStatus();
}

absl::StatusOr<BufferId> Memory::Alloc(const AllocRequest& request) {
  Buffer buffer = MakeBuffer(request);
  buffer.data = Allocate(buffer.bytes);
  if (buffer.data == nullptr) {
    return absl::ResourceExhaustedError(Cat("no memory for '", buffer.name, "': ", buffer.bytes, " bytes on top of ",
                                            allocated_bytes_, " of scratch; use smaller shapes or a larger host"));
  }
  buffer.owned = true;
  const BufferId id = Add(std::move(buffer));
  Poison(id);
  for (AccessObserver* observer : observers_) observer->Alloc(id);
  return id;
}

void Memory::Free(BufferId id) {
  for (AccessObserver* observer : observers_) observer->Free(id);
  Buffer& buffer = Of(id);
  if (buffer.owned) pool_.emplace(BlockBytes(buffer.bytes), buffer.data);
  buffer = Buffer{};
  free_ids_.push_back(id);
}

void Memory::FillPoison(const Buffer& buffer, std::byte* at, std::size_t elements) {
  filler_(buffer.dtype, at, elements * buffer.words);
}

void Memory::FillAll(Buffer& buffer) {
  buffer.unfilled = false;
  FillPoison(buffer, buffer.data, buffer.bytes / buffer.element_bytes);
}

void Memory::Poison(BufferId id) {
  Buffer& buffer = Of(id);
  if (fills_late_ && buffer.owned) {
    buffer.unfilled = true;
  } else {
    FillAll(buffer);
  }
  if (tracking_ != nullptr) SetUndefined(id);
  for (AccessObserver* observer : observers_) observer->Poison(id);
}

// Of two at one place the worse is told: a copy may be worth a note for its source, and wrong in its destination.
void Memory::Report(Finding finding) { log_.Take(std::move(finding)); }

}  // namespace palladion::memory_model
