// Which machine a launch needs, by the kind of its mesh, in the words of the refusal.
#include "semantics/prepare/other_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace palladion {
namespace {

TEST(OtherMachine, IsNamedByTheKindOfTheMesh) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"gpu", "a mesh of kind 'gpu' runs on a target mosaic_gpu/CHIP"},
      {"warp", "a mesh of kind 'warp' runs on a target mosaic_gpu/CHIP"},
      {"tensorcore", "a mesh of TensorCores (pltpu.TensorCoreMesh) runs on a target mosaic_tpu/CHIP"},
      {"sc_scalar", "a mesh of scalar subcores of SparseCores (plsc.ScalarSubcoreMesh) is not modelled"},
      {"sc_vector", "a mesh of vector subcores of SparseCores (plsc.VectorSubcoreMesh) is not modelled"},
      {"several", "a mesh of several kinds of cores is not modelled"},
  };
  for (const auto& [mesh, message] : cases) {
    Launch launch;
    launch.mesh = mesh;
    const std::string said = OfAnotherMachine(launch, Target{});
    EXPECT_NE(said.find(message), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace palladion
