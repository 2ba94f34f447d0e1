// Where each element of an array lies, as tables for pictures: in the registers of a warpgroup, in swizzled shared
// memory with its banks, in the tiles of a TPU's vector memory, in tensor memory. All of it is computed by the layouts
// that checks and the model of time use; here is only the JSON. Limits: at most 65536 elements of two dimensions; of
// tensor memory only JAX's default layout.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_TABLES_H_
#define PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_TABLES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "emu/chip/layouts/register_layouts.h"

namespace palladion::layouts {

struct TableRequest {
  std::string layout;        // "smem", "vmem", "tmem", or one of registers, as JAX prints it: "WGMMA"
  Type type;                 // of one or two dimensions
  std::string chip;          // vmem: whose tiles
  Shape tile;                // smem: of plgpu.TilingTransform; empty: none
  std::int64_t swizzle = 0;  // smem, bytes: 128, 64, 32; 0: none
  std::string access;        // smem: a layout of registers in which it is read; "": banks of no access
  bool packed = false;       // tmem
};

// InvalidArgument: such an array has no such layout.
absl::StatusOr<std::string> LayoutTable(const TableRequest& request);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_TABLES_H_
