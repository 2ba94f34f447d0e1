// Loads from tensor memory and stores into it: which layouts of registers go with which layouts there. Sources: JAX
// 0.10.2, jax/experimental/mosaic/gpu/tcgen05.py (TMEMRef.load, TMEMRef.store); a load has the layout of the cast right
// behind it. With warpgroup semantics the compiler chooses the layout, and only impossible combinations are reported.
// Reductions of what is loaded, too. Does not catch: a stored value whose layout comes from another operation than a
// cast, a read, an elementwise one or a constant.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/register_facts.h"
#include "emu/chip/layouts/tmem_register_layouts.h"
#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

enum class Registers : std::uint8_t { kUnknown, kSplat, kTcgen05, kWgmma, kNative, kM64Collective, kGiven, kOther };

struct LayoutSeen {
  Registers kind = Registers::kUnknown;
  std::int64_t number = 0;  // of kNative the vector's length, of kM64Collective the columns
  std::string name{};
  std::optional<layouts::TiledLayout> given{};  // kGiven
};

struct TransferSite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  bool store = false;
  Type memory;
  TmemLayout layout;
  Shape shape;
  LayoutSeen registers;
  bool strided = false;  // a stored value that is read from GMEM as JAX reads by default
  std::size_t axes = 0;  // of a reduction

  int bits() const { return Info(memory.dtype).bits; }
};

// A layout in tiles that has a name, too, is the one of that name.
void Recognise(LayoutSeen& layout) {
  const layouts::TiledLayout& given = *layout.given;
  const std::int64_t columns = given.Unit().back();
  const auto is = [&](layouts::LayoutName name) { return layouts::RegisterLayout(name, columns).tiled == given; };
  layout.kind = Registers::kGiven;
  if (is(layouts::LayoutName::kTcgen05)) layout.kind = Registers::kTcgen05;
  if (is(layouts::LayoutName::kWgmma)) layout.kind = Registers::kWgmma;
  if (is(layouts::LayoutName::kTmemNative)) layout.kind = Registers::kNative;
  if (columns % 16 == 0 && is(layouts::LayoutName::kTcgen05M64Collective)) layout.kind = Registers::kM64Collective;
  layout.number = columns;
}

// What JAX prints: Layout.TCGEN05, ParameterizedLayout(layout_cls=<Layout.TCGEN05_TMEM_NATIVE: 12>, args=(2,), ...)
LayoutSeen LayoutNamed(std::string_view text) {
  constexpr std::string_view kClass = "Layout.", kArguments = "args=(";
  LayoutSeen layout{.kind = Registers::kOther, .name = std::string(text)};
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos || text.starts_with("ReducedLayout")) return layout;
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  layout.name = std::string(name);
  const std::size_t arguments = text.find(kArguments);
  if (arguments != std::string_view::npos) {
    for (const char c : text.substr(arguments + kArguments.size())) {
      if (c < '0' || c > '9' || layout.number > kMaxElements) break;
      layout.number = 10 * layout.number + (c - '0');
    }
  }
  if (name == "TCGEN05") layout.kind = Registers::kTcgen05;
  if (name == "WGMMA") layout.kind = Registers::kWgmma;
  if (name == "TCGEN05_M64_COLLECTIVE") layout.kind = Registers::kM64Collective;
  if (name == "TCGEN05_TMEM_NATIVE") {
    layout.kind = Registers::kNative;
    if (layout.number == 0) layout.number = 2;
  }
  layout.given = layouts::GivenLayout(text);
  if (layout.given.has_value()) Recognise(layout);
  return layout;
}

// A load without a cast takes what its memory wants.
LayoutSeen InferredOf(const TmemLayout& layout) {
  if (layout.name == TmemLayoutName::kDefault) return LayoutNamed("Layout.TCGEN05");
  if (layout.name == TmemLayoutName::kHalfLane) return LayoutNamed("Layout.WGMMA");
  if (layout.name != TmemLayoutName::kM64Collective) return {.kind = Registers::kOther, .name = "none"};
  LayoutSeen folded = LayoutNamed("Layout.TCGEN05_M64_COLLECTIVE");
  folded.number = layout.tile_columns;
  return folded;
}

