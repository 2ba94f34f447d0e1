// Which operations accept a ref of another device, and how the device of a copy may be computed. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (_handle_transforms), primitives.py (copies, _get_barrier_base_index) and
// jax/experimental/mosaic/gpu/launch_context.py (_get_tma_desc, _recompute_peer_id): the tensor map of a copy is made
// on the host, which repeats the arithmetic that names the device. Does not catch: arithmetic of more than 16 steps,
// and of other dialects than arith; with warpgroup semantics, where the compiler folds first, what a fold might remove.
#include <algorithm>
#include <limits>
#include <map>

#include "emu/check/legality/gpu/copy.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

const Kernel& KernelOf(const OpSite& site) { return *site.scope.facts->kernel; }
const Region& Body(const OpSite& site) { return KernelOf(site).bodies[0].region; }

bool IsPrefetch(const OpSite& site) {
  static const RuleRows kPrefetches("async_prefetch");
  return kPrefetches.Has(site.op);
}

std::optional<CopySite> CopyOf(const OpSite& site) {
  static const RuleRows kCopies("copy_gmem_to_smem", "copy_smem_to_gmem");
  return kCopies.Has(site.op) ? CopySiteOf(site.scope, site.op) : std::nullopt;
}

// ---- which operations take such a ref

std::optional<std::string> Synchronised(const OpSite& site) {
  for (const Arg& arg : site.op.args) {
    if (!layouts::IsRefArg(KernelOf(site), arg)) continue;
    const layouts::GpuView view = layouts::GpuViewOf(KernelOf(site), arg);
    if (view.peer && view.ref.element != ElementKind::kData) return Cat("plgpu.remote_ref of ", ToString(view.ref));
  }
  return std::nullopt;
}

std::optional<std::string> Updated(const OpSite& site) {
  if (RowOf(site.op).access != RefAccess::kAtomic || site.op.args.empty()) return std::nullopt;
  const Arg& ref = site.op.args[0];
  if (!layouts::IsRefArg(KernelOf(site), ref) || !layouts::GpuViewOf(KernelOf(site), ref).peer) return std::nullopt;
  return "plgpu.remote_ref";
}

std::optional<std::string> Fetched(const OpSite& site) {
  const std::optional<CopySite> copy = CopyOf(site);
  if (site.scope.facts->lanes || !copy.has_value() || !copy->to_smem || !copy->gmem.peer) return std::nullopt;
  return "plgpu.remote_ref as the source";
}

std::optional<std::string> Prefetched(const OpSite& site) {
  const Arg* const ref = IsPrefetch(site) ? layouts::ArgNamed(site.op, "ref") : nullptr;
  if (site.scope.facts->lanes || ref == nullptr || !layouts::IsRefArg(KernelOf(site), *ref)) return std::nullopt;
  return layouts::GpuViewOf(KernelOf(site), *ref).peer ? std::optional<std::string>("plgpu.remote_ref") : std::nullopt;
}

// ---- what names the device of a copy

// The operation whose region begins with a value, and which of the region's parameters it is.
struct Owner {
  const Instr* op = nullptr;
  const Region* region = nullptr;
  std::size_t param = 0;
};

Owner OwnerOf(ValueId value, const Region& region) {
  for (const Instr& op : region.body) {
    for (const Region& inner : op.regions) {
      for (std::size_t i = 0; i < inner.params.size(); ++i) {
        if (inner.params[i].value == value) return {&op, &inner, i};
      }
      if (const Owner owner = OwnerOf(value, inner); owner.op != nullptr) return owner;
    }
  }
  return {};
}

// Says what of a value the host cannot compute.
class HostValue {
 public:
  explicit HostValue(const OpSite& site)
      : kernel_(KernelOf(site)), body_(Body(site)), lanes_(site.scope.facts->lanes) {}

  std::optional<std::string> Unknown(const Arg& arg) {
    if (arg.kind != Arg::Kind::kValue) return std::nullopt;
    const auto known = known_.find(arg.value.index());
    if (known != known_.end()) return known->second;
    std::optional<std::string> unknown = OfValue(arg.value);
    known_.emplace(arg.value.index(), unknown);
    return unknown;
  }

 private:
  std::optional<std::string> OfValue(ValueId value) {
    const Instr* const maker = layouts::MakerOf(value, body_);
    if (maker == nullptr) return OfLoop(value);
    static const RuleRows kIndices("axis_index");
    if (kIndices.Has(*maker)) return OfAxis(layouts::WordOf(maker->attrs, "axis"));
    const OpRow& row = RowOf(*maker);
    if (row.access == RefAccess::kLoad) return Cat("an element that ", maker->name, " reads");
    const bool computes = row.prepare != nullptr && row.effect == Effect::kPure && maker->results.size() == 1;
    return computes ? OfOperands(*maker) : std::nullopt;
  }

  std::optional<std::string> OfAxis(const std::string& axis) const {
    const Attr* const attr = Find(kernel_.other, "devices");
    const AttrMap* const mesh = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
    if (mesh == nullptr || Find(*mesh, axis) != nullptr) return std::nullopt;
    return Cat("the place along the axis '", axis, "'");
  }

