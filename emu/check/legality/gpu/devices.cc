// Stores to all devices at once and loads of all, reduced by the switch between them. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/primitives.py (multimem_store, multimem_load_reduce), jax/experimental/mosaic/gpu/utils.py
// (functions of the same names) and fragmented_array.py (WGStridedFragLayout, load_reduce_untiled). The layout of a
// value is known where it is cast right behind the load, or where it is read or made of one element; other layouts are
// not judged. Does not catch: limits of the switch itself.
#include <algorithm>
#include <set>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanes = 128, kVectorBits[] = {32, 64, 128}, kReadBits = 64;
constexpr int kBlackwell = 10;

bool IsLoad(const OpSite& site) {
  static const RuleRows kLoads("multimem_load_reduce");
  return kLoads.Has(site.op);
}
bool IsStore(const OpSite& site) {
  static const RuleRows kStores("multimem_store");
  return kStores.Has(site.op);
}

const Region& Body(const OpSite& site) { return site.scope.facts->kernel->bodies[0].region; }

// What JAX makes a set of: the names, or of one word its letters.
std::set<std::string> NamedAxes(const OpSite& site) {
  const Attr* attr = Find(site.op.attrs, "collective_axes");
  const std::vector<std::string> names = layouts::NamesOf(site.op.attrs, "collective_axes");
  if (attr != nullptr && std::holds_alternative<AttrList>(attr->value)) return {names.begin(), names.end()};
  std::set<std::string> letters;
  for (const std::string& name : names) {
    for (const char letter : name) letters.insert(std::string(1, letter));
  }
  return letters;
}

std::optional<std::string> Axes(const OpSite& site) {
  if (!IsLoad(site) && !IsStore(site)) return std::nullopt;
  const Attr* attr = Find(site.scope.facts->kernel->other, "devices");
  const AttrMap* mesh = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
  if (mesh == nullptr) return "a kernel of one device";
  std::set<std::string> axes;
  for (const AttrEntry& axis : *mesh) axes.insert(axis.first);
  if (NamedAxes(site) == axes) return std::nullopt;
  const Attr* named = Find(site.op.attrs, "collective_axes");
  return Cat("collective_axes=", named == nullptr ? "none" : ToString(*named), " of the mesh ", ToString(*attr));
}

std::optional<std::string> Reduction(const OpSite& site) {
  if (!IsLoad(site) || site.op.types.empty()) return std::nullopt;
  const DType dtype = site.op.types[0].dtype;
  const std::string name = layouts::WordOf(site.op.attrs, "reduction_op");
  const int bits = Info(dtype).bits;
  const bool narrow =
      dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF8E5M2 || dtype == DType::kF8E4M3FN;
  const bool order = name == "min" || name == "max";
  bool ok = IsInteger(dtype) && (bits == 32 || bits == 64);
  if (IsFloat(dtype)) ok = (dtype == DType::kF32 && name == "add") || (narrow && (order || name == "add"));
  return ok ? std::nullopt : std::optional(Cat(name, " of ", Name(dtype)));
}

std::optional<std::string> EightBits(const OpSite& site) {
  const machines::Chip* const chip = site.scope.facts->chip;
  if (!IsLoad(site) || site.op.types.empty() || chip == nullptr || chip->generation >= kBlackwell) return std::nullopt;
  const DType dtype = site.op.types[0].dtype;
  if (!IsFloat(dtype) || Info(dtype).bits != 8) return std::nullopt;
  return Cat(Name(dtype), " on ", chip->name);
}

std::optional<std::string> Peer(const OpSite& site) {
  if (!IsLoad(site) && !IsStore(site)) return std::nullopt;
  for (const Arg& arg : site.op.args) {
    if (layouts::IsRefArg(*site.scope.facts->kernel, arg) && layouts::GpuViewOf(*site.scope.facts->kernel, arg).peer)
      return "plgpu.remote_ref";
  }
  return std::nullopt;
}

