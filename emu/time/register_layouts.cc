#include "emu/time/register_layouts.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "emu/legality/gpu_facts.h"
#include "emu/legality/gpu_registers.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/registry/op_row.h"

namespace palladion::time {
namespace {

using legality::GpuView;

// ---- names

struct NamedLayout {
  std::string_view text;
  LayoutName name, row, column;  // the latter: after a reduction of the columns, of the rows
};
constexpr NamedLayout kNamed[] = {
    {"WGMMA", LayoutName::kWgmma, LayoutName::kWgmmaRow, LayoutName::kWgmmaColumn},
    {"TCGEN05", LayoutName::kTcgen05, LayoutName::kTcgen05Row, LayoutName::kTcgen05Column},
    {"WG_SPLAT", LayoutName::kSplat, LayoutName::kUnknown, LayoutName::kUnknown},
    {"WG_STRIDED", LayoutName::kStrided, LayoutName::kUnknown, LayoutName::kUnknown},
    {"WGMMA_TRANSPOSED", LayoutName::kWgmmaTransposed, LayoutName::kUnknown, LayoutName::kUnknown},
    {"WGMMA_8BIT", LayoutName::kWgmma8Bit, LayoutName::kUnknown, LayoutName::kUnknown},
    {"WGMMA_UPCAST_2X", LayoutName::kWgmmaUpcast2x, LayoutName::kUnknown, LayoutName::kUnknown},
    {"WGMMA_UPCAST_4X", LayoutName::kWgmmaUpcast4x, LayoutName::kUnknown, LayoutName::kUnknown},
    {"TCGEN05_TRANSPOSED", LayoutName::kTcgen05Transposed, LayoutName::kUnknown, LayoutName::kUnknown},
    {"TCGEN05_TMEM_NATIVE", LayoutName::kTmemNative, LayoutName::kUnknown, LayoutName::kUnknown},
};

const NamedLayout* RowOfLayout(LayoutName name) {
  const auto found =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const NamedLayout& row) { return row.name == name; });
  return found == std::end(kNamed) ? nullptr : found;
}

std::int64_t NumberAfter(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  std::int64_t number = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + what.size(), text.data() + text.size(), number);
  return number;
}

// ---- layouts

struct Layout {
  std::vector<Shape> tiles;
  std::vector<int> warps, lanes;  // dimensions of the tiled shape, counted from its end; positive: so many copies
  int vector = -1;
};

Layout TiledOf(const RegisterLayout& layout) {
  const std::int64_t native = layout.vector == 0 ? 2 : layout.vector;
  switch (layout.name) {
    case LayoutName::kWgmma:
      return {{{64, 8}, {16, 8}, {8, 8}, {2}}, {-7}, {-3, -2}, -1};
    case LayoutName::kTcgen05:
      return {{{128, 8}, {32, 8}, {8, 8}, {2}}, {-7}, {-3, -2}, -1};
    case LayoutName::kWgmmaRow:
      return {{{64}, {16}, {8}, {1}}, {-4}, {-2, 4}, -1};
    case LayoutName::kTcgen05Row:
      return {{{128}, {32}, {8}, {1}}, {-4}, {-2, 4}, -1};
    case LayoutName::kWgmmaColumn:
    case LayoutName::kTcgen05Column:
      return {{{8}, {2}}, {4}, {8, -2}, -1};
    case LayoutName::kWgmmaTransposed:
      return {{{64, 8}, {16, 8}, {8, 8}, {2, 2}, {2, 1}}, {-10}, {-6, -3, -5}, -2};
    case LayoutName::kTcgen05Transposed:
      return {{{128, 8}, {32, 8}, {8, 8}, {2, 2}, {2, 1}}, {-10}, {-6, -3, -5}, -2};
    case LayoutName::kWgmma8Bit:
      return {{{64, 16}, {16, 16}, {8, 16}, {4}}, {-7}, {-3, -2}, -1};
    case LayoutName::kWgmmaUpcast2x:
      return {{{64, 16}, {16, 16}, {8, 16}, {8}, {4}}, {-8}, {-4, -2, -3}, -1};
    case LayoutName::kWgmmaUpcast4x:
      return {{{64, 32}, {16, 32}, {8, 32}, {8}}, {-7}, {-3, -2}, -1};
    case LayoutName::kTmemNative:
      return {{{128, native}, {32, native}}, {-4}, {-2}, -1};
    case LayoutName::kUnknown:
    case LayoutName::kSplat:
    case LayoutName::kStrided:
      break;
  }
  return {};
}

