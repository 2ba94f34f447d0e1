// A copy between GMEM and SMEM in the form that the limits of copies check. Based on: JAX 0.10.2,
// jax/experimental/mosaic/gpu/launch_context.py (_prepare_async_copy): dimensions that an index removed go first, then
// come the others, cut into the tiles of the SMEM ref. Not followed: slices whose size is known at run time, a second
// array of indices, views of GMEM other than .at.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GPU_COPY_H_
#define PALLADION_EMU_CHECK_LEGALITY_GPU_COPY_H_

#include <optional>
#include <string>
#include <vector>

#include "emu/check/legality/gpu/limits.h"

namespace palladion::legality {

// One dimension of the GMEM array.
struct GmemDim {
  std::int64_t extent = 1, size = 1;
  bool squeezed = false;
};

struct CopySite {
  const GpuScope& scope;
  const Instr& op;
  bool to_smem = true;
  layouts::GpuView gmem, smem;
  std::vector<GmemDim> dims = {};   // of the GMEM array
  bool followed = true;             // dims say what is copied
  const Index* strided = nullptr;   // an index of GMEM with a step
  std::optional<Type> gather = {};  // the type of the first array of indices
  ValueId indices = {};             // which value that is
  std::size_t gather_axis = 0;
  std::int64_t collective = 1;  // blocks that share the copy
  bool leader_tracked = false;
  std::vector<std::string> axes = {};

  const layouts::GpuFacts& facts() const { return *scope.facts; }
  std::optional<std::int64_t> PartitionedAxis() const;  // along it each block gets a part
  bool partitioned() const { return PartitionedAxis().has_value(); }
  // As SMEM stores it: size 1 for each squeezed dimension, then the others in tiles.
  Shape Slice() const;
};

// None where an operand is missing or is no ref.
std::optional<CopySite> CopySiteOf(const GpuScope& scope, const Instr& op);

// Does the copy go from one contiguous stretch into another, without a tensor map? Where `followed`, and as far as the
// text says: tiles count as none.
bool IsBulk(const CopySite& site);

// Gathers and scatters: legality_gpu_rows.cc.
void CheckRows(Legality& legality, const CopySite& site);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GPU_COPY_H_
