// Where an output is wrong, as a picture: its last dimension from left to right, all others from top to bottom. Grey:
// the same bits; green: within tolerance; red: over it; blue: undefined. Of a larger output each point is the worst of
// a rectangle.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_ERROR_MAP_H_
#define PALLADION_EMU_TOOLS_GOLDEN_ERROR_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/tools/golden/comparison.h"

namespace palladion::golden {

// A PNG file. Internal: libpng refuses it.
absl::StatusOr<std::string> ErrorMapPng(const OutputComparison& output, absl::Span<const std::int64_t> shape);

// How far off each element is: a colour for each power of ten from 10^low to 10^high, of what an output has. Grey: no
// error; magenta: a number on one side only; blue: undefined.
struct ErrorScale {
  int low = 0, high = 0;                  // equal: no element is off
  std::string ColourAt(int power) const;  // "#440154"
};
ErrorScale ScaleOf(const OutputComparison& output);
absl::StatusOr<std::string> ErrorScalePng(const OutputComparison& output, absl::Span<const std::int64_t> shape);

// One self-contained page: the report, maps of its outputs with the blocks of the grid over them, the worst elements.
absl::StatusOr<std::string> ComparisonPage(const Bundle& bundle, const Comparison& comparison);

struct Page {
  std::string name, content;
};
// NAME.png of each output, compare.html, and cause_N.pkir, the kernel that makes the N-th likely mistake.
absl::StatusOr<std::vector<Page>> PagesOf(const Bundle& bundle, const Comparison& comparison);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_ERROR_MAP_H_
