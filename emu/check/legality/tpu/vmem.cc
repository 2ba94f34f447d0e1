#include "emu/check/legality/tpu/vmem.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <variant>

#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/tiles.h"
#include "emu/chip/layouts/windows.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

bool IsSmem(Space space) {
  return space == Space::kSmem || space == Space::kIndex || space == Space::kKey || space == Space::kError;
}
bool IsVmem(Space space) { return space == Space::kVmem || space == Space::kDefault; }

std::string ArrayText(const Type& type, const Shape& shape) { return Cat(Name(type.dtype), ToString(shape)); }

std::int64_t Sum(const std::vector<VmemPart>& parts) {
  std::int64_t sum = 0;
  for (const VmemPart& part : parts) sum = SaturatingAdd(sum, part.bytes());
  return sum;
}

// Of VMEM or of SMEM.
class Memory {
 public:
  Memory(const Legality& legality, bool vmem) : legality_(legality), vmem_(vmem) {}

  std::vector<VmemPart> Parts() const {
    const Kernel& kernel = legality_.kernel();
    std::vector<VmemPart> parts;
    for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
      const Operand& operand = kernel.operands[i];
      const Type& type = kernel.values[operand.value.index()].type;
      if (operand.role == Role::kBound || type.element != ElementKind::kData || !Holds(legality_.SpaceOf(i))) continue;
      const Shape shape = layouts::BlockShape(operand, type);
      const layouts::WindowBuffers buffers = layouts::BuffersOf(kernel, operand);
      const bool scratch = operand.role == Role::kScratch;
      parts.push_back(
          {.kind = scratch ? VmemPart::Kind::kScratch : VmemPart::Kind::kOperand,
           .name = legality_.NameOf(operand),
           .array = ArrayText(type, shape),
           .buffers = buffers.count,
           .one = Bytes(type, shape, scratch && !vmem_ ? layouts::PaddedAs::kScoped : layouts::PaddedAs::kOperand),
           .unpadded = layouts::DenseBytes(type, shape),
           .why = scratch ? "" : buffers.why});
    }
    for (VmemPart& part : Scopes(kernel.bodies[0].region)) parts.push_back(std::move(part));
    std::erase_if(parts, [](const VmemPart& part) { return part.bytes() == 0; });
    return parts;
  }

 private:
  bool Holds(Space space) const { return vmem_ ? IsVmem(space) : IsSmem(space); }

  std::int64_t Bytes(const Type& type, const Shape& shape, layouts::PaddedAs as) const {
    return vmem_ ? layouts::TiledBytes(type, shape, *legality_.chip(), as) : SmemBytes(type, shape, as);
  }

  // A message of the compiler has the layout {0:T(128)S(1)} of an operand s32[n]: whole tiles of 128 words. No layout
  // is known of other arrays.
  static std::int64_t SmemBytes(const Type& type, const Shape& shape, layouts::PaddedAs as) {
    constexpr std::int64_t kTileBytes = 512;
    const std::int64_t dense = layouts::DenseBytes(type, shape);
    const bool tiled = as == layouts::PaddedAs::kOperand && shape.size() == 1 && Info(type.dtype).bits == 32;
    return tiled ? RoundUp(dense, kTileBytes) : dense;
  }

  void AddScoped(ValueId value, const Type& type, std::vector<VmemPart>* parts) const {
    if (type.element != ElementKind::kData || !Holds(type.space)) return;
    const ValueInfo& info = legality_.kernel().values[value.index()];
    parts->push_back({.kind = VmemPart::Kind::kScope,
                      .name = info.label.empty() ? info.name : info.label,
                      .array = ArrayText(type, type.shape),
                      .one = Bytes(type, type.shape, layouts::PaddedAs::kScoped),
                      .unpadded = layouts::DenseBytes(type, type.shape)});
  }

  // What is held where nested scopes hold most at once.
  std::vector<VmemPart> Scopes(const Region& region) const {
    std::vector<VmemPart> most, here;
    for (const Instr& op : region.body) {
      std::vector<VmemPart> own = here;
      if (HasScope(RowOf(op)) && !op.regions.empty()) {
        for (const Param& param : op.regions[0].params)
          AddScoped(param.value, legality_.kernel().values[param.value.index()].type, &own);
      }
      if (RowOf(op).allocates == Allocates::kRef && !op.results.empty() && !op.types.empty()) {
        AddScoped(op.results[0], op.types[0], &here);
        AddScoped(op.results[0], op.types[0], &own);
      }
      std::vector<VmemPart> inner_most;
      for (const Region& inner : op.regions) {
        std::vector<VmemPart> parts = Scopes(inner);
        if (Sum(parts) > Sum(inner_most)) inner_most = std::move(parts);
      }
      own.insert(own.end(), inner_most.begin(), inner_most.end());
      if (Sum(own) > Sum(most)) most = std::move(own);
    }
    return most;
  }

  const Legality& legality_;
  const bool vmem_;
};

