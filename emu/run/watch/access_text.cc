#include "emu/run/watch/access_text.h"

#include "semantics/base/cat.h"

namespace palladion::watch {

std::string BoxText(const BoxAccess& access) {
  std::string text = "[";
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    if (d > 0) text += ", ";
    const std::int64_t start = access.start[d], step = access.step[d];
    Append(&text, start);
    if (access.count[d] == 1) continue;
    Append(&text, ":", start + access.count[d] * step);
    if (step != 1) Append(&text, ":", step);
  }
  return text + "]";
}

}  // namespace palladion::watch
