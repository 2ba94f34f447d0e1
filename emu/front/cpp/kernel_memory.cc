// Boxes of a kernel's memory.
#include <algorithm>

#include "emu/kernel.h"
#include "semantics/base/cat.h"

namespace palladion {

std::vector<KernelMemory::Dim>::iterator KernelMemory::Find(std::size_t dim) {
  auto at = dims_.begin();
  for (; at != dims_.end(); ++at) {
    if (!at->gone && dim-- == 0) return at;
  }
  throw KernelError(Cat("memory of ", shape().size(), " dimensions has no dimension ", shape().size() + dim,
                        ": `at` takes one away, `slice` keeps it"));
}

KernelMemory KernelMemory::at(std::int64_t index) const {
  KernelMemory part = *this;
  Dim& dim = *part.Find(0);
  dim.start += index;
  dim.count = 1;
  dim.gone = true;
  return part;
}

KernelMemory KernelMemory::slice(std::int64_t start, std::int64_t size, std::size_t dim) const {
  if (size < 0) throw KernelError(Cat("a slice has at least 0 elements; found ", size));
  KernelMemory part = *this;
  Dim& cut = *part.Find(dim);
  cut.start += start;
  cut.count = size;
  // What was outside the box of this memory stays outside, whichever part is requested.
  cut.lower = std::max(cut.lower, cut.start);
  cut.upper = std::min(cut.upper, cut.start + size);
  return part;
}

std::vector<std::int64_t> KernelMemory::shape() const {
  std::vector<std::int64_t> shape;
  for (const Dim& dim : dims_) {
    if (!dim.gone) shape.push_back(dim.count);
  }
  return shape;
}

}  // namespace palladion
