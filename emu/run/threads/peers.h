// Another block whose memory, barriers or semaphores a thread names, and the finding where no such block exists. Based
// on: distributed shared memory of CUDA's clusters, and device ids of Pallas' TPU copies. Limits: that a peer's block
// runs does not mean that it has allocated anything yet.
#ifndef PALLADION_EMU_RUN_THREADS_PEERS_H_
#define PALLADION_EMU_RUN_THREADS_PEERS_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "emu/run/threads/machine_base.h"

namespace palladion::threads {

class Peers {
 public:
  explicit Peers(const MachineBase& base) : base_(base) {}

  // The block with this index, which may lie outside of the grid; invalid: there is none, or it has been retired.
  BlockId At(absl::Span<const std::int64_t> index) const {
    return base_.shape.Has(index) ? base_.residents.At(base_.shape.NumberOf(index)) : BlockId{};
  }
  bool Runs(BlockId peer) const {
    if (!peer.valid()) return false;
    const Block& block = base_.residents.Of(peer);
    return block.running > 0 || (base_.shape.ends_together() && !base_.residents.ClusterOf(block.cluster).over);
  }
  // `what` of the block with that index the thread has reached for, and it is not to be had.
  void Report(AgentId thread, std::string_view what, absl::Span<const std::int64_t> index, const Site& site) const;
  // The same of an object whose bytes the block has given to another since.
  void ReportLeft(AgentId thread, std::string_view object, BlockId peer, const Site& site) const;
  // The same of a device that may not have entered the kernel yet, as far as the thread knows.
  void ReportEarly(AgentId thread, std::string_view what, const Block& peer, const Site& site) const;

 private:
  const MachineBase base_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_PEERS_H_
