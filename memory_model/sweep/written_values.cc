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
  for (std::int64_t size : memory.ShapeOf(id)) buffer.shape.push_back(size);
  buffers_.push_back(std::move(buffer));
}

bool WrittenValues::AreEqual(BufferId id, int text_line, int other_line) const {
  for (const Buffer& buffer : buffers_) {
    if (buffer.id != id) continue;
    const auto one = buffer.by_line.find(text_line), other = buffer.by_line.find(other_line);
    if (one == buffer.by_line.end() || other == buffer.by_line.end()) return false;
    return buffer.elements.AllOf([&](std::size_t e, const Element& element) {
      return !(element.varied && element.several && one->second[e] && other->second[e]);
    });
  }
  return false;
}

void WrittenValues::Read(Buffer& buffer, WriterId reader, int text_line, std::int64_t element) {
  const auto e = static_cast<std::size_t>(element);
  ++buffer.reads[text_line].At(e);
  std::set<int> lines;
  const Element written = buffer.elements[e];
  for (const Write& write : {written.initial, written.last, written.before}) {
    if (write.writer == reader) lines.insert(write.text_line);
  }
  for (const int line : lines) ++buffer.own_reads[{text_line, line}].At(e);
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
    return written->second.AllOf([&](std::size_t e, bool here) { return !here || own->second[e] == read->second[e]; });
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
    PagedArray<bool>& here = buffer.by_line[access.site.text_line];
    VisitElements(access, reach, buffer.shape, [&](std::int64_t element, std::int64_t lane) {
      const bool equals_nothing = kind == AccessKind::kAtomic || IsUndefined(access, static_cast<std::size_t>(lane));
      here.At(static_cast<std::size_t>(element)) = true;
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
    PagedArray<bool>& here = buffer.by_line[access.site.text_line];
    for (std::size_t p = 0; p < access.offset.size(); ++p) {
      if (!Touches(access, p)) continue;
      here.At(static_cast<std::size_t>(access.offset[p] / buffer.element_size.value())) = true;
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
      buffer->elements.At(static_cast<std::size_t>(places[i] / buffer->element_size.value())).several = true;
  }
}

void WrittenValues::Compare(Buffer& buffer, const Write& write, ByteCount byte, absl::Span<const std::byte> value,
                            bool equals_nothing) {
  Element& element = buffer.elements.At((byte / buffer.element_size).size());
  if (!element.initial.writer.valid()) element.initial = write;
  if (element.initial.writer != write.writer) element.several = true;
  if (element.last.writer != write.writer) element.before = element.last;
  element.last = write;
  for (std::size_t b = 0; b < value.size(); ++b) {
    Byte& here = buffer.bytes.At(byte.size() + b);
    if (here.written && here.first != value[b]) element.varied = true;
    if (!here.written) here = {value[b], true};
  }
  if (equals_nothing) element.varied = true;
}

}  // namespace palladion::memory_model
