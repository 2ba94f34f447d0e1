#include "emu/golden/error_map.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "emu/reports/printable.h"
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

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(reports::PrintableLines(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace

absl::StatusOr<std::string> ErrorMapPng(const OutputComparison& output, absl::Span<const std::int64_t> shape) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const Grid of{columns == 0 ? 0 : output.elements / columns, columns};
  if (output.elements == 0) return absl::InvalidArgumentError("an output without elements has no picture");
  const Grid points{PointsFor(of.rows), PointsFor(of.columns)};
  std::vector<Held> shown(static_cast<std::size_t>(points.rows * points.columns), Held::kUndefined);
  for (std::int64_t y = 0; y < std::max(points.rows, of.rows); ++y) {
    for (std::int64_t x = 0; x < std::max(points.columns, of.columns); ++x) {
      const std::int64_t row = points.rows >= of.rows ? y * of.rows / points.rows : y;
      const std::int64_t column = points.columns >= of.columns ? x * of.columns / points.columns : x;
      const std::int64_t py = points.rows >= of.rows ? y : y * points.rows / of.rows;
      const std::int64_t px = points.columns >= of.columns ? x : x * points.columns / of.columns;
      Held& point = shown[static_cast<std::size_t>(py * points.columns + px)];
      const Held held = output.held[static_cast<std::size_t>(row * of.columns + column)];
      if (Weight(held) > Weight(point)) point = held;
    }
  }
  std::vector<std::uint8_t> pixels;
  for (const Held held : shown) {
    const Colour colour = ColourOf(held);
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(points.columns);
  image.height = static_cast<png_uint_32>(points.rows);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    return absl::InternalError(Cat("libpng: ", std::string(image.message)));
  file.resize(size);
  return file;
}

absl::StatusOr<std::string> ComparisonPage(const Bundle& bundle, const Comparison& comparison) {
  std::string page = Cat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", Escaped(comparison.kernel),
      "</title>\n<style>body{font:14px sans-serif;margin:1em}pre{background:#80808018;padding:8px;overflow-x:auto}"
      "img{image-rendering:pixelated;border:1px solid #808080}</style></head><body>\n<h1>",
      Escaped(comparison.kernel),
      "</h1>\n<p>Grey: the same bits; green: within tolerance; red: over it; blue: undefined. The last dimension goes "
      "from left to right, all others from top to bottom.</p>\n");
  for (std::size_t i = 0; i < comparison.outputs.size(); ++i) {
    const OutputComparison& output = comparison.outputs[i];
    if (!output.error.ok() || output.elements == 0) continue;
    PALLADION_ASSIGN_OR_RETURN(const std::string png, ErrorMapPng(output, bundle.outputs[i].operand.shape));
    Append(&page, "<h2>", Escaped(output.name), "</h2>\n<img alt=\"error map of ", Escaped(output.name),
           "\" src=\"data:image/png;base64,", absl::Base64Escape(ToAbsl(png)), "\">\n");
  }
  return page + "<pre>" + Escaped(ToText(comparison)) + "</pre>\n</body></html>\n";
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
  for (std::size_t i = 0; i < comparison.causes.likely.size(); ++i)
    pages.push_back({Cat("cause_", i + 1, ".pkir"), comparison.causes.likely[i].text});
  return pages;
}

}  // namespace palladion::golden