// ---- layouts of values

struct Registers {
  std::string name{};
  std::int64_t vector = 0;  // elements of a lane that lie one after another; 0: not known
  bool splat = false;
};

// The numbers that JAX prints behind `key`, of a layout with arguments: Layout.WG_STRIDED, args=((4, 512), 4).
std::vector<std::int64_t> NumbersBehind(std::string_view text, std::string_view key) {
  std::vector<std::int64_t> numbers;
  const std::size_t at = text.find(key);
  bool digits = false;
  for (std::size_t i = at == std::string_view::npos ? text.size() : at + key.size(); i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && c != '(' && c != ')' && c != ',' && c != ' ') break;
    if (digit && !digits) numbers.push_back(0);
    if (digit && numbers.back() < kMaxElements) numbers.back() = 10 * numbers.back() + (c - '0');
    digits = digit;
  }
  return numbers;
}

Registers LayoutNamed(std::string_view text) {
  constexpr std::string_view kClass = "Layout.";
  Registers layout;
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos) return layout;
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  layout.name = std::string(name);
  const bool pairs = name == "WGMMA" || name == "TCGEN05";
  if (pairs) layout.vector = text.starts_with("ReducedLayout") ? 1 : 2;
  layout.splat = name == "WG_SPLAT";
  const std::vector<std::int64_t> numbers = NumbersBehind(text, "args=");
  const std::vector<std::int64_t> named =
      NumbersBehind(text, "vec_size=").empty() ? NumbersBehind(text, "vec_size\':") : NumbersBehind(text, "vec_size=");
  if (name == "WG_STRIDED" && !named.empty()) {
    layout.vector = named.back();
  } else if (name == "WG_STRIDED" && text.find("vec_size") == std::string_view::npos && !numbers.empty()) {
    layout.vector = numbers.back();
  }
  return layout;
}

std::optional<std::string> WrongWidth(const Registers& layout, const Type& type) {
  const std::int64_t elements = NumElements(type.shape), bits = layout.vector * Info(type.dtype).bits;
  if (layout.vector == 0) return std::nullopt;
  const bool strided = layout.name == "WG_STRIDED";
  const bool wide = std::find(std::begin(kVectorBits), std::end(kVectorBits), bits) == std::end(kVectorBits);
  if (!wide && (!strided || elements % (kLanes * layout.vector) == 0)) return std::nullopt;
  return Cat(ToString(type), " by ", layout.vector, " elements, ", bits, " bits");
}

std::optional<std::string> LoadedLayout(const OpSite& site) {
  if (!IsLoad(site) || site.op.types.empty()) return std::nullopt;
  const Type& type = site.op.types[0];
  if (type.shape.empty()) return "one element";
  const Instr* const cast = layouts::CastBehind(site.op, Body(site));
  if (cast == nullptr) return site.scope.facts->lanes ? std::optional<std::string>("no layout_cast") : std::nullopt;
  const Registers layout = LayoutNamed(layouts::WordOf(cast->attrs, "layout"));
  return layout.splat ? std::optional<std::string>("the layout WG_SPLAT") : std::nullopt;
}

std::optional<std::string> LoadedWidth(const OpSite& site) {
  if (!IsLoad(site) || site.op.types.empty() || Reduction(site).has_value()) return std::nullopt;
  const Instr* const cast = layouts::CastBehind(site.op, Body(site));
  if (cast == nullptr) return std::nullopt;
  const Registers layout = LayoutNamed(layouts::WordOf(cast->attrs, "layout"));
  const Type& type = site.op.types[0];
  return WrongWidth(layout, type);
}

// The layout of what is read without tiles, and without a cast.
Registers Strided(const Type& type) {
  const std::int64_t elements = NumElements(type.shape);
  std::int64_t vector = std::min<std::int64_t>(kReadBits / Info(type.dtype).bits, elements / kLanes);
  while (vector > 1 && elements % (vector * kLanes) != 0) vector /= 2;
  return {.name = "WG_STRIDED", .vector = std::max<std::int64_t>(1, vector)};
}

