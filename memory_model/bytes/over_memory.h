// A machine layered over a Memory: requests that the machine does not handle itself go to the memory. Engines and
// barriers are the machine's own.
#ifndef PALLADION_MEMORY_MODEL_BYTES_OVER_MEMORY_H_
#define PALLADION_MEMORY_MODEL_BYTES_OVER_MEMORY_H_

#include <string>
#include <string_view>
#include <utility>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {

class OverMemory : public Machine {
 public:
  // It outlives the machine.
  explicit OverMemory(Memory& memory) : memory_(memory) {}

  void Running(const RunningAgent& now) override { memory_.Running(now); }
  absl::StatusOr<BufferId> Alloc(const AllocRequest& request) override { return memory_.Alloc(request); }
  void Free(BufferId buffer) override { memory_.Free(buffer); }
  void Poison(BufferId buffer) override { memory_.Poison(buffer); }
  void Load(const BoxAccess& access, std::byte* value) override { memory_.Load(access, value); }
  void Load(const PointAccess& access, std::byte* value) override { memory_.Load(access, value); }
  void Store(const BoxAccess& access, const std::byte* value) override { memory_.Store(access, value); }
  void Store(const PointAccess& access, const std::byte* value) override { memory_.Store(access, value); }
  void Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
              std::byte* old) override {
    memory_.Atomic(access, fn, operand, compare, old);
  }
  const std::byte* Borrow(const BoxAccess& access) override { return memory_.Borrow(access); }
  QueueId QueueOf(AsyncQueue queue) override { return memory_.QueueOf(queue); }
  absl::Status Start(AsyncRequest&& request) override { return memory_.Start(std::move(request)); }
  absl::Status Wait(const WaitTarget& target, const Site& site) override { return memory_.Wait(target, site); }
  absl::Status Make(Fence fence, const Site& site) override { return memory_.Make(fence, site); }
  void Print(std::string line) override { memory_.Print(std::move(line)); }
  void Report(Finding finding) override { memory_.Report(std::move(finding)); }
  std::uint8_t MarkOfValue(const Finding& finding, const Site& site) override {
    return memory_.MarkOfValue(finding, site);
  }
  void ReportUndefined(std::uint8_t mark, std::string_view use, const Site& site) override {
    memory_.ReportUndefined(mark, use, site);
  }

 protected:
  Memory& memory_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_OVER_MEMORY_H_
