// The scopes of a machine, one inside the other, as far as a kernel names them: which agents share an allocation, which
// scope owns its memory, and to which peer of the agent's own scope a view refers.
#ifndef PALLADION_SEMANTICS_PORT_PLACES_H_
#define PALLADION_SEMANTICS_PORT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace palladion {

enum class PlaceLevel : std::uint8_t { kDevice, kCluster, kBlock, kThread, kWarp };  // a TPU core is a block

// One allocation among those of a kernel. With its occurrence, `step` and `owner` are the name by which agents, and
// peers of their place, mean the same object.
struct AllocationPlace {
  std::int64_t step = 0;                   // of the program, where it is asked for
  PlaceLevel owner = PlaceLevel::kThread;  // each place of this level has one; kDevice: the whole launch
  // Where its bytes lie: a thread's registers, a block's shared memory or a core's VMEM, the device's memory. Registers
  // are the thread's own, for any owner; so is memory of the device that a thread asks for alone.
  PlaceLevel memory = PlaceLevel::kBlock;
  std::int64_t tensor_columns = 0;  // that it takes of the block's tensor memory; 0: it is not there
};

// One of a sequence that all places along some grid dimensions make together.
struct CollectiveStep {
  std::string_view kinds;  // what the sequence is of, "collective copies": one of each place has an order
  absl::Span<const std::size_t> grid_dims;
  std::string what;  // in words; the same at every place
};

// Along one dimension of the launch, another place than the agent's own.
struct PeerCoordinate {
  std::size_t grid_dim = 0;
  std::int64_t index = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_PLACES_H_
