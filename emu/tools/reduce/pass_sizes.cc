// Sizes of arrays, blocks and what bodies compute. Equal sizes change together (emu/tools/edit/resize.h), and in two
// ways: only where a size must stand, or also every equal number of the text.
#include <set>

#include "emu/tools/edit/resize.h"
#include "emu/tools/reduce/pass.h"
#include "emu/tools/reduce/shrink_number.h"

namespace palladion::reduce {
namespace {

// In ascending order: the largest is tried first.
std::set<std::int64_t> SizesOf(const Kernel& kernel) {
  std::set<std::int64_t> sizes;
  for (const ValueInfo& info : kernel.values) {
    for (const std::int64_t size : info.type.shape) {
      if (size > 1) sizes.insert(size);
    }
  }
  return sizes;
}

void Try(State& state, Chooser& chooser, const std::function<std::int64_t(std::int64_t)>& size) {
  for (const bool numbers : {true, false}) {
    if (chooser.Take()) edit::Resize(state.kernel(), {.size = size, .arrays = true, .numbers = numbers});
  }
}

}  // namespace

// All multiples of a size divided by one number: an array and its blocks keep their ratio, and the grid fits.
void DivideSizes(State& state, Chooser& chooser) {
  for (const std::int64_t base : SizesOf(state.kernel())) {
    for (const std::int64_t by :
         {std::int64_t{2}, std::int64_t{3}, std::int64_t{5}, std::int64_t{7}, base / 8, base / 4, base / 2, base}) {
      if (by < 2 || base % by != 0) continue;
      Try(state, chooser, [=](std::int64_t size) { return size % base == 0 ? size / by : size; });
    }
  }
}

void ShrinkSizes(State& state, Chooser& chooser) {
  for (const std::int64_t from : SizesOf(state.kernel())) {
    for (const std::int64_t to : SmallerThan(from, 1))
      Try(state, chooser, [=](std::int64_t size) { return size == from ? to : size; });
  }
}

}  // namespace palladion::reduce
