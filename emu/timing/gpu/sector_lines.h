// The lines and sectors of global memory that one instruction of a block touches, each once however many lanes access
// it, and how its lanes load them: in vectors as long as addresses allow. Based on: the CUDA C++ Programming Guide,
// "Device Memory Accesses": a warp's addresses are served in lines of 128 bytes and fetched in sectors of 32; a lane
// loads up to 16 bytes at once, from an address that these divide. Lanes that a mask turns off access nothing.
#ifndef PALLADION_EMU_TIMING_GPU_SECTOR_LINES_H_
#define PALLADION_EMU_TIMING_GPU_SECTOR_LINES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "emu/timing/gpu/global_boxes.h"

namespace palladion::timing::gpu {

struct SectorLine {
  using Key = std::pair<std::int64_t, std::int64_t>;  // array, and the line's number there
  using Sectors = std::uint8_t;                       // a bit for each
  Key key;
  Sectors sectors = 0;
};

struct SectorSizes {
  std::int64_t line_bytes = 128, sector_bytes = 32;
};

// In the order of their addresses.
std::vector<SectorLine> LinesOf(absl::Span<const GlobalBox> boxes, const SectorSizes& sizes);
// The sectors again as boxes, as few as there can be.
std::vector<GlobalBox> BoxesOf(absl::Span<const SectorLine> lines, const SectorSizes& sizes);

// Rows of what lanes touch, and how many elements that is.
struct Touched {
  std::vector<GlobalBox> boxes;
  std::int64_t elements = 0;
};
Touched TouchedBy(const BoxAccess& access, const ArrayLayout& array);
Touched TouchedBy(const PointAccess& access, const ArrayLayout& array);

// Bytes that a lane loads at once.
std::int64_t VectorBytes(absl::Span<const GlobalBox> boxes, std::int64_t element_bytes);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_SECTOR_LINES_H_
