#include "semantics/prepare/device_mesh.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

Kernel WithDevices(AttrMap axes) {
  Kernel kernel;
  kernel.name = "k";
  kernel.other.emplace_back("devices", Attr{std::move(axes)});
  return kernel;
}

Program OnTpu() {
  Program program;
  program.target.backend = TargetBackend::kMosaicTpu;
  program.grid = {GridDim{.size = 5}};
  program.grid_bound = {-1};
  program.dim_order = {DimOrder::kSequential};
  return program;
}

TEST(DeviceMesh, ItsAxesComeBeforeTheGrid) {
  Program program = OnTpu();
  ASSERT_TRUE(AddDevices(WithDevices({{"x", Attr{std::int64_t{4}}}, {"y", Attr{std::int64_t{2}}}}), &program).ok());
  EXPECT_EQ(program.devices, 8);
  EXPECT_EQ(program.device_axes, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(program.grid.size(), 3u);
  EXPECT_EQ(program.grid[0].size, 4);
  EXPECT_EQ(program.grid[1].size, 2);
  EXPECT_EQ(program.grid[2].size, 5);
  EXPECT_EQ(program.dim_order,
            (std::vector<DimOrder>{DimOrder::kParallel, DimOrder::kParallel, DimOrder::kSequential}));
  EXPECT_TRUE(program.uses_port);
  EXPECT_EQ(CallerShape(program, Type{.shape = {3}}), (Shape{8, 3}));
}

TEST(DeviceMesh, WithoutOneNothingChanges) {
  Program program = OnTpu();
  ASSERT_TRUE(AddDevices(Kernel{}, &program).ok());
  EXPECT_EQ(program.devices, 1);
  EXPECT_EQ(program.grid.size(), 1u);
  EXPECT_FALSE(program.uses_port);
  EXPECT_EQ(CallerShape(program, Type{.shape = {3}}), Shape{3});
}

TEST(DeviceMesh, WhatIsNoMeshIsRefused) {
  const auto refusal = [](AttrMap axes) {
    Program program = OnTpu();
    return std::string(ToStd(AddDevices(WithDevices(std::move(axes)), &program).message()));
  };
  EXPECT_NE(refusal({}).find("must be the axes of a mesh"), std::string::npos);
  EXPECT_NE(refusal({{"x", Attr{std::int64_t{0}}}}).find("axes of at least 1; found {x=0}"), std::string::npos);
  EXPECT_NE(refusal({{"x", Attr{std::string("4")}}}).find("axes of at least 1"), std::string::npos);
  EXPECT_NE(refusal({{"x", Attr{std::int64_t{1000000}}}}).find("at most 1024 devices"), std::string::npos);
  EXPECT_NE(refusal({{"x", Attr{std::int64_t{1024}}}, {"y", Attr{std::int64_t{2}}}}).find("at most 1024 devices"),
            std::string::npos);
}

TEST(DeviceMesh, OfGpusAndTpusAlone) {
  for (const TargetBackend backend : {TargetBackend::kMosaicGpu, TargetBackend::kTriton, TargetBackend::kGeneric}) {
    Program program = OnTpu();
    program.target.backend = backend;
    const absl::Status status = AddDevices(WithDevices({{"x", Attr{std::int64_t{2}}}}), &program);
    EXPECT_EQ(backend == TargetBackend::kMosaicGpu, status.ok()) << status;
    EXPECT_EQ(backend != TargetBackend::kMosaicGpu, absl::IsUnimplemented(status)) << status;
  }
}

}  // namespace
}  // namespace palladion
