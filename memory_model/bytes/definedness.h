// Which bytes of a buffer are undefined. Whole buffers need no memory for it; marks (one byte per element, see
// Definedness in semantics/port/machine.h) exist only while some are and some are not, one per byte only after an
// access in pieces smaller than an element. Based on: Memcheck's and MSan's shadow memory, byte-exact, kept per element
// while that says the same. What it does not see: single bits.
#ifndef PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_H_
#define PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "memory_model/bytes/mark_rows.h"
#include "memory_model/sets/box.h"
#include "semantics/base/units.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

class BufferDefinedness {
 public:
  BufferDefinedness() = default;
  BufferDefinedness(ElementCount elements, ElementSize element_size)
      : elements_(elements.size()), element_bytes_(element_size.size()) {}

  bool all_defined() const { return marks_ == nullptr && whole_ == 0; }
  // The same of the elements of a box that lie in the array, whatever its mask admits.
  bool AllDefined(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach) const;
  void SetAll(DefinedMark mark);  // 0: all is defined

  // The elements of a box that lie in the array, to or from their places in the value's marks. `shape` is the buffer's.
  void LoadBox(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach,
               DefinedMark* value) const;
  // Lanes that the mask does not admit stay as they are; `value` nullptr: all defined. Where it is undefined whether a
  // lane takes part, its element is undefined. Whether undefined elements were stored.
  bool StoreBox(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach,
                const DefinedMark* value);

  // One piece of `bytes` bytes: a part of an element, or one or several whole ones (of a union of refs, whose elements
  // are bytes).
  DefinedMark LoadPiece(ByteCount offset, ByteCount bytes) const;
  void StorePiece(ByteCount offset, ByteCount bytes, DefinedMark mark);

  DefinedMark At(ElementCount element) const;

 private:
  struct Rows;
  DefinedMark* MarksOf(std::size_t element) { return marks_.get() + element * unit_; }
  void Materialise();    // marks, where there were none
  void Refine();         // one mark for each byte
  void DropIfDefined();  // no marks where all are 0
  bool Covers(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach) const;
  void Put(std::size_t element, DefinedMark mark);

  std::size_t elements_ = 0, element_bytes_ = 1;
  DefinedMark whole_ = 0;                 // without marks: of every element
  std::unique_ptr<DefinedMark[]> marks_;  // `unit_` for each element
  std::size_t unit_ = 1;                  // 1, or element_bytes_
  std::size_t undefined_ = 0;             // marks that are not 0
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_H_
