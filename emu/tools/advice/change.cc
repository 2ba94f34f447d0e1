#include "emu/tools/advice/change.h"

namespace palladion::advice {

absl::Span<const ChangeRow> AllChanges() {
  static constexpr ChangeRow kRows[] = {
      {"slots", "slots more, and fewer, of each ring in shared memory",
       "no array of shared memory is indexed by the remainder of a step", FindSlots},
      {"grid", "two dimensions of the grid in the other order, so that other blocks run together",
       "the grid has no two dimensions of more than one block", FindGridOrder},
      {"waits", "a loop that waits for the products of the turn before, while its own run",
       "no loop multiplies and waits for all of its products", FindProductWaits},
      {"blocks", "blocks of a grid twice, four times, ... as large, and as small",
       "no blocks that the backend copies move along the grid", FindBlocks},
  };
  return kRows;
}

}  // namespace palladion::advice
