// Layouts of values in registers, with lane semantics: where JAX refuses what layout_walk.h propagates, and the layouts
// that a reduction, a read, a store and an atomic update require. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (_get_lowering_rule, _swap_lowering_rule, _reduce_lowering_rule and others),
// jax/experimental/mosaic/gpu/fragmented_array.py (FragmentedArray) and utils.py (fori). Unknown layouts are not
// judged.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/bank_conflicts.h"
#include "emu/chip/layouts/layout_rules.h"
#include "emu/chip/layouts/layout_walk.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

using Kind = layouts::RegisterLayout::Kind;

struct LayoutSite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  layouts::RegisterLayout layout{};  // of what is reduced, read or added
  Shape shape{};
  Shape axes{};
  int bits = 32;
  bool from_gmem = false;   // a read that a cast to `layout` follows
  bool transposed = false;  // a read of a ref in tiles through .transpose
  bool no_order = false;    // a store to tiles for which JAX finds no order without bank conflicts
  const layouts::LayoutClash* clash = nullptr;
};

bool IsOfAll(const Instr& op) {
  static const RuleRows kOfAllDevices("multimem_load_reduce", "multimem_store");  // devices.cc
  return kOfAllDevices.Has(op);
}

bool IsRead(const Instr& op) {
  return !IsOfAll(op) && RowOf(op).access == RefAccess::kLoad && RowOf(op).backends.accepts(Backend::kMosaicGpu);
}

// ---- the rules

constexpr std::int64_t kReductionBytes = 2048, kMostStoredBits = 128;

bool IsReduction(const Instr& op) {
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  return kReductions.Has(op);
}

template <layouts::Clash kClash>
std::optional<std::string> Clashes(const LayoutSite& site) {
  if (site.clash == nullptr || site.clash->clash != kClash) return std::nullopt;
  return site.clash->found;
}

std::optional<std::string> ReducedSplat(const LayoutSite& site) {
  if (!IsReduction(site.op) || site.layout.kind != Kind::kSplat) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", NameOf(site.layout));
}

// The dimension of the layout's unit that is reduced; none: one in front of it.
std::optional<std::size_t> ReducedDimension(const LayoutSite& site) {
  const auto untiled = static_cast<std::int64_t>(site.shape.size() - site.layout.tiled.Unit().size());
  if (site.axes[0] < untiled) return std::nullopt;
  return static_cast<std::size_t>(site.axes[0] - untiled);
}

// JAX looks for the axis among the dimensions of the unit, even where others come first.
std::optional<std::string> ReducedAxes(const LayoutSite& site) {
  if (!IsReduction(site.op) || !site.layout.known() || site.layout.kind == Kind::kSplat) return std::nullopt;
  const bool strided = site.layout.kind == Kind::kStrided;
  const bool all = site.axes.size() == site.shape.size();
  if (strided ? all
              : site.axes.size() == 1 && site.axes[0] < static_cast<std::int64_t>(site.layout.tiled.Unit().size()))
    return std::nullopt;
  return Cat("axes ", ToString(site.axes), " of ", ToString(site.shape), " in the layout ", NameOf(site.layout));
}

std::optional<std::string> ReducedByThreads(const LayoutSite& site) {
  if (!IsReduction(site.op) || site.layout.kind != Kind::kStrided || !site.facts.threads.has_value())
    return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", NameOf(site.layout), ", with the threads' axis '",
             site.facts.thread_name, "'");
}

// Elements that a warp's lane hands the other warps: a vector of what is left, 0 where no other warp has any of it.
std::int64_t HandedOver(const LayoutSite& site) {
  if (!IsReduction(site.op) || !site.layout.is_tiled() || ReducedAxes(site).has_value()) return 0;
  const std::optional<std::size_t> dim = ReducedDimension(site);
  if (!dim.has_value()) return 0;
  const layouts::TiledLayout& tiled = site.layout.tiled;
  const std::vector<bool> reduced = tiled.DimensionsOf(*dim);
  const bool across = std::any_of(tiled.warps.begin(), tiled.warps.end(), [&](int warp) {
    return warp < 0 && reduced[reduced.size() - static_cast<std::size_t>(-warp)];
  });
  return across ? tiled.Reduced({static_cast<std::int64_t>(*dim)}).VectorLength() : 0;
}