// The tile of the layout that a value must be made of; none: not known.
std::optional<Shape> TileOf(const LayoutSeen& registers) {
  switch (registers.kind) {
    case Registers::kTcgen05:
      return Shape{128, 8};
    case Registers::kWgmma:
      return Shape{64, 8};
    case Registers::kNative:
      return Shape{128, std::max<std::int64_t>(1, registers.number)};
    case Registers::kM64Collective:
      return Shape{64, std::max<std::int64_t>(16, registers.number)};
    case Registers::kGiven:
      return registers.given->Unit();
    default:
      return std::nullopt;
  }
}

std::string Describe(const TransferSite& site) {
  return Cat(Name(site.memory.dtype), ToString(site.shape), " in layout=", Name(site.layout.name),
             ", packing=", site.layout.packing, site.store ? ", from registers in " : ", to registers in ",
             site.registers.name);
}

bool FillsTiles(const TransferSite& site, const Shape& tile) {
  return site.shape.size() == 2 && tile.size() == 2 && site.shape[0] % tile[0] == 0 && site.shape[1] % tile[1] == 0;
}

bool Goes(const TransferSite& site) {
  const TmemLayout& layout = site.layout;
  const bool plain = layout.name == TmemLayoutName::kDefault, wide = site.bits() == 16 || site.bits() == 32;
  switch (site.registers.kind) {
    case Registers::kTcgen05:
      return plain && wide;
    case Registers::kWgmma:
      return layout.name == TmemLayoutName::kHalfLane && layout.tile_columns == site.shape[1] && wide;
    case Registers::kM64Collective:
      return layout.name == TmemLayoutName::kM64Collective && layout.tile_columns == site.shape[1] &&
             site.registers.number == site.shape[1] && wide;
    case Registers::kNative:
      if (!plain) return false;
      if (site.registers.number == layout.packing && layout.packing * site.bits() == kTmemCellBits) return true;
      return site.registers.number == 2 && ((site.bits() == 16 && layout.packing == 1) || site.bits() == 32);
    case Registers::kGiven:  // as it lies in tensor memory
      return layout.packing * site.bits() == kTmemCellBits && layouts::AsRegisters(layout) == site.registers.given;
    default:
      return false;
  }
}

// With warpgroup semantics, where what is loaded may be cast once more.
bool GoesByCompiler(const TransferSite& site) {
  const LayoutSeen& registers = site.registers;
  const bool plain = site.layout.name == TmemLayoutName::kDefault;
  switch (registers.kind) {
    case Registers::kUnknown:
      return site.bits() >= 16 || (!site.store && site.bits() == 8 && site.layout.name == TmemLayoutName::kScales);
    case Registers::kTcgen05:
      return plain && site.bits() >= 16 && FillsTiles(site, *TileOf(registers));
    case Registers::kWgmma:
    case Registers::kM64Collective:
      return Goes(site);
    case Registers::kGiven:
      return Goes(site) && (site.store || site.shape[0] == registers.given->Unit()[0]);
    case Registers::kNative:
      if (site.store) return Goes(site);
      return plain && (site.bits() >= 16 || site.layout.packing * site.bits() == kTmemCellBits);
    default:
      return !registers.name.starts_with("ReducedLayout");
  }
}

std::optional<std::string> Layouts(const TransferSite& site) {
  const Registers kind = site.registers.kind;
  const std::optional<Shape> tile = TileOf(site.registers);
  if (!site.facts.lanes) {
    return GoesByCompiler(site) ? std::nullopt : std::optional(Describe(site));
  }
  if (kind == Registers::kUnknown) return std::nullopt;
  // Of an array that lies there in several tiles of rows all are stored; a load takes one.
  const bool rows = tile.has_value() && (site.shape[0] == (*tile)[0] || (site.store && kind == Registers::kGiven));
  if (rows && FillsTiles(site, *tile) && Goes(site)) return std::nullopt;
  return Describe(site);
}

// What is read without a tiled layout is in the strided one, which tensor memory does not take.
std::optional<std::string> Strided(const TransferSite& site) {
  if (!site.store || !site.strided || (site.facts.lanes && site.registers.kind == Registers::kOther))
    return std::nullopt;
  return Cat(Name(site.memory.dtype), ToString(site.shape), " read from GMEM");
}

std::optional<std::string> Reduced(const TransferSite& site) {
  if (site.axes < 2) return std::nullopt;
  return Cat(site.axes, " axes of ", ToString(site.shape));
}