// As TiledLayout's tiling: each tile cuts the last dimensions in two, and what is inside of it comes after all others.
std::optional<std::vector<Steps>> Tiled(const Shape& shape, const std::vector<Shape>& tiles) {
  std::vector<Steps> steps;
  for (std::size_t d = 0; d < shape.size(); ++d) steps.push_back({.dim = d, .step = 1, .size = shape[d]});
  for (const Shape& tile : tiles) {
    if (steps.size() < tile.size()) return std::nullopt;
    const std::size_t first = steps.size() - tile.size();
    for (std::size_t i = 0; i < tile.size(); ++i) {
      Steps& whole = steps[first + i];
      if (whole.size % tile[i] != 0) return std::nullopt;
      steps.push_back({.dim = whole.dim, .step = whole.step, .size = tile[i]});
      steps[first + i] = {.dim = steps[first + i].dim,
                          .step = steps[first + i].step * tile[i],
                          .size = steps[first + i].size / tile[i]};
    }
  }
  return steps;
}

std::optional<Spread> SpreadOfTiles(const Layout& layout, const Shape& shape) {
  std::optional<std::vector<Steps>> steps = Tiled(shape, layout.tiles);
  if (!steps.has_value()) return std::nullopt;
  const auto at = [&](int dim) -> Steps& { return (*steps)[steps->size() - static_cast<std::size_t>(-dim)]; };
  Spread spread{.shape = shape};
  spread.vector = at(layout.vector).size;
  spread.vector_dim = at(layout.vector).dim;
  for (const int dim : layout.warps) spread.warps.push_back(dim < 0 ? at(dim) : Steps{.step = 0, .size = dim});
  for (const int dim : layout.lanes) spread.lanes.push_back(dim < 0 ? at(dim) : Steps{.step = 0, .size = dim});
  at(layout.vector).size = 1;
  for (const std::vector<int>* dims : {&layout.warps, &layout.lanes}) {
    for (const int dim : *dims) {
      if (dim < 0) at(dim).size = 1;
    }
  }
  for (const Steps& left : *steps) {
    if (left.size > 1) spread.registers.push_back(left);
  }
  return spread;
}

// WGStridedFragLayout.from_shaped_type: vectors of at most 8 bytes.
std::optional<Spread> SpreadInOrder(std::int64_t vector, const Type& type) {
  constexpr std::int64_t kMostBytes = 8;
  const std::int64_t elements = NumElements(type.shape), bits = Info(type.dtype).bits;
  if (bits % 8 != 0 || elements <= 0 || elements % kLanesOfGroup != 0) return std::nullopt;
  if (vector == 0) {
    vector = std::min(kMostBytes / (bits / 8), elements / kLanesOfGroup);
    while (vector > 1 && elements % (vector * kLanesOfGroup) != 0) vector /= 2;
  }
  if (vector <= 0 || elements % (vector * kLanesOfGroup) != 0) return std::nullopt;
  Spread spread{.shape = type.shape, .vector = vector, .vector_dim = type.shape.size() - 1, .linear = true};
  spread.registers = {{.step = vector * kLanesOfGroup, .size = elements / (vector * kLanesOfGroup)}};
  spread.warps = {{.step = vector * kLanesOfWarp, .size = kWarpsOfGroup}};
  spread.lanes = {{.step = vector, .size = kLanesOfWarp}};
  return spread;
}

// ---- which layout a value has

class LayoutWalk {
 public:
  explicit LayoutWalk(const Kernel& kernel)
      : kernel_(kernel), lanes_(legality::GpuFactsOf(kernel, nullptr).lanes), layouts_(kernel.values.size()) {}

