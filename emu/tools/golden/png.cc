#include "emu/tools/golden/png.h"

#include <png.h>

#include "semantics/base/cat.h"

namespace palladion::golden {

absl::StatusOr<std::string> PngOf(std::int64_t rows, std::int64_t columns, absl::Span<const std::uint8_t> pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(rows);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    return absl::InternalError(Cat("libpng: ", std::string(image.message)));
  file.resize(size);
  return file;
}

}  // namespace palladion::golden
