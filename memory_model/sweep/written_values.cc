#include "memory_model/sweep/written_values.h"

#include <algorithm>
#include <set>
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
  buffer.initial.resize(elements);
  buffer.last.resize(elements);
  buffer.before.resize(elements);
  buffer.several.resize(elements);
  buffer.varied.resize(elements);
  buffers_.push_back(std::move(buffer));
}

bool WrittenValues::AreEqual(BufferId id, int text_line, int other_line) const {
  for (const Buffer& buffer : buffers_) {
    if (buffer.id != id) continue;
    const auto one = buffer.by_line.find(text_line), other = buffer.by_line.find(other_line);
    if (one == buffer.by_line.end() || other == buffer.by_line.end()) return false;
    for (std::size_t e = 0; e < buffer.varied.size(); ++e) {
      if (buffer.varied[e] != 0 && buffer.several[e] != 0 && one->second[e] && other->second[e]) return false;
    }
    return true;
  }
  return false;
}

void WrittenValues::Read(Buffer& buffer, WriterId reader, int text_line, std::int64_t element) {
  const auto e = static_cast<std::size_t>(element);
  const auto count = [&](std::vector<int>& times) {
    times.resize(buffer.varied.size());
    ++times[e];
  };
  count(buffer.reads[text_line]);
  std::set<int> lines;
  for (const Write& write : {buffer.initial[e], buffer.last[e], buffer.before[e]}) {
    if (write.writer == reader) lines.insert(write.text_line);
  }
  for (const int line : lines) count(buffer.own_reads[{text_line, line}]);
}

void WrittenValues::ReadBox(WriterId reader, const BoxAccess& access, const BoxReach& reach) {
  for (Buffer& buffer : buffers_) {
    if (buffer.id != access.buffer) continue;
    VisitElements(access, reach, buffer.shape,
                  [&](std::int64_t element, std::int64_t) { Read(buffer, reader, access.site.text_line, element); });
  }
}

void WrittenValues::ReadPoints(WriterId reader, const PointAccess& access) {
  for (Buffer& buffer : buffers_) {
    if (buffer.id != access.buffer) continue;
    const std::int64_t bytes = buffer.element_size.value();
    VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t e = first / bytes; e * bytes < last; ++e) Read(buffer, reader, access.site.text_line, e);
    });
  }
}

bool WrittenValues::ReadsOwn(BufferId id, int reading_line, int writing_line, int own_line) const {
  for (const Buffer& buffer : buffers_) {
    if (buffer.id != id) continue;
    const auto read = buffer.reads.find(reading_line);
    const auto own = buffer.own_reads.find({reading_line, own_line});
    const auto written = buffer.by_line.find(writing_line);
    if (read == buffer.reads.end() || own == buffer.own_reads.end() || written == buffer.by_line.end()) return false;
    for (std::size_t e = 0; e < buffer.varied.size(); ++e) {
      if (written->second[e] && own->second[e] != read->second[e]) return false;
    }
    return true;
  }
  return false;
}

std::vector<bool>& WrittenValues::WrittenBy(Buffer& buffer, int text_line) {
  std::vector<bool>& elements = buffer.by_line[text_line];
  elements.resize(buffer.varied.size());
  return elements;
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
    std::vector<bool>& here = WrittenBy(buffer, access.site.text_line);
    VisitElements(access, reach, buffer.shape, [&](std::int64_t element, std::int64_t lane) {
      const bool equals_nothing = kind == AccessKind::kAtomic || IsUndefined(access, static_cast<std::size_t>(lane));
      here[static_cast<std::size_t>(element)] = true;
      Compare(buffer, {writer, access.site.text_line}, ElementCount(element) * buffer.element_size,
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
    std::vector<bool>& here = WrittenBy(buffer, access.site.text_line);
    for (std::size_t p = 0; p < access.offset.size(); ++p) {
      if (!Touches(access, p)) continue;
      here[static_cast<std::size_t>(access.offset[p] / buffer.element_size.value())] = true;
      const bool equals_nothing = kind == AccessKind::kAtomic || IsUndefined(access, p / access.pieces_per_element);
      Compare(buffer, {writer, access.site.text_line}, ByteCount(access.offset[p]),
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

void WrittenValues::Compare(Buffer& buffer, const Write& write, ByteCount byte, absl::Span<const std::byte> value,
                            bool equals_nothing) {
  const std::size_t element = (byte / buffer.element_size).size(), at = byte.size();
  if (!buffer.initial[element].writer.valid()) buffer.initial[element] = write;
  if (buffer.initial[element].writer != write.writer) buffer.several[element] = 1;
  if (buffer.last[element].writer != write.writer) buffer.before[element] = buffer.last[element];
  buffer.last[element] = write;
  for (std::size_t b = 0; b < value.size(); ++b) {
    if (buffer.written[at + b] != 0 && buffer.first[at + b] != value[b]) buffer.varied[element] = 1;
    if (buffer.written[at + b] == 0) buffer.first[at + b] = value[b];
    buffer.written[at + b] = 1;
  }
  if (equals_nothing) buffer.varied[element] = 1;
}

}  // namespace palladion::memory_model
