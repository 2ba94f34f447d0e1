// Which blocks of a TPU kernel are copied beside the bodies, and the steps that do it (block_pipeline.h). Based on:
// docs/spec/races.md#alias, docs/spec/grid.md#residency.
#ifndef PALLADION_SEMANTICS_PREPARE_PIPELINED_BLOCKS_H_
#define PALLADION_SEMANTICS_PREPARE_PIPELINED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "semantics/program/block_pipeline.h"
#include "semantics/program/builder.h"

namespace palladion {

// Operands whose blocks the pipeline copies to or from an array that something else reaches meanwhile: that other
// operand's blocks, or the body where it has the array itself.
std::vector<std::size_t> SharedBlocks(const Kernel& kernel, const Program& program);

// Operands; `program` is the kernel's without any.
std::vector<std::size_t> WhatIsPipelined(const Kernel& kernel, const Program& program, const ProgramOptions& options);

// Do their copies need engines? `program`: as above.
bool PipelineHasEngines(const Kernel& kernel, const Program& program, const ProgramOptions& options);

// Their steps, in this order. Where there are none it emits nothing.
class PipelinedBlocks {
 public:
  PipelinedBlocks(Builder& builder, std::vector<std::size_t> operands)
      : builder_(builder), operands_(std::move(operands)) {}

  bool any() const { return !operands_.empty(); }
  void Describe();                                               // when the operands are
  void EmitForSecondSlots(StepKind kind, StepFn fn);             // of blocks with two buffers
  void BeginBlocks();                                            // the program's maps are known
  void FetchNext();                                              // and the next one's
  void Flush();                                                  // after the body
  void AwaitFlushes() { EmitAwait({AsyncQueue::kFlushes, 0}); }  // after the last one

 private:
  void EmitFor(StepKind kind, StepFn fn, std::optional<Role> role = std::nullopt, std::int64_t buffers = 0);
  void EmitOf(StepKind kind, StepFn fn, std::size_t operand, std::size_t slot = 0);
  void EmitCommit(AsyncQueue queue);
  void EmitAwait(const GroupParams& groups);

  Builder& builder_;
  const std::vector<std::size_t> operands_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_PIPELINED_BLOCKS_H_
