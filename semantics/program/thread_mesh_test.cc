// The mesh of a kernel's text as a grid: what a mesh of TensorCores must say.
#include "semantics/program/thread_mesh.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace palladion {
namespace {

template <class T>
Attr ListOf(const std::vector<T>& values) {
  Attr list;
  auto& entries = list.value.emplace<AttrList>();
  for (const T& value : values) entries.emplace_back().value.emplace<T>(value);
  return list;
}

absl::StatusOr<MeshLaunch> Cores(const std::vector<std::string>& axes, const std::vector<std::int64_t>& sizes) {
  Launch launch;
  launch.mesh = "tensorcore";
  launch.mesh_attrs.resize(2);
  launch.mesh_attrs[0] = {"axes", ListOf(axes)};
  launch.mesh_attrs[1] = {"sizes", ListOf(sizes)};
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
  without.mesh_attrs.resize(1);
  without.mesh_attrs[0] = {"axes", ListOf<std::string>({"core"})};
  EXPECT_FALSE(ReadMesh(without).ok());
}

}  // namespace
}  // namespace palladion
