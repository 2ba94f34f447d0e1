// Barriers and semaphores that one thread of a FunctionKernel uses: what its handles stand for, arrivals and waits.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_SYNCS_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_SYNCS_H_

#include <string>
#include <string_view>

#include "emu/front/cpp/function_requests.h"

namespace palladion {

class FunctionSyncs {
 public:
  // It outlives this.
  explicit FunctionSyncs(FunctionRequests& requests) : requests_(requests), machine_(requests.machine()) {}

  KernelBarrier MakeBarrier(std::string name, std::int64_t arrivals, std::int64_t count);
  void Arrive(KernelBarrier barrier);
  void Wait(KernelBarrier barrier);
  bool Test(KernelBarrier barrier);
  void SyncBlock();
  KernelSemaphore MakeSemaphore(std::string name, KernelScope scope, std::int64_t count);
  void Signal(KernelSemaphore semaphore, std::int64_t value);
  void Wait(KernelSemaphore semaphore, std::int64_t value);
  std::int64_t Read(KernelSemaphore semaphore);

  SyncElement ElementOf(KernelBarrier barrier);

 private:
  using Answer = FunctionRequests::Answer;
  template <class Tag>
  SyncElement ElementOf(const KernelSync<Tag>& sync, std::string_view what);
  template <class Tag>
  KernelSync<Tag> MakeSync(SyncRequest request, KernelScope scope);

  FunctionRequests& requests_;
  FunctionMachine& machine_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_SYNCS_H_
