// Facts that the limits of GPU kernels need, read from the text once: the mesh, the barriers' attributes, the target of
// a view and its layout. Based on: docs/spec/kernel-text.md; JAX 0.10.2, jax/_src/pallas/mosaic_gpu/core.py (Mesh,
// UntilingTransform, UnswizzleRef). Works on a text that was parsed, so that a kernel which cannot be prepared is
// judged too: what JAX would not write is left to the verifier. Not known here: values.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_GPU_FACTS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/chip/machines/chip.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

inline constexpr std::int64_t kLanesOfWarpgroup = 128;

// The kernel as it is launched.
struct GpuFacts {
  const Kernel* kernel = nullptr;
  const machines::Chip* chip = nullptr;
  bool lanes = true;  // lane semantics; else those of warpgroups, where layouts are inferred
  bool mesh = false;  // launched over plgpu.Mesh; else by pallas_call
  std::vector<std::int64_t> grid, cluster;
  std::vector<std::string> cluster_names;
  std::optional<std::int64_t> threads;  // Pallas threads of a block; none: one, and no axis for it
  std::string thread_name;

  std::int64_t ClusterSize() const;
  std::int64_t ThreadCount() const { return threads.value_or(1); }
  bool IsClusterAxis(std::string_view name) const;
};
GpuFacts GpuFactsOf(const Kernel& kernel, const machines::Chip* chip);

// The attributes of ref<smem,barrier{...}> and ref<smem,cluster_barrier{...}>.
struct BarrierFacts {
  std::int64_t arrivals = 1;
  std::vector<std::vector<std::string>> axes;  // of a cluster barrier; one with several names is composite
  bool leader_tracked = false, orders_tensor_core = false;
};
BarrierFacts BarrierFactsOf(const Type& type);

// A ref operand, as an access through its chain of views sees it.
struct GpuView {
  const Arg* arg = nullptr;
  Type ref;                                  // of a union of refs the member, of slots in tiles the slot
  std::vector<std::int64_t> swizzles, tile;  // of .unswizzle and .untile at the start of the chain
  std::vector<Transform> rest;               // what comes after them, those of other places left out
  std::optional<Shape> untiled;              // of the whole ref, in its logical order; none: not of that form
  std::optional<Shape> shape;                // of the access; none: the chain is not followed
  DType dtype = DType::kF32;
  bool peer = false, multicast = false;
  bool tiles_moved = false;             // transposed between .unswizzle and .untile: tiled need not be the last two
  std::vector<std::int64_t> tile_seen;  // `tile` after the reshapes of the chain, until one that breaks a rule
  std::optional<std::string> bad_reshape{};  // that one
  std::vector<std::size_t> cluster_axes;     // how many axes each .cluster names

  std::optional<std::int64_t> swizzle() const;
  int bits() const;
};
GpuView GpuViewOf(const Kernel& kernel, const Arg& arg);

// Attributes, whether or not they are there and of the type.
std::optional<std::int64_t> IntOf(const AttrMap& attrs, std::string_view name);
std::string WordOf(const AttrMap& attrs, std::string_view name);  // a word or a string; "" for none
bool IsGiven(const AttrMap& attrs, std::string_view name);        // there, and not `none`, `false` or an empty list
std::vector<std::string> NamesOf(const AttrMap& attrs, std::string_view name);  // a list's, or of the one word

const Arg* ArgNamed(const Instr& op, std::string_view name);  // nullptr where there is none, or it is `none`
std::optional<std::int64_t> LiteralInt(const Arg& arg);
bool IsRefArg(const Kernel& kernel, const Arg& arg);
// The tile of a ref of `shape` in tiles of `tile` after .reshape to `to`: dimensions may be joined whose tiles but the
// minor one are of one element (JAX's UntilingTransform.commute_reshape). None: JAX refuses it.
std::optional<Shape> TileAfterReshape(const Shape& shape, const Shape& tile, const Shape& to);
Shape TiledShape(const Shape& logical, const std::vector<std::int64_t>& tile);  // (a, b) by (t, u): (a/t, b/u, t, u)

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_GPU_FACTS_H_
