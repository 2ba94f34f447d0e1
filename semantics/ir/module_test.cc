#include "semantics/ir/module.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

constexpr int kUser = 0, kHelper = 1, kLoop = 2;  // files and places have these numbers

Module WithPlaces() {
  Module module;
  module.files = {"/home/me/kernel.py", "/venv/lib/python3.11/site-packages/jax/_src/pallas/mosaic_gpu/pipeline.py"};
  module.locs.push_back({.file = FileId{kUser}, .line = 7, .column = 3, .function = "k", .via = {}});
  module.locs.push_back({.file = FileId{kHelper}, .line = 231, .column = 1, .function = "step", .via = LocId{kUser}});
  module.locs.push_back({.file = FileId{kHelper}, .line = 9, .column = 1, .function = "loop", .via = LocId{kLoop}});
  return module;
}

TEST(PlaceText, IsTheUsersLine) {
  const Module module = WithPlaces();
  EXPECT_EQ("kernel.py:7", PlaceText(module, LocId{kUser}, 12));
  EXPECT_EQ("kernel.py:7 (in JAX's pipeline.py:231)", PlaceText(module, LocId{kHelper}, 12));
}

TEST(PlaceText, EndsWhereThereIsNoUser) {
  const Module module = WithPlaces();
  EXPECT_EQ("JAX's pipeline.py:9", PlaceText(module, LocId{kLoop}, 12)) << "frames in a ring";
  EXPECT_EQ("a step that JAX put around the kernel", PlaceText(module, {}, 12));
  EXPECT_EQ("a step that JAX put around the kernel", PlaceText(module, LocId{70}, 12)) << "a place of no table";
  EXPECT_EQ("line 12 of the kernel text", PlaceText(Module(), {}, 12)) << "a text written by hand";
}

}  // namespace
}  // namespace palladion
