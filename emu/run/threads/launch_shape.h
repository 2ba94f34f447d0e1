// The shape of a launch over threads: which blocks and threads it has, which blocks are a cluster, which device each is
// on, and what messages call them. All of it is known before any agent runs, and nothing of it changes.
// Several devices that run a kernel together are the first dimensions of its grid. The cores of TPUs are then blocks of
// one cluster; blocks of GPUs have clusters as on one device, and reach the global memory of other devices alone.
// Based on: the grids of Pallas' Mosaic GPU backend, threads minor, then the blocks of a cluster. Limits: it does not
// know which agents have begun or ended (residents.h).
#ifndef PALLADION_EMU_RUN_THREADS_LAUNCH_SHAPE_H_
#define PALLADION_EMU_RUN_THREADS_LAUNCH_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/order/places.h"
#include "semantics/base/agent_name.h"
#include "semantics/port/places.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/program.h"

namespace palladion::threads {

inline std::string NameOfBlock(absl::Span<const std::int64_t> index) { return AgentName({.blocks = true}, index); }

class LaunchShape {
 public:
  // `program` outlives it. `grid`: the launch's sizes, of every dimension.
  LaunchShape(const Program& program, absl::Span<const std::int64_t> grid);

  const Program& program() const { return program_; }
  std::int64_t size(std::size_t grid_dim) const { return grid_[grid_dim]; }
  std::size_t block_dims() const { return block_dims_; }              // the first ones: all but the thread's
  bool counts_threads() const { return block_dims_ < grid_.size(); }  // does the last dimension?
  bool several_devices() const { return program_.several_devices(); }
  // Several devices that run the kernel together, of which kind?
  bool gpus() const { return several_devices() && program_.target.backend == TargetBackend::kMosaicGpu; }
  bool tpus() const { return several_devices() && !gpus(); }
  bool cores() const { return CountsCores(program_); }  // of a TPU, as a mesh
  std::int64_t devices() const { return program_.devices; }
  // How many numbers of blocks a cluster has. Of several TPUs: all, for each may access the memory of all others.
  std::int64_t cluster_size() const { return cluster_size_; }
  std::size_t cluster_first() const { return cluster_first_; }  // the first of its dimensions, before block_dims()
  std::int64_t blocks() const;                                  // of the grid
  std::size_t threads_of_block() const { return counts_threads() ? static_cast<std::size_t>(grid_.back()) : 1; }
  // May a block reach for another one's memory, or semaphores? And for memory of the block's own?
  bool has_peers() const { return cluster_size_ > 1 || several_devices(); }
  bool has_block_peers() const { return cluster_size_ > 1 || tpus(); }

  bool ends_together() const { return program_.mesh.has_value() && program_.mesh->ends_together; }

  // Of a block, by its index or that of one of its threads.
  std::int64_t NumberOf(absl::Span<const std::int64_t> index) const;  // in the grid, row-major
  std::vector<std::int64_t> IndexOf(std::int64_t number) const;       // of the block with that number
  std::int64_t ClusterOf(absl::Span<const std::int64_t> index) const { return NumberOf(index) / cluster_size_; }
  std::int64_t DeviceOf(absl::Span<const std::int64_t> index) const;  // its number in the mesh
  bool Has(absl::Span<const std::int64_t> index) const;               // is there such a block?
  bool HasDevice(absl::Span<const std::int64_t> index) const;         // and such a device?

  memory_model::Place PlaceOfDevice(std::int64_t device) const;
  memory_model::Place PlaceOf(absl::Span<const std::int64_t> index) const;  // of the block

  // The index of a block's peer; there may be no such block.
  static std::vector<std::int64_t> PeerOf(absl::Span<const std::int64_t> index, absl::Span<const PeerCoordinate> where);
  // The blocks that differ from this one along these dimensions only, itself among them: the first dimension slowest.
  std::vector<std::vector<std::int64_t>> Along(absl::Span<const std::int64_t> index,
                                               absl::Span<const std::size_t> grid_dims) const;

  std::string NameOf(absl::Span<const std::int64_t> index) const;  // of a thread
  std::string BlockNameOf(absl::Span<const std::int64_t> index) const;
  std::string DeviceNameOf(std::int64_t device) const;  // by its number in the mesh
  // Whose memory was asked for, and why there is none: "of a block that has come to its end", if it has `begun`.
  std::string WhyNoPeer(absl::Span<const std::int64_t> index, bool begun) const;

 private:
  const Program& program_;
  const std::vector<std::int64_t> grid_;
  std::size_t block_dims_ = 0, cluster_first_ = 0;
  std::int64_t cluster_size_ = 1;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_LAUNCH_SHAPE_H_
