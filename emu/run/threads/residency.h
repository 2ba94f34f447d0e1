// How many clusters of a launch are on the chip at the same time. Where blocks see each other's effects while they run,
// as many must be resident as on hardware; otherwise one cluster at a time is enough, because no schedule orders their
// accesses. Based on: an SM's limits in the CUDA C++ Programming Guide ("Compute Capabilities", 9.0 and 10.0): 2048
// threads, 32 blocks, and 1 KiB of shared memory for each block in addition to its own; PTX, tcgen05.alloc: a block
// waits until the SM has the columns of tensor memory that it asks for. Not counted: registers, which the compiler
// hands out.
#ifndef PALLADION_EMU_RUN_THREADS_RESIDENCY_H_
#define PALLADION_EMU_RUN_THREADS_RESIDENCY_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion::threads {

// Can a block of another cluster see what a block does before it has ended: a semaphore of the grid, an array that is
// updated atomically, or that some read and some write; or take its work before it begins? Of several devices, any.
bool BlocksInteract(const Program& program, const Kernel& kernel);

struct Residency {
  std::int64_t clusters = 1;
  std::int64_t threads = 1;  // of a cluster
  std::int64_t blocks = 1;   // of an SM
  bool Limits(std::int64_t programs) const { return !why.empty() && clusters < programs / threads; }
  std::string why;  // "132 SMs hold 1 block each, ..."; "" where nothing limits it
};

// What a chip has for blocks.
struct SmRoom {
  std::int64_t sms = 0;
  std::int64_t shared_bytes = 0;  // that one block may have
};

// As many as the chip holds, whether they interact or not. `grid`: the launch's sizes, of every dimension of the
// program's.
Residency ResidencyIn(const SmRoom& room, const Program& program, const Kernel& kernel,
                      absl::Span<const std::int64_t> grid);

// Of those that interact, on the program's chip; of others one cluster. `grid`: as above.
Residency ResidencyOf(const Program& program, const Kernel& kernel, absl::Span<const std::int64_t> grid);

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_RESIDENCY_H_