  // The compiler has no loop where it is unrolled as a whole, and with warpgroup semantics no carry that stays.
  std::optional<std::string> OfLoop(ValueId value) const {
    const Owner owner = OwnerOf(value, body_);
    if (owner.op == nullptr || !IsLoop(RowOf(*owner.op))) return std::nullopt;
    const bool turns = RowOf(*owner.op).loops == Loops::kTurns;
    if (turns && IntAttrOr(*owner.op, "length", 0) == IntAttrOr(*owner.op, "unroll", 1)) return std::nullopt;
    const Arg* const next = owner.param < owner.region->results.size() ? &owner.region->results[owner.param] : nullptr;
    const bool stays = next != nullptr && next->kind == Arg::Kind::kValue && next->value == value;
    if (!lanes_ && stays) return std::nullopt;
    return Cat("what ", owner.op->name, " carries from turn to turn");
  }

  std::optional<std::string> OfOperands(const Instr& op) {
    std::optional<std::string> unknown;
    std::size_t count = 0;
    for (const Arg& arg : op.args) {
      std::optional<std::string> found = Unknown(arg);
      count += found.has_value() ? 1 : 0;
      if (!unknown.has_value()) unknown = std::move(found);
    }
    const bool folds = !lanes_ && (count != 1 || op.args.size() > 2 || MayFold(op));
    return folds ? std::nullopt : unknown;
  }

  // May the compiler know the result without one operand, for what the other is? x * 0, x % 1, max(x, the largest).
  static bool MayFold(const Instr& op) {
    static const RuleRows kSums("add", "sub");
    if (kSums.Has(op)) return false;
    return std::any_of(op.args.begin(), op.args.end(), [](const Arg& arg) {
      const std::optional<std::int64_t> number = layouts::LiteralInt(arg);
      constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
      return number.has_value() && ((*number > -2 && *number < 2) || *number >= kMany || *number < -kMany);
    });
  }

  const Kernel& kernel_;
  const Region& body_;
  const bool lanes_;
  std::map<std::size_t, std::optional<std::string>> known_{};  // by value
};

std::optional<std::string> NamedBy(const OpSite& site, const Arg& ref) {
  for (const Transform& transform : ref.transforms) {
    if (transform.kind != Transform::Kind::kPeer) continue;
    HostValue value(site);
    if (std::optional<std::string> unknown = value.Unknown(transform.peer)) return unknown;
  }
  return std::nullopt;
}

// A contiguous store gives the address itself instead.
bool HasTensorMap(const CopySite& copy) {
  if (copy.gather.has_value() || copy.smem.swizzle().has_value()) return true;
  if (layouts::IsGiven(copy.op.attrs, copy.to_smem ? "leader_tracked" : "reduction_op")) return true;
  if (copy.to_smem && layouts::WordOf(copy.op.attrs, "oob_mode") == "zeros") return true;
  return copy.followed && copy.smem.tile.empty() && !IsBulk(copy);
}

std::optional<std::string> Host(const OpSite& site) {
  if (IsPrefetch(site)) {
    const Arg* const ref = layouts::ArgNamed(site.op, "ref");
    return ref == nullptr ? std::nullopt : NamedBy(site, *ref);
  }
  const std::optional<CopySite> copy = CopyOf(site);
  if (!copy.has_value() || !copy->gmem.peer || !HasTensorMap(*copy)) return std::nullopt;
  return NamedBy(site, *copy->gmem.arg);
}

constexpr std::string_view kLowering = "Mosaic GPU lowering, _handle_transforms";

constexpr GpuLimit<OpSite> kPeerLimits[] = {
    {{"peer.synchronised", "plgpu.remote_ref is not of a semaphore or a barrier", kLowering,
      "signal another device's semaphore with device_id, and let each device wait for its own"},
     Synchronised},
    {{"peer.atomic", "no atomic update reaches another device", kLowering,
      "store what is to be added to the other device, and let it add", true},
     Updated},
    {{"peer.source", "with warpgroup semantics a copy into SMEM reads the own device's memory",
      "Mosaic GPU lowering, copy_gmem_to_smem", "use lane semantics, or let the other device store its part here",
      true},
     Fetched},
    {{"peer.prefetch", "with warpgroup semantics a prefetch is of the own device's memory",
      "Mosaic GPU lowering, async_prefetch", "use lane semantics, or leave the prefetch out"},
     Prefetched},
    {{"peer.host",
      "the device of a copy by TMA is computed from numbers, places of devices in their mesh, and arithmetic on "
      "them, which the host repeats (a contiguous store without a reduction takes any device)",
      "Mosaic GPU, LaunchContext._recompute_peer_id",
      "copy in each branch of a condition from a device that is named by a number, or load and store through the ref",
      true},
     Host},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> PeerLimits() { return kPeerLimits; }

}  // namespace palladion::legality
