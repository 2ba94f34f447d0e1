// The rules of Mosaic GPU about operands and blocks: lower_pipelined_jaxpr_to_module and `_check_block_mappings`; its
// other rules are the tables of limits.h.
#include "emu/check/legality/gpu/rules.h"

#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

void CheckMosaicGpuBlock(Legality& legality, std::size_t i) {
  const Operand& operand = legality.kernel().operands[i];
  if (!operand.block.has_value()) return;
  const Type& array = legality.kernel().values[operand.value.index()].type;
  if (legality.SpaceOf(i) == Space::kGmem && !IsTrivialWindow(operand, array))
    legality.Illegal(operand,
                     Cat("in gmem a block must be its whole array with an index map of zeros on ", legality.target()),
                     "leave the block out and slice the ref");
  const std::vector<BlockDim>& dims = operand.block->dims;
  if (std::any_of(dims.begin(), dims.end(), [](const BlockDim& d) { return d.kind == BlockDim::Kind::kElement; }))
    legality.Illegal(operand, Cat("pl.Element dimensions of a block have no lowering on ", legality.target()),
                     "use blocked dimensions");
  if (operand.block->buffered.has_value())
    legality.Illegal(operand, Cat("a pipeline mode of one block has no lowering on ", legality.target()),
                     "use max_concurrent_steps of the compiler parameters");
}

}  // namespace

void CheckMosaicGpu(Legality& legality) {
  if (legality.backend() != TargetBackend::kMosaicGpu) return;
  CheckGpuOperands(legality);
  for (std::size_t i = 0; i < legality.kernel().operands.size(); ++i) CheckMosaicGpuBlock(legality, i);
  CheckGpuLimits(legality);
}

}  // namespace palladion::legality
