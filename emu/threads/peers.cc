#include "emu/threads/peers.h"

#include "semantics/base/cat.h"

namespace palladion::threads {

void Peers::Report(AgentId thread, std::string_view what, absl::Span<const std::int64_t> index,
                   const Site& site) const {
  const LaunchShape& shape = base_.shape;
  const bool begun = shape.Has(index) && base_.residents.HasBegun(shape.NumberOf(index));
  base_.memory.Report(
      {.code = FindingCode::kPeerLifetime,
       .message = Cat(base_.model.agents().NameOf(thread), " reaches for ", what, " ", shape.WhyNoPeer(index, begun)),
       .loc = site.loc,
       .text_line = site.text_line,
       .fix = shape.several_devices() || shape.cores()
                  ? "name a device, or a core, of the mesh: numbers from 0 to the size less 1"
                  : "name a block of the cluster, and let a cluster barrier order the access within "
                    "the life of its memory"});
}

}  // namespace palladion::threads
