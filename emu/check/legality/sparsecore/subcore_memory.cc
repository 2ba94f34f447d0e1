#include "emu/check/legality/sparsecore/subcore_memory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "emu/chip/layouts/tiles.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kKiB = 1024, kSubcores = 16;

// One array of the kernel; `space` of an array without one is that of the subcore.
std::optional<VmemPart> PartOf(const Type& type, Space space, std::string name, VmemPart::Kind kind) {
  if (type.element != ElementKind::kData) return std::nullopt;
  std::int64_t bytes = layouts::DenseBytes(type, type.shape);
  std::string_view why;
  if (space == Space::kVmemShared) {
    bytes = RoundUp(bytes, kSubcores) / kSubcores;
    why = "the subcore's part of what a core shares";
  } else if (space != Space::kVmem && space != Space::kDefault) {
    return std::nullopt;
  }
  return VmemPart{.kind = kind,
                  .name = std::move(name),
                  .array = Cat(Name(type.dtype), ToString(type.shape)),
                  .one = bytes,
                  .unpadded = bytes,
                  .why = why};
}

std::int64_t Sum(const std::vector<VmemPart>& parts) {
  std::int64_t sum = 0;
  for (const VmemPart& part : parts) sum = SaturatingAdd(sum, part.bytes());
  return sum;
}

// What is held where nested scopes hold most at once.
std::vector<VmemPart> Scopes(const Kernel& kernel, const Region& region) {
  std::vector<VmemPart> most;
  for (const Instr& op : region.body) {
    std::vector<VmemPart> own, inner_most;
    if (HasScope(RowOf(op)) && !op.regions.empty()) {
      for (const Param& param : op.regions[0].params) {
        const ValueInfo& info = kernel.values[param.value.index()];
        auto part =
            PartOf(info.type, info.type.space, info.label.empty() ? info.name : info.label, VmemPart::Kind::kScope);
        if (part.has_value()) own.push_back(*std::move(part));
      }
    }
    for (const Region& inner : op.regions) {
      std::vector<VmemPart> parts = Scopes(kernel, inner);
      if (Sum(parts) > Sum(inner_most)) inner_most = std::move(parts);
    }
    own.insert(own.end(), inner_most.begin(), inner_most.end());
    if (Sum(own) > Sum(most)) most = std::move(own);
  }
  return most;
}

}  // namespace

bool IsOfVectorSubcores(const Kernel& kernel) { return kernel.launch.mesh == "sc_vector" && kernel.bodies.size() == 1; }

std::vector<VmemPart> SubcoreVmemOf(const Legality& legality) {
  const Kernel& kernel = legality.kernel();
  std::vector<VmemPart> parts;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    const bool scratch = operand.role == Role::kScratch;
    const Space space = legality.SpaceOf(i);
    if (operand.role == Role::kBound || (!scratch && space == Space::kDefault)) continue;  // in HBM
    auto part = PartOf(kernel.values[operand.value.index()].type, space, legality.NameOf(operand),
                       scratch ? VmemPart::Kind::kScratch : VmemPart::Kind::kOperand);
    if (part.has_value()) parts.push_back(*std::move(part));
  }
  for (VmemPart& part : Scopes(kernel, kernel.bodies[0].region)) parts.push_back(std::move(part));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const VmemPart& a, const VmemPart& b) { return a.bytes() > b.bytes(); });
  return parts;
}

void CheckSubcoreVmem(Legality& legality) {
  const std::int64_t limit = legality.chip()->vmem_subcore;
  const std::vector<VmemPart> parts = SubcoreVmemOf(legality);
  legality.memories += static_cast<std::int64_t>(parts.size());
  const std::int64_t held = Sum(parts);
  if (limit == 0 || held < limit) return;
  constexpr std::size_t kMaxParts = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kMaxParts); ++i)
    Append(&text, i == 0 ? "" : ", ", BytesText(parts[i].bytes()), " for '", parts[i].name, "' (", parts[i].array, ")");
  legality.Exceeds(
      Cat("at once it holds at least ", BytesText(held), " of the vmem of a vector subcore, and one of ",
          legality.chip()->name, " has ", BytesText(limit), ", of which the compiler needs some itself: ", text),
      Cat("hold at least ", BytesText(RoundUp(held - limit + 1, kKiB)), " less, with smaller buffers or less scratch"));
}

}  // namespace palladion::legality
