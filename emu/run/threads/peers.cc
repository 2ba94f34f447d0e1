#include "emu/run/threads/peers.h"

#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion::threads {

void Peers::Report(AgentId thread, std::string_view what, absl::Span<const std::int64_t> index,
                   const Site& site) const {
  const LaunchShape& shape = base_.shape;
  const bool begun = shape.Has(index) && base_.residents.HasBegun(shape.NumberOf(index));
  const bool device = !shape.HasDevice(index) || shape.tpus() || shape.cores();
  const std::string ended = AgentName(NamingOf(shape.program()), index);
  base_.memory.Report(
      {.code = FindingCode::kPeerLifetime,
       .message = Cat(base_.model.agents().NameOf(thread), " accesses ", what, " ", shape.WhyNoPeer(index, begun)),
       .loc = site.loc,
       .text_line = site.text_line,
       .fix = device && begun ? Cat("let ", ended, " wait for a signal from after the access before it ends")
              : device        ? "name a device, or a core, of the mesh: numbers from 0 to the size less 1"
              : begun         ? "put a plgpu.ClusterBarrier after the access, at which that block waits before it ends"
                      : "name a block of the cluster, and let a cluster barrier order the access within the life of "
                        "its memory"});
}

void Peers::ReportEarly(AgentId thread, std::string_view what, const Block& peer, const Site& site) const {
  const std::string device = base_.shape.DeviceNameOf(base_.shape.DeviceOf(peer.index));
  base_.memory.Report({.code = FindingCode::kPeerLifetime,
                       .message = Cat(base_.model.agents().NameOf(thread), " signals ", what, " of ", device,
                                      ", which may not have entered the kernel yet"),
                       .loc = site.loc,
                       .text_line = site.text_line,
                       .why = Cat("nothing orders the signal after the entry of ", device),
                       .fix = "let the devices meet first, with the barrier semaphore of a collective id, which is "
                              "there before they enter (pltpu.get_barrier_semaphore)"});
}

void Peers::ReportLeft(AgentId thread, std::string_view object, BlockId peer, const Site& site) const {
  const std::string block = base_.shape.BlockNameOf(base_.residents.Of(peer).index);
  base_.memory.Report({.code = FindingCode::kPeerLifetime,
                       .message = Cat(base_.model.agents().NameOf(thread), " accesses '", object, "' of ", block,
                                      ", which has left the scope and reuses the bytes for another allocation"),
                       .loc = site.loc,
                       .text_line = site.text_line,
                       .fix = Cat("let ", block, " wait for the access before it leaves the scope")});
}

}  // namespace palladion::threads
