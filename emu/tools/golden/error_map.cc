#include "emu/tools/golden/error_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/tools/golden/png.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::golden {
namespace {

constexpr std::int64_t kMostPoints = 1024;  // of one side
constexpr std::int64_t kLeastPoints = 256;  // small outputs have several points for an element

using Colour = std::array<std::uint8_t, 3>;

Colour ColourOf(Held held) {
  switch (held) {
    case Held::kSame:
      return {232, 232, 232};
    case Held::kWithin:
      return {58, 157, 64};
    case Held::kOver:
      return {224, 72, 72};
    case Held::kUndefined:
      return {59, 143, 196};
  }
  return {};
}

// What shows, of the elements that a point stands for.
int Weight(Held held) { return held == Held::kOver ? 3 : held == Held::kWithin ? 2 : held == Held::kSame ? 1 : 0; }

struct Grid {
  std::int64_t rows = 1, columns = 1;
};

std::int64_t PointsFor(std::int64_t n) {
  if (n >= kMostPoints) return kMostPoints;
  return n * std::max<std::int64_t>(1, std::min<std::int64_t>(16, kLeastPoints / n));
}

// A PNG of a point for each element, or for several of them the largest `value_of(element)`.
template <class ValueOf, class ColourAt>
absl::StatusOr<std::string> Png(const OutputComparison& output, absl::Span<const std::int64_t> shape,
                                const ValueOf& value_of, const ColourAt& colour_at) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const Grid of{columns == 0 ? 0 : output.elements / columns, columns};
  if (output.elements == 0) return absl::InvalidArgumentError("an output without elements has no picture");
  const Grid points{PointsFor(of.rows), PointsFor(of.columns)};
  std::vector<double> shown(static_cast<std::size_t>(points.rows * points.columns),
                            -std::numeric_limits<double>::infinity());
  for (std::int64_t y = 0; y < std::max(points.rows, of.rows); ++y) {
    for (std::int64_t x = 0; x < std::max(points.columns, of.columns); ++x) {
      const std::int64_t row = points.rows >= of.rows ? y * of.rows / points.rows : y;
      const std::int64_t column = points.columns >= of.columns ? x * of.columns / points.columns : x;
      const std::int64_t py = points.rows >= of.rows ? y : y * points.rows / of.rows;
      const std::int64_t px = points.columns >= of.columns ? x : x * points.columns / of.columns;
      double& point = shown[static_cast<std::size_t>(py * points.columns + px)];
      point = std::max(point, value_of(static_cast<std::size_t>(row * of.columns + column)));
    }
  }
  std::vector<std::uint8_t> pixels;
  for (const double value : shown) {
    const Colour colour = colour_at(value);
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  return PngOf(points.rows, points.columns, pixels);
}

// From the smallest to the largest error, along viridis.
Colour ColourOfShare(double share) {
  constexpr std::array<Colour, 5> kStops = {
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto from = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  Colour colour{};
  for (std::size_t c = 0; c < colour.size(); ++c) {
    const double step = at - static_cast<double>(from);
    colour[c] = static_cast<std::uint8_t>(kStops[from][c] * (1 - step) + kStops[from + 1][c] * step + 0.5);
  }
  return colour;
}

constexpr Colour kNoNumber = {213, 0, 120};
// Values of a point that stand for no error that has a power of ten.
constexpr double kUndefinedPoint = -2000, kSamePoint = -1000, kNoNumberPoint = 1000;

}  // namespace

absl::StatusOr<std::string> ErrorMapPng(const OutputComparison& output, absl::Span<const std::int64_t> shape) {
  constexpr Held kOfWeight[] = {Held::kUndefined, Held::kSame, Held::kWithin, Held::kOver};
  return Png(
      output, shape, [&](std::size_t i) { return static_cast<double>(Weight(output.held[i])); },
      [&](double weight) { return ColourOf(kOfWeight[static_cast<std::size_t>(weight)]); });
}

ErrorScale ScaleOf(const OutputComparison& output) {
  ErrorScale scale;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t i = 0; i < output.errors.size(); ++i) {
    const double error = output.errors[i];
    if (error == 0 || !std::isfinite(error) || output.held[i] == Held::kUndefined) continue;
    least = std::min(least, error), most = std::max(most, error);
  }
  if (most == 0) return scale;
  scale.low = static_cast<int>(std::floor(std::log10(least)));
  scale.high = std::max(scale.low + 1, static_cast<int>(std::ceil(std::log10(most))));
  return scale;
}

std::string ErrorScale::ColourAt(int power) const {
  const Colour colour = ColourOfShare((power - low) / static_cast<double>(std::max(1, high - low)));
  return absl::StrFormat("#%02x%02x%02x", colour[0], colour[1], colour[2]);
}

absl::StatusOr<std::string> ErrorScalePng(const OutputComparison& output, absl::Span<const std::int64_t> shape) {
  const ErrorScale scale = ScaleOf(output);
  const auto power_of = [&](std::size_t i) -> double {
    if (output.held[i] == Held::kUndefined) return kUndefinedPoint;
    if (!std::isfinite(output.errors[i])) return kNoNumberPoint;
    return output.errors[i] == 0 ? kSamePoint : std::log10(static_cast<double>(output.errors[i]));
  };
  return Png(output, shape, power_of, [&](double power) {
    if (power == kUndefinedPoint) return ColourOf(Held::kUndefined);
    if (power == kSamePoint) return ColourOf(Held::kSame);
    if (power == kNoNumberPoint) return kNoNumber;
    return ColourOfShare((power - scale.low) / std::max(1, scale.high - scale.low));
  });
}

absl::StatusOr<std::vector<Page>> PagesOf(const Bundle& bundle, const Comparison& comparison) {
  std::vector<Page> pages;
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    const OutputComparison& output = comparison.outputs[i];
    if (!output.error.ok() || output.elements == 0) continue;
    PALLADION_ASSIGN_OR_RETURN(std::string png, ErrorMapPng(output, bundle.outputs[i].operand.shape));
    pages.push_back({output.name + ".png", std::move(png)});
  }
  PALLADION_ASSIGN_OR_RETURN(std::string page, ComparisonPage(bundle, comparison));
  pages.push_back({"compare.html", std::move(page)});
  for (std::size_t i = 0; i < comparison.causes.likely.size(); ++i) {
    if (comparison.causes.likely[i].text.empty()) continue;
    pages.push_back({Cat("cause_", i + 1, ".pkir"), comparison.causes.likely[i].text});
  }
  return pages;
}

}  // namespace palladion::golden
