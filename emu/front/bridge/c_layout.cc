// palladion_layout of the C ABI: where each element of an array lies, as tables for pictures.
#include <string>

#include "emu/chip/layouts/layout_tables.h"
#include "emu/front/bridge/c_arrays.h"
#include "semantics/base/cat.h"

char* palladion_layout(const palladion_layout_request* request, palladion_error* error) {
  namespace bridge = palladion::bridge;
  return bridge::Printed(
      [&]() -> absl::StatusOr<std::string> {
        if (request == nullptr || request->rank < 0 || (request->rank > 0 && request->shape == nullptr))
          return absl::InvalidArgumentError("no request");
        const std::string name(bridge::TextOf(request->dtype));
        const std::optional<palladion::DType> dtype = palladion::DTypeFromName(name);
        if (!dtype.has_value()) return absl::InvalidArgumentError(palladion::Cat("no type is called '", name, "'"));
        const auto shape_of = [&](const int64_t* sizes) {
          return sizes == nullptr ? palladion::Shape() : palladion::Shape(sizes, sizes + request->rank);
        };
        return palladion::layouts::LayoutTable({.layout = std::string(bridge::TextOf(request->layout)),
                                                .type = palladion::ArrayType(*dtype, shape_of(request->shape)),
                                                .chip = std::string(bridge::TextOf(request->chip)),
                                                .tile = shape_of(request->tile),
                                                .swizzle = request->swizzle,
                                                .access = std::string(bridge::TextOf(request->access)),
                                                .packed = request->packed != 0});
      },
      error);
}
