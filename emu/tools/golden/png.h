// A picture as a PNG file: png.cc by libpng; png_wasm.cc, where that is missing, by nothing.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_PNG_H_
#define PALLADION_EMU_TOOLS_GOLDEN_PNG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace palladion::golden {

// `pixels`: red, green and blue of each point, row by row. Internal: libpng refuses it. Unimplemented: it is missing.
absl::StatusOr<std::string> PngOf(std::int64_t rows, std::int64_t columns, absl::Span<const std::uint8_t> pixels);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_PNG_H_
