#include "emu/chip/layouts/layout_walk.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/layout_rules.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::layouts {
namespace {

bool IsArrayType(const Type& type) { return type.is_array() && !type.shape.empty(); }

class LayoutWalk {
 public:
  explicit LayoutWalk(const Kernel& kernel) : kernel_(kernel), lanes_(GpuFactsOf(kernel, nullptr).lanes) {
    layouts_.values.resize(kernel.values.size());
  }

  KernelLayouts Take() && {
    for (const Body& body : kernel_.bodies) Walk(body.region);
    return std::move(layouts_);
  }

 private:
  void Walk(const Region& region) {
    for (std::size_t i = 0; i < region.body.size(); ++i)
      Step(region.body[i], i + 1 < region.body.size() ? &region.body[i + 1] : nullptr);
  }

  void Step(const Instr& op, const Instr* next) {
    static const RuleRows kBarriers("optimization_barrier");
    if (RowOf(op).loops == Loops::kWarps) return;  // scalars
    if (!op.regions.empty()) return Regions(op);
    if (lanes_ && RowOf(op).access == RefAccess::kStore) Store(op);
    if (lanes_) Print(op);
    if (lanes_ && RowOf(op).flow == Flow::kConvert) Convert(op);
    const Instr* cast = CastOf(op, next);
    for (std::size_t i = 0; i < op.results.size() && i < op.types.size(); ++i) {
      if (!op.types[i].is_array()) continue;
      const bool alone = op.results.size() == 1;
      RegisterLayout layout = op.types[i].shape.empty()                 ? RegisterLayout(LayoutName::kSplat)
                              : kBarriers.Has(op) && i < op.args.size() ? Barrier(op, op.args[i])
                              : alone                                   ? Result(op, cast)
                                                                        : RegisterLayout{};
      // A cast right behind an operation is what the compiler makes its result.
      if (!lanes_ && cast != nullptr && Makes(op)) layout = CastTo(*cast);
      Set(op.results[i], layout);
    }
  }

  // JAX shows it to the rule that lowers `op`.
  static const Instr* CastOf(const Instr& op, const Instr* next) {
    if (next == nullptr || !IsLayoutCast(*next) || op.results.size() != 1 || !op.results[0].valid()) return nullptr;
    const bool of_it = !next->args.empty() && next->args[0].kind == Arg::Kind::kValue;
    return of_it && next->args[0].value == op.results[0] ? next : nullptr;
  }
  static RegisterLayout CastTo(const Instr& cast) { return LayoutFromText(WordOf(cast.attrs, "layout")); }
  static bool Makes(const Instr& op) { return RowOf(op).prepare == nullptr; }  // reads it from memory

  void Set(ValueId value, const RegisterLayout& layout) {
    if (value.valid()) layouts_.values[value.index()] = layout;
  }
  RegisterLayout Of(const Arg& arg) const { return layouts_.Of(arg); }
  Type TypeOf(const Arg& arg) const { return TypeOfArg(kernel_, arg); }

  void Refuse(const Instr& op, Clash clash, std::string found) {
    const auto same = [&](const LayoutClash& it) { return it.op == &op && it.clash == clash; };
    if (lanes_ && std::none_of(layouts_.clashes.begin(), layouts_.clashes.end(), same))
      layouts_.clashes.push_back({&op, clash, std::move(found)});
  }
  // Of a rule of layout_rules.h: its layout, or a clash.
  RegisterLayout Take(const Instr& op, Clash clash, Carried carried) {
    if (carried.refused.has_value()) Refuse(op, clash, std::move(*carried.refused));
    return std::move(carried.layout);
  }

