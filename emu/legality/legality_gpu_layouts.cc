// Layouts of values in registers, with lane semantics: what a loop carries keeps its own, and a reduction has to have a
// form for it. Sources: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/lowering.py (_get_lowering_rule, _reduce_lowering_rule,
// _while_lowering_rule), jax/experimental/mosaic/gpu/fragmented_array.py (WGMMA_LAYOUT, reduce) and utils.py (fori).
// A layout is known where a value is read or cast, and through elementwise operations and loops; where it is not known
// nothing is said. Does not catch: an operation on two layouts, layouts other than those of reads and of wgmma.
#include <algorithm>

#include "emu/legality/gpu_limits.h"
#include "emu/legality/gpu_registers.h"
#include "emu/legality/rule_rows.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

enum class Layout : std::uint8_t { kUnknown, kSplat, kStrided, kWgmma, kWgmmaRow, kWgmmaColumn };

std::string_view Name(Layout layout) {
  constexpr std::string_view kNames[] = {"unknown", "WG_SPLAT",        "WG_STRIDED",
                                         "WGMMA",   "WGMMA.reduce(1)", "WGMMA.reduce(0)"};
  return kNames[static_cast<std::size_t>(layout)];
}

struct LayoutSite {
  const GpuFacts& facts;
  const Instr& op;
  Layout layout = Layout::kUnknown;  // of what is reduced, or of what a loop begins with
  Layout after = Layout::kUnknown;   // of what the loop's body returns
  Shape shape;
  std::vector<std::int64_t> axes = {};
  int bits = 32;
  bool from_gmem = false;   // a read that a cast to `after` follows
  bool transposed = false;  // a read of a ref in tiles through .transpose
};

// What JAX prints of a layout: Layout.WGMMA, ReducedLayout(layout=<Layout.WGMMA: 1>, axes=(1,)), ...
Layout LayoutNamed(std::string_view text) {
  constexpr std::string_view kClass = "Layout.";
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos) return Layout::kUnknown;
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  const bool reduced = text.starts_with("ReducedLayout");
  if (name == "WGMMA" && reduced)
    return text.find("axes=(1,)") != std::string_view::npos   ? Layout::kWgmmaRow
           : text.find("axes=(0,)") != std::string_view::npos ? Layout::kWgmmaColumn
                                                              : Layout::kUnknown;
  if (reduced) return Layout::kUnknown;
  if (name == "WGMMA") return Layout::kWgmma;
  if (name == "WG_STRIDED") return Layout::kStrided;
  return name == "WG_SPLAT" ? Layout::kSplat : Layout::kUnknown;
}

bool IsOfAll(const Instr& op) {
  static const RuleRows kOfAllDevices("multimem_load_reduce", "multimem_store");  // legality_gpu_devices.cc
  return kOfAllDevices.Has(op);
}

bool IsRead(const Instr& op) {
  return !IsOfAll(op) && RowOf(op).access == RefAccess::kLoad && RowOf(op).backends.accepts(Backend::kMosaicGpu);
}

// ---- the rules

constexpr std::int64_t kWarps = 4, kLanes = 32, kReductionBytes = 2048;

bool IsReduction(const Instr& op) {
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  return kReductions.Has(op);
}

std::optional<std::string> ReducedSplat(const LayoutSite& site) {
  if (!IsReduction(site.op) || site.layout != Layout::kSplat) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", Name(site.layout));
}

std::optional<std::string> ReducedAxes(const LayoutSite& site) {
  if (!IsReduction(site.op) || site.layout == Layout::kUnknown || site.layout == Layout::kSplat) return std::nullopt;
  const bool strided = site.layout == Layout::kStrided;
  if (site.axes.size() == (strided ? site.shape.size() : 1)) return std::nullopt;
  return Cat("axes ", ToString(Shape(site.axes)), " of ", ToString(site.shape), " in the layout ", Name(site.layout));
}

std::optional<std::string> ReducedByThreads(const LayoutSite& site) {
  if (!IsReduction(site.op) || site.layout != Layout::kStrided || !site.facts.threads.has_value()) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", Name(site.layout), ", with the threads' axis '",
             site.facts.thread_name, "'");
}

