// Numbers, places and names of blocks and threads, on a grid of clusters and on a mesh of TPU devices.
#include "emu/run/threads/launch_shape.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::threads {
namespace {

using Index = std::vector<std::int64_t>;

// A grid of 3 clusters of 2 by 2 blocks of 4 threads.
Program Clusters() {
  Program program;
  program.mesh = ThreadMesh{.cluster_dims = 2, .thread_dim = true, .names = {"b", "x", "y", "wg"}};
  program.grid = {{.size = 3}, {.size = 2}, {.size = 2}, {.size = 4}};
  return program;
}
const Index kClusters = {3, 2, 2, 4};

// A mesh of 2 by 3 devices, in each of which one core walks a grid of 5.
Program Devices() {
  Program program;
  program.grid_in_agent = true;
  program.grid = {{.size = 2}, {.size = 3}, {.size = 5}};
  program.device_axes = {"x", "y"};
  program.devices = 6;
  return program;
}
const Index kDevices = {2, 3, 5};

// A mesh of 2 GPUs, each with 3 clusters of 2 blocks of 4 threads.
Program Gpus() {
  Program program;
  program.target.backend = TargetBackend::kMosaicGpu;
  program.mesh = ThreadMesh{.cluster_dims = 1, .thread_dim = true, .names = {"b", "x", "wg"}};
  program.grid = {{.size = 2}, {.size = 3}, {.size = 2}, {.size = 4}};
  program.device_axes = {"d"};
  program.devices = 2;
  return program;
}
const Index kGpus = {2, 3, 2, 4};

TEST(LaunchShape, GpusHaveClustersOfTheirOwn) {
  const Program program = Gpus();
  const LaunchShape shape(program, kGpus);
  EXPECT_TRUE(shape.gpus() && !shape.tpus());
  EXPECT_EQ(shape.cluster_size(), 2);
  EXPECT_TRUE(shape.has_peers());
  EXPECT_EQ(shape.DeviceOf(Index{1, 2, 1}), 1);
  EXPECT_EQ(shape.ClusterOf(Index{1, 2, 1}), 5);
  EXPECT_EQ(shape.PlaceOf(Index{1, 2, 1}).at(PlaceLevel::kDevice), 1);
  EXPECT_EQ(shape.NameOf(Index{1, 2, 1, 3}), "thread 3 of block (2, 1) on device 1");
  EXPECT_EQ(shape.BlockNameOf(Index{1, 2, 1, 3}), "block (2, 1) on device 1");
  EXPECT_EQ(shape.DeviceNameOf(1), "device 1");
  EXPECT_TRUE(shape.HasDevice(Index{1, 7, 0}));
  EXPECT_FALSE(shape.HasDevice(Index{2, 0, 0}));
  EXPECT_EQ(shape.WhyNoPeer(Index{2, 0, 0}, false), "of device 2, which is not in the mesh of 2 devices");
  EXPECT_EQ(shape.WhyNoPeer(Index{1, 0, 9}, false), "of a block that is not in its cluster");
}

TEST(LaunchShape, BlocksOfClusters) {
  const Program program = Clusters();
  const LaunchShape shape(program, kClusters);
  EXPECT_EQ(shape.block_dims(), 3u);
  EXPECT_TRUE(shape.counts_threads());
  EXPECT_FALSE(shape.several_devices());
  EXPECT_EQ(shape.cluster_size(), 4);
  EXPECT_TRUE(shape.has_peers());
  EXPECT_EQ(shape.NumberOf(Index{2, 1, 0}), 10);
  EXPECT_EQ(shape.NumberOf(Index{2, 1, 0, 3}), 10) << "a thread's index is its block's";
  EXPECT_EQ(shape.ClusterOf(Index{2, 1, 0}), 2);
  const memory_model::Place place = shape.PlaceOf(Index{2, 1, 0});
  EXPECT_EQ(place.at(PlaceLevel::kDevice), 0);
  EXPECT_EQ(place.at(PlaceLevel::kCluster), 2);
  EXPECT_EQ(place.at(PlaceLevel::kBlock), 2);
}

TEST(LaunchShape, SeveralDevicesAreOneCluster) {
  const Program program = Devices();
  const LaunchShape shape(program, kDevices);
  EXPECT_TRUE(shape.several_devices());
  EXPECT_TRUE(shape.has_peers());
  EXPECT_EQ(shape.cluster_size(), 30);
  EXPECT_EQ(shape.DeviceOf(Index{1, 2, 4}), 5);
  EXPECT_EQ(shape.ClusterOf(Index{1, 2, 4}), 0);
  EXPECT_EQ(shape.PlaceOf(Index{1, 2, 0}).at(PlaceLevel::kDevice), 5);
}

TEST(LaunchShape, WithoutClustersNoBlockHasPeers) {
  Program program;
  program.mesh = ThreadMesh{.thread_dim = true, .names = {"b", "wg"}};
  program.grid = {{.size = 8}, {.size = 2}};
  EXPECT_FALSE(LaunchShape(program, Index{8, 2}).has_peers());
}

TEST(LaunchShape, PeersOfABlock) {
  const Program program = Clusters();
  const LaunchShape shape(program, kClusters);
  const Index peer = LaunchShape::PeerOf(Index{2, 1, 0}, {{1, 0}, {2, 7}});
  EXPECT_EQ(peer, (Index{2, 0, 7}));
  EXPECT_FALSE(shape.Has(peer));
  EXPECT_FALSE(shape.Has(Index{2, -1, 0}));
  EXPECT_TRUE(shape.Has(Index{2, 1, 1}));
}

TEST(LaunchShape, BlocksAlongDimensions) {
  const Program program = Clusters();
  const LaunchShape shape(program, kClusters);
  const std::vector<std::size_t> both = {1, 2}, swapped = {2, 1};
  EXPECT_EQ(shape.Along(Index{2, 1, 0}, both), (std::vector<Index>{{2, 0, 0}, {2, 0, 1}, {2, 1, 0}, {2, 1, 1}}));
  EXPECT_EQ(shape.Along(Index{2, 1, 0}, swapped), (std::vector<Index>{{2, 0, 0}, {2, 1, 0}, {2, 0, 1}, {2, 1, 1}}));
  EXPECT_EQ(shape.Along(Index{2, 1, 0}, {}), (std::vector<Index>{{2, 1, 0}}));
}

TEST(LaunchShape, Names) {
  const Program clusters = Clusters();
  const LaunchShape threads(clusters, kClusters);
  EXPECT_EQ(threads.NameOf(Index{2, 1, 0, 3}), "thread 3 of block (2, 1, 0)");
  EXPECT_EQ(threads.BlockNameOf(Index{2, 1, 0}), "block (2, 1, 0)");
  EXPECT_EQ(LaunchShape(clusters, Index{3, 2, 2, 1}).NameOf(Index{2, 1, 0, 0}), "block (2, 1, 0)")
      << "a block of one thread is called by its block alone";

  const Program mesh = Devices();
  const LaunchShape devices(mesh, kDevices);
  EXPECT_EQ(devices.NameOf(Index{1, 2, 0}), "the core on device (1, 2)");
  EXPECT_EQ(devices.NameOf(Index{1, 2, 4}), "the core from program (4) on, on device (1, 2)");
}

TEST(LaunchShape, WhyThereIsNoPeer) {
  const Program clusters = Clusters();
  const LaunchShape blocks(clusters, kClusters);
  EXPECT_EQ(blocks.WhyNoPeer(Index{2, 0, 7}, false), "of a block that is not in its cluster");
  EXPECT_EQ(blocks.WhyNoPeer(Index{2, 0, 1}, true), "of a block that has come to its end");
  const Program mesh = Devices();
  EXPECT_EQ(LaunchShape(mesh, kDevices).WhyNoPeer(Index{4, 0, 0}, false),
            "of device (4, 0), which is not in the mesh of 6 devices");
}

}  // namespace
}  // namespace palladion::threads
