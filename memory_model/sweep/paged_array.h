// An array of which few elements may ever be set: pages of it exist from the first At, and what no page holds reads as
// T{}. For what a checker keeps of each element of a large array, of which a launch touches a part: memory that is
// never touched costs no page fault, which was half the time of a check of kernels with a cache of megabytes.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_PAGED_ARRAY_H_
#define PALLADION_MEMORY_MODEL_SWEEP_PAGED_ARRAY_H_

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace palladion::memory_model {

template <class T>
class PagedArray {
 public:
  T operator[](std::size_t i) const {
    const std::size_t page = i / kPage;
    return page < pages_.size() && pages_[page] != nullptr ? (*pages_[page])[i % kPage] : T{};
  }

  // The element, to be changed.
  T& At(std::size_t i) {
    const std::size_t page = i / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[i % kPage];
  }

  // Does it hold of every element of every page? The elements of a last page may go on behind the array.
  // fits(index, value).
  template <class Fits>
  bool AllOf(const Fits& fits) const {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      for (std::size_t i = 0; pages_[page] != nullptr && i < kPage; ++i) {
        if (!fits(page * kPage + i, (*pages_[page])[i])) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kPage = 256;
  using Page = std::array<T, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_PAGED_ARRAY_H_
