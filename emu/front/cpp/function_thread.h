// One thread of a FunctionKernel: its KernelContext, whose calls become requests to the machine's port. Before each
// request the thread yields to the scheduler, with what the request touches and waits for; then it is carried out at
// once.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_

#include <string>
#include <vector>

#include "emu/front/cpp/function_machine.h"
#include "emu/kernel.h"
#include "emu/run/threads/asking.h"
#include "emu/run/threads/footprints.h"
#include "scheduler/coroutine_agent.h"

namespace palladion {

// Thrown through the run loop when a function has failed; FunctionMachine::failed says how.
class FunctionFailed {};

// The running agent; none for an engine's phase.
class FunctionThread;
struct RunningThread {
  FunctionThread* thread = nullptr;
  scheduler::AgentContext* agent = nullptr;
};

class FunctionThread final : public KernelContext {
 public:
  // All outlive it. `index` is the thread's in the grid, its own number last.
  FunctionThread(FunctionMachine& machine, RunningThread& running, const threads::AgentsAround& around, AgentId id,
                 std::vector<std::int64_t> index);

  // Runs the function to its end. Throws FunctionFailed, AgentStopped.
  void Main(scheduler::AgentContext& agent);

  AgentId id() const { return id_; }
  LocId last_place() const { return site_.loc; }

  std::int64_t block(std::size_t dim) const override;
  std::int64_t blocks(std::size_t dim) const override;
  std::int64_t thread() const override { return index_.back(); }
  std::int64_t threads() const override { return machine_.threads(); }
  KernelMemory array(std::string_view name, CodePlace place) override;
  void print(std::string line) override { machine_.memory().Print(std::move(line)); }
  KernelMemory alloc(std::string name, DType dtype, std::vector<std::int64_t> shape, KernelScope scope,
                     CodePlace place) override;
  void free(const KernelMemory& memory, CodePlace place) override;
  Tensor load(const KernelMemory& memory, CodePlace place) override;
  void store(const KernelMemory& memory, const Tensor& value, CodePlace place) override;
  void copy_async(const KernelMemory& from, const KernelMemory& to, KernelBarrier arrives, CodePlace place) override;
  void copy_async(const KernelMemory& from, const KernelMemory& to, CodePlace place) override;
  void commit_copies(CodePlace place) override;
  void wait_copies(std::int64_t may_remain, bool read_only, CodePlace place) override;
  void commit_smem(CodePlace place) override;
  KernelBarrier make_barrier(std::string name, std::int64_t arrivals, std::int64_t count, CodePlace place) override;
  void arrive(KernelBarrier barrier, CodePlace place) override;
  void wait(KernelBarrier barrier, CodePlace place) override;
  bool test(KernelBarrier barrier, CodePlace place) override;
  void sync_block(CodePlace place) override;
  KernelSemaphore make_semaphore(std::string name, KernelScope scope, std::int64_t count, CodePlace place) override;
  void signal(KernelSemaphore semaphore, std::int64_t value, CodePlace place) override;
  void wait(KernelSemaphore semaphore, std::int64_t value, CodePlace place) override;
  std::int64_t read(KernelSemaphore semaphore, CodePlace place) override;

 protected:
  void LoadOne(const KernelMemory& memory, DType dtype, void* value, CodePlace place) override;
  void StoreOne(const KernelMemory& memory, DType dtype, const void* value, CodePlace place) override;
  void UpdateOne(AtomicOp op, const KernelMemory& memory, const AtomicOperands& operands, CodePlace place) override;

 private:
  // What a request does when the thread has been given up: one whose answer matters throws.
  enum class Answer : std::uint8_t { kNone, kMatters };
  bool Ask(const scheduler::Operation& operation, Answer answer);
  bool AskTo(const scheduler::Footprint& touch, Answer answer) {
    return Ask(scheduler::Operation{.footprint = touch, .loc = site_.loc}, answer);
  }
  bool Ask(const threads::MemoryRequest& request, Answer answer) { return AskTo(FootprintOf(request), answer); }
  bool Ask(const threads::SyncObjectRequest& request, Answer answer) {
    return AskTo(FootprintOf(gpu(), request), answer);
  }
  bool Ask(threads::OtherRequest request, Answer answer) { return AskTo(FootprintOf(request), answer); }
  bool GivenUp(Answer answer);

  threads::ThreadMachine& gpu() { return machine_.gpu(); }
  // The request's place, for all that follows.
  void At(const CodePlace& place) { site_.loc = machine_.places().IdOf(place); }
  [[noreturn]] void Refuse(const std::string& what);
  [[noreturn]] void Refuse(const absl::Status& status);

  using Object = FunctionMachine::Object;
  Object& ObjectOf(const KernelMemory& memory);
  bool Usable(const Object& object);  // false: it was given back, and a finding says so
  BoxAccess BoxOf(const KernelMemory& memory, const Object& object) const;
  void ExpectOne(const KernelMemory& memory, const Object& object, DType dtype, std::string_view what);
  void ExpectWritable(const Object& object, std::string_view what);
  void Load(const KernelMemory& memory, const Object& object, std::byte* value);
  void LookAtMarks(const Definedness& defined, std::int64_t elements, const std::string& name);
  void Copy(const KernelMemory& from, const KernelMemory& to, const KernelBarrier* arrives);
  void ExpectCopy(const KernelMemory& from, const KernelMemory& to, bool into_shared);

  template <class Tag>
  SyncElement ElementOf(const KernelSync<Tag>& sync, std::string_view what);
  template <class Tag>
  KernelSync<Tag> MakeSync(SyncRequest request, KernelScope scope);
  void WaitFor(const WaitTarget& target);
  void Expect(const absl::Status& status) {
    if (!status.ok()) Refuse(status);
  }

  FunctionMachine& machine_;
  RunningThread& running_;
  const AgentId id_;
  const std::vector<std::int64_t> index_;
  std::int64_t block_ = 0;  // its number
  Site site_;
  scheduler::AgentContext* agent_ = nullptr;
  threads::ThreadWait wait_;
  bool stopped_ = false;
  int silent_ = 0;  // requests since then
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_THREAD_H_
