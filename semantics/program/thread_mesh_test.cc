// The mesh of a kernel's text as a grid: what a mesh of TensorCores must say.
#include "semantics/program/thread_mesh.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace palladion {
namespace {

template <class T>
Attr ListOf(const std::vector<T>& values) {
  AttrList list;
  for (const T& value : values) list.push_back(Attr{value});
  return Attr{std::move(list)};
}

absl::StatusOr<MeshLaunch> Cores(const std::vector<std::string>& axes, const std::vector<std::int64_t>& sizes) {
  Launch launch;
  launch.mesh = "tensorcore";
  launch.mesh_attrs = {{"axes", ListOf(axes)}, {"sizes", ListOf(sizes)}};
  return ReadMesh(launch);
}

TEST(ThreadMesh, OfTensorCoresHasOneAxis) {
  const absl::StatusOr<MeshLaunch> two = Cores({"core"}, {2});
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->sizes, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(two->mesh.names, (std::vector<std::string>{"core"}));
  EXPECT_TRUE(two->mesh.cores);
  EXPECT_FALSE(Cores({"core", "more"}, {2}).ok());
  EXPECT_FALSE(Cores({"core"}, {2, 2}).ok());
  EXPECT_FALSE(Cores({"core"}, {0}).ok());
  Launch without;
  without.mesh = "tensorcore";
  EXPECT_FALSE(ReadMesh(without).ok());
  without.mesh_attrs = {{"axes", ListOf<std::string>({"core"})}};
  EXPECT_FALSE(ReadMesh(without).ok());
}

}  // namespace
}  // namespace palladion
