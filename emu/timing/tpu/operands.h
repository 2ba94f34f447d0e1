// Which operand of a kernel on TensorCores a piece of memory, a block or a value is, and how it is called. Based on:
// the arrays of a launch, and the parameters of the kernel's body. Limits: an output may share an input's memory; then
// reads are the input's, and writes the output's.
#ifndef PALLADION_EMU_TIMING_TPU_OPERANDS_H_
#define PALLADION_EMU_TIMING_TPU_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "absl/types/span.h"
#include "emu/chip/machines/units.h"
#include "emu/kernel/prepared_kernel.h"
#include "memory_model/bytes/memory.h"

namespace palladion::timing::tpu {

class TpuOperands {
 public:
  // It outlives this.
  explicit TpuOperands(const kernel::PreparedKernelState& kernel);

  // The launch has its arrays.
  void Bound(const memory_model::Memory& memory, absl::Span<const BufferId> arrays);

  const OperandInfo& operator[](std::size_t operand) const { return state_.program().operand_infos[operand]; }
  const Operand& Declared(std::size_t operand) const { return kernel_.operands[operand]; }
  std::int64_t BuffersOf(std::size_t operand) const;
  // Does it lie in the core's memory, without blocks?
  bool IsWholeInCore(std::size_t operand) const;

  // Whose array in main memory is one side of a copy? nullptr: it is no operand's.
  const std::size_t* At(const AsyncOperand& side, bool written) const;
  // Whose block is the value, a parameter of the body? nullptr: it is no operand's.
  const std::size_t* OfBlock(ValueId value) const;
  // What of the array a side of a copy touches: what is outside of it no copy does.
  Type TypeOfCopy(const AsyncOperand& side) const;

  // "x[0:8, 0:128], 4 KiB"; of the whole operand without `box`.
  std::string BlockText(std::size_t operand, const AsyncOperand* box, machines::Bytes bytes) const;
  std::string SideText(const AsyncOperand& side, bool written) const;

 private:
  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  const memory_model::Memory* memory_ = nullptr;
  std::unordered_map<std::int32_t, std::size_t> read_as_, written_as_;  // by buffer in main memory
  std::unordered_map<std::int32_t, std::size_t> block_of_;              // by value
};

std::string BytesText(machines::Bytes bytes);  // "4 KiB"

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_OPERANDS_H_
