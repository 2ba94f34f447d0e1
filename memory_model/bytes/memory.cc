#include "memory_model/bytes/memory.h"

#include <utility>

#include "memory_model/bytes/undefined_findings.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {

std::shared_ptr<Memory::Buffers> Memory::MakeBuffers() { return std::make_shared<Buffers>(); }

Memory::Memory(std::shared_ptr<Buffers> buffers, std::int32_t device, std::size_t limit_bytes)
    : shared_(std::move(buffers)),
      buffers_(shared_->all),
      free_ids_(shared_->free_ids),
      device_(device),
      pool_(limit_bytes) {}

Memory::~Memory() {
  const bool others = shared_.use_count() > 1;
  for (std::size_t i = buffers_.size(); i-- > 0;) {
    Buffer& buffer = buffers_[i];
    if (buffer.of != this) continue;
    if (buffer.owned) BlockPool::Delete(buffer.data);
    if (!others) continue;
    buffer = Buffer{};
    free_ids_.push_back(BufferId{static_cast<std::int32_t>(i)});
  }
}

MemoryBuffer Memory::MakeBuffer(const AllocRequest& request) const {
  Buffer buffer{.name = request.name, .dtype = request.dtype, .words = request.words_per_element};
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

void Memory::Print(std::string line) { printed_.Add(std::move(line)); }

void Memory::Running(const RunningAgent& now) {
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
  buffer.data = pool_.Allocate(buffer.bytes.size());
  if (buffer.data == nullptr) {
    return absl::ResourceExhaustedError(Cat("no memory for '", buffer.name, "': ", buffer.bytes.value(),
                                            " bytes on top of ", pool_.allocated_bytes(),
                                            " of scratch; use smaller shapes or a larger host"));
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
  SettleAll(buffer);
  if (buffer.owned) pool_.Release(buffer.data, buffer.bytes.size());
  buffer = Buffer{};
  free_ids_.push_back(id);
}

void Memory::FillPoison(const Buffer& buffer, std::byte* at, ElementCount elements) {
  filler_(buffer.dtype, at, elements.size() * buffer.words);
}

void Memory::FillAll(Buffer& buffer) {
  buffer.unfilled = false;
  FillPoison(buffer, buffer.data, buffer.elements());
}

void Memory::Poison(BufferId id) {
  Buffer& buffer = Of(id);
  SettleAll(buffer);
  if (fills_late_ && buffer.owned) {
    buffer.unfilled = true;
  } else if (buffer.moves) {
    FillAll(buffer);
  }
  if (tracker_ != nullptr) tracker_->SetUndefined(buffer);
  for (AccessObserver* observer : observers_) observer->Poison(id);
}

void Memory::TrackDefinedness(bool values_only) {
  tracker_ = std::make_unique<DefinednessTracker>(buffers_, values_only);
  tracker_->NameAgents(naming_);
}

void Memory::SetUndefined(BufferId buffer) { tracker_->SetUndefined(Of(buffer)); }

std::uint8_t Memory::MarkOfValue(const Finding& finding, const Site& site) {
  return tracker_ == nullptr ? std::uint8_t{0} : tracker_->MarkOfValue(finding, site);
}

void Memory::ReportUndefined(DefinedMark mark, std::string_view use, const Site& site) {
  if (tracker_->origins().IsReported(mark)) return;
  Report(UndefinedUse({tracker_->origins(), tracker_->stores(), naming_}, mark, use, site));
}

std::int64_t Memory::ReportUndefinedOutput(BufferId id, const Site& site) {
  const Buffer& buffer = Of(id);
  for (Finding& finding : UndefinedOutput({tracker_->origins(), tracker_->stores(), naming_}, buffer, site)) {
    Report(std::move(finding));
  }
  return buffer.elements().value();
}

// Of two at one place the worse is told: a copy may be worth a note for its source, and wrong in its destination.
void Memory::Report(Finding finding) { log_.Take(std::move(finding)); }

}  // namespace palladion::memory_model