constexpr GpuLimit<TransferSite> kReductionLimits[] = {
    {{"reduce.tmem", "a value of tensor memory is reduced along one axis at a time",
      "Mosaic GPU, FragmentedArray.reduce", "reduce along one axis, and the result along the other"},
     Reduced},
};

constexpr GpuLimit<TransferSite> kLimits[] = {
    {{"tmem.stored", "what is stored into tensor memory is read from GMEM by plgpu.load with optimized=False",
      "Mosaic GPU, FragmentedArray.load_tiled", "write plgpu.load(ref, (), layout=..., optimized=False)"},
     Strided},
    {{"tmem.registers",
      "a load or store takes registers in TCGEN05 (16 or 32 bits) or TCGEN05_TMEM_NATIVE (of packed "
      "8 bits TCGEN05_TMEM_NATIVE(4)) for layout=default, in WGMMA for half_lane, in TCGEN05_M64_COLLECTIVE (or of 32 "
      "bits in a cell its NATIVE) for m64_collective, or of 32 bits in a cell in a TILED layout that is tensor "
      "memory's own; of the whole shape",
      "Mosaic GPU, TMEMRef.load and TMEMRef.store", "cast the value with plgpu.layout_cast"},
     Layouts},
};

class TransferWalk {
 public:
  TransferWalk(Legality& legality, const layouts::GpuFacts& facts)
      : legality_(legality),
        facts_(facts),
        layouts_(facts.kernel->values.size()),
        of_tmem_(facts.kernel->values.size()),
        of_gmem_(facts.kernel->values.size()) {}

