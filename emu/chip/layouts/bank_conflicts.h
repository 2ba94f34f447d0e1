// How many turns of the port of shared memory a load or store by a warpgroup takes: a turn moves one word from each of
// the banks, so lanes that ask one bank for different words take a turn each. Computed from where the elements are: in
// the lanes (register_layouts.h), and in memory (tiles, swizzle, slices and permutations of the view).
// Based on: the CUDA C++ Programming Guide, "Shared Memory"; JAX 0.10.2, fragmented_array.py (transfer_tiled,
// plan_tiled_transfer), which also gives the order in which registers go: where lanes of one register would meet in a
// bank, half of the lanes take another register in that turn, and choosing costs instructions. Limits: vectors of 8 and
// 16 bytes go in halves and quarters of a warp; reshapes, bitcasts and arrays of indices are not followed; whatever the
// index of a view is, it begins at a whole tile or row.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_BANK_CONFLICTS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_BANK_CONFLICTS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "emu/chip/layouts/register_layouts.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

inline constexpr std::int64_t kBankBytes = 4;

// Of one access by the four warps of a thread.
struct SharedTransfer {
  std::int64_t turns = 0;    // of the port
  std::int64_t least = 0;    // were there no conflicts
  std::int64_t selects = 0;  // of each lane: instructions that choose which register goes
  bool refused = false;      // JAX looks for an order without conflicts, and there is none
};

// Where the elements of a view are: along each of its dimensions, in elements of the array that it shows.
struct InMemory {
  struct Dim {
    std::int64_t size = 0, stride = 0;
    std::int64_t tile = 0, tile_stride = 0;  // from one tile to the next; tile: 0 where there are none
  };
  std::vector<Dim> dims;
  std::int64_t swizzle = 0;  // bytes; 0: none
  int bits = 32;             // of an element

  std::int64_t ByteOf(absl::Span<const std::int64_t> index) const;
};
// None: a chain that is not followed.
std::optional<InMemory> InMemoryOf(const Kernel& kernel, const Arg& ref);

// How an access is made.
struct AccessForm {
  std::int64_t banks = 32;  // that the machine has
  bool stores = false;
  bool searches = true;  // JAX looks for an order without conflicts
};
// The transfer between registers and memory. None: a vector is not one piece of memory.
std::optional<SharedTransfer> TransferOf(const Spread& spread, const InMemory& memory, const AccessForm& form);

// JAX looks for an order without conflicts, and there is none: it refuses the access.
bool HasNoOrder(const Spread& spread, const InMemory& memory);

// Of each load and store of shared memory in the kernel whose transfer is known.
absl::flat_hash_map<const Instr*, SharedTransfer> SharedTransfersOf(const Kernel& kernel, std::int64_t banks);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_BANK_CONFLICTS_H_
