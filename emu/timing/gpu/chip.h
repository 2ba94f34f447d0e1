// The resources of a GPU that operations queue for: of each SM the tensor cores, in each of its quadrants the issue
// slot and the pipes, the port of shared memory and the copy engine; of the chip L2 and DRAM. A request gives its start
// time, and gets its end time. Based on: costs.h. An instruction of the tensor cores reads shared memory while it runs,
// with priority over copies that share its port; sectors in L2 arrive faster than others, and stored ones go to DRAM
// once, too (l2_cache.h). Limits: copies and products have no bank conflicts; a copy's requests are not limited in
// number.
#ifndef PALLADION_EMU_TIMING_GPU_CHIP_H_
#define PALLADION_EMU_TIMING_GPU_CHIP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "emu/timing/gpu/costs.h"
#include "emu/timing/gpu/l2_cache.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

class GpuChip {
 public:
  explicit GpuChip(const GpuCosts& costs);

  // On each of `sms`, requested at `at`. Returns when the result is ready and the operands may be written again.
  scheduler::Ticks Multiply(absl::Span<const std::int64_t> sms, scheduler::Ticks at, const TensorWork& work);
  // The copy has landed in shared memory. `at`: its issue is over.
  scheduler::Ticks Load(std::int64_t sm, scheduler::Ticks at, const GlobalBox& box) { return Load({&sm, 1}, at, box); }
  // Into that of several SMs of a cluster, of which the first one's copy engine fetches it.
  scheduler::Ticks Load(absl::Span<const std::int64_t> sms, scheduler::Ticks at, const GlobalBox& box);
  struct Stored {
    scheduler::Ticks read, written;  // shared memory may be used again; it is in global memory
  };
  Stored Store(std::int64_t sm, scheduler::Ticks at, const GlobalBox& box);
  // An operation in registers, by a warp in each quadrant, or by one: the result is there.
  static constexpr std::int64_t kAllQuadrants = -1;
  scheduler::Ticks Compute(std::int64_t sm, scheduler::Ticks at, const Burst& burst,
                           std::int64_t quadrant = kAllQuadrants);
  // Loads or stores of tensor memory by threads: `burst.slot` of its port.
  scheduler::Ticks LoadTensor(std::int64_t sm, scheduler::Ticks at, const Burst& burst);
  scheduler::Ticks StoreTensor(std::int64_t sm, scheduler::Ticks at, const Burst& burst);
  // Loads or stores of shared memory by threads: so long through its port, of which bank conflicts are a part.
  struct PortUse {
    machines::Cycles time, conflicts;
  };
  scheduler::Ticks Access(std::int64_t sm, scheduler::Ticks at, const PortUse& use);
  // The same of global memory: the values are there; the stores have been given to L2.
  scheduler::Ticks LoadDirectly(std::int64_t sm, scheduler::Ticks at, const GlobalBox& box);
  scheduler::Ticks StoreDirectly(std::int64_t sm, scheduler::Ticks at, const GlobalBox& box);
  // ---- For what is done in the memory of another device, or by another device in this one's (node.h).
  scheduler::Ticks AskPort(std::int64_t sm, scheduler::Ticks at, machines::Bytes bytes);   // it is through
  scheduler::Ticks AskEngine(std::int64_t sm, scheduler::Ticks at, const GlobalBox& box);  // the last row is requested
  scheduler::Ticks Land(std::int64_t sm, scheduler::Ticks at, machines::Bytes bytes);      // in shared memory
  scheduler::Ticks Give(scheduler::Ticks at, const GlobalBox& box);                        // L2 has it
  // When the values of loads by threads, which have gone through the port by `asked`, have arrived.
  scheduler::Ticks Read(scheduler::Ticks at, scheduler::Ticks requested, const GlobalBox& box);
  scheduler::Ticks TakeThrough(scheduler::Ticks at, const GlobalBox& box);  // of a store: DRAM has it, too
  scheduler::Ticks Take(scheduler::Ticks at, const GlobalBox& box);         // the same, of a store

