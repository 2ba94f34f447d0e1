#include "semantics/prepare/other_machine.h"

#include <string_view>

#include "semantics/base/cat.h"

namespace palladion {

std::string OfAnotherMachine(const Launch& launch, const Target& target) {
  if (launch.mesh == "gpu" || launch.mesh == "warp")
    return Cat("a launch over a mesh of kind '", launch.mesh, "' runs on a target mosaic_gpu/CHIP; the target is ",
               ToString(target));
  if (launch.mesh == "tensorcore")
    return Cat(
        "a launch over a mesh of TensorCores (pltpu.TensorCoreMesh) runs on a target mosaic_tpu/CHIP; the target "
        "is ",
        ToString(target));
  const std::string_view cores = launch.mesh == "sc_scalar" ? "scalar subcores of SparseCores (plsc.ScalarSubcoreMesh)"
                                 : launch.mesh == "sc_vector"
                                     ? "vector subcores of SparseCores (plsc.VectorSubcoreMesh)"
                                     : "several kinds of cores";
  return Cat("a launch over a mesh of ", cores,
             " is not modelled yet (docs/reference/sparsecore.md): use pallas_call with a grid, of which a TensorCore "
             "runs the "
             "programs");
}

}  // namespace palladion