  std::vector<RegisterLayout> Take() && {
    for (const Body& body : kernel_.bodies) Walk(body.region);
    return std::move(layouts_);
  }

 private:
  void Walk(const Region& region) {
    for (std::size_t i = 0; i < region.body.size(); ++i)
      Step(region.body[i], i + 1 < region.body.size() ? &region.body[i + 1] : nullptr);
  }

  void Step(const Instr& op, const Instr* next) {
    if (!op.regions.empty()) return Regions(op);
    if (op.results.empty() || !op.results[0].valid() || !op.types[0].is_array()) return;
    RegisterLayout layout = op.types[0].shape.empty() ? RegisterLayout{LayoutName::kSplat} : Result(op);
    // A cast right behind an operation is what the compiler makes its result.
    if (next != nullptr && legality::IsLayoutCast(*next) && Makes(op) && !next->args.empty() &&
        next->args[0].value == op.results[0])
      layout = CastTo(*next);
    Set(op.results[0], layout);
  }

  static RegisterLayout CastTo(const Instr& cast) { return LayoutFromText(legality::WordOf(cast.attrs, "layout")); }
  static bool Makes(const Instr& op) { return RowOf(op).prepare == nullptr; }  // reads it from memory

  void Set(ValueId value, const RegisterLayout& layout) {
    if (value.valid()) layouts_[value.index()] = layout;
  }
  RegisterLayout Of(const Arg& arg) const {
    if (arg.kind != Arg::Kind::kValue) return {LayoutName::kSplat};  // a literal
    return layouts_[arg.value.index()];
  }

  const Arg* FirstRef(const Instr& op) const {
    const auto found =
        std::find_if(op.args.begin(), op.args.end(), [&](const Arg& arg) { return legality::IsRefArg(kernel_, arg); });
    return found == op.args.end() ? nullptr : &*found;
  }

  RegisterLayout Result(const Instr& op) const {
    const OpRow& row = RowOf(op);
    if (legality::IsLayoutCast(op)) return CastTo(op);
    if (row.access != RefAccess::kNone) return Read(op);
    switch (row.flow) {
      case Flow::kElementwise:
      case Flow::kConvert:
      case Flow::kMask:
      case Flow::kSelect:
        return row.prepare != nullptr ? Common(op) : RegisterLayout{};
      case Flow::kReduce:
        return Reduced(op);
      case Flow::kMove:
        return Broadcast(op);
      default:
        return {};
    }
  }

  RegisterLayout Read(const Instr& op) const {
    const Arg* ref = FirstRef(op);
    if (ref == nullptr) return {};
    const GpuView view = legality::GpuViewOf(kernel_, *ref);
    if (view.ref.space == Space::kTmem) return OfTensorMemory(view.ref);
    if (view.ref.space == Space::kRegs) return {LayoutName::kWgmma};
    if (view.ref.space != Space::kSmem && view.ref.space != Space::kGmem) return {};
    const bool transposed = std::any_of(view.rest.begin(), view.rest.end(), [](const Transform& transform) {
      return transform.kind == Transform::Kind::kTranspose;
    });
    if (transposed || view.peer) return {};
    if (!view.tile.empty()) return lanes_ ? RegisterLayout{LayoutName::kWgmma} : RegisterLayout{};
    return view.swizzle().has_value() ? RegisterLayout{} : RegisterLayout{LayoutName::kStrided};
  }

  static RegisterLayout OfTensorMemory(const Type& ref) {
    const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(ref);
    if (!layout.ok()) return {};
    if (layout->name == TmemLayoutName::kDefault) return {LayoutName::kTcgen05};
    return layout->name == TmemLayoutName::kHalfLane ? RegisterLayout{LayoutName::kWgmma} : RegisterLayout{};
  }

