// What all threads of one run of a FunctionKernel share: memory, the GPU machine over it, the places of the source, and
// what the handles of KernelMemory, KernelBarrier and KernelSemaphore stand for. It is the machine of kernel text,
// used through the same port; there is no program, only the shape of the launch.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_MACHINE_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_MACHINE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/front/cpp/code_places.h"
#include "emu/kernel.h"
#include "emu/run/launch/run.h"
#include "emu/run/threads/thread_accesses.h"
#include "emu/run/threads/thread_machine.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/order/atomic_order.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/program.h"

namespace palladion {

// Accesses of threads, whose atomic updates order what they guard.
class FunctionAccesses final : public threads::ThreadAccesses {
 public:
  using ThreadAccesses::ThreadAccesses;
  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc};
  }
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Free(const Who& who, BufferId buffer) override;

 private:
  std::map<BufferId, memory_model::AtomicOrder> atomics_;
};

class FunctionMachine {
 public:
  // All outlive it, and so do the arrays of Bind.
  FunctionMachine(const FunctionKernel& kernel, const agents::LaunchOptions& options, CodePlaces& places);
  FunctionMachine(const FunctionMachine&) = delete;
  FunctionMachine& operator=(const FunctionMachine&) = delete;

  // Inputs fit the kernel, outputs are of its types.
  void Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs);
  // After the last thread has ended.
  void Finish();

  const FunctionKernel& kernel() const { return kernel_; }
  std::int64_t threads() const { return static_cast<std::int64_t>(kernel_.threads.size()); }
  memory_model::Memory& memory() { return memory_; }
  threads::ThreadMachine& gpu() { return gpu_; }
  CodePlaces& places() { return places_; }
  std::int64_t threads_in_all() const;
  bool definedness() const { return options_.definedness; }

  // The launch as a program has it: its dimensions, and its operands, inputs first. Without steps.
  static Program ShapeOf(const FunctionKernel& kernel);
  static AgentNaming NamingOf(const FunctionKernel& kernel) {
    return {.blocks = true, .thread_index = true, .many_threads = kernel.threads.size() > 1};
  }

  // What handles stand for.
  struct Object {
    BufferId buffer;
    std::string name;
    PlaceLevel memory = PlaceLevel::kDevice;
    std::int64_t block = -1;  // whose it is; -1: the grid's
    bool is_input = false;
    std::optional<CodeSite> left = {};  // where its thread gave it back
  };
  struct SyncObject {
    SyncId array;
    std::string name;
    std::int64_t count = 1;
    std::int64_t block = -1;
  };
  KernelMemory HandleOf(Object object);
  std::uint64_t run() const { return run_; }
  std::vector<Object>& objects() { return objects_; }
  std::vector<SyncObject>& syncs() { return syncs_; }
  std::optional<KernelMemory> ArrayOf(std::string_view name) const;

  // Everyone who allocates by one name means the same object. The type that was given to the name before, where it is
  // another one than `type`.
  struct Named {
    AllocationPlace place;
    std::string differs = {};
  };
  Named NameOf(const std::string& name, const std::string& type, KernelScope scope);

  // The first error of a function ends the run.
  void Fail(absl::Status status) {
    if (failed_.ok()) failed_ = std::move(status);
  }
  const absl::Status& failed() const { return failed_; }

  std::vector<Finding> Findings() const;
  std::int64_t definedness_checks() const { return checks_; }

 private:
  static std::vector<std::int64_t> GridOf(const FunctionKernel& kernel);
  void BindOutput(const KernelOutput& declared, const MutableArray& array, absl::Span<const ConstArray> inputs);

  const FunctionKernel& kernel_;
  const agents::LaunchOptions& options_;
  CodePlaces& places_;
  const Program program_;  // without steps
  memory_model::Memory memory_;
  threads::ThreadMachine gpu_;
  FunctionAccesses accesses_;
  const std::uint64_t run_;
  std::vector<Object> objects_;
  std::vector<SyncObject> syncs_;
  std::map<std::string, std::int32_t, std::less<>> arrays_;
  std::vector<BufferId> operands_;  // inputs first
  std::map<std::string, std::pair<std::int64_t, std::string>> names_;
  absl::Status failed_;
  std::int64_t checks_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_MACHINE_H_
