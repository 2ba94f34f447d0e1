// The implicit order of operations in a tensor core, without a wait: a product comes after products of its shape and
// kind into its accumulator, and after all copies to tensor memory, if their issue happens before its own. Based on:
// PTX, "pipelined instructions" of tcgen05. Plain data: a copy is a snapshot. What it does not know: which operations
// are in flight (AsyncEngine), and the pairs of PTX that Pallas does not issue (shift).
#ifndef PALLADION_MEMORY_MODEL_ENGINE_PIPELINES_H_
#define PALLADION_MEMORY_MODEL_ENGINE_PIPELINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "memory_model/order/clock.h"
#include "memory_model/order/places.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

class Pipelines {
 public:
  // An operation that starts.
  struct Issue {
    AgentId operation;
    Epoch issued;   // its issuer, then
    AgentId owner;  // the thread that the issuer is, or is a warp of
    Place place;    // the issuer's
  };

  // What the operation follows; `fork`, what it knows, learns of their completion.
  std::vector<AgentId> Follow(const AsyncRequest& request, const Place& place, ClockBundle* fork) const;
  // From here on others may follow it. `told`: what its completion releases.
  void Add(const AsyncRequest& request, const Issue& issue, ClockBundle released);

  // Without operations of owners for which gone(owner) holds, and those that were dropped: neither is needed
  // again.
  template <class Gone>
  void Forget(const Gone& gone, Remaining& remaining) {
    const auto forget = [&](std::vector<Earlier>& all) {
      std::erase_if(all, [&](const Earlier& one) { return gone(one.owner) || remaining.Forgets(one.operation); });
      for (Earlier& one : all) one.released.Forget(remaining);
    };
    for (auto& [block, earlier] : of_block_) {
      forget(earlier.copies);
      for (auto& [into, products] : earlier.products) forget(products);
      std::erase_if(earlier.products, [](const auto& into) { return into.second.empty(); });
    }
    std::erase_if(of_block_,
                  [](const auto& block) { return block.second.copies.empty() && block.second.products.empty(); });
  }

 private:
  // Into which accumulator, in what shape, and of which kind.
  using Target = std::pair<std::vector<std::int64_t>, std::string>;
  struct Earlier {
    AgentId operation;
    Epoch issued;
    AgentId owner;
    ClockBundle released;
    bool last = false;  // of products: it follows all that were issued before it into its accumulator
  };
  struct OfBlock {
    std::vector<Earlier> copies;
    std::map<Target, std::vector<Earlier>> products;  // in the order of issue
  };

  static Target TargetOf(const AsyncRequest& request);

  std::map<Place, OfBlock> of_block_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ENGINE_PIPELINES_H_
