#include "emu/run/launch/moved_blocks.h"

#include <algorithm>
#include <cstring>

#include "semantics/program/blocks.h"
#include "semantics/tensor/tensor.h"

namespace palladion::launch {
namespace {

bool IsOf(const Step& step, std::size_t operand) {
  return step.fn == RunFetchIfNew && static_cast<const OperandParams*>(step.params)->operand == operand;
}

}  // namespace

bool MovedBlocks::CanHold(const Program& program, std::size_t operand) {
  const OperandInfo& info = program.operand_infos[operand];
  return info.mode == BlockMode::kResident && info.block.empty() && !info.pipelined &&
         std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) { return IsOf(step, operand); });
}

const OperandInfo* MovedBlocks::BlockOf(const Step& step, const Frame& frame) const {
  if (step.fn != RunAllocBlock && step.fn != RunFetchIfNew) return nullptr;
  const std::size_t operand = static_cast<const OperandParams*>(step.params)->operand;
  return operand < moved_.size() && moved_[operand] ? &frame.program().operand_infos[operand] : nullptr;
}

void MovedBlocks::Before(const Step& step, Frame& frame) {
  if (step.fn == RunAllocBlock && BlockOf(step, frame) != nullptr) memory_->MoveNothing(false);
}

// Its index never changes, so what the kernel writes there stays.
void MovedBlocks::After(const Step& step, Frame& frame) {
  const OperandInfo* const info = BlockOf(step, frame);
  if (info == nullptr) return;
  const BufferId block = frame.ref(info->ref).buffer;
  if (step.fn == RunAllocBlock) {
    memory_->MoveNothing();
    empty_.insert(block.value);
  } else if (empty_.erase(block.value) > 0) {
    std::memcpy(memory_->DataOf(block), memory_->DataOf(frame.ref(info->array).buffer), ByteSize(info->type));
  }
}

}  // namespace palladion::launch