  RegisterLayout Result(const Instr& op, const Instr* cast) {
    static const RuleRows kReshapes("reshape", "squeeze");
    static const RuleRows kSlices("slice");
    static const RuleRows kBitcasts("bitcast_convert_type");
    static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
    const OpRow& row = RowOf(op);
    if (IsLayoutCast(op)) return lanes_ ? Cast(op) : CastTo(op);
    if (row.access != RefAccess::kNone) return Read(op, cast);
    if (IsBroadcast(op)) return Broadcast(op, cast);
    if (kReductions.Has(op)) return Reduced(op);
    if (lanes_ && kBitcasts.Has(op) && !op.args.empty() && TypeOf(op.args[0]).shape == op.types[0].shape)
      return Of(op.args[0]);
    if (lanes_ && kReshapes.Has(op) && !op.args.empty())
      return Take(op, Clash::kReshape, Reshaped(Of(op.args[0]), TypeOf(op.args[0]), op.types[0].shape));
    if (lanes_ && kSlices.Has(op) && !op.args.empty())
      return Take(op, Clash::kReshape, Sliced(Of(op.args[0]), TypeOf(op.args[0]), op));
    switch (row.flow) {
      case Flow::kElementwise:
      case Flow::kConvert:
      case Flow::kMask:
      case Flow::kSelect:
        if (row.prepare != nullptr && !op.args.empty()) return Common(op);
        break;
      default:
        break;
    }
    return lanes_ && cast != nullptr && (Makes(op) || op.args.empty()) ? CastTo(*cast) : RegisterLayout{};
  }

  // Its values go through 32-bit registers.
  RegisterLayout Barrier(const Instr& op, const Arg& arg) {
    const Type type = TypeOf(arg);
    const RegisterLayout layout = Of(arg);
    if (!layout.known() || !IsArrayType(type)) return layout;
    constexpr int kRegisterBits = 32, kByteBits = 8;
    const int bits = Info(type.dtype).bits;
    if (bits == kRegisterBits || bits < kByteBits) return layout;
    const std::int64_t vector = layout.is_tiled() ? layout.tiled.VectorLength() : layout.vector;
    const bool splat = layout.kind == RegisterLayout::Kind::kSplat;
    if (bits > kRegisterBits || splat || vector * bits % kRegisterBits != 0)
      Refuse(op, Clash::kBarrier, Said(layout, type));
    return layout;
  }

  // ---- memory

  const Arg* FirstRef(const Instr& op) const {
    const auto found =
        std::find_if(op.args.begin(), op.args.end(), [&](const Arg& arg) { return IsRefArg(kernel_, arg); });
    return found == op.args.end() ? nullptr : &*found;
  }

  static bool Transposes(const GpuView& view) {
    return std::any_of(view.rest.begin(), view.rest.end(),
                       [](const Transform& transform) { return transform.kind == Transform::Kind::kTranspose; });
  }
  static bool OnlyIndexes(const GpuView& view) {
    return std::all_of(view.rest.begin(), view.rest.end(),
                       [](const Transform& transform) { return transform.kind == Transform::Kind::kAt; });
  }

  RegisterLayout Read(const Instr& op, const Instr* cast) {
    const Arg* ref = FirstRef(op);
    if (ref == nullptr) return {};
    const GpuView view = GpuViewOf(kernel_, *ref);
    if (view.ref.space == Space::kTmem) return lanes_ && cast != nullptr ? CastTo(*cast) : OfTensorMemory(view.ref);
    if (view.ref.space == Space::kRegs) {
      const RegisterLayout& begun = layouts_.values[ref->value.index()];
      return begun.known() ? begun : RegisterLayout(LayoutName::kWgmma);
    }
    if (view.ref.space != Space::kSmem && view.ref.space != Space::kGmem) return {};
    const bool store = RowOf(op).access == RefAccess::kStore;
    if (lanes_ && cast != nullptr && !store) return ReadIn(op, view, *cast);
    if (Transposes(view) || view.peer) return {};
    if (!view.tile.empty()) return lanes_ && !store ? RegisterLayout(LayoutName::kWgmma) : RegisterLayout{};
    if (view.swizzle().has_value()) return {};
    return {LayoutName::kStrided, StridedVector(op.types[0]).value_or(0)};
  }

