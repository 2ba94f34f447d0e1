// Allocations of a scope that outlive a thread or are shared by several, as facts of the text and of its program: for
// the lowering of scopes and for the machine that keeps them.
#ifndef PALLADION_SEMANTICS_PROGRAM_SCRATCH_SCOPE_H_
#define PALLADION_SEMANTICS_PROGRAM_SCRATCH_SCOPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "semantics/base/tensor_cells.h"
#include "semantics/ir/module.h"
#include "semantics/port/places.h"
#include "semantics/program/program.h"

namespace palladion {

// The scope that is all of a GPU kernel's body, where plgpu.kernel puts its scratch_types; nullptr: there is none.
const Instr* ScratchScopeOf(const Kernel& kernel);
bool IsGlobalData(const Type& type);  // a ref to global memory that holds numbers

// In the place of a collective id: the semaphores are the kernel's operand of that number, and may have come from an
// earlier launch.
constexpr std::int64_t CollectiveOfOperand(std::size_t operand) { return -2 - static_cast<std::int64_t>(operand); }
// Which one they are; none for others.
constexpr std::optional<std::size_t> OperandOfCollective(std::int64_t collective) {
  if (collective > -2) return std::nullopt;
  return static_cast<std::size_t>(-2 - collective);
}

// The parameters of a step that makes memory of a scope.
struct ScopedAlloc {
  RefId ref;
  PlaceLevel memory = PlaceLevel::kBlock;
  PlaceLevel owner = PlaceLevel::kThread;
  TensorCells tensor = {};  // where it lies in tensor memory; of no column: it does not
  bool of_pair = false;     // two blocks make the same allocation together
};

// Of the array that a step asks for (AllocationPlace::step), which names some columns; it lives as long as the program.
inline const TensorCells* TensorCellsOf(const Program& program, std::int64_t step) {
  return &static_cast<const ScopedAlloc*>(program.steps[static_cast<std::size_t>(step)].params)->tensor;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_SCRATCH_SCOPE_H_