// Bytes that the warps hand each other: a register of each lane, or of each warp where nothing is left but one number.
std::optional<std::string> ReductionScratch(const LayoutSite& site) {
  if (!IsReduction(site.op) || ReducedAxes(site).has_value()) return std::nullopt;
  std::int64_t elements = 0;
  if (site.layout == Layout::kWgmma && site.axes[0] == 0) elements = kWarps * kLanes * 2;
  if (site.layout == Layout::kWgmmaRow) elements = kWarps;
  const std::int64_t needed = elements * site.bits / 8;
  const std::int64_t given =
      IntOf(site.facts.kernel->params, "reduction_scratch_bytes").value_or(kReductionBytes) * 8 / site.bits * site.bits;
  if (needed <= given / 8) return std::nullopt;
  return Cat(given / 8, " bytes for a reduction of ", ToString(site.shape), " in the layout ", Name(site.layout),
             ", which needs ", needed);
}

std::optional<std::string> Carry(const LayoutSite& site) {
  if (IsReduction(site.op) || site.layout == Layout::kUnknown || site.after == Layout::kUnknown) return std::nullopt;
  if (site.layout == site.after) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", Name(site.layout), " before the loop and ", Name(site.after),
             " after an iteration");
}

std::optional<std::string> ReadOfGmem(const LayoutSite& site) {
  if (!site.from_gmem) return std::nullopt;
  return Cat(ToString(site.shape), " read from GMEM in the layout ", Name(site.after));
}

std::optional<std::string> ReadTransposed(const LayoutSite& site) {
  if (!site.transposed) return std::nullopt;
  return Cat(ToString(site.shape), " of a transposed ref");
}

bool IsUpdate(const Instr& op) { return RowOf(op).access == RefAccess::kAtomic; }

std::optional<std::string> UpdateReplicated(const LayoutSite& site) {
  if (!IsUpdate(site.op) || (site.layout != Layout::kWgmmaRow && site.layout != Layout::kWgmmaColumn))
    return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", Name(site.layout));
}

constexpr std::string_view kReduce = "Mosaic GPU lowering, reduce_sum, reduce_max and reduce_min";
constexpr std::string_view kCast = "cast it with plgpu.layout_cast";

