#include "semantics/port/value_view.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "semantics/tensor/copy_box.h"

namespace palladion {
namespace {

using CopyDims = absl::InlinedVector<CopyDim, 4>;

// From the view to a dense value; the other way round, its two sides are swapped.
CopyDims ToDense(const ValueView& view, ElementSize element_size) {
  CopyDims dims(view.dims.size());
  std::int64_t dense = element_size.value();
  for (std::size_t d = dims.size(); d-- > 0; dense *= view.dims[d].count) {
    dims[d] = {ElementCount(view.dims[d].count), ByteCount(view.dims[d].stride), ByteCount(dense)};
  }
  return dims;
}

}  // namespace

ElementCount ValueView::elements() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.count;
  return ElementCount(count);
}

const std::byte* ValueView::End(ElementSize element_size) const {
  const std::byte* end = data + element_size.value();
  for (const Dim& dim : dims) end += (dim.count - 1) * dim.stride;
  return end;
}

bool ValueView::Meets(const ValueView& other, ElementSize element_size) const {
  return data < other.End(element_size) && other.data < End(element_size);
}

void CopyOut(const ValueView& view, ElementSize element_size, std::byte* to) {
  CopyBox(view.data, to, ToDense(view, element_size), element_size);
}

void CopyIn(const std::byte* from, ElementSize element_size, const ValueView& view) {
  CopyDims dims = ToDense(view, element_size);
  for (CopyDim& dim : dims) std::swap(dim.source_stride, dim.destination_stride);
  CopyBox(from, view.data, dims, element_size);
}

}  // namespace palladion
