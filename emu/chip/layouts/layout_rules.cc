#include "emu/chip/layouts/layout_rules.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"

namespace palladion::layouts {
namespace {

using Kind = RegisterLayout::Kind;

bool IsNamed(const RegisterLayout& layout, LayoutName name) { return layout == RegisterLayout(name); }

bool IsNative(const RegisterLayout& layout) {
  return layout.is_tiled() && layout.tiled.Unit().size() == 2 &&
         layout == RegisterLayout(LayoutName::kTmemNative, layout.tiled.Unit()[1]);
}

bool AreBoth(const RegisterLayout& a, const RegisterLayout& b, LayoutName one, LayoutName other) {
  return (IsNamed(a, one) && IsNamed(b, other)) || (IsNamed(a, other) && IsNamed(b, one));
}

Carried Refused(const RegisterLayout& from, const Type& type, std::string_view what) {
  return {.refused = Cat(Said(from, type), what)};
}

// The dimensions are the last ones, in order.
bool AreLast(const Shape& dims, std::size_t rank) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<std::int64_t>(rank - dims.size() + i)) return false;
  }
  return true;
}

// is_supported_strided_layout_broadcast: dimensions of 1 that grow come before all others.
bool GrowsInFront(const Shape& from, const Shape& to) {
  bool kept = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t size = to[to.size() - from.size() + i];
    if (from[i] == 1 && size > 1 && kept) return false;
    kept = kept || from[i] > 1;
  }
  return true;
}

// The layouts that JAX looks among for the result of a broadcast, in its order.
std::vector<RegisterLayout> Candidates(const Shape& to) {
  std::vector<RegisterLayout> candidates = {LayoutName::kWgmma, LayoutName::kWgmmaTransposed, LayoutName::kTcgen05,
                                            LayoutName::kTcgen05Transposed, LayoutName::kTmemNative};
  if (to.back() % 16 == 0) candidates.emplace_back(LayoutName::kTcgen05M64Collective, to.back());
  return candidates;
}

Carried BroadcastOfTiles(const RegisterLayout& from, const Type& type, const Shape& to, const Shape& dims,
                         const std::optional<RegisterLayout>& wanted) {
  Shape added;
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) == dims.end())
      added.push_back(static_cast<std::int64_t>(d));
  }
  // None: nothing would be left, or too little.
  const auto reduced = [&](const RegisterLayout& layout) -> std::optional<TiledLayout> {
    if (!layout.is_tiled() || layout.tiled.Unit().size() != to.size() || added.size() >= to.size()) return std::nullopt;
    return layout.tiled.Reduced(added);
  };
  std::optional<RegisterLayout> result = wanted;
  if (!wanted.has_value()) {
    for (const RegisterLayout& candidate : Candidates(to)) {
      if (reduced(candidate) != from.tiled) continue;
      if (!result.has_value()) {
        result = candidate;
      } else if (!IsNamed(candidate, LayoutName::kTcgen05) || !IsNamed(*result, LayoutName::kWgmma)) {
        return Refused(from, type, Cat(" to ", ToString(to), ", in ", NameOf(*result), " or in ", NameOf(candidate)));
      }
    }
    if (!result.has_value())
      return Refused(from, type, Cat(" along dimensions ", ToString(dims), " to ", ToString(to)));
  }
  if (!result->known()) return {};
  const std::string what = Cat(" along dimensions ", ToString(dims), " to ", ToString(to), " in ", NameOf(*result));
  if (reduced(*result) != from.tiled) return Refused(from, type, what);
  Type wide = type;
  wide.shape = to;
  if (!Fits(*result, wide)) return Refused(from, type, what);
  const std::int64_t vector = from.tiled.VectorLength();
  if (vector != result->tiled.VectorLength() && vector != 1) return Refused(from, type, what);
  return {*result};
}

}  // namespace

Shape IntsOf(const Instr& op, std::string_view name) {
  Shape numbers;
  const Attr* attr = Find(op.attrs, name);
  const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto* number = std::get_if<std::int64_t>(&(*list)[i].value)) numbers.push_back(*number);
  }
  return numbers;
}

std::string Named(const RegisterLayout& layout, const RegisterLayout& beside) {
  const bool same = layout.kind == Kind::kStrided && beside.kind == Kind::kStrided;
  return same ? Cat(NameOf(layout), " in vectors of ", layout.vector) : NameOf(layout);
}

std::string Said(const RegisterLayout& layout, const Type& type) {
  return Cat(ToString(type), " in the layout ", Named(layout, layout));
}

bool IsTransposed(const RegisterLayout& layout) {
  return IsNamed(layout, LayoutName::kWgmmaTransposed) || IsNamed(layout, LayoutName::kTcgen05Transposed);
}

