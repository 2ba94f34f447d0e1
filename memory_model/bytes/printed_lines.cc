#include "memory_model/bytes/printed_lines.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void PrintedLines::Add(std::string line) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 26, kLineCost = 64;
  bytes_ += line.size() + kLineCost;
  if (bytes_ <= kMaxBytes) {
    lines_.push_back(std::move(line));
    return;
  }
  if (dropped_++ > 0) lines_.pop_back();
  lines_.push_back(Cat("... ", dropped_, " more lines; a run keeps the first ", kMaxBytes, " bytes of debug_print"));
}

}  // namespace palladion::memory_model