  // There are no requests for an earlier time any more: of operations in registers, of L2 and DRAM, and of what else
  // copies and products use, which are requested for when their thread came to them.
  struct Past {
    scheduler::Ticks registers, memory, products;
  };
  void Forget(const Past& past) { past_ = past; }

  // Hears when units of one SM are busy; of its quadrants the first one's.
  using UnitWatcher = std::function<void(std::string_view unit, const scheduler::Server::Piece& piece)>;
  void WatchUnits(std::int64_t sm, UnitWatcher watcher) {
    watched_ = &At(sm);
    watcher_ = std::move(watcher);
  }

  struct Traffic {
    // Bytes of sectors that L2 was to read or write, and those that it did not have. What it wrote back to DRAM belongs
    // to no array.
    std::int64_t read = 0, written = 0, missed = 0;
  };
  Traffic traffic(std::int64_t array) const {
    const auto at = static_cast<std::size_t>(array);
    return at < traffic_.size() ? traffic_[at] : Traffic{};
  }
  // Through DRAM with an L2 that lets go of nothing: what is there first and read, and what is written, each once.
  std::int64_t least_dram_bytes() const;

  struct Use {
    scheduler::Ticks tensor, issue, port, engine, tensor_loads, tensor_stores;  // of all SMs together
    std::array<scheduler::Ticks, kPipes> pipes{};                               // as issue: the mean of the quadrants
    scheduler::Ticks conflicts;                                                 // of the port's
    scheduler::Ticks l2, dram;
    std::int64_t l2_bytes = 0, dram_bytes = 0;  // read and written there
    void Add(const Use& other);
    void AddShare(double share);  // that much more of all but DRAM
  };
  Use use() const;

  // Of an SM and of the chip, since the last call: for callers before and after an operation.
  struct Recent {
    scheduler::Server::Recent issue, port, tensor_loads, tensor_stores, l2, dram, link;
  };
  Recent TakeRecent(std::int64_t sm);

 private:
  struct Quadrant {
    scheduler::Server issue;
    std::array<scheduler::Server, kPipes> pipes;
  };
  struct Sm {
    scheduler::Server tensor, port, engine, landing, tensor_loads, tensor_stores;
    std::vector<Quadrant> quadrants;
    scheduler::Server reads;  // of the port, by products alone
  };
  // Occupies a unit of that SM for a time, and passes that to the watcher.
  scheduler::Ticks Serve(const Sm& sm, std::string_view unit, scheduler::Server& server, scheduler::Ticks at,
                         scheduler::Ticks time);
  // Bytes of a box, once through L2 and where necessary through DRAM. `asked`: when the last was requested. `near`,
  // `far`: the latency from then on of what L2 has, and of what it does not have.
  struct Route {
    scheduler::Ticks requested, near, far;
  };
  struct Fetched {
    scheduler::Ticks first, last;  // bytes are there, where nothing keeps the first waiting
  };
  Fetched Fetch(scheduler::Ticks at, const GlobalBox& box, const Route& way);
  machines::Bytes BytesOf(std::int64_t sectors) const { return static_cast<double>(sectors) * costs_.l2_sector; }
  // When DRAM has it.
  scheduler::Ticks Write(scheduler::Ticks at, const GlobalBox& box, scheduler::Ticks* taken);
  void ForgetMemory();
  Traffic& TrafficOf(std::int64_t array);
  Sm& At(std::int64_t sm) { return sms_[static_cast<std::size_t>(sm)]; }

  const GpuCosts costs_;
  std::vector<Sm> sms_;
  scheduler::Server l2_, dram_;
  Past past_;
  L2Cache cache_;
  std::vector<Traffic> traffic_;  // by array
  std::int64_t l2_bytes_ = 0, dram_bytes_ = 0;
  scheduler::Ticks conflicts_;
  const Sm* watched_ = nullptr;
  UnitWatcher watcher_;
  std::vector<scheduler::Server::Piece> pieces_;
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_CHIP_H_
