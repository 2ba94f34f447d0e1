#include "emu/chip/layouts/gpu_facts.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_layout.h"
#include "semantics/ir/view_type.h"

namespace palladion::layouts {
namespace {

std::vector<std::int64_t> IntsOf(const AttrMap& attrs, std::string_view name) {
  std::vector<std::int64_t> ints;
  const Attr* attr = Find(attrs, name);
  const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (list == nullptr) return ints;
  for (const Attr& entry : *list) {
    if (const auto* value = std::get_if<std::int64_t>(&entry.value)) ints.push_back(*value);
  }
  return ints;
}

std::string WordOf(const Attr& attr) {
  if (const auto* word = std::get_if<AttrIdent>(&attr.value)) return word->name;
  if (const auto* text = std::get_if<std::string>(&attr.value)) return *text;
  return "";
}

// What stands after `key=` in the canonical text of a type's attributes, to the end.
std::string_view After(std::string_view attrs, std::string_view key) {
  for (std::size_t at = attrs.find(key); at != std::string_view::npos; at = attrs.find(key, at + 1)) {
    const bool starts = at > 0 && (attrs[at - 1] == '{' || attrs[at - 1] == ' ' || attrs[at - 1] == ',');
    if (starts && attrs.substr(at + key.size(), 1) == "=") return attrs.substr(at + key.size() + 1);
  }
  return {};
}

// `["a", ["b", "c"]]`: one entry for each element.
std::vector<std::vector<std::string>> AxesOf(std::string_view list) {
  std::vector<std::vector<std::string>> axes;
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[' && ++depth == 2) axes.emplace_back();
    if (list[i] == ']' && --depth == 0) break;
    if (list[i] != '"') continue;
    const std::size_t end = std::min(list.find('"', i + 1), list.size());
    if (depth < 2) axes.emplace_back();
    axes.back().emplace_back(list.substr(i + 1, end - i - 1));
    i = end;
  }
  return axes;
}

// `ref`, a union of refs, becomes the member that .alias shows.
bool Member(const Transform& alias, Type& ref) {
  absl::StatusOr<AliasMember> member = ParseAlias(alias.attrs);
  if (!member.ok()) return false;
  ref.shape = member->shape;
  ref.dtype = member->dtype;
  if (member->in_tensor_memory) {
    const absl::StatusOr<TmemLayout> whole = TmemLayoutOf(ref);
    if (whole.ok() && whole->collective) member->layout.emplace_back("collective", Attr{true});
    ref.attrs = ToString(member->layout);
  }
  return true;
}

// The shape that the tiles of `tile` make up; none where the ref does not end in such tiles.
std::optional<Shape> Untiled(const Shape& stored, const std::vector<std::int64_t>& tile) {
  const std::size_t t = tile.size();
  if (stored.size() < 2 * t) return std::nullopt;
  Shape logical(stored.begin(), stored.end() - static_cast<std::ptrdiff_t>(t));
  for (std::size_t i = 0; i < t; ++i) {
    if (stored[stored.size() - t + i] != tile[i]) return std::nullopt;
    logical[logical.size() - t + i] *= tile[i];
  }
  return logical;
}

void FollowReshapes(const Kernel& kernel, GpuView& view) {
  Type shown = view.ref;
  shown.shape = *view.untiled;
  for (const Transform& transform : view.rest) {
    if (view.tile.empty() || transform.kind == Transform::Kind::kTranspose) return;
    if (transform.kind == Transform::Kind::kReshape) {
      const std::optional<Shape> after = TileAfterReshape(shown.shape, view.tile_seen, transform.ints);
      if (!after.has_value()) {
        view.bad_reshape = Cat(ToString(shown.shape), " in tiles of ", ToString(Shape(view.tile_seen)), " to ",
                               ToString(Shape(transform.ints)));
        return;
      }
      view.tile_seen = *after;
    }
    const absl::StatusOr<Type> next = ViewType(kernel, shown, absl::MakeConstSpan(&transform, 1));
    if (!next.ok()) return;
    shown = *next;
  }
}

bool UndoesLayout(const Transform& transform) {
  return transform.kind == Transform::Kind::kUnswizzle || transform.kind == Transform::Kind::kUntile;
}

}  // namespace

std::optional<std::int64_t> IntOf(const AttrMap& attrs, std::string_view name) {
  const Attr* attr = Find(attrs, name);
  const auto* value = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return value == nullptr ? std::nullopt : std::optional<std::int64_t>(*value);
}

std::string WordOf(const AttrMap& attrs, std::string_view name) {
  const Attr* attr = Find(attrs, name);
  return attr == nullptr ? "" : WordOf(*attr);
}

bool IsGiven(const AttrMap& attrs, std::string_view name) {
  const Attr* attr = Find(attrs, name);
  if (attr == nullptr || std::holds_alternative<AttrNone>(attr->value)) return false;
  if (const auto* flag = std::get_if<bool>(&attr->value)) return *flag;
  if (const auto* list = std::get_if<AttrList>(&attr->value)) return !list->empty();
  return true;
}

std::vector<std::string> NamesOf(const AttrMap& attrs, std::string_view name) {
  std::vector<std::string> names;
  const Attr* attr = Find(attrs, name);
  if (attr == nullptr) return names;
  if (const auto* list = std::get_if<AttrList>(&attr->value)) {
    for (const Attr& entry : *list) names.push_back(WordOf(entry));
  } else if (const std::string word = WordOf(*attr); !word.empty()) {
    names.push_back(word);
  }
  return names;
}

std::int64_t GpuFacts::ClusterSize() const { return NumElements(cluster); }

bool GpuFacts::IsClusterAxis(std::string_view name) const {
  return std::find(cluster_names.begin(), cluster_names.end(), name) != cluster_names.end();
}

GpuFacts GpuFactsOf(const Kernel& kernel, const machines::Chip* chip) {
  GpuFacts facts{.kernel = &kernel, .chip = chip};
  facts.lanes = WordOf(kernel.params, "lowering_semantics") != "warpgroup";
  facts.mesh = kernel.launch.mesh == "gpu";
  if (!facts.mesh) {
    for (const GridDim& dim : kernel.launch.grid) facts.grid.push_back(dim.size);
    return facts;
  }
  const AttrMap& mesh = kernel.launch.mesh_attrs;
  facts.grid = IntsOf(mesh, "grid");
  facts.cluster = IntsOf(mesh, "cluster");
  facts.cluster_names = NamesOf(mesh, "cluster_names");
  facts.threads = IntOf(mesh, "threads");
  facts.thread_name = WordOf(mesh, "thread_name");
  return facts;
}

BarrierFacts BarrierFactsOf(const Type& type) {
  BarrierFacts facts;
  const std::string_view arrivals = After(type.attrs, "arrivals");
  std::from_chars(arrivals.data(), arrivals.data() + arrivals.size(), facts.arrivals);
  facts.axes = AxesOf(After(type.attrs, "axes"));
  facts.leader_tracked = After(type.attrs, "leader_tracked").starts_with("true");
  facts.orders_tensor_core = After(type.attrs, "orders_tensor_core").starts_with("true");
  return facts;
}

namespace {

// What is stored in tiles, transposed among them: plgpu.TransposeTransform, which JAX had until 0.9.
bool TransposesTiles(const Kernel& kernel, const Arg& arg, std::size_t at, GpuView& view) {
  const auto is_untile = [](const Transform& transform) { return transform.kind == Transform::Kind::kUntile; };
  const auto here = arg.transforms.begin() + static_cast<std::ptrdiff_t>(at);
  if (here->kind != Transform::Kind::kTranspose || std::none_of(here, arg.transforms.end(), is_untile)) return false;
  const absl::StatusOr<Type> moved = ViewType(kernel, view.ref, absl::MakeConstSpan(&*here, 1));
  if (!view.tile.empty() || !moved.ok() || moved->shape.back() != view.ref.shape.back()) return false;
  view.ref.shape = moved->shape;
  view.untiled = view.ref.shape;
  view.tiles_moved = true;
  return true;
}

}  // namespace

std::optional<std::int64_t> GpuView::swizzle() const {
  return swizzles.empty() ? std::nullopt : std::optional<std::int64_t>(swizzles[0]);
}

int GpuView::bits() const { return Info(dtype).bits; }

GpuView GpuViewOf(const Kernel& kernel, const Arg& arg) {
  GpuView view{.arg = &arg, .ref = kernel.values[arg.value.index()].type};
  view.dtype = view.ref.dtype;
  view.untiled = view.ref.shape;
  bool layout = true;  // still at the start of the chain
  for (std::size_t i = 0; i < arg.transforms.size(); ++i) {
    const Transform& transform = arg.transforms[i];
    switch (transform.kind) {
      case Transform::Kind::kAt: {  // a slot of what is stored in tiles
        const bool stored =
            std::any_of(arg.transforms.begin() + static_cast<std::ptrdiff_t>(i), arg.transforms.end(), UndoesLayout);
        if (!layout || !stored || !view.swizzles.empty() || !view.tile.empty()) break;
        const absl::StatusOr<Type> slot = ViewType(kernel, view.ref, absl::MakeConstSpan(&transform, 1));
        if (!slot.ok()) break;
        view.ref.shape = slot->shape;
        view.untiled = view.ref.shape;
        continue;
      }
      case Transform::Kind::kPeer:
        view.peer = true;
        continue;
      case Transform::Kind::kMulticast:
        view.multicast = true;
        continue;
      case Transform::Kind::kCluster:
        view.cluster_axes.push_back(NamesOf(transform.attrs, "dims").size());
        continue;
      case Transform::Kind::kAlias:
        if (!layout || !view.swizzles.empty() || !view.tile.empty() || !Member(transform, view.ref)) break;
        view.dtype = view.ref.dtype;
        view.untiled = view.ref.shape;
        continue;
      case Transform::Kind::kUnswizzle:
        if (!layout || transform.ints.empty()) break;
        view.swizzles.push_back(transform.ints[0]);
        continue;
      case Transform::Kind::kUntile:
        if (!layout || !view.tile.empty()) break;
        view.tile = transform.ints;
        view.untiled = Untiled(view.ref.shape, view.tile);
        continue;
      case Transform::Kind::kBitcast:
        view.dtype = transform.dtype;
        break;
      default:
        if (layout && TransposesTiles(kernel, arg, i, view)) continue;
        break;
    }
    layout = false;
    view.rest.push_back(transform);
  }
  view.tile_seen = view.tile;
  if (!view.untiled.has_value()) return view;
  FollowReshapes(kernel, view);
  Type logical = view.ref;
  logical.shape = *view.untiled;
  if (absl::StatusOr<Type> shown = ViewType(kernel, logical, view.rest); shown.ok()) view.shape = shown->shape;
  return view;
}

const Arg* ArgNamed(const Instr& op, std::string_view name) {
  for (const Arg& arg : op.args) {
    if (arg.name == name && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

std::optional<std::int64_t> LiteralInt(const Arg& arg) {
  if (arg.kind != Arg::Kind::kLiteral || !IsInteger(arg.literal.dtype)) return std::nullopt;
  std::int64_t value = 0;
  const std::size_t bytes = StorageBytes(arg.literal.dtype);
  std::memcpy(&value, arg.literal.bytes.data(), bytes);
  if (!IsSigned(arg.literal.dtype) || bytes == sizeof(value)) return value;
  const int unused = static_cast<int>(8 * (sizeof(value) - bytes));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

bool IsRefArg(const Kernel& kernel, const Arg& arg) {
  return arg.kind == Arg::Kind::kValue && kernel.values[arg.value.index()].type.is_ref();
}

std::optional<Shape> TileAfterReshape(const Shape& shape, const Shape& tile, const Shape& to) {
  if (tile.empty()) return tile;
  std::vector<std::size_t> joined;  // how many dimensions each one of `to` is made of
  std::int64_t size = 1;
  std::size_t count = 0;
  for (const std::int64_t dim : shape) {
    if (joined.size() == to.size()) return std::nullopt;
    size *= dim;
    ++count;
    if (size > to[joined.size()]) return std::nullopt;
    if (size < to[joined.size()]) continue;
    joined.push_back(count);
    size = 1;
    count = 0;
  }
  if (count != 0 || joined.size() != to.size()) return std::nullopt;
  Shape left = tile, after;
  while (!left.empty()) {
    if (joined.empty() || joined.back() > left.size()) return std::nullopt;
    const auto first = left.end() - static_cast<std::ptrdiff_t>(joined.back());
    if (std::any_of(first, left.end() - 1, [](std::int64_t t) { return t != 1; })) return std::nullopt;
    after.insert(after.begin(), left.back());
    left.erase(first, left.end());
    joined.pop_back();
  }
  return after;
}

Shape TiledShape(const Shape& logical, const std::vector<std::int64_t>& tile) {
  if (tile.size() > logical.size()) return logical;
  Shape shape = logical;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const std::int64_t size = std::max<std::int64_t>(1, tile[i]);
    std::int64_t& dim = shape[logical.size() - tile.size() + i];
    dim = (dim + size - 1) / size;
  }
  shape.insert(shape.end(), tile.begin(), tile.end());
  return shape;
}

}  // namespace palladion::layouts
