// One, two, ... slots more, and fewer, of each ring: copies may be further ahead, or shared memory is left for other
// blocks.
#include <cstdint>
#include <string>

#include "emu/tools/advice/change.h"
#include "emu/tools/advice/ring.h"
#include "semantics/base/cat.h"

namespace palladion::advice {
namespace {

constexpr std::int64_t kMore[] = {1, 2, 3, 4, -1, -2, -3, -4};

std::string MoreText(std::int64_t more) {
  if (more == 1) return "one more slot";
  if (more == -1) return "one slot fewer";
  return more > 0 ? Cat(more, " more slots") : Cat(-more, " slots fewer");
}

}  // namespace

Found FindSlots(const Module& module) {
  Found found;
  Module seen = module;
  const std::vector<Ring> rings = FindRings(seen);
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const Ring& ring = rings[i];
    if (!ring.unsure.empty()) {
      found.not_tried.push_back({Cat("slots of ring ", ring.names), ring.text_line, ring.loc, ring.unsure});
      continue;
    }
    for (const std::int64_t more : kMore) {
      const std::int64_t slots = ring.slots + more;
      if (slots < 1) continue;
      Candidate candidate{.what = Cat(MoreText(more), " of ring ", ring.names, ", ", slots, " for ", ring.slots),
                          .text_line = ring.text_line,
                          .loc = ring.loc,
                          .same_traffic = true,
                          .series = Cat(more > 0 ? "more" : "fewer", " slots of ring ", i),
                          .module = module};
      Kernel& kernel = candidate.module.kernels[0];
      SetSlots(kernel, FindRings(candidate.module)[i], slots);
      found.candidates.push_back(std::move(candidate));
    }
  }
  return found;
}

}  // namespace palladion::advice
