// How single operations propagate a register layout with lane semantics, or refuse it. Based on: JAX 0.10.2,
// jax/experimental/mosaic/gpu/fragmented_array.py (to_layout, reshape, __getitem__, broadcast_in_dim) and
// jax/_src/pallas/mosaic_gpu/lowering.py (_broadcast_in_dim_lowering_rule). An unknown layout stays unknown.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_RULES_H_
#define PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_RULES_H_

#include <optional>
#include <string>
#include <string_view>

#include "emu/chip/layouts/register_layouts.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

struct Carried {
  RegisterLayout layout{};
  std::optional<std::string> refused = std::nullopt;  // what a clash is about
};

// An attribute that is a list of whole numbers.
Shape IntsOf(const Instr& op, std::string_view name);

// "WG_STRIDED in vectors of 4" beside another layout of that name, else its name.
std::string Named(const RegisterLayout& layout, const RegisterLayout& beside);
std::string Said(const RegisterLayout& layout, const Type& type);  // "f32[128,64] in WGMMA"

bool IsTransposed(const RegisterLayout& layout);

// WG_STRIDED as `text` has it, of an array of `type`: with the vector that JAX takes where none is written.
Carried StridedLayout(const RegisterLayout& layout, const Type& type, std::string_view text);
// Does plgpu.layout_cast take an array of `type` from the one to the other?
bool Converts(const RegisterLayout& from, const RegisterLayout& to, const Type& type);
// Does it from JAX 0.11 on?
bool IsCastBack(const RegisterLayout& from, const RegisterLayout& to, const Type& type);
Carried Reshaped(const RegisterLayout& from, const Type& type, const Shape& to);
Carried Sliced(const RegisterLayout& from, const Type& type, const Instr& slice);
// `wanted`: the layout of the cast right behind it, unknown where that is not known.
Carried Broadcasted(const RegisterLayout& from, const Type& type, const Instr& broadcast,
                    const std::optional<RegisterLayout>& wanted);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_RULES_H_