// Bytes that the warps hand each other: a register of each lane, or of each warp where nothing is left but one number.
std::optional<std::string> ReductionScratch(const LayoutSite& site) {
  const std::int64_t lanes = site.shape.size() == 1 ? 1 : layouts::kLanesOfWarp;
  const std::int64_t needed = layouts::kWarpsOfGroup * lanes * HandedOver(site) * site.bits / 8;
  const std::int64_t requested =
      layouts::IntOf(site.facts.kernel->params, "reduction_scratch_bytes").value_or(kReductionBytes);
  const std::int64_t given = SaturatingMultiply(requested, 8) / site.bits * site.bits;
  if (needed <= given / 8) return std::nullopt;
  return Cat(given / 8, " bytes for a reduction of ", ToString(site.shape), " in the layout ", NameOf(site.layout),
             ", which needs ", needed);
}

std::optional<std::string> ReductionVector(const LayoutSite& site) {
  const std::int64_t bits = HandedOver(site) * site.bits;
  if (bits <= kMostStoredBits) return std::nullopt;
  return Cat("axes ", ToString(site.axes), " of ", ToString(site.shape), " in the layout ", NameOf(site.layout), ", ",
             bits / 8, " bytes of a lane");
}

std::optional<std::string> ReadOfGmem(const LayoutSite& site) {
  if (!site.from_gmem) return std::nullopt;
  return Cat(ToString(site.shape), " read from GMEM in the layout ", NameOf(site.layout));
}

std::optional<std::string> ReadTransposed(const LayoutSite& site) {
  if (!site.transposed) return std::nullopt;
  return Cat(ToString(site.shape), " of a transposed ref");
}

std::optional<std::string> StoredBanks(const LayoutSite& site) {
  if (!site.no_order) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", NameOf(site.layout));
}

bool IsUpdate(const Instr& op) { return RowOf(op).access == RefAccess::kAtomic; }

std::optional<std::string> UpdateReplicated(const LayoutSite& site) {
  if (!IsUpdate(site.op) || !site.layout.is_tiled() || !site.layout.tiled.HasCopies()) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", NameOf(site.layout));
}

constexpr std::string_view kReduce = "Mosaic GPU lowering, reduce_sum, reduce_max and reduce_min";
constexpr std::string_view kCast = "cast it with plgpu.layout_cast";