  void Walk(const Region& region) {
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      const Instr& op = region.body[i];
      const Instr* next = i + 1 < region.body.size() ? &region.body[i + 1] : nullptr;
      if (IsLoad(op)) Load(op, next);
      if (IsStore(op)) Store(op);
      Define(op);
      for (const Region& inner : op.regions) Walk(inner);
    }
  }

 private:
  static bool IsLoad(const Instr& op) {
    static const RuleRows kLoads("async_load_tmem");
    return kLoads.Has(op) && !op.args.empty();
  }
  static bool IsStore(const Instr& op) {
    static const RuleRows kStores("async_store_tmem");
    return kStores.Has(op) && op.args.size() > 1;
  }
  static bool IsCast(const Instr& op) {
    return layouts::IsLayoutCast(op) && !op.args.empty() && op.args[0].kind == Arg::Kind::kValue;
  }

  std::optional<TransferSite> SiteOf(const Instr& op) const {
    if (!layouts::IsRefArg(*facts_.kernel, op.args[0])) return std::nullopt;
    const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, op.args[0]);
    const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(view.ref);
    if (view.ref.space != Space::kTmem || !layout.ok() || !view.shape.has_value() || view.shape->size() < 2) {
      return std::nullopt;
    }
    const Shape shape(view.shape->end() - 2, view.shape->end());  // batches are stored one by one
    return TransferSite{
        .facts = facts_, .op = op, .memory = view.ref, .layout = *layout, .shape = shape, .registers = {}};
  }

  void Load(const Instr& op, const Instr* next) {
    std::optional<TransferSite> site = SiteOf(op);
    if (!site.has_value()) return;
    const bool cast = next != nullptr && IsCast(*next) && !op.results.empty() && next->args[0].value == op.results[0];
    if (cast) {
      site->registers = LayoutNamed(layouts::WordOf(next->attrs, "layout"));
    } else if (facts_.lanes) {
      site->registers = InferredOf(site->layout);
    }
    if (!op.results.empty() && op.results[0].valid()) {
      layouts_[op.results[0].index()] = site->registers;
      of_tmem_[op.results[0].index()] = true;
    }
    Judge(legality_, op, absl::Span<const GpuLimit<TransferSite>>(kLimits), *site);
  }

  void Store(const Instr& op) {
    std::optional<TransferSite> site = SiteOf(op);
    if (!site.has_value()) return;
    site->store = true;
    const Arg& value = op.args[1];
    site->registers = value.kind == Arg::Kind::kValue ? layouts_[value.value.index()]
                                                      : LayoutSeen{.kind = Registers::kSplat, .name = "WG_SPLAT"};
    if (!facts_.lanes && site->registers.kind == Registers::kSplat) site->registers = {};
    site->strided = value.kind == Arg::Kind::kValue && of_gmem_[value.value.index()];
    Judge(legality_, op, absl::Span<const GpuLimit<TransferSite>>(kLimits), *site);
  }

  void Define(const Instr& op) {
    if (op.results.size() != 1 || !op.results[0].valid()) return;
    LayoutSeen& layout = layouts_[op.results[0].index()];
    if (IsCast(op)) layout = LayoutNamed(layouts::WordOf(op.attrs, "layout"));
    const bool splat = layouts::IsBroadcast(op) && TypeOfArg(*facts_.kernel, op.args[0]).shape.empty();
    if (splat) layout = {.kind = Registers::kSplat, .name = "WG_SPLAT"};
    Origin(op);
    if (facts_.lanes) FromThere(op, layout);
  }

  static bool Keeps(const Instr& op) {
    return RowOf(op).flow == Flow::kElementwise || RowOf(op).flow == Flow::kConvert;
  }

  bool IsOf(const std::vector<bool>& origin, const Arg& arg) const {
    return arg.kind == Arg::Kind::kValue && origin[arg.value.index()];
  }

  // With lane semantics: what is read lies as its memory wants, and what is computed as what it is computed from.
  void FromThere(const Instr& op, LayoutSeen& layout) {
    if (layout.kind != Registers::kUnknown || op.types.size() != 1 || op.types[0].rank() != 2) return;
    if (Keeps(op)) {
      for (const Arg& arg : op.args) {
        if (arg.kind != Arg::Kind::kValue) continue;
        const LayoutSeen& given = layouts_[arg.value.index()];
        if (given.kind != Registers::kUnknown && given.kind != Registers::kSplat) layout = given;
      }
    }
    if (RowOf(op).access != RefAccess::kLoad || op.args.empty() || !layouts::IsRefArg(*facts_.kernel, op.args[0]))
      return;
    const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, op.args[0]);
    const bool plain = view.tile.empty() && !view.swizzle().has_value();
    if (view.ref.space != Space::kSmem && view.ref.space != Space::kGmem) return;
    layout = plain ? LayoutSeen{.kind = Registers::kOther, .name = "WG_STRIDED"} : LayoutNamed("Layout.WGMMA");
  }

  // Where a value comes from, through casts and elementwise operations.
  void Origin(const Instr& op) {
    static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
    const std::size_t result = op.results[0].index();
    if (kReductions.Has(op) && !op.args.empty() && IsOf(of_tmem_, op.args[0])) {
      const Attr* attr = Find(op.attrs, "axes");
      const auto* axes = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
      TransferSite site{.facts = facts_, .op = op, .shape = TypeOfArg(*facts_.kernel, op.args[0]).shape};
      site.axes = axes == nullptr ? 0 : axes->size();
      Judge(legality_, op, absl::Span<const GpuLimit<TransferSite>>(kReductionLimits), site);
    }
    const bool passes = IsCast(op) || Keeps(op);
    for (const Arg& arg : op.args) of_tmem_[result] = of_tmem_[result] || (passes && IsOf(of_tmem_, arg));
    for (const Arg& arg : op.args) of_gmem_[result] = of_gmem_[result] || (passes && IsOf(of_gmem_, arg));
    if (RowOf(op).access != RefAccess::kLoad || !RowOf(op).backends.accepts(Backend::kMosaicGpu)) return;
    if (op.args.empty() || !layouts::IsRefArg(*facts_.kernel, op.args[0])) return;
    const Attr* optimized = Find(op.attrs, "optimized");
    const bool* given = optimized == nullptr ? nullptr : std::get_if<bool>(&optimized->value);
    const bool gmem = layouts::GpuViewOf(*facts_.kernel, op.args[0]).ref.space == Space::kGmem;
    of_gmem_[result] = gmem && (given == nullptr || *given) && op.types[0].rank() == 2;
  }

  Legality& legality_;
  const layouts::GpuFacts& facts_;
  std::vector<LayoutSeen> layouts_;      // by value
  std::vector<bool> of_tmem_, of_gmem_;  // by value: loaded from there, in a layout that JAX chooses
};

}  // namespace

void CheckTmemTransfers(Legality& legality, const layouts::GpuFacts& facts) {
  TransferWalk(legality, facts).Walk(facts.kernel->bodies[0].region);
}

void ListTmemTransferLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<TransferSite>>(kLimits), texts);
  ListLimits(absl::Span<const GpuLimit<TransferSite>>(kReductionLimits), texts);
}

}  // namespace palladion::legality