  // In the layout of the cast behind it.
  RegisterLayout ReadIn(const Instr& op, const GpuView& view, const Instr& cast) {
    static const RuleRows kOfAllDevices("multimem_load_reduce");  // check/legality/gpu/devices.cc
    const RegisterLayout layout = CastTo(cast);
    if (kOfAllDevices.Has(op)) return Fits(layout, op.types[0]) ? layout : RegisterLayout{};
    if (!layout.known() || RowOf(op).access != RefAccess::kLoad) return layout;
    if (!view.tile.empty() && !layout.is_tiled()) {
      Refuse(op, Clash::kTiles, Cat(ToString(op.types[0]), " read from tiles in the layout ", NameOf(layout)));
      return {};
    }
    if (IsTransposed(layout) && OnlyIndexes(view)) {
      Refuse(op, Clash::kTransposed,
             Cat(ToString(op.types[0]), " of a ref that is not transposed, in the layout ", NameOf(layout)));
      return {};
    }
    if (layout.kind == RegisterLayout::Kind::kStrided)
      return Take(op, Clash::kCast, StridedLayout(layout, op.types[0], WordOf(cast.attrs, "layout")));
    if (layout.kind == RegisterLayout::Kind::kSplat) {
      Refuse(op, Clash::kCast, Cat(ToString(op.types[0]), " read in the layout ", NameOf(layout)));
      return {};
    }
    return layout;
  }

  static RegisterLayout OfTensorMemory(const Type& ref) {
    const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(ref);
    if (!layout.ok()) return {};
    if (layout->name == TmemLayoutName::kDefault) return LayoutName::kTcgen05;
    return layout->name == TmemLayoutName::kHalfLane ? LayoutName::kWgmma : LayoutName::kUnknown;
  }

  void Store(const Instr& op) {
    const std::size_t stored = RowOf(op).stored;
    const Arg* ref = FirstRef(op);
    if (ref == nullptr || stored >= op.args.size() || !RowOf(op).backends.accepts(Backend::kMosaicGpu)) return;
    const GpuView view = GpuViewOf(kernel_, *ref);
    if (view.ref.space != Space::kSmem && view.ref.space != Space::kGmem) return;
    const RegisterLayout layout = Of(op.args[stored]);
    const Type type = TypeOf(op.args[stored]);
    if (!layout.known() || view.peer || view.multicast || NumElements(type.shape) == 1) return;
    if (IsTransposed(layout) && OnlyIndexes(view)) {
      Refuse(op, Clash::kTransposed,
             Cat(ToString(type), " in the layout ", NameOf(layout), " into a ref that is not transposed"));
    } else if (!view.tile.empty() && !layout.is_tiled()) {
      Refuse(op, Clash::kTiles, Cat(ToString(type), " in the layout ", NameOf(layout), " into tiles"));
    }
  }

  void Print(const Instr& op) {
    static const RuleRows kPrints("debug_print");
    if (!kPrints.Has(op) || op.args.size() != 1 || op.args[0].kind != Arg::Kind::kValue) return;
    const Type type = TypeOf(op.args[0]);
    if (!IsArrayType(type) || Of(op.args[0]).kind != RegisterLayout::Kind::kSplat) return;
    Refuse(op, Clash::kPrinted, Cat(ToString(type), " in the layout WG_SPLAT"));
  }

  // Conversions from and to 8-bit floats are of vectors.
  void Convert(const Instr& op) {
    if (op.args.empty() || op.args[0].kind != Arg::Kind::kValue || op.types.empty()) return;
    const Type type = TypeOf(op.args[0]);
    const DType from = type.dtype, to = op.types[0].dtype;
    const auto narrow = [](DType dtype) { return IsFloat(dtype) && Info(dtype).bits <= 8; };
    const bool splat = Of(op.args[0]).kind == RegisterLayout::Kind::kSplat;
    if (splat && from != to && IsFloat(from) && IsFloat(to) && (narrow(from) || narrow(to)))
      Refuse(op, Clash::kNarrow, Cat(ToString(type), " to ", Name(to), " in the layout WG_SPLAT"));
  }

