// Who there is in a kernel of the hunt, and which cells, barriers and semaphores are whose. Nothing of it changes while
// the reference machine runs. Rules: docs/spec/gpu-warps.md and docs/spec/gpu-order.md#copies (groups): what a
// warpgroup copies out is of its first warp.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_LAYOUT_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_LAYOUT_H_

#include <cstddef>
#include <set>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "emu/tools/hunt/reference_listener.h"

namespace palladion::hunt {

inline constexpr int kCellsOfRow = 4, kCellsOfUnion = 8;

// Where a row is, for an agent in the first or the second scope.
struct Scoped {
  int agent = 0;
  bool later = false;
};

// Of a TPU's pipeline: which of two blocks of the input, and of the output, its body has.
struct Slots {
  int in = 0, out = 0;
};

class ReferenceLayout {
 public:
  ReferenceLayout(const HuntKernel& kernel, const Written& written);

  int agents() const { return agents_; }
  int threads() const { return threads_; }  // of a block
  int blocks() const { return blocks_; }
  int rows() const { return rows_; }
  bool is_tpu() const { return tpu_; }
  bool is_of_programs() const { return programs_; }  // of a grid, whose loops look at m
  bool shares() const { return shares_; }            // do a TPU's agents share m and x?
  bool has_tensor_memory() const { return tensor_; }
  int cells_of_block() const { return cells_of_block_; }

  int ThreadOf(int agent) const {
    const int threads = threads_ * blocks_;
    return agent < threads ? agent : (agent - threads) / kWarpsOfThread;
  }
  int BlockOf(int agent) const { return ThreadOf(agent) / threads_; }
  bool IsWarp(int agent) const { return agent >= threads_ * blocks_; }
  int WarpOf(int thread, int warp) const { return threads_ * blocks_ + kWarpsOfThread * thread + warp; }
  std::vector<int> QueuesOf(int agent) const;  // of copies out: its own, or those of its warps

  int barriers() const { return barriers_per_ * blocks_; }
  int BarrierOf(int agent, int object) const { return BlockOf(agent) * barriers_per_ + object; }
  int BarrierOfBlock(int block, int object) const { return block * barriers_per_ + object; }
  bool OrdersTensorCore(int barrier) const { return orders_[static_cast<std::size_t>(barrier % barriers_per_)]; }
  bool IsOfCluster(int object) const { return of_cluster_[static_cast<std::size_t>(object)]; }
  int NamedOf(int agent, int object) const { return BlockOf(agent) * named_per_ + object; }
  // As the listener has them, behind the barriers: where a block's threads meet, then the named ones.
  int MeetingOf(int block) const { return barriers() + block; }
  int PhasesOfNamed(int named) const { return barriers() + blocks_ + named; }

  int semaphores() const { return sems_per_ * (tpu_ ? blocks_ : 1); }
  int SemaphoreOf(int agent, const Op& op) const;  // the number of `object` among all
  int DmaSemaphoreOf(int agent, int object) const { return agent * sems_per_ + semaphores_per_ + object; }
  int SemaphoreOfAgent(int agent, int object) const { return agent * sems_per_ + object; }

  CellSpan CellsOf(const Scoped& where, Array array, int row, Part part, const Slots& slots) const;
  static CellSpan RowOfCells(int row) { return {{4 * row, 4 * row + 1, 4 * row + 2, 4 * row + 3}, 4}; }
  int SlotRow(bool out, int slot) const {
    return (shares_ ? 1 : blocks_) * 2 * rows_ + blocks_ * rows_ + 2 * out + slot;
  }
  std::set<int> CellsOfTensor() const;  // of all blocks

 private:
  CellSpan TpuCellsOf(int agent, Array array, int row, Part part, const Slots& slots) const;

  int agents_ = 0, threads_ = 1, blocks_ = 1, rows_ = 0;
  bool tpu_ = false, programs_ = false, shares_ = false, tensor_ = false;
  int cells_of_block_ = 0;
  int barriers_per_ = 0, named_per_ = 0, semaphores_per_ = 0, sems_per_ = 0;
  std::vector<bool> of_cluster_, orders_;  // by barrier of a block
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_LAYOUT_H_