constexpr GpuLimit<LayoutSite> kLayoutLimits[] = {
    {{"layout.operands",
      "with lane semantics the operands of an elementwise operation have one layout, except those that are the "
      "same everywhere",
      "Mosaic GPU, FragmentedArray._pointwise", "read both in one layout, or cast one with plgpu.layout_cast",
      /*until_jax_0_10=*/false, /*only_from_jax=*/true},
     Clashes<layouts::Clash::kOperands>},
    {{"layout.cast",
      "with lane semantics plgpu.layout_cast goes between WGMMA and WGMMA_TRANSPOSED, TCGEN05 and TCGEN05_TRANSPOSED, "
      "vectors of TCGEN05_TMEM_NATIVE, from WGMMA_UPCAST_2X and 4X of narrow types, and from what is the same "
      "everywhere; and the array has the shape of the layout",
      "Mosaic GPU, FragmentedArray.to_layout", "read it in the other layout right away"},
     Clashes<layouts::Clash::kCast>},
    {{"layout.cast-back", "with lane semantics plgpu.layout_cast does not go from WGMMA to WGMMA_UPCAST_2X",
      "Mosaic GPU, FragmentedArray.to_layout", "read it in the other layout right away", /*until_jax_0_10=*/true},
     Clashes<layouts::Clash::kCastBack>},
    {{"layout.broadcast",
      "with lane semantics a broadcast adds dimensions in front, or the one along which a layout that fits the result "
      "was reduced",
      "Mosaic GPU lowering, broadcast_in_dim",
      "broadcast with lax.broadcast_in_dim, of rows or columns of a tiled layout, and cast with plgpu.layout_cast",
      /*until_jax_0_10=*/false, /*only_from_jax=*/true},
     Clashes<layouts::Clash::kBroadcast>},
    {{"layout.reshape",
      "with lane semantics a reshape keeps the last dimensions of a tiled layout's tiles, and a slice is of whole "
      "tiles",
      "Mosaic GPU, FragmentedArray.reshape and __getitem__", "reshape or slice the ref that it is read from",
      /*until_jax_0_10=*/false, /*only_from_jax=*/true},
     Clashes<layouts::Clash::kReshape>},
    {{"layout.untiled", "with lane semantics a ref in tiles is read and written in a tiled layout",
      "Mosaic GPU lowering, get and swap, and FragmentedArray.load_tiled",
      "give the value a layout with plgpu.layout_cast, or the ref no tiles", /*until_jax_0_10=*/false,
      /*only_from_jax=*/true},
     Clashes<layouts::Clash::kTiles>},
    {{"layout.transposed",
      "with lane semantics a value in a transposed layout is read from or written to a transposed ref",
      "Mosaic GPU lowering, get and swap", "transpose the ref with plgpu.transpose_ref, or take the plain layout",
      /*until_jax_0_10=*/true},
     Clashes<layouts::Clash::kTransposed>},
    {{"layout.printed", "with lane semantics an array that is the same everywhere is not printed",
      "Mosaic GPU, FragmentedArray.debug_print", "print the number"},
     Clashes<layouts::Clash::kPrinted>},
    {{"layout.barrier",
      "with lane semantics optimization_barrier takes arrays of 32 bits, or of 8 and 16 in vectors that fill registers "
      "of 32",
      "Mosaic GPU, optimization_barrier", "take it of f32 or i32"},
     Clashes<layouts::Clash::kBarrier>},
    {{"value.cast-splat",
      "with lane semantics a number that is the same everywhere is not converted from or to an 8-bit float",
      "Mosaic GPU, FragmentedArray.astype", "cast it with plgpu.layout_cast to a layout with vectors first"},
     Clashes<layouts::Clash::kNarrow>},
    {{"cond.layout", "with lane semantics all branches give an array in one layout", "Mosaic GPU lowering, cond",
      "cast what a branch returns with plgpu.layout_cast"},
     Clashes<layouts::Clash::kBranches>},
    {{"layout.gmem", "with lane semantics GMEM is read in a tiled layout by plgpu.load with optimized=False only",
      "Mosaic GPU, FragmentedArray.load_untiled", "write plgpu.load(ref, (), layout=..., optimized=False)"},
     ReadOfGmem},
    {{"layout.transpose", "with lane semantics a tiled and swizzled ref is read transposed in a transposed layout only",
      "Mosaic GPU, UnswizzleRef and UntilingTransform",
      "read it in plgpu.Layout.WGMMA_TRANSPOSED, or let wgmma take the transposed ref", true},
     ReadTransposed},
    {{"layout.stored-banks",
      "with lane semantics a store to a tiled ref has no two lanes that write to one bank of SMEM at once",
      "Mosaic GPU, plan_tiled_transfer", "take another swizzle, or another layout"},
     StoredBanks},
    {{"atomic.replicated",
      "with lane semantics an atomic update does not take an array whose elements several lanes hold",
      "Mosaic GPU, FragmentedArray.store_tiled", kCast},
     UpdateReplicated},
    {{"reduce.splat", "with lane semantics a value that is the same everywhere is not reduced", kReduce, kCast},
     ReducedSplat},
    {{"reduce.axes",
      "with lane semantics a value in the strided layout (read without tiles) is reduced along all its axes at once, "
      "one in a tiled layout along one",
      kReduce, kCast},
     ReducedAxes},
    {{"reduce.threads",
      "with lane semantics a value in the strided layout is reduced only where the block has one thread and no axis "
      "for "
      "it",
      kReduce, "give the operand a tiled layout with plgpu.layout_cast"},
     ReducedByThreads},
    {{"reduce.scratch", "the scratch memory of reductions has room for what the warps of a reduction exchange",
      "Mosaic GPU, FragmentedArray.reduce", "raise reduction_scratch_bytes of the compiler parameters"},
     ReductionScratch},
    {{"reduce.vector", "in a reduction across warps a lane passes on at most 16 bytes",
      "Mosaic GPU, FragmentedArray.reduce", "reduce it in a layout of shorter vectors"},
     ReductionVector},
    {{"loop.layout", "with lane semantics what a loop carries has one layout", "Mosaic GPU lowering, while and scan",
      "cast what the body returns, or the first value, with plgpu.layout_cast"},
     Clashes<layouts::Clash::kCarry>},
};

