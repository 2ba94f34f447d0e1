// The arrays of a kernel call, as races see them: from when each is there, and, where several devices run the kernel
// together, which device owns it and how another device gets its own.
// Based on: Pallas, where a device's operand is named by another one's of the same number. Limits: memory without
// writes is not tracked, and has no races, but for the life of a GPU's array.
#ifndef PALLADION_EMU_RUN_THREADS_OPERAND_ARRAYS_H_
#define PALLADION_EMU_RUN_THREADS_OPERAND_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "emu/run/threads/gathered_clock.h"
#include "emu/run/threads/peers.h"

namespace palladion::threads {

class OperandArrays {
 public:
  // `peers` outlives it. `operands`: how many the kernel has. `races`: the model gets the end of their life.
  OperandArrays(const MachineBase& base, const Peers& peers, std::size_t operands, bool races)
      : base_(base),
        peers_(peers),
        operands_(operands),
        numbers_(2 * operands),
        races_(races && base.shape.gpus()),
        ended_(races_ ? static_cast<std::size_t>(base.shape.devices()) : 0) {}

  // The array is there before every thread. Where several devices run the kernel together, one of a device's, by the
  // operand's number: it is there when the device enters the kernel, and on a GPU before. `written`: a program writes
  // it.
  // Of an output, which begins undefined, `holds_nothing`.
  void Adopt(BufferId array, bool holds_nothing = false);
  struct Operand {
    std::int64_t device = 0;
    std::size_t number = 0;
    bool written = false;
    bool holds_nothing = false;
    CodeSite site = {};        // where it is declared
    bool second_core = false;  // the copy that a device's second core has of it
  };
  void AdoptOf(const Operand& operand, BufferId array);
  // The kernel before this one may not have ended yet, and writes the array.
  void WrittenBefore(BufferId array);

  // Of several TPUs, once all their blocks have been added, which they are before any runs: the devices enter the
  // kernel. `meet`: they wait for each other there, so each knows that the others have entered.
  void EnterDevices(bool meet);
  // Of several GPUs: the cluster has ended and is retired; and when the kernel has come to its end. A device's arrays
  // may be allocated again once all its blocks have ended.
  void ClusterRetires(std::int64_t number);
  void LeaveDevices();
  // Has the core released nothing but its device's entry?
  bool AtEntry(AgentId core) const { return base_.model.agents().NowOf(core) == kEntered; }

  // Is it one of several devices' arrays?
  bool Has(BufferId array) const { return operand_of_.contains(array.value); }
  // Of one of these: the same operand of the device of the peer of the thread's block.
  BufferId OfPeer(AgentId thread, BufferId array, absl::Span<const PeerCoordinate> where, const Site& site) const;
  std::int64_t DeviceOf(BufferId array) const;  // -1: it is no device's

 private:
  static constexpr std::uint32_t kEntered = 2;  // an agent's time once it has released its entry, and nothing else
  memory_model::TrackedBuffer Tracked(BufferId array, std::int64_t device) const;
  struct Declared {
    BufferId array;
    CodeSite site;
  };
  std::vector<Declared> ArraysOf(std::int64_t device, bool written) const;  // all, or those that are written
  void AllocAt(AgentId core, std::int64_t device);
  void Gather(const Block& block);

  const MachineBase base_;
  const Peers& peers_;
  const std::size_t operands_, numbers_;          // numbers: operands, and after them the copies of second cores
  std::vector<std::vector<BufferId>> of_device_;  // by device and number
  std::vector<bool> written_;                     // by number
  std::vector<CodeSite> sites_;                   // the same
  absl::flat_hash_map<std::int32_t, std::size_t> operand_of_;
  absl::flat_hash_set<std::int32_t> hold_nothing_;  // outputs
  const bool races_;
  std::vector<GatheredClock> ended_;  // what the threads knew that have ended, by device
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_OPERAND_ARRAYS_H_
