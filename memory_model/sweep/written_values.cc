#include "memory_model/sweep/written_values.h"

#include <algorithm>
#include <utility>

#include "memory_model/sets/region.h"

namespace palladion::memory_model {
namespace {

// Is what the lane stores undefined, or whether it stores at all?
template <class Access>
bool IsUndefined(const Access& access, std::size_t lane) {
  const Definedness* defined = access.defined;
  if (defined != nullptr && defined->any && defined->undefined[lane] != 0) return true;
  return access.mask.lanes_undefined != nullptr && access.mask.lanes_undefined[lane] != 0;
}

}  // namespace

void WrittenValues::Watch(const Memory& memory, BufferId id) {
  const auto known = [&](const Buffer& buffer) { return buffer.id == id; };
  if (std::any_of(buffers_.begin(), buffers_.end(), known)) return;
  Buffer buffer{.id = id, .element_size = memory.ElementSizeOf(id)};
  std::size_t elements = 1;
  for (std::int64_t size : memory.ShapeOf(id)) {
    buffer.shape.push_back(size);
    elements *= static_cast<std::size_t>(size);
  }
  const std::size_t bytes = elements * buffer.element_size.size();
  buffer.first.resize(bytes);
  buffer.written.resize(bytes);
  buffer.writer.resize(elements);
  buffer.several.resize(elements);
  buffer.varied.resize(elements);
  buffers_.push_back(std::move(buffer));
}

bool WrittenValues::AreEqual(BufferId id) const {
  for (const Buffer& buffer : buffers_) {
    if (buffer.id != id) continue;
    for (std::size_t e = 0; e < buffer.varied.size(); ++e) {
      if (buffer.varied[e] != 0 && buffer.several[e] != 0) return false;
    }
    return true;
  }
  return false;
}

bool WrittenValues::AnyUndefined(BufferId id) const {
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [&](const Buffer& buffer) { return buffer.id == id && buffer.undefined; });
}

void WrittenValues::Box(WriterId writer, AccessKind kind, const BoxAccess& access, const BoxReach& reach,
                        const std::byte* value) {
  if (kind == AccessKind::kRead || reach.empty || reach.none_copied) return;
  for (Buffer& buffer : buffers_) {
    if (buffer.id != access.buffer) continue;
    buffer.undefined |= (access.defined != nullptr && access.defined->any) || access.mask.lanes_undefined != nullptr;
    const std::int64_t bytes = buffer.element_size.value();
    VisitElements(access, reach, buffer.shape, [&](std::int64_t element, std::int64_t lane) {
      const bool equals_nothing = kind == AccessKind::kAtomic || IsUndefined(access, static_cast<std::size_t>(lane));
      Compare(buffer, writer, ElementCount(element) * buffer.element_size,
              {value + lane * bytes, static_cast<std::size_t>(bytes)}, equals_nothing);
    });
  }
}

void WrittenValues::Points(WriterId writer, AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (kind == AccessKind::kRead) return;
  const auto piece = static_cast<std::int64_t>(access.piece_bytes);
  for (Buffer& buffer : buffers_) {
    if (buffer.id != access.buffer) continue;
    buffer.undefined |= (access.defined != nullptr && access.defined->any) || access.mask.lanes_undefined != nullptr;
    for (std::size_t p = 0; p < access.offset.size(); ++p) {
      if (!Touches(access, p)) continue;
      const bool equals_nothing = kind == AccessKind::kAtomic || IsUndefined(access, p / access.pieces_per_element);
      Compare(buffer, writer, ByteCount(access.offset[p]),
              {value + static_cast<std::int64_t>(p) * piece, static_cast<std::size_t>(piece)}, equals_nothing);
    }
    CountRepeated(access, &buffer);
  }
}

void WrittenValues::CountRepeated(const PointAccess& access, Buffer* buffer) {
  std::vector<std::int64_t> places;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (Touches(access, p)) places.push_back(access.offset[p]);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i] == places[i - 1])
      buffer->several[static_cast<std::size_t>(places[i] / buffer->element_size.value())] = 1;
  }
}

void WrittenValues::Compare(Buffer& buffer, WriterId writer, ByteCount byte, absl::Span<const std::byte> value,
                            bool equals_nothing) {
  const std::size_t element = (byte / buffer.element_size).size(), at = byte.size();
  if (!buffer.writer[element].valid()) buffer.writer[element] = writer;
  if (buffer.writer[element] != writer) buffer.several[element] = 1;
  for (std::size_t b = 0; b < value.size(); ++b) {
    if (buffer.written[at + b] != 0 && buffer.first[at + b] != value[b]) buffer.varied[element] = 1;
    if (buffer.written[at + b] == 0) buffer.first[at + b] = value[b];
    buffer.written[at + b] = 1;
  }
  if (equals_nothing) buffer.varied[element] = 1;
}

}  // namespace palladion::memory_model
