#include "semantics/prepare/pipelined_blocks.h"

#include <algorithm>

#include "semantics/prepare/block_mode.h"
#include "semantics/program/blocks.h"

namespace palladion {
namespace {

bool HasBlocks(const OperandInfo& info) { return info.mode == BlockMode::kResident && !info.block.empty(); }

bool GoesOn(const Kernel& kernel, const Program& program, std::size_t operand) {
  return HasBlocks(program.operand_infos[operand]) && BuffersOf(kernel.operands[operand]) > 1;
}

// Does the body have an array itself whose blocks are copied beside it?
bool IsReachedInPlace(const Kernel& kernel, const Program& program) {
  const std::vector<OperandInfo>& infos = program.operand_infos;
  for (std::size_t out = 0; out < infos.size(); ++out) {
    if (infos[out].role != Role::kOut || infos[out].alias < 0) continue;
    const auto in = static_cast<std::size_t>(infos[out].alias);
    const auto in_place = [&](std::size_t i) { return infos[i].mode != BlockMode::kResident; };
    if ((GoesOn(kernel, program, in) && in_place(out)) || (GoesOn(kernel, program, out) && in_place(in))) return true;
  }
  return false;
}

}  // namespace

// Of blocks with two buffers: with one, copies are complete before anything else happens.
std::vector<std::size_t> SharedBlocks(const Kernel& kernel, const Program& program) {
  std::vector<std::size_t> shared;
  const std::vector<OperandInfo>& infos = program.operand_infos;
  for (std::size_t out = 0; out < infos.size(); ++out) {
    if (infos[out].role != Role::kOut || infos[out].alias < 0) continue;
    const auto in = static_cast<std::size_t>(infos[out].alias);
    const auto reached = [&](std::size_t i) { return HasBlocks(infos[i]) || infos[i].mode != BlockMode::kResident; };
    if (!reached(in) || !reached(out) || !(GoesOn(kernel, program, in) || GoesOn(kernel, program, out))) continue;
    for (const std::size_t i : {in, out}) {
      if (HasBlocks(infos[i])) shared.push_back(i);
    }
  }
  return shared;
}

std::vector<std::size_t> WhatIsPipelined(const Kernel& kernel, const Program& program, const ProgramOptions& options) {
  if (!program.grid_in_agent) return {};
  if (options.blocks == BlockWays::kAsItShows && !program.uses_port && !IsReachedInPlace(kernel, program)) return {};
  if (options.blocks != BlockWays::kBesideBodies && options.blocks != BlockWays::kInSteps)
    return SharedBlocks(kernel, program);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    if (HasBlocks(program.operand_infos[i])) all.push_back(i);
  }
  return all;
}

bool PipelineHasEngines(const Kernel& kernel, const Program& program, const ProgramOptions& options) {
  return options.blocks != BlockWays::kInSteps || !SharedBlocks(kernel, program).empty();
}

void PipelinedBlocks::Describe() {
  Program& program = builder_.program();
  for (const std::size_t operand : operands_) {
    OperandInfo& info = program.operand_infos[operand];
    info.pipelined = true;
    // No compiler takes more, unless the block never moves (emu/check/legality/tpu/blocks.cc).
    info.buffers = std::clamp<std::int64_t>(BuffersOf(builder_.kernel().operands[operand]), 1, 2);
    for (std::int64_t slot = 0; slot < info.buffers; ++slot) {
      RefInfo memory = program.refs[info.ref.index()];
      info.slots[static_cast<std::size_t>(slot)] = builder_.NewRef(std::move(memory));
    }
    info.turn = builder_.NewSlot(Type{.dtype = DType::kI64});
  }
}

void PipelinedBlocks::EmitOf(StepKind kind, StepFn fn, std::size_t operand, std::size_t slot) {
  const Operand& declared = builder_.kernel().operands[operand];
  builder_.SetPlace(declared.loc, declared.text_line);
  builder_.EmitAs(kind, fn, OperandParams{operand, slot});
  // The start of a copy touches nothing: its phases do.
  builder_.program().steps.back().visible = kind == StepKind::kAllocBlock || kind == StepKind::kFreeBlock;
}

void PipelinedBlocks::EmitFor(StepKind kind, StepFn fn, std::optional<Role> role, std::int64_t buffers) {
  for (const std::size_t operand : operands_) {
    const OperandInfo& info = builder_.program().operand_infos[operand];
    if ((role.has_value() && info.role != *role) || (buffers > 0 && info.buffers != buffers)) continue;
    EmitOf(kind, fn, operand);
  }
}

void PipelinedBlocks::EmitForSecondSlots(StepKind kind, StepFn fn) {
  for (const std::size_t operand : operands_) {
    if (builder_.program().operand_infos[operand].buffers > 1) EmitOf(kind, fn, operand, 1);
  }
}

void PipelinedBlocks::EmitCommit(AsyncQueue queue) {
  if (any()) builder_.Emit(RunCommitBlocks, GroupParams{.queue = queue});
}

void PipelinedBlocks::EmitAwait(const GroupParams& groups) {
  if (!any()) return;
  builder_.EmitAs(StepKind::kAwaitBlocks, RunAwaitGroups, GroupParams(groups));
  builder_.program().steps.back().visible = true;
  builder_.program().steps.back().waits = WaitsForGroups;
}

void PipelinedBlocks::BeginBlocks() {
  EmitFor(StepKind::kFetch, RunBeginBlock);
  EmitCommit(AsyncQueue::kFetches);
}

void PipelinedBlocks::FetchNext() {
  EmitFor(StepKind::kFetch, RunFetchNext, Role::kIn);
  EmitCommit(AsyncQueue::kFetches);
  EmitAwait({AsyncQueue::kFetches, /*may_remain=*/1});
}

void PipelinedBlocks::Flush() {
  for (const std::int64_t buffers : {1, 2}) {  // those with one are complete before the next program
    EmitFor(StepKind::kFlush, RunFlushIfOver, Role::kOut, buffers);
    EmitCommit(AsyncQueue::kFlushes);
  }
  EmitAwait({AsyncQueue::kFlushes, /*may_remain=*/1});
}

}  // namespace palladion
