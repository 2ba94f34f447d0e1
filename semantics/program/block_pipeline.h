// The pipeline of a TPU's core as it is: copies of blocks that go on beside the bodies. Of a block with two buffers the
// fetch for program i + 1 starts before body i, and the flush of program i is awaited after body i + 1; a block with
// one is fetched before its body, and goes back after it, while the core waits. Based on: pipelining.md, "Deriving a
// Double-Buffered Pipeline"; Scheduler of jax/_src/pallas/mosaic/pipeline.py (JAX 0.10.2); docs/spec/grid.md#residency.
// Limits: blocks of operands that are `pipelined`; all others are blocks.h's.
//
// In the order of their steps, once the maps of the program are known: BeginBlocks, the maps of the next one,
// FetchNext, AwaitFetches, the body, FlushIfOver, AwaitFlushes. Each has its groups in two queues of the core, which
// no other agent waits for: so what a wait takes is the same in every schedule. Where a kernel has no engines, as in a
// timed run of one whose blocks nothing else reaches, each copy is complete when it is issued, and no step waits: the
// steps are the same, and show when it would have been awaited.
#ifndef PALLADION_SEMANTICS_PROGRAM_BLOCK_PIPELINE_H_
#define PALLADION_SEMANTICS_PROGRAM_BLOCK_PIPELINE_H_

#include "absl/status/status.h"
#include "semantics/program/builder.h"

namespace palladion {

// Steps of one operand; their parameters are OperandParams.
absl::Status RunBeginBlock(const void* params, const Step& step, Frame& frame);
absl::Status RunFetchNext(const void* params, const Step& step, Frame& frame);
absl::Status RunFlushIfOver(const void* params, const Step& step, Frame& frame);

struct GroupParams {
  AsyncQueue queue = AsyncQueue::kFetches;
  std::int64_t may_remain = 0;
};

// Steps of the core.
absl::Status RunCommitBlocks(const void* params, const Step& step, Frame& frame);
absl::Status RunAwaitGroups(const void* params, const Step& step, Frame& frame);
WaitTarget WaitsForGroups(const void* params, const Step& step, Frame& frame);  // its Step::waits

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BLOCK_PIPELINE_H_
