#include "semantics/prepare/device_mesh.h"

#include <string>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

absl::Status AddDevices(const Kernel& kernel, Program* program) {
  const Attr* attr = Find(kernel.other, "devices");
  const AttrMap* axes = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
  if (attr == nullptr) return absl::OkStatus();
  const auto bad = [&](std::string_view expected, std::string_view found) {
    return absl::InvalidArgumentError(
        Cat("kernel @", kernel.name, ": `devices` must be ", expected, "; found ", found));
  };
  if (axes == nullptr || axes->empty()) return bad("the axes of a mesh, as in {x=4, y=2}", ToString(*attr));
  const TargetBackend backend = program->target.backend;
  if (backend != TargetBackend::kMosaicTpu && backend != TargetBackend::kMosaicGpu) {
    return absl::UnimplementedError(Cat("kernel @", kernel.name,
                                        ": kernels that several devices run together are modelled for a target "
                                        "mosaic_tpu/CHIP or mosaic_gpu/CHIP; the target is ",
                                        ToString(program->target)));
  }
  std::size_t at = 0;
  for (const AttrEntry& axis : *axes) {
    const std::int64_t* size = std::get_if<std::int64_t>(&axis.second.value);
    if (size == nullptr || *size < 1) return bad("a mesh with axes of at least 1", ToString(*attr));
    if (*size > kMaxDevices || program->devices * *size > kMaxDevices)
      return bad(Cat("a mesh of at most ", kMaxDevices, " devices, which are emulated one by one"), ToString(*attr));
    program->devices *= *size;
    program->device_axes.push_back(axis.first);
    const auto place = static_cast<std::ptrdiff_t>(at++);
    program->grid.insert(program->grid.begin() + place, GridDim{.size = *size});
    program->grid_bound.insert(program->grid_bound.begin() + place, -1);
    program->dim_order.insert(program->dim_order.begin() + place, DimOrder::kParallel);
  }
  program->uses_port = true;
  return absl::OkStatus();
}

}  // namespace palladion