  // ---- values

  // What is the same everywhere goes with any other. A known layout stands for one that is not: they are the same, or
  // JAX refuses the operation.
  RegisterLayout Common(const Instr& op) {
    RegisterLayout common(LayoutName::kSplat);
    const Arg* first = nullptr;
    bool all_known = true;
    for (const Arg& arg : op.args) {
      const RegisterLayout layout = Of(arg);
      if (layout.kind == RegisterLayout::Kind::kSplat) continue;
      all_known = all_known && layout.known();
      if (lanes_ && !layout.known()) continue;
      if (first == nullptr) {
        common = layout;
        first = &arg;
      } else if (common != layout) {
        Refuse(op, Clash::kOperands, Cat(Said(common, TypeOf(*first)), " and ", Said(layout, TypeOf(arg))));
        return {};
      }
    }
    return first == nullptr && !all_known ? RegisterLayout{} : common;
  }

  RegisterLayout Cast(const Instr& op) {
    if (op.args.empty()) return {};
    const Type type = TypeOf(op.args[0]);
    const std::string text = WordOf(op.attrs, "layout");
    const RegisterLayout from = Of(op.args[0]);
    RegisterLayout to = LayoutFromText(text);
    if (to.kind == RegisterLayout::Kind::kStrided) {
      Carried strided = StridedLayout(to, type, text);
      if (strided.refused.has_value())
        return from.known() ? Take(op, Clash::kCast, std::move(strided)) : RegisterLayout{};
      to = strided.layout;
    }
    if (to.known() && Converts(from, to, type)) return to;
    if (from.known() && to.known())
      Refuse(op, IsCastBack(from, to, type) ? Clash::kCastBack : Clash::kCast,
             Cat(Said(from, type), ", to ", to.kind == from.kind ? Said(to, type) : NameOf(to)));
    return to;
  }

  RegisterLayout Reduced(const Instr& op) const {
    if (op.args.empty()) return {};
    const RegisterLayout of = Of(op.args[0]);
    const Shape axes = IntsOf(op, "axes");
    if (!of.is_tiled() || axes.size() != 1) return {};
    const std::size_t rank = TypeOf(op.args[0]).shape.size(), unit = of.tiled.Unit().size();
    if (rank < unit || axes[0] < 0 || axes[0] >= static_cast<std::int64_t>(rank)) return {};
    const std::int64_t dim = axes[0] - static_cast<std::int64_t>(rank - unit);
    if (dim < 0) return of;
    return unit == 1 ? RegisterLayout{} : RegisterLayout(of.tiled.Reduced({dim}));
  }

  // Rows or columns back to the layout that they were reduced from; a number to all.
  RegisterLayout Broadcast(const Instr& op, const Instr* cast) {
    if (op.args.empty()) return {};
    std::optional<RegisterLayout> wanted;
    if (cast != nullptr) wanted = CastTo(*cast);
    Carried carried = Broadcasted(Of(op.args[0]), TypeOf(op.args[0]), op, wanted);
    if (lanes_) return Take(op, Clash::kBroadcast, std::move(carried));
    return wanted.has_value() && !carried.layout.known() ? RegisterLayout{} : std::move(carried.layout);
  }

  // ---- regions

  // Loops carry their operands named init; scopes and branches give what their regions end with.
  void Regions(const Instr& op) {
    if (RowOf(op).allocates == Allocates::kState) BeginStates(op);
    if (IsLoop(RowOf(op))) return Loop(op);
    for (const Region& region : op.regions) Walk(region);
    for (std::size_t i = 0; i < op.results.size(); ++i) Set(op.results[i], End(op, i));
  }