std::optional<std::string> Stored(const OpSite& site) {
  const Arg* const source = IsStore(site) ? layouts::ArgNamed(site.op, "source") : nullptr;
  if (source == nullptr) return std::nullopt;
  const Kernel& kernel = *site.scope.facts->kernel;
  const Type type = TypeOfArg(kernel, *source);
  const int bits = IsBool(type.dtype) ? 1 : Info(type.dtype).bits;
  if (bits == 1) return ToString(type);
  if (type.shape.empty()) {
    const bool fits = bits == 32 || bits == 64;
    return fits ? std::nullopt : std::optional(Cat("one element of ", Name(type.dtype)));
  }
  const Instr* const maker = source->kind == Arg::Kind::kValue ? layouts::MakerOf(source->value, Body(site)) : nullptr;
  if (source->kind != Arg::Kind::kValue) return Cat(ToString(type), " that is the same everywhere");
  if (maker == nullptr) return std::nullopt;
  const bool one = layouts::IsBroadcast(*maker) && TypeOfArg(kernel, maker->args[0]).shape.empty();
  if (one) return Cat(ToString(type), " that is the same everywhere");
  if (layouts::IsLayoutCast(*maker)) return WrongWidth(LayoutNamed(layouts::WordOf(maker->attrs, "layout")), type);
  const bool read = RowOf(*maker).access == RefAccess::kLoad && layouts::IsRefArg(kernel, maker->args[0]);
  if (!read || !layouts::GpuViewOf(kernel, maker->args[0]).tile.empty()) return std::nullopt;
  const Instr* const cast = layouts::CastBehind(*maker, Body(site));
  return cast != nullptr ? std::nullopt : WrongWidth(Strided(type), type);
}

constexpr std::string_view kLowering = "Mosaic GPU lowering, multimem_store and multimem_load_reduce";
constexpr std::string_view kLoad = "Mosaic GPU lowering, multimem_load_reduce";

constexpr GpuLimit<OpSite> kDeviceLimits[] = {
    {{"devices.axes",
      "multimem_store and multimem_load_reduce are along all axes of the mesh of devices, given as a tuple or as one "
      "letter",
      kLowering, "run the kernel in a shard_map, and name all axes of its mesh"},
     Axes},
    {{"devices.reduction",
      "the switch between devices adds f32; f16, bf16, f8e5m2 and f8e4m3fn by add, min and max; integers of 32 and 64 "
      "bits by each reduction",
      "Mosaic GPU, multimem_load_reduce", "convert to a type that it has, or load and reduce by yourself"},
     Reduction},
    {{"machine.multimem-8-bit",
      "8-bit floats of all devices are loaded and reduced on Blackwell (multimem.ld_reduce of sm_100 and later)",
      "PTX, multimem.ld_reduce", "convert to f16 first, or choose another target"},
     EightBits},
    {{"devices.peer", "the ref of a multimem operation is not a plgpu.remote_ref", kLowering,
      "give the own device's ref"},
     Peer},
    {{"devices.layout",
      "multimem_load_reduce gives an array, in a strided or tiled layout; with lane semantics a layout_cast "
      "directly after it names the layout",
      kLoad, "cast it with plgpu.layout_cast right away"},
     LoadedLayout},
    {{"devices.width", "multimem_load_reduce loads 32, 64 or 128 bits of each lane at once, of whole rows of lanes",
      kLoad, "give another vec_size, or another layout"},
     LoadedWidth},
    {{"devices.stored",
      "multimem_store stores 32, 64 or 128 bits of each lane at once, and no value that is the same everywhere",
      "Mosaic GPU, FragmentedArray.store_untiled", "write the value to a ref and read it, in more elements of a lane"},
     Stored},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> DeviceLimits() { return kDeviceLimits; }

}  // namespace palladion::legality
