// One thread of a FunctionKernel: its KernelContext. Each call names its place and becomes a request for memory, for a
// copy, or for a barrier or semaphore.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_

#include <string>
#include <utility>
#include <vector>

#include "emu/front/cpp/function_copies.h"
#include "emu/front/cpp/function_machine.h"
#include "emu/front/cpp/function_memory.h"
#include "emu/front/cpp/function_requests.h"
#include "emu/front/cpp/function_syncs.h"
#include "emu/kernel.h"

namespace palladion {

// Thrown through the run loop when a function has failed; FunctionMachine::failed says how.
class FunctionFailed {};

class FunctionThread final : public KernelContext {
 public:
  // All outlive it. `index` is the thread's in the grid, its own number last.
  FunctionThread(FunctionMachine& machine, RunningThread& running, const threads::AgentsAround& around, AgentId id,
                 std::vector<std::int64_t> index)
      : machine_(machine), requests_(machine, running, around, id, std::move(index)) {}

  // Runs the function to its end. Throws FunctionFailed, AgentStopped.
  void Main(scheduler::AgentContext& agent);

  AgentId id() const { return requests_.id(); }
  LocId last_place() const { return requests_.site().loc; }

  std::int64_t block(std::size_t dim) const override;
  std::int64_t blocks(std::size_t dim) const override;
  std::int64_t thread() const override { return requests_.index().back(); }
  std::int64_t threads() const override { return machine_.threads(); }
  void print(std::string line) override { machine_.memory().Print(std::move(line)); }

  KernelMemory array(std::string_view name, CodePlace place) override { return MemoryAt(place).ArrayOf(name); }
  KernelMemory alloc(std::string name, DType dtype, std::vector<std::int64_t> shape, KernelScope scope,
                     CodePlace place) override {
    return MemoryAt(place).Alloc(std::move(name), dtype, std::move(shape), scope);
  }
  void free(const KernelMemory& memory, CodePlace place) override { MemoryAt(place).Free(memory); }
  Tensor load(const KernelMemory& memory, CodePlace place) override { return MemoryAt(place).Load(memory); }
  void store(const KernelMemory& memory, const Tensor& value, CodePlace place) override {
    MemoryAt(place).Store(memory, value);
  }

  void copy_async(const KernelMemory& from, const KernelMemory& to, KernelBarrier arrives, CodePlace place) override {
    CopiesAt(place).Copy(from, to, &arrives);
  }
  void copy_async(const KernelMemory& from, const KernelMemory& to, CodePlace place) override {
    CopiesAt(place).Copy(from, to, nullptr);
  }
  void commit_copies(CodePlace place) override { CopiesAt(place).Commit(); }
  void wait_copies(std::int64_t may_remain, bool read_only, CodePlace place) override {
    CopiesAt(place).Wait(may_remain, read_only);
  }
  void commit_smem(CodePlace place) override { CopiesAt(place).FenceShared(); }

  KernelBarrier make_barrier(std::string name, std::int64_t arrivals, std::int64_t count, CodePlace place) override {
    return SyncsAt(place).MakeBarrier(std::move(name), arrivals, count);
  }
  void arrive(KernelBarrier barrier, CodePlace place) override { SyncsAt(place).Arrive(barrier); }
  void wait(KernelBarrier barrier, CodePlace place) override { SyncsAt(place).Wait(barrier); }
  bool test(KernelBarrier barrier, CodePlace place) override { return SyncsAt(place).Test(barrier); }
  void sync_block(CodePlace place) override { SyncsAt(place).SyncBlock(); }
  KernelSemaphore make_semaphore(std::string name, KernelScope scope, std::int64_t count, CodePlace place) override {
    return SyncsAt(place).MakeSemaphore(std::move(name), scope, count);
  }
  void signal(KernelSemaphore semaphore, std::int64_t value, CodePlace place) override {
    SyncsAt(place).Signal(semaphore, value);
  }
  void wait(KernelSemaphore semaphore, std::int64_t value, CodePlace place) override {
    SyncsAt(place).Wait(semaphore, value);
  }
  std::int64_t read(KernelSemaphore semaphore, CodePlace place) override { return SyncsAt(place).Read(semaphore); }

 protected:
  void LoadOne(const KernelMemory& memory, DType dtype, void* value, CodePlace place) override {
    MemoryAt(place).LoadOne(memory, dtype, value);
  }
  void StoreOne(const KernelMemory& memory, DType dtype, const void* value, CodePlace place) override {
    MemoryAt(place).StoreOne(memory, dtype, value);
  }
  void UpdateOne(AtomicOp op, const KernelMemory& memory, const AtomicOperands& operands, CodePlace place) override {
    MemoryAt(place).Update(memory, {op, operands.dtype, operands.value, operands.expected, operands.old});
  }

 private:
  FunctionMemory& MemoryAt(const CodePlace& place) {
    requests_.At(place);
    return memory_;
  }
  FunctionCopies& CopiesAt(const CodePlace& place) {
    requests_.At(place);
    return copies_;
  }
  FunctionSyncs& SyncsAt(const CodePlace& place) {
    requests_.At(place);
    return syncs_;
  }

  FunctionMachine& machine_;
  FunctionRequests requests_;
  FunctionMemory memory_{requests_};
  FunctionSyncs syncs_{requests_};
  FunctionCopies copies_{requests_, memory_, syncs_};
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_