  // An accumulator that begins as a value keeps its layout.
  void BeginStates(const Instr& op) {
    if (!lanes_ || op.regions.empty()) return;
    const std::vector<Param>& params = op.regions[0].params;
    for (std::size_t i = 0; i < op.args.size() && i < params.size(); ++i) {
      if (op.args[i].kind == Arg::Kind::kValue && TypeOf(op.args[i]).is_array()) Set(params[i].value, Of(op.args[i]));
    }
  }

  void Loop(const Instr& op) {
    std::vector<RegisterLayout> carries;
    for (const Arg& arg : op.args) {
      if (arg.name == "init") carries.push_back(Of(arg));
    }
    if (!lanes_ || op.regions.empty()) {
      WalkLoop(op, carries);
      return SetAll(op, carries);
    }
    const std::vector<RegisterLayout> after = AfterTurns(op, carries);
    // Turns that are all written out one after another need not agree.
    const std::optional<std::int64_t> length = IntOf(op.attrs, "length");
    if (length.has_value() && IntOf(op.attrs, "unroll").value_or(1) == *length) return SetAll(op, after);
    for (std::size_t i = 0; i < carries.size() && i < op.types.size(); ++i) {
      if (!IsArrayType(op.types[i]) || after[i] == carries[i]) continue;
      if (!carries[i].known()) {
        carries[i] = after[i];
      } else if (after[i].known()) {
        Refuse(op, Clash::kCarry,
               Cat(ToString(op.types[i].shape), " in the layout ", Named(carries[i], after[i]), " before the loop and ",
                   Named(after[i], carries[i]), " after an iteration"));
      }
    }
    SetAll(op, carries);
  }

  // After as many turns as are written out one after another.
  std::vector<RegisterLayout> AfterTurns(const Instr& op, std::vector<RegisterLayout> carries) {
    constexpr std::int64_t kMostTurns = 8;
    const std::int64_t turns = IntOf(op.attrs, "unroll").value_or(1);
    const std::vector<Arg>& results = op.regions.back().results;
    for (std::int64_t turn = 0; turn < std::min(turns, kMostTurns); ++turn) {
      WalkLoop(op, carries);
      std::vector<RegisterLayout> after(carries.size());
      for (std::size_t i = 0; i < carries.size() && i < results.size(); ++i) after[i] = Of(results[i]);
      if (after == carries) return carries;
      carries = std::move(after);
    }
    if (turns > kMostTurns) std::fill(carries.begin(), carries.end(), RegisterLayout{});
    return carries;
  }
  void WalkLoop(const Instr& op, const std::vector<RegisterLayout>& carries) {
    for (const Region& region : op.regions) {
      for (std::size_t i = 0; i < carries.size() && i < region.params.size(); ++i)
        Set(region.params[i].value, carries[i]);
      Walk(region);
    }
  }
  void SetAll(const Instr& op, const std::vector<RegisterLayout>& layouts) {
    for (std::size_t i = 0; i < op.results.size(); ++i)
      Set(op.results[i], i < layouts.size() ? layouts[i] : RegisterLayout{});
  }

  RegisterLayout End(const Instr& op, std::size_t i) {
    std::optional<RegisterLayout> common;
    for (const Region& region : op.regions) {
      const RegisterLayout layout = i < region.results.size() ? Of(region.results[i]) : RegisterLayout{};
      if (lanes_ && !layout.known()) continue;
      if (common.has_value() && *common != layout) {
        if (i < op.types.size() && IsArrayType(op.types[i]))
          Refuse(op, Clash::kBranches,
                 Cat(ToString(op.types[i].shape), " in the layout ", Named(*common, layout), " from one branch and ",
                     Named(layout, *common), " from another"));
        return {};
      }
      common = layout;
    }
    return common.value_or(RegisterLayout{});
  }

  const Kernel& kernel_;
  const bool lanes_;
  KernelLayouts layouts_;
};

}  // namespace

KernelLayouts LayoutsOf(const Kernel& kernel) { return LayoutWalk(kernel).Take(); }

}  // namespace palladion::layouts
