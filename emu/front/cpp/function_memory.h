// Memory that one thread of a FunctionKernel uses: what its handles stand for and what may be done with them, then
// loads, stores and atomic updates. Values are plain C++, so an undefined one is a finding at once.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_MEMORY_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_MEMORY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emu/front/cpp/function_requests.h"

namespace palladion {

class FunctionMemory {
 public:
  using Object = FunctionMachine::Object;

  // It outlives this.
  explicit FunctionMemory(FunctionRequests& requests) : requests_(requests), machine_(requests.machine()) {}

  KernelMemory ArrayOf(std::string_view name);
  KernelMemory Alloc(std::string name, DType dtype, std::vector<std::int64_t> shape, KernelScope scope);
  void Free(const KernelMemory& memory);
  Tensor Load(const KernelMemory& memory);
  void Store(const KernelMemory& memory, const Tensor& value);
  void LoadOne(const KernelMemory& memory, DType dtype, void* value);
  void StoreOne(const KernelMemory& memory, DType dtype, const void* value);
  struct AtomicUpdate {
    AtomicOp op;
    DType dtype;
    const void* value;
    const void* expected;  // of a compare and swap
    void* old;
  };
  void Update(const KernelMemory& memory, const AtomicUpdate& update);

  // For all other accesses.
  Object& ObjectOf(const KernelMemory& memory);
  bool Usable(const Object& object);  // false: it was given back, and a finding says so
  BoxAccess BoxOf(const KernelMemory& memory, const Object& object) const;
  void ExpectWritable(const Object& object, std::string_view what);

 private:
  using Answer = FunctionRequests::Answer;
  void ExpectOne(const KernelMemory& memory, const Object& object, DType dtype, std::string_view what);
  void LoadBytes(const KernelMemory& memory, const Object& object, std::byte* value);
  void LookAtMarks(const Definedness& defined, std::int64_t elements, const std::string& name);

  FunctionRequests& requests_;
  FunctionMachine& machine_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_MEMORY_H_