// ---- where they are looked for

class LayoutJudge {
 public:
  LayoutJudge(Legality& legality, const layouts::GpuFacts& facts)
      : legality_(legality), facts_(facts), layouts_(layouts::LayoutsOf(*facts.kernel)) {}

  void JudgeAll() {
    const Region& region = facts_.kernel->bodies[0].region;
    FindTransposed(region);
    Look(region);
    for (const layouts::LayoutClash& clash : layouts_.clashes)
      JudgeSite({.facts = facts_, .op = *clash.op, .clash = &clash});
  }

 private:
  void JudgeSite(const LayoutSite& site) {
    Judge(legality_, site.op, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), site);
  }

  // Values that some cast makes transposed.
  void FindTransposed(const Region& region) {
    for (const Instr& op : region.body) {
      if (layouts::IsLayoutCast(op) && !op.args.empty() && op.args[0].kind == Arg::Kind::kValue &&
          layouts::WordOf(op.attrs, "layout").find("TRANSPOSED") != std::string::npos)
        cast_transposed_.push_back(op.args[0].value);
      for (const Region& inner : op.regions) FindTransposed(inner);
    }
  }

  void Look(const Region& region) {
    for (std::size_t i = 0; i + 1 < region.body.size(); ++i) ReadAndCast(region.body[i], region.body[i + 1]);
    for (const Instr& op : region.body) {
      if (IsRead(op)) ReadOfTiles(op);
      if (IsRead(op) && op.results.size() == 1 && layouts::CastBehind(op, region) == nullptr)
        CheckStrided(legality_, facts_, op, op.types[0], StridedUse::kRead);
      if (RowOf(op).loops != Loops::kWarps) {
        for (const Region& inner : op.regions) Look(inner);
      }
      if (IsReduction(op)) Reduction(op);
      if (RowOf(op).access == RefAccess::kStore) Store(op);
      if (IsUpdate(op)) Update(op);
    }
  }

  void ReadOfTiles(const Instr& op) {
    if (op.results.size() != 1 || op.args.empty() || !layouts::IsRefArg(*facts_.kernel, op.args[0])) return;
    const bool cast =
        std::find(cast_transposed_.begin(), cast_transposed_.end(), op.results[0]) != cast_transposed_.end();
    if (op.types[0].shape.empty() || (op.results[0].valid() && cast)) return;
    const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, op.args[0]);
    if (view.tile.empty() || !view.swizzle().has_value()) return;
    const bool transposed = std::any_of(view.rest.begin(), view.rest.end(), [](const Transform& transform) {
      return transform.kind == Transform::Kind::kTranspose &&
             !std::is_sorted(transform.ints.begin(), transform.ints.end());
    });
    JudgeSite({.facts = facts_, .op = op, .shape = op.types[0].shape, .transposed = transposed});
  }

  void Store(const Instr& op) {
    const std::size_t stored = RowOf(op).stored;
    if (stored >= op.args.size() || IsOfAll(op)) return;
    const Type type = TypeOfArg(*facts_.kernel, op.args[stored]);
    const layouts::RegisterLayout layout = layouts_.Of(op.args[stored]);
    const Kind kind = layout.kind;
    if (layout.is_tiled()) StoreToTiles(op, layout, type);
    if (NumElements(type.shape) == 1 || (kind != Kind::kStrided && kind != Kind::kSplat)) return;
    const bool splat = kind == Kind::kSplat;
    CheckStrided(legality_, facts_, op, type, splat ? StridedUse::kWriteSplat : StridedUse::kWrite);
  }

  void StoreToTiles(const Instr& op, const layouts::RegisterLayout& layout, const Type& type) {
    if (op.args.empty() || !layouts::IsRefArg(*facts_.kernel, op.args[0])) return;
    const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, op.args[0]);
    if (view.ref.space != Space::kSmem || view.tile.empty() || !view.swizzle().has_value()) return;
    const std::optional<layouts::InMemory> memory = layouts::InMemoryOf(*facts_.kernel, op.args[0]);
    const std::optional<layouts::Spread> spread = layouts::SpreadOf(layout, type);
    const bool no_order = memory.has_value() && spread.has_value() && layouts::HasNoOrder(*spread, *memory);
    JudgeSite({.facts = facts_, .op = op, .layout = layout, .shape = type.shape, .no_order = no_order});
  }

  void Update(const Instr& op) {
    const Arg* const value = layouts::ArgNamed(op, "value");
    if (value == nullptr) return;
    const Type type = TypeOfArg(*facts_.kernel, *value);
    const layouts::RegisterLayout layout = layouts_.Of(*value);
    if (layout.kind == Kind::kStrided) CheckStrided(legality_, facts_, op, type, StridedUse::kUpdate);
    JudgeSite({.facts = facts_, .op = op, .layout = layout, .shape = type.shape});
  }

  // A cast right behind a read is the layout of the read.
  void ReadAndCast(const Instr& read, const Instr& cast) {
    if (!IsRead(read) || !layouts::IsLayoutCast(cast) || read.args.empty() || cast.args.empty()) return;
    if (!layouts::IsRefArg(*facts_.kernel, read.args[0]) || cast.args[0].kind != Arg::Kind::kValue) return;
    if (read.results.size() != 1 || read.results[0] != cast.args[0].value) return;
    const layouts::RegisterLayout layout = layouts::LayoutFromText(layouts::WordOf(cast.attrs, "layout"));
    const Attr* optimized = Find(read.attrs, "optimized");
    const bool* given = optimized == nullptr ? nullptr : std::get_if<bool>(&optimized->value);
    const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, read.args[0]);
    if (!layout.is_tiled() || view.ref.space != Space::kGmem || (given != nullptr && !*given)) return;
    const Type& type = read.types[0];
    if (type.shape.empty() || !layouts::Fits(layout, type)) return;
    JudgeSite({.facts = facts_, .op = read, .layout = layout, .shape = type.shape, .from_gmem = true});
  }

  void Reduction(const Instr& op) {
    if (op.args.empty() || op.args[0].kind != Arg::Kind::kValue) return;
    const Type& type = facts_.kernel->values[op.args[0].value.index()].type;
    const layouts::RegisterLayout layout = layouts_.Of(op.args[0]);
    const Shape axes = layouts::IntsOf(op, "axes");
    if (axes.empty() || (layout.is_tiled() && type.shape.size() < layout.tiled.Unit().size())) return;
    if (layout.is_tiled() && axes.size() > 1 && IsOfTensorMemory(op.args[0])) return;  // reduce.tmem
    JudgeSite({.facts = facts_,
               .op = op,
               .layout = layout,
               .shape = type.shape,
               .axes = axes,
               .bits = Info(type.dtype).bits});
  }

  // As the rules of tensor memory follow a value: through casts and operations that go element by element.
  bool IsOfTensorMemory(const Arg& arg) const {
    if (arg.kind != Arg::Kind::kValue) return false;
    const Instr* maker = layouts::MakerOf(arg.value, facts_.kernel->bodies[0].region);
    if (maker == nullptr || maker->args.empty()) return false;
    if (layouts::IsRefArg(*facts_.kernel, maker->args[0]))
      return layouts::GpuViewOf(*facts_.kernel, maker->args[0]).ref.space == Space::kTmem;
    const Flow flow = RowOf(*maker).flow;
    if (!layouts::IsLayoutCast(*maker) && flow != Flow::kElementwise && flow != Flow::kConvert) return false;
    return std::any_of(maker->args.begin(), maker->args.end(), [&](const Arg& it) { return IsOfTensorMemory(it); });
  }

  Legality& legality_;
  const layouts::GpuFacts& facts_;
  const layouts::KernelLayouts layouts_;
  std::vector<ValueId> cast_transposed_;
};

}  // namespace

void CheckLayouts(Legality& legality, const layouts::GpuFacts& facts) {
  if (facts.lanes) LayoutJudge(legality, facts).JudgeAll();
}

void ListLayoutLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), texts);
  ListStridedLimits(texts);
}

}  // namespace palladion::legality