  RegisterLayout Common(const Instr& op) const {
    RegisterLayout common{LayoutName::kSplat};
    for (const Arg& arg : op.args) {
      const RegisterLayout layout = Of(arg);
      if (layout.name == LayoutName::kSplat) continue;
      if (common.name != LayoutName::kSplat && common != layout) return {};
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

  RegisterLayout Reduced(const Instr& op) const {
    const NamedLayout* of = op.args.empty() ? nullptr : RowOfLayout(Of(op.args[0]).name);
    const std::vector<std::int64_t> axes = AxesOf(op);
    if (of == nullptr || axes.size() != 1 || op.types[0].rank() != 1) return {};
    return {axes[0] == 1 ? of->row : of->column};
  }

  // Rows or columns back to the layout that they were reduced from; a number to all.
  RegisterLayout Broadcast(const Instr& op) const {
    if (!legality::IsBroadcast(op) || op.args.empty()) return {};
    const LayoutName from = Of(op.args[0]).name;
    if (from == LayoutName::kSplat) return {LayoutName::kSplat};
    if (from == LayoutName::kUnknown || op.types[0].rank() != 2) return {};
    for (const NamedLayout& row : kNamed) {
      if (row.row == from || row.column == from) return {row.name};
    }
    return {};
  }

  // Loops carry their operands named init; scopes and branches give what their regions end with.
  void Regions(const Instr& op) {
    const bool loop = IsLoop(RowOf(op));
    std::vector<RegisterLayout> carries;
    for (const Arg& arg : op.args) {
      if (loop && arg.name == "init") carries.push_back(Of(arg));
    }
    for (const Region& region : op.regions) {
      for (std::size_t i = 0; i < carries.size() && i < region.params.size(); ++i)
        Set(region.params[i].value, carries[i]);
      Walk(region);
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) Set(op.results[i], loop ? Carried(carries, i) : End(op, i));
  }
  static RegisterLayout Carried(const std::vector<RegisterLayout>& carries, std::size_t i) {
    return i < carries.size() ? carries[i] : RegisterLayout{};
  }
  RegisterLayout End(const Instr& op, std::size_t i) const {
    std::optional<RegisterLayout> common;
    for (const Region& region : op.regions) {
      const RegisterLayout layout = i < region.results.size() ? Of(region.results[i]) : RegisterLayout{};
      if (common.has_value() && *common != layout) return {};
      common = layout;
    }
    return common.value_or(RegisterLayout{});
  }

  const Kernel& kernel_;
  const bool lanes_;
  std::vector<RegisterLayout> layouts_;
};

}  // namespace

RegisterLayout LayoutFromText(std::string_view text) {
  constexpr std::string_view kClass = "Layout.";
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos) return {};
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  const auto row =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const NamedLayout& it) { return it.text == name; });
  if (row == std::end(kNamed)) return {};
  if (text.starts_with("ReducedLayout")) {
    if (text.find("axes=(1,)") != std::string_view::npos) return {row->row};
    return {text.find("axes=(0,)") != std::string_view::npos ? row->column : LayoutName::kUnknown};
  }
  RegisterLayout layout{row->name};
  if (layout.name == LayoutName::kStrided) layout.vector = NumberAfter(text, "'vec_size': ");
  if (layout.name == LayoutName::kTmemNative) layout.vector = NumberAfter(text, "args=(");
  return layout;
}

std::vector<RegisterLayout> LayoutsOf(const Kernel& kernel) { return LayoutWalk(kernel).Take(); }

std::int64_t Spread::Registers() const {
  std::int64_t count = 1;
  for (const Steps& steps : registers) count *= steps.size;
  return count;
}

std::optional<Spread> SpreadOf(const RegisterLayout& layout, const Type& type) {
  if (layout.name == LayoutName::kStrided) return SpreadInOrder(layout.vector, type);
  const Layout tiled = TiledOf(layout);
  if (tiled.tiles.empty()) return std::nullopt;
  return SpreadOfTiles(tiled, type.shape);
}

std::optional<std::int64_t> ElementsOfLane(const RegisterLayout& layout, const Type& type) {
  if (layout.name == LayoutName::kSplat || type.shape.empty()) return 1;
  const std::optional<Spread> spread = SpreadOf(layout, type);
  if (!spread.has_value()) return std::nullopt;
  return spread->Registers() * spread->vector;
}

}  // namespace palladion::time
