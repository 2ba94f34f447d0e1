// Where an output is wrong, as a picture: its last dimension from left to right, all others from top to bottom. Grey:
// the same bits; green: within tolerance; red: over it; blue: undefined. Of a larger output each point is the worst of
// a rectangle.
#ifndef PALLADION_EMU_GOLDEN_ERROR_MAP_H_
#define PALLADION_EMU_GOLDEN_ERROR_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/golden/comparison.h"

namespace palladion::golden {

// A PNG file. Internal: libpng refuses it.
absl::StatusOr<std::string> ErrorMapPng(const OutputComparison& output, absl::Span<const std::int64_t> shape);

// One self-contained page: the report and the maps of its outputs.
absl::StatusOr<std::string> ComparisonPage(const Bundle& bundle, const Comparison& comparison);

struct Page {
  std::string name, content;
};
// NAME.png of each output, compare.html, and cause_N.pkir, the kernel that makes the N-th likely mistake.
absl::StatusOr<std::vector<Page>> PagesOf(const Bundle& bundle, const Comparison& comparison);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_GOLDEN_ERROR_MAP_H_
