#include "emu/tools/golden/png.h"

namespace palladion::golden {

absl::StatusOr<std::string> PngOf(std::int64_t, std::int64_t, absl::Span<const std::uint8_t>) {
  return absl::UnimplementedError(
      "this build of Palladion, for WebAssembly, writes no pictures of errors: libpng is "
      "not part of it; leave the picture out, or compare with the native command");
}

}  // namespace palladion::golden
