// Additional patterns of random kernels of Blackwell: tensor memory, products, copies to tensor memory, commits and
// named barriers, which are right until they are damaged, as those of hunt_random.h.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_TENSOR_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_TENSOR_H_

#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

void AddTensor(HuntKernel* kernel);  // its sizes: a kernel of threads or blocks on a B200

void TensorPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body);
Op AnyTensorOp(scheduler::Random* random, HuntKernel* kernel);

// Which barriers order the tensor core: those of commits, and most others.
void OrderTensor(scheduler::Random* random, HuntKernel* kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_TENSOR_H_