std::vector<VmemPart> VmemParts(const Legality& legality) {
  std::vector<VmemPart> parts = Memory(legality, /*vmem=*/true).Parts();
  const std::int64_t internal = layouts::IntOf(legality.kernel().params, "internal_scratch_in_bytes").value_or(0);
  if (internal > 0)
    parts.push_back({.kind = VmemPart::Kind::kInternal,
                     .name = "internal_scratch_in_bytes",
                     .array = "",
                     .one = internal,
                     .unpadded = internal});
  return parts;
}

VmemLimit LimitOf(const Legality& legality) {
  const machines::Chip& chip = *legality.chip();
  VmemLimit limit{.total = chip.vmem_bytes - chip.vmem_reserved,
                  .core = chip.vmem_bytes,
                  .requested = layouts::IntOf(legality.kernel().params, "vmem_limit_bytes")};
  limit.scoped = std::clamp<std::int64_t>(limit.requested.value_or(chip.vmem_scoped), 0, limit.total);
  return limit;
}

std::string Decimals(std::int64_t bytes, std::int64_t unit, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, static_cast<double>(bytes) / static_cast<double>(unit));
  return text;
}

// Never two numbers that differ as one.
std::string KiBText(std::int64_t bytes) {
  if (bytes % kKiB == 0) return Cat(bytes / kKiB, " KiB");
  std::string text = Decimals(bytes, kKiB, 4);
  text.erase(text.find_last_not_of('0') + 1);
  return text + " KiB";
}

}  // namespace

std::string_view Name(VmemPart::Kind kind) {
  constexpr std::string_view kNames[] = {"operand", "scratch", "scope", "internal"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view Name(VmemVerdict verdict) {
  constexpr std::string_view kNames[] = {"fits", "may not fit", "does not fit"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::int64_t VmemUse::exact() const { return Sum(parts); }

std::int64_t VmemUse::estimate() const {
  std::int64_t sum = 0;
  for (const SpillEstimate& one : estimates) sum += one.bytes;
  return sum;
}

VmemVerdict VmemUse::verdict() const {
  if (exact() > limit.scoped) return VmemVerdict::kDoesNotFit;
  return most() > limit.scoped ? VmemVerdict::kMayNotFit : VmemVerdict::kFits;
}

VmemUse VmemOf(const Legality& legality) {
  VmemUse use{.parts = VmemParts(legality), .estimates = EstimatedSpills(legality), .limit = LimitOf(legality)};
  std::stable_sort(use.parts.begin(), use.parts.end(),
                   [](const VmemPart& a, const VmemPart& b) { return a.bytes() > b.bytes(); });
  return use;
}

std::int64_t VmemHeld(const Legality& legality) { return Sum(VmemParts(legality)); }

std::vector<VmemPart> SmemOf(const Legality& legality) { return Memory(legality, /*vmem=*/false).Parts(); }

std::string BytesText(std::int64_t bytes) {
  if (bytes < kKiB) return Cat(bytes, " bytes");
  return bytes < kMiB ? KiBText(bytes) : Decimals(bytes, kMiB, 2) + " MiB";
}

std::pair<std::string, std::string> BytesTexts(std::int64_t a, std::int64_t b) {
  std::pair<std::string, std::string> texts = {BytesText(a), BytesText(b)};
  if (a != b && texts.first == texts.second) texts = {KiBText(a), KiBText(b)};
  return texts;
}

}  // namespace palladion::legality
