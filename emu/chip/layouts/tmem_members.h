// Members of a union of refs in tensor memory (plgpu.RefUnion), and whether a kernel with warpgroup semantics says how
// each lies there. Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/layout_inference.py
// (_slice_tmem_constraint_system: all views of one member have one layout, two members have nothing in common).
#ifndef PALLADION_EMU_CHIP_LAYOUTS_TMEM_MEMBERS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_TMEM_MEMBERS_H_

#include "semantics/ir/module.h"

namespace palladion::layouts {

// Is the ref, as the operand sees it, a member of a union?
bool IsMember(const Arg& arg);

// Does anything in the kernel say how the member lies in tensor memory? Loads and stores alone say so only where the
// values that they move have a layout from somewhere. Where that is not clear the answer is yes.
bool HasLayout(const Kernel& kernel, const Arg& member);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_TMEM_MEMBERS_H_