Carried StridedLayout(const RegisterLayout& layout, const Type& type, std::string_view text) {
  RegisterLayout strided = layout;
  if (strided.vector == 0) strided.vector = StridedVector(type).value_or(0);
  if (strided.vector == 0) return {};
  const std::optional<Shape> shape = ShapeFromText(text);
  if (shape.has_value() && *shape != type.shape)
    return {.refused = Cat(ToString(type), " in the layout WG_STRIDED of ", ToString(*shape))};
  if (!Fits(strided, type)) return {.refused = Cat(ToString(type), " in the layout ", Named(strided, strided))};
  return {strided};
}

bool Converts(const RegisterLayout& from, const RegisterLayout& to, const Type& type) {
  if (from == to) return true;
  const int bits = Info(type.dtype).bits;
  if (from.kind == Kind::kSplat) return Fits(to, type);
  const bool transposes = AreBoth(from, to, LayoutName::kWgmma, LayoutName::kWgmmaTransposed) ||
                          AreBoth(from, to, LayoutName::kTcgen05, LayoutName::kTcgen05Transposed);
  if (transposes) return bits == 16 || bits == 32;
  if (IsNative(from) && IsNative(to)) return Fits(to, type);
  if (AreBoth(from, to, LayoutName::kWgmma, LayoutName::kWgmmaAccumulator)) return true;
  const bool to_wgmma = IsNamed(to, LayoutName::kWgmma);
  if (IsNamed(from, LayoutName::kWgmmaUpcast2x) && to_wgmma) return bits <= 16;
  const bool narrower = to_wgmma || IsNamed(to, LayoutName::kWgmmaUpcast2x);
  return IsNamed(from, LayoutName::kWgmmaUpcast4x) && narrower && bits == 4;
}

bool IsCastBack(const RegisterLayout& from, const RegisterLayout& to, const Type& type) {
  const bool back = IsNamed(from, LayoutName::kWgmma) && IsNamed(to, LayoutName::kWgmmaUpcast2x);
  return back && Info(type.dtype).bits <= 16 && Fits(to, type);
}

Carried Reshaped(const RegisterLayout& from, const Type& type, const Shape& to) {
  if (!from.is_tiled() || type.shape == to) return {from};
  const Shape& unit = from.tiled.Unit();
  const auto rest = [&](const Shape& shape) {  // the last dimensions of the unit but its first
    return Shape(shape.end() - static_cast<std::ptrdiff_t>(unit.size() - 1), shape.end());
  };
  const bool keeps =
      to.size() >= unit.size() && rest(type.shape) == rest(to) && to[to.size() - unit.size()] % unit[0] == 0;
  return keeps ? Carried{from} : Refused(from, type, Cat(" to ", ToString(to)));
}

Carried Sliced(const RegisterLayout& from, const Type& type, const Instr& slice) {
  if (!from.known() || from.kind == Kind::kSplat) return {from};
  const Shape starts = IntsOf(slice, "start"), limits = IntsOf(slice, "limit");
  if (starts.size() != type.shape.size() || limits.size() != starts.size()) return {};
  const std::string what = Cat(" from ", ToString(starts), " to ", ToString(limits));
  if (!from.is_tiled()) return Refused(from, type, what);
  const Shape& unit = from.tiled.Unit();
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const std::size_t d = starts.size() - unit.size() + i;
    if (starts[d] % unit[i] != 0 || (limits[d] - starts[d]) % unit[i] != 0) return Refused(from, type, what);
  }
  return {from};
}

Carried Broadcasted(const RegisterLayout& from, const Type& type, const Instr& broadcast,
                    const std::optional<RegisterLayout>& wanted) {
  const Shape& to = broadcast.types[0].shape;
  const Shape dims = IntsOf(broadcast, "dims");
  if (type.shape.empty()) return {LayoutName::kSplat};
  if (dims.size() != type.shape.size() || to.empty()) return {};
  const std::string what = Cat(" along dimensions ", ToString(dims), " to ", ToString(to));
  const bool last = AreLast(dims, to.size());
  switch (from.kind) {
    case Kind::kUnknown:
      return {wanted.value_or(RegisterLayout{})};
    case Kind::kSplat:
      return last ? Carried{from} : Refused(from, type, what);
    case Kind::kStrided:
      return last && GrowsInFront(type.shape, to) ? Carried{from} : Refused(from, type, what);
    case Kind::kTiled:
      break;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<std::int64_t>(to.size())) return {};
    if (type.shape[i] != to[static_cast<std::size_t>(dims[i])]) return {};  // a dimension of 1: not known
  }
  return BroadcastOfTiles(from, type, to, dims, wanted);
}

}  // namespace palladion::layouts
