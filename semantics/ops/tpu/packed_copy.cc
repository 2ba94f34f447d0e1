#include "semantics/ops/tpu/packed_copy.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ops/ref/async_access.h"

namespace palladion {
namespace {

// An element in memory: its bits, and the mark of what is undefined in them.
struct Element {
  std::uint64_t bits = 0;
  std::uint8_t mark = 0;
};

// The view's elements out of the bytes that were read.
class Seen {
 public:
  Seen(const PackedPlaces& places, const AsyncValue& memory) : places_(places), memory_(memory) {}

  Element At(std::size_t element) const {
    Element seen;
    const int width = places_.unit_bits;
    for (std::size_t u = 0; u < places_.units_per_element; ++u) {
      const std::size_t unit = element * places_.units_per_element + u, byte = places_.byte[unit];
      const std::uint64_t bits = std::to_integer<std::uint64_t>(memory_.bytes[byte]) >> (places_.part[unit] * width);
      seen.bits |= (bits & ((std::uint64_t{1} << width) - 1)) << (u * static_cast<std::size_t>(width));
      if (!memory_.marks.empty()) seen.mark = MergeMarks(seen.mark, memory_.marks[byte]);
    }
    return seen;
  }

 private:
  const PackedPlaces& places_;
  const AsyncValue& memory_;
};

std::uint64_t SignExtended(std::uint64_t bits, int width) {
  return (bits >> (width - 1) & 1) != 0 ? bits | ~std::uint64_t{0} << width : bits;
}

// Elements as a value has them.
AsyncValue ValueOf(const PackedPlaces& places, const AsyncValue& memory) {
  const std::size_t width = StorageBytes(places.seen), elements = places.byte.size() / places.units_per_element;
  const int bits = Info(places.seen).bits;
  const Seen seen(places, memory);
  AsyncValue value{std::vector<std::byte>(elements * width), {}};
  if (!memory.marks.empty()) value.marks.assign(elements, 0);
  for (std::size_t e = 0; e < elements; ++e) {
    Element element = seen.At(e);
    if (IsSigned(places.seen) && bits < 8) element.bits = SignExtended(element.bits, bits);
    std::memcpy(&value.bytes[e * width], &element.bits, width);
    if (!value.marks.empty()) value.marks[e] = element.mark;
  }
  return value;
}

// A value's elements into the bytes that are to be written, all of whose parts are the view's.
void ToMemory(const PackedPlaces& places, const AsyncValue& value, AsyncValue* memory) {
  const std::size_t width = StorageBytes(places.seen);
  std::fill(memory->bytes.begin(), memory->bytes.end(), std::byte{0});
  memory->marks.clear();
  if (!value.marks.empty()) memory->marks.assign(places.bytes, 0);
  for (std::size_t unit = 0; unit < places.byte.size(); ++unit) {
    const std::size_t element = unit / places.units_per_element, u = unit % places.units_per_element;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value.bytes[element * width], width);
    bits = bits >> (u * static_cast<std::size_t>(places.unit_bits)) & ((std::uint64_t{1} << places.unit_bits) - 1);
    const std::size_t byte = places.byte[unit];
    memory->bytes[byte] |= static_cast<std::byte>(bits << (places.part[unit] * places.unit_bits));
    if (!value.marks.empty()) memory->marks[byte] = MergeMarks(memory->marks[byte], value.marks[element]);
  }
  if (!places.sign_extended) return;
  for (std::byte& byte : memory->bytes)
    byte = static_cast<std::byte>(SignExtended(std::to_integer<std::uint64_t>(byte), places.memory_bits));
}

absl::Status WritesAPart(const RefInfo& info, const PackedPlaces& places) {
  return absl::UnimplementedError(
      Cat("a copy writes parts of bytes: '", info.name, "', whose elements are ", Name(info.dtype), ", is seen as ",
          Name(places.seen),
          ", and the view begins or ends inside of a byte; copy whole rows of the array, each of which is ",
          Info(info.dtype).bits / Info(places.seen).bits, " rows of the view"));
}

}  // namespace

absl::StatusOr<PackedOperand> PackedOperandOf(const ViewPlan& view, bool is_destination, const Step& step,
                                              Frame& frame) {
  const RefInfo& info = frame.program().refs[view.ref.index()];
  PointAccess units;
  ResolvePoints(view, step, frame, units);
  const std::int64_t parts = std::min(8, Info(info.dtype).bits) / view.unit_bits;
  auto places = std::make_shared<PackedPlaces>();
  places->units_per_element = units.pieces_per_element;
  places->unit_bits = view.unit_bits;
  places->seen = view.type.dtype;
  places->memory_bits = Info(info.dtype).bits;
  places->sign_extended = IsSigned(info.dtype) && places->memory_bits < 8;
  AsyncPoints points{.buffer = units.buffer};
  std::unordered_map<std::int64_t, std::uint32_t> known;  // by the byte's offset
  std::vector<std::int64_t> covered;                      // parts of each
  for (const std::int64_t unit : units.offset) {
    const std::int64_t offset = unit < 0 ? unit : unit / parts;
    const auto next = static_cast<std::uint32_t>(points.offset.size());
    const std::uint32_t byte = offset < 0 ? next : known.try_emplace(offset, next).first->second;
    if (byte == next) {
      points.offset.push_back(offset);
      covered.push_back(offset < 0 ? parts : 0);  // what lies outside is found where memory is touched
    }
    if (offset >= 0) ++covered[byte];
    places->byte.push_back(byte);
    places->part.push_back(static_cast<std::uint8_t>(unit < 0 ? 0 : unit % parts));
  }
  places->bytes = points.offset.size();
  const auto whole = [&](std::int64_t n) { return n == parts; };
  if (is_destination && !std::all_of(covered.begin(), covered.end(), whole)) return WritesAPart(info, *places);
  PackedOperand packed;
  packed.operand.bytes = ByteCount(static_cast<std::int64_t>(places->bytes));
  packed.operand.where = std::move(points);
  packed.places = std::move(places);
  return packed;
}

AsyncFunction PackedFunction(std::shared_ptr<const PackedPlaces> source,
                             std::shared_ptr<const PackedPlaces> destination) {
  return [source = std::move(source), destination = std::move(destination)](const std::vector<AsyncValue>& sources,
                                                                            std::vector<AsyncValue>* destinations) {
    AsyncValue seen;
    if (source != nullptr) seen = ValueOf(*source, sources[0]);
    const AsyncValue& value = source != nullptr ? seen : sources[0];
    AsyncValue& result = (*destinations)[0];
    if (destination != nullptr) return ToMemory(*destination, value, &result);
    result.bytes = value.bytes;
    result.marks = value.marks;
  };
}

}  // namespace palladion
