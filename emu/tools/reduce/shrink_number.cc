#include "emu/tools/reduce/shrink_number.h"

#include <algorithm>

namespace palladion::reduce {

std::vector<std::int64_t> SmallerThan(std::int64_t number, std::int64_t least) {
  std::vector<std::int64_t> smaller;
  for (const std::int64_t to : {number - 1, number / 2, least + 2, least + 1, least}) {
    const bool known = std::find(smaller.begin(), smaller.end(), to) != smaller.end();
    if (to >= least && to < number && !known) smaller.push_back(to);
  }
  std::sort(smaller.rbegin(), smaller.rend());
  return smaller;
}

void ShrinkNumber(std::int64_t& number, std::int64_t least, Chooser& chooser) {
  std::int64_t chosen = number;
  for (const std::int64_t to : SmallerThan(number, least)) {
    if (chooser.Take()) chosen = to;
  }
  number = chosen;
}

}  // namespace palladion::reduce
