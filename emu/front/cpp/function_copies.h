// Asynchronous copies that one thread of a FunctionKernel requests, and the fence before what they read.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_COPIES_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_COPIES_H_

#include "emu/front/cpp/function_memory.h"
#include "emu/front/cpp/function_requests.h"
#include "emu/front/cpp/function_syncs.h"

namespace palladion {

class FunctionCopies {
 public:
  // All outlive it.
  FunctionCopies(FunctionRequests& requests, FunctionMemory& memory, FunctionSyncs& syncs)
      : requests_(requests), memory_(memory), syncs_(syncs) {}

  // Into shared memory, at whose end it arrives, or out of it: nullptr.
  void Copy(const KernelMemory& from, const KernelMemory& to, const KernelBarrier* arrives);
  void Commit();
  void Wait(std::int64_t may_remain, bool read_only);
  void FenceShared();

 private:
  using Answer = FunctionRequests::Answer;
  void ExpectCopy(const KernelMemory& from, const KernelMemory& to, bool into_shared);

  FunctionRequests& requests_;
  FunctionMemory& memory_;
  FunctionSyncs& syncs_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_COPIES_H_
