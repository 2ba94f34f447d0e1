// A warpgroup that forks into its warps: core_map over a WarpMesh. Spec: docs/spec/gpu-warps.md#core_map. Which
// operations a warp may do is emu/check' business.
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyCoreMap(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  const absl::StatusOr<std::string> mesh = StringAttr(op, "mesh");
  if (!mesh.ok()) return mesh.status();
  if (*mesh != "warp") {
    return absl::UnimplementedError(
        context.kernel.backend == "mosaic_tpu"
            ? Cat("core_map over a mesh of kind '", *mesh,
                  "' inside a kernel is not modelled; launch over the cores, by pl.kernel or pl.core_map over a "
                  "pltpu.TensorCoreMesh outside of any kernel")
            : Cat("core_map over a mesh of kind '", *mesh,
                  "' inside a kernel; warps (mesh=warp) are what a GPU has there"));
  }
  PALLADION_RETURN_IF_ERROR(ExpectRegions(op, 1));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::int64_t> sizes, IntsAttr(op, "sizes"));
  if (sizes.size() != 1 || sizes[0] != 4)
    return absl::InvalidArgumentError("sizes must be [4]: a warpgroup has four warps");
  const Attr* axes = Find(op.attrs, "axes");
  const AttrList* names = axes == nullptr ? nullptr : std::get_if<AttrList>(&axes->value);
  if (names == nullptr || names->size() != 1 || std::get_if<std::string>(&names->front().value) == nullptr)
    return absl::InvalidArgumentError("axes must be one name");
  PALLADION_RETURN_IF_ERROR(ExpectParams(op.regions[0], context.kernel, {}, "the region"));
  return ExpectReturns(op.regions[0], context.kernel, {}, "the region");
}

struct ForkParams {
  Label first;
};

absl::Status RunFork(const void* params, const Step& step, Frame& frame) {
  constexpr std::int64_t kWarps = 4;
  const SpawnRequest warps{.first = *static_cast<const ForkParams*>(params)->first.target, .count = kWarps};
  return frame.machine().Spawn(warps, frame.site(step));
}

WaitTarget WaitsForWarps(const void*, const Step&, Frame&) { return {.kind = WaitTarget::Kind::kSpawned}; }

absl::Status RunJoin(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForWarps(params, step, frame), frame.site(step));
}

absl::Status RunEndWarp(const void*, const Step&, Frame& frame) {
  frame.JumpToEnd();
  return absl::OkStatus();
}

// gpu-warps.md#core_map: the region runs once in each warp, and the thread goes on when all have come to its end.
absl::Status LowerCoreMap(const Instr& op, Builder& builder) {
  const Label first, after;
  builder.EmitVisible(RunFork, ForkParams{first});
  builder.EmitVisible(RunJoin, ForkParams{});
  builder.program().steps.back().waits = WaitsForWarps;
  builder.EmitJump(after);
  builder.Bind(first);
  builder.EnterWarps(std::get<std::string>(std::get<AttrList>(Find(op.attrs, "axes")->value)[0].value));
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(op.regions[0], {}));
  builder.EnterWarps("");
  builder.EmitVisible(RunEndWarp, ForkParams{});  // the thread that waits for its warps is asked again
  builder.Bind(after);
  return absl::OkStatus();
}

constexpr OpRow kGpuWarpOps[] = {
    {.dialect = "",
     .name = "core_map",
     .spec = "gpu-warps.md#core_map",
     .verify = VerifyCoreMap,
     .lower = LowerCoreMap,
     .effect = Effect::kControl,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kWarps,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .loops = Loops::kWarps,
     .backends = kGpu,
     .unit = Unit::kControl},
};

}  // namespace

absl::Span<const OpRow> GpuWarpOps() { return kGpuWarpOps; }

}  // namespace palladion
