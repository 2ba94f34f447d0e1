// Where the elements of a value lie in memory, for code that reads or writes them in place. Based on: strided arrays.
// What it does not know: the owner of the memory, and the element type.
#ifndef PALLADION_SEMANTICS_PORT_VALUE_VIEW_H_
#define PALLADION_SEMANTICS_PORT_VALUE_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "semantics/base/units.h"

namespace palladion {

// Dimensions as a box has them, outermost first, without those of one element. No stride is negative.
struct ValueView {
  struct Dim {
    std::int64_t count, stride;  // elements, bytes
    friend bool operator==(const Dim& a, const Dim& b) { return a.count == b.count && a.stride == b.stride; }
  };
  std::byte* data = nullptr;
  std::vector<Dim> dims;

  ElementCount elements() const;
  const std::byte* End(ElementSize element_size) const;  // of the last element
  // May an element of the two be the same? Bytes between a view's elements count as its own.
  bool Meets(const ValueView& other, ElementSize element_size) const;
  friend bool operator==(const ValueView& a, const ValueView& b) { return a.data == b.data && a.dims == b.dims; }
};

// All elements, row-major.
void CopyOut(const ValueView& view, ElementSize element_size, std::byte* to);
void CopyIn(const std::byte* from, ElementSize element_size, const ValueView& view);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_VALUE_VIEW_H_