constexpr GpuLimit<LayoutSite> kLayoutLimits[] = {
    {{"layout.gmem", "with lane semantics GMEM is read in a tiled layout by plgpu.load with optimized=False only",
      "Mosaic GPU, FragmentedArray.load_untiled", "write plgpu.load(ref, (), layout=..., optimized=False)"},
     ReadOfGmem},
    {{"layout.transpose", "with lane semantics a tiled and swizzled ref is read transposed in a transposed layout only",
      "Mosaic GPU, UnswizzleRef and UntilingTransform",
      "read it in plgpu.Layout.WGMMA_TRANSPOSED, or let wgmma take the transposed ref", true},
     ReadTransposed},
    {{"atomic.replicated", "with lane semantics an atomic update is not by an array that several lanes have",
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
    {{"reduce.scratch", "the scratch memory of reductions holds what the warps of a reduction hand each other",
      "Mosaic GPU, FragmentedArray.reduce", "raise reduction_scratch_bytes of the compiler parameters"},
     ReductionScratch},
    {{"loop.layout", "with lane semantics what a loop carries has one layout", "Mosaic GPU lowering, while and scan",
      "cast what the body returns, or the first value, with plgpu.layout_cast"},
     Carry},
};

// ---- which layouts are known

class LayoutWalk {
 public:
  LayoutWalk(Legality& legality, const GpuFacts& facts)
      : legality_(legality),
        facts_(facts),
        layouts_(facts.kernel->values.size()),
        cast_(facts.kernel->values.size()),
        cast_transposed_(facts.kernel->values.size()) {}

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      if (!IsLayoutCast(op) || op.args.empty() || op.args[0].kind != Arg::Kind::kValue) continue;
      cast_[op.args[0].value.index()] = true;
      if (WordOf(op.attrs, "layout").find("TRANSPOSED") != std::string::npos)
        cast_transposed_[op.args[0].value.index()] = true;
    }
    for (std::size_t i = 0; i + 1 < region.body.size(); ++i) ReadAndCast(region.body[i], region.body[i + 1]);
    for (const Instr& op : region.body) {
      if (IsRead(op)) ReadOfTiles(op);
      if (IsRead(op) && op.results.size() == 1 && CastBehind(op, region) == nullptr)
        CheckStrided(legality_, facts_, op, op.types[0], StridedUse::kRead);
      Step(op);
      if (RowOf(op).access == RefAccess::kStore) Store(op);
      if (IsUpdate(op)) Update(op);
    }
  }

 private:
  void Step(const Instr& op) {
    if (RowOf(op).loops == Loops::kWarps) return;  // scalars
    if (IsLoop(RowOf(op))) return Loop(op);
    for (const Region& inner : op.regions) Walk(inner);
    if (IsReduction(op)) Reduction(op);
    if (RowOf(op).allocates == Allocates::kScope && op.regions.size() == 1) {
      for (std::size_t i = 0; i < op.results.size() && i < op.regions[0].results.size(); ++i)
        Set(op.results[i], Of(op.regions[0].results[i]));
    } else if (op.results.size() == 1) {
      Set(op.results[0], Result(op));
    }
  }

  void ReadOfTiles(const Instr& op) {
    if (op.results.size() != 1 || op.args.empty() || !IsRefArg(*facts_.kernel, op.args[0])) return;
    if (op.types[0].shape.empty() || (op.results[0].valid() && cast_transposed_[op.results[0].index()])) return;
    const GpuView view = GpuViewOf(*facts_.kernel, op.args[0]);
    if (view.tile.empty() || !view.swizzle().has_value()) return;
    const bool transposed = std::any_of(view.rest.begin(), view.rest.end(), [](const Transform& transform) {
      return transform.kind == Transform::Kind::kTranspose &&
             !std::is_sorted(transform.ints.begin(), transform.ints.end());
    });
    const LayoutSite site{.facts = facts_, .op = op, .shape = op.types[0].shape, .transposed = transposed};
    Judge(legality_, op, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), site);
  }

  void Store(const Instr& op) {
    const std::size_t stored = RowOf(op).stored;
    if (stored >= op.args.size() || IsOfAll(op)) return;
    const Type type = TypeOfArg(*facts_.kernel, op.args[stored]);
    const Layout layout = Of(op.args[stored]);
    if (NumElements(type.shape) == 1 || (layout != Layout::kStrided && layout != Layout::kSplat)) return;
    const bool splat = layout == Layout::kSplat;
    CheckStrided(legality_, facts_, op, type, splat ? StridedUse::kWriteSplat : StridedUse::kWrite);
  }

  void Update(const Instr& op) {
    const Arg* const value = ArgNamed(op, "value");
    if (value == nullptr) return;
    const Type type = TypeOfArg(*facts_.kernel, *value);
    const Layout layout = Of(*value);
    if (layout == Layout::kStrided) CheckStrided(legality_, facts_, op, type, StridedUse::kUpdate);
    const LayoutSite site{.facts = facts_, .op = op, .layout = layout, .shape = type.shape};
    Judge(legality_, op, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), site);
  }

  // A cast right behind a read is the layout of the read.
  void ReadAndCast(const Instr& read, const Instr& cast) {
    if (!IsRead(read) || !IsLayoutCast(cast) || read.args.empty() || cast.args.empty()) return;
    if (!IsRefArg(*facts_.kernel, read.args[0]) || cast.args[0].kind != Arg::Kind::kValue) return;
    if (read.results.size() != 1 || read.results[0] != cast.args[0].value) return;
    const Layout layout = LayoutNamed(WordOf(cast.attrs, "layout"));
    const bool tiled = layout == Layout::kWgmma || layout == Layout::kWgmmaRow || layout == Layout::kWgmmaColumn;
    const Attr* optimized = Find(read.attrs, "optimized");
    const bool* given = optimized == nullptr ? nullptr : std::get_if<bool>(&optimized->value);
    const GpuView view = GpuViewOf(*facts_.kernel, read.args[0]);
    if (!tiled || view.ref.space != Space::kGmem || (given != nullptr && !*given)) return;
    const Type& type = read.types[0];
    if (type.shape.empty()) return;
    LayoutSite site{.facts = facts_, .op = read, .after = layout, .shape = type.shape, .from_gmem = true};
    Judge(legality_, read, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), site);
  }

  void Set(ValueId value, Layout layout) {
    if (value.valid()) layouts_[value.index()] = layout;
  }
  Layout Of(const Arg& arg) const {
    return arg.kind == Arg::Kind::kValue ? layouts_[arg.value.index()] : Layout::kUnknown;
  }
  bool IsArray(const Arg& arg) const {
    if (arg.kind != Arg::Kind::kValue) return arg.kind == Arg::Kind::kDense;
    const Type& type = facts_.kernel->values[arg.value.index()].type;
    return type.is_array() && !type.shape.empty();
  }

  Layout Result(const Instr& op) const {
    const bool array = op.types.size() == 1 && op.types[0].is_array() && !op.types[0].shape.empty();
    if (!array || op.args.empty()) return Layout::kUnknown;
    if (IsLayoutCast(op)) return LayoutNamed(WordOf(op.attrs, "layout"));
    if (IsRead(op)) return Read(op);
    if (IsBroadcast(op)) return IsArray(op.args[0]) ? Layout::kUnknown : Layout::kSplat;
    if (IsReduction(op)) return Reduced(op);
    return RowOf(op).flow == Flow::kElementwise ? Common(op) : Layout::kUnknown;
  }

  // A value that is cast is read in that layout, so its other uses are not followed.
  Layout Read(const Instr& op) const {
    if (!op.results[0].valid() || cast_[op.results[0].index()] || !IsRefArg(*facts_.kernel, op.args[0]))
      return Layout::kUnknown;
    const GpuView view = GpuViewOf(*facts_.kernel, op.args[0]);
    if (view.ref.space != Space::kSmem && view.ref.space != Space::kGmem) return Layout::kUnknown;
    if (!view.tile.empty()) return Layout::kWgmma;
    return view.swizzle().has_value() ? Layout::kUnknown : Layout::kStrided;
  }

  Layout Common(const Instr& op) const {
    Layout common = Layout::kSplat;
    for (const Arg& arg : op.args) {
      if (!IsArray(arg)) continue;
      const Layout layout = Of(arg);
      if (layout == Layout::kSplat) continue;
      if (common != Layout::kSplat && common != layout) return Layout::kUnknown;
      common = layout;
    }
    return common;
  }

  static std::vector<std::int64_t> AxesOf(const Instr& op) {
    std::vector<std::int64_t> axes;
    const Attr* attr = Find(op.attrs, "axes");
    const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (const auto* axis = std::get_if<std::int64_t>(&(*list)[i].value)) axes.push_back(*axis);
    }
    return axes;
  }

  Layout Reduced(const Instr& op) const {
    const std::vector<std::int64_t> axes = AxesOf(op);
    if (Of(op.args[0]) != Layout::kWgmma || axes.size() != 1 || op.types[0].rank() != 1) return Layout::kUnknown;
    return axes[0] == 1 ? Layout::kWgmmaRow : Layout::kWgmmaColumn;
  }

  void Reduction(const Instr& op) {
    if (op.args.empty() || op.args[0].kind != Arg::Kind::kValue) return;
    const Type& type = facts_.kernel->values[op.args[0].value.index()].type;
    const Layout layout = Of(op.args[0]);
    if (layout == Layout::kWgmma && type.rank() != 2) return;
    const std::vector<std::int64_t> axes = AxesOf(op);
    if (axes.empty()) return;
    Judge(legality_, op, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits),
          LayoutSite{facts_, op, layout, Layout::kUnknown, type.shape, axes, Info(type.dtype).bits});
  }

  // The carries of a loop: its operands named init, the first parameters and results of its last region.
  void Loop(const Instr& op) {
    std::vector<Layout> carries;
    for (const Arg& arg : op.args) {
      if (arg.name == "init") carries.push_back(Of(arg));
    }
    for (const Region& region : op.regions) {
      for (std::size_t i = 0; i < carries.size() && i < region.params.size(); ++i)
        Set(region.params[i].value, carries[i]);
      Walk(region);
    }
    for (std::size_t i = 0; i < carries.size() && i < op.results.size(); ++i) Set(op.results[i], carries[i]);
    if (op.regions.empty()) return;
    const Region& body = op.regions.back();
    for (std::size_t i = 0; i < carries.size() && i < body.results.size() && i < op.types.size(); ++i) {
      if (!op.types[i].is_array() || op.types[i].shape.empty()) continue;
      const LayoutSite site{facts_, op, carries[i], Of(body.results[i]), op.types[i].shape};
      Judge(legality_, op, absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), site);
    }
  }

  Legality& legality_;
  const GpuFacts& facts_;
  std::vector<Layout> layouts_;
  std::vector<bool> cast_;             // by value: some layout_cast reads it
  std::vector<bool> cast_transposed_;  // to a transposed layout
};

}  // namespace

void CheckLayouts(Legality& legality, const GpuFacts& facts) {
  if (facts.lanes) LayoutWalk(legality, facts).Walk(facts.kernel->bodies[0].region);
}

void ListLayoutLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<LayoutSite>>(kLayoutLimits), texts);
  ListStridedLimits(texts);
}

}  // namespace palladion::legality
