// The VMEM of one TPU core that a kernel holds at once, as the TPU's compiler counts it, against its two limits: what
// one kernel may have ("scoped vmem": vmem_limit_bytes, or a default), and what a core has for kernels ("vmem").
// Windows and scratch are arithmetic (tiles.h, windows.h); what the compiler adds is an estimate (spills.h). Based on:
// JAX 0.10.2, jax/_src/pallas/mosaic/lowering.py, and texts of the compiler in public reports
// (docs/spec/tpu-limits.md).
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check/legality/legality.h"
#include "emu/check/legality/tpu/spills.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {

struct VmemPart {
  enum class Kind : std::uint8_t { kOperand, kScratch, kScope, kInternal };
  Kind kind = Kind::kOperand;
  std::string name;   // as the user has it: "x_ref"
  std::string array;  // one buffer: "f32[512,4096]"
  std::int64_t buffers = 1;
  std::int64_t one = 0, unpadded = 0;  // bytes of one buffer
  std::string_view why;                // there are so many buffers
  std::int64_t bytes() const { return SaturatingMultiply(one, buffers); }
};
std::string_view Name(VmemPart::Kind kind);

enum class VmemVerdict : std::uint8_t { kFits, kMayNotFit, kDoesNotFit };
std::string_view Name(VmemVerdict verdict);  // "fits", "may not fit", "does not fit"

struct VmemLimit {
  std::int64_t scoped = 0;                // of one kernel, as it holds
  std::int64_t total = 0;                 // of a core, for kernels
  std::int64_t core = 0;                  // all that a core has
  std::optional<std::int64_t> requested;  // vmem_limit_bytes
  bool clamped() const { return requested.has_value() && *requested > total; }
};

struct VmemUse {
  std::vector<VmemPart> parts;  // the largest first
  std::vector<SpillEstimate> estimates;
  VmemLimit limit;

  std::int64_t exact() const;     // of the parts
  std::int64_t estimate() const;  // of what the compiler adds
  std::int64_t most() const { return SaturatingAdd(exact(), 2 * estimate()); }
  VmemVerdict verdict() const;
  bool exceeds_total() const { return exact() > limit.total; }
};

// For a kernel of Mosaic TPU with a named chip.
VmemUse VmemOf(const Legality& legality);
// What it holds for certain, in bytes: VmemOf(legality).exact().
std::int64_t VmemHeld(const Legality& legality);
// Its SMEM: prefetch operands, blocks, scratch and scopes; `scopes` are those of VmemOf's rule.
std::vector<VmemPart> SmemOf(const Legality& legality);

// "24.25 MiB", "2.5 KiB", "8 bytes".
std::string BytesText(std::int64_t bytes);
// The same of two numbers, which differ as texts where they differ.
std::pair<std::string, std::string> BytesTexts(std::int64_t a, std::int64_t b);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_H_
