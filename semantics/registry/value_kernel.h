// A value operation after `prepare`: a function over dense row-major arrays and its parameters. Pure: no errors, no
// allocation, no state. Results never share memory with operands.
#ifndef PALLADION_SEMANTICS_REGISTRY_VALUE_KERNEL_H_
#define PALLADION_SEMANTICS_REGISTRY_VALUE_KERNEL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "semantics/base/target.h"
#include "semantics/ir/type.h"

namespace palladion {

namespace simd {
class Parallel;
}
class RunControl;  // semantics/base/run_control.h

// The operands' and results' memory for one execution: each a dense array of its type's storage, aligned for one
// element. An operand may lie inside a buffer (a load that was borrowed), so wider alignment must not be assumed.
struct ValueOperands {
  const std::byte* const* in;
  std::byte* const* out;
  std::byte* scratch;                  // ValueKernel::scratch_bytes of it, 64-byte aligned, contents arbitrary
  simd::Parallel* parallel = nullptr;  // host threads that may share the operation, when there are any
  // A long operation may look whether the run is interrupted, and then leave its results as they are.
  const RunControl* control = nullptr;
};

struct ValueTypes {
  std::vector<Type> in;
  std::vector<Type> out;
  Target target;
};

struct ValueKernel {
  void (*run)(const void* params, const ValueOperands& operands) = nullptr;
  std::shared_ptr<const void> params;
  std::size_t scratch_bytes = 0;
  bool wants_threads = false;  // large enough to be shared by host threads
  double work = 0;             // how long it takes, in elements; 0: as many as its largest operand or result has
  // Elementwise kernels only: the same on n consecutive elements of every operand that is not of rank 0. No scratch.
  void (*strip)(const void* params, const ValueOperands& operands, std::size_t n) = nullptr;
};

// Bind<EvalReduce>(ReduceParams{...}): the kernel that calls EvalReduce(const ReduceParams&, const ValueOperands&).
template <auto kEval, class Params>
ValueKernel Bind(Params params, std::size_t scratch_bytes = 0) {
  return {.run = [](const void* p, const ValueOperands& operands) { kEval(*static_cast<const Params*>(p), operands); },
          .params = std::make_shared<const Params>(std::move(params)),
          .scratch_bytes = scratch_bytes};
}

// The same for an elementwise kernel, whose parameters say how many elements there are in `n`.
template <auto kEval, class Params>
ValueKernel BindElementwise(Params params) {
  ValueKernel kernel = Bind<kEval>(std::move(params));
  kernel.strip = [](const void* p, const ValueOperands& operands, std::size_t n) {
    Params part = *static_cast<const Params*>(p);
    part.n = n;
    kEval(part, operands);
  };
  return kernel;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_VALUE_KERNEL_H_
