#include "emu/check/legality/shape_causes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanesOfTpu = 128, kSublanes = 8, kTileOfRankOne = kLanesOfTpu * kSublanes;
constexpr std::int64_t kMostOfBox = 256;                       // elements of a copy along one dimension
constexpr std::int64_t kMostOfTriton = std::int64_t{1} << 20;  // TRITON_MAX_TENSOR_NUMEL
constexpr int kSplatBits = 64;                                 // what a lane stores of a splat at once
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The last dimensions of the other?
bool AreLastOf(const Shape& dims, const Shape& all) {
  return dims.size() <= all.size() && std::equal(dims.rbegin(), dims.rend(), all.rbegin());
}

// ---- shapes that a target takes, none smaller than it has to be

Shape FitsTriton(Shape shape) {
  for (std::int64_t& n : shape) n = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  while (NumElements(shape) > kMostOfTriton) *std::max_element(shape.begin(), shape.end()) /= 2;
  return shape;
}

// Each of a warpgroup's 128 lanes has as many elements, of a splat as many vectors; a copy has 256 of a dimension.
Shape FitsMosaicGpu(Shape shape, int bits) {
  for (std::int64_t& n : shape) n = std::min(n, kMostOfBox);
  shape.back() = std::min(RoundUp(shape.back(), layouts::kLanesOfWarpgroup), kMostOfBox);
  const std::int64_t multiple = layouts::kLanesOfWarpgroup * std::max<std::int64_t>(1, kSplatBits / bits);
  const bool small = NumElements(shape) < multiple;  // a splat of fewer goes one by one
  std::int64_t& rows = shape.size() > 1 ? shape[shape.size() - 2] : shape.back();
  for (std::int64_t i = 0; !small && i < multiple && NumElements(shape) % multiple != 0; ++i)
    rows += shape.size() > 1 ? 1 : layouts::kLanesOfWarpgroup;
  return shape;
}

Shape FitsTpu(Shape shape, const Shape& array) {
  if (shape.size() == 1) return {RoundUp(shape[0], kTileOfRankOne)};
  const std::size_t n = shape.size();
  if (shape[n - 1] != array[n - 1]) shape[n - 1] = RoundUp(shape[n - 1], kLanesOfTpu);
  if (shape[n - 2] != array[n - 2]) shape[n - 2] = RoundUp(shape[n - 2], kSublanes);
  return shape;
}

// ---- what belongs together

// A ref that an instruction of the group reads or writes, by the user's name.
struct Seen {
  std::string name;
  Shape shape;         // of the access
  bool block = false;  // all of the block
};

struct Group {
  Shape shape, array;  // of a block: of its array, too
  int bits = 32;
  std::vector<std::size_t> findings;
  std::vector<Seen> seen;
  std::size_t into = kNone;  // the group that it is a part of
};

// Findings about one element type.
struct OfType {
  DType type = DType::kF32;
  std::string fix = {};
  std::vector<std::size_t> findings = {};
};

class ShapeNames {
 public:
  explicit ShapeNames(Legality& legality) : legality_(legality), group_of_(legality.kernel().values.size(), kNone) {
    for (const Legality::OfShape& one : legality.of_shapes()) {
      if (one.about == About::kType) {
        AddType(one);
      } else if (one.operand != nullptr) {
        AddBlock(one);
      } else if (one.op != nullptr) {
        about_[one.op].push_back(one);
      }
    }
  }

  void Name() {
    if (!about_.empty()) Walk(legality_.kernel().bodies[0].region);
    for (const Group& group : groups_) {
      if (group.into == kNone) Report(group);
    }
    for (const OfType& of : types_) {
      for (const std::size_t number : of.findings)
        legality_.finding(number).why = Cat("elements of the kernel are ", palladion::Name(of.type));
    }
  }

 private:
  void AddBlock(const Legality::OfShape& one) {
    const Operand& operand = *one.operand;
    Shape shape;
    if (!operand.block.has_value()) return;
    for (const BlockDim& dim : operand.block->dims) shape.push_back(dim.size);
    const Type& array = legality_.kernel().values[operand.value.index()].type;
    if (shape.empty() || shape.size() != array.shape.size()) return;
    Group& group = groups_[GroupOf(shape, array.shape)];
    group.findings.push_back(one.finding);
    See({legality_.NameOf(operand), shape, true}, group);
  }

  // The same to be done about the same element type.
  void AddType(const Legality::OfShape& one) {
    const std::optional<DType> type = one.operand == nullptr ? ElementsOf(*one.op) : ElementsOf(*one.operand);
    if (!type.has_value()) return;
    const std::string& fix = legality_.finding(one.finding).fix;
    const auto same = [&](const OfType& it) { return it.type == *type && it.fix == fix; };
    auto known = std::find_if(types_.begin(), types_.end(), same);
    if (known == types_.end()) known = types_.insert(types_.end(), {.type = *type, .fix = fix});
    known->findings.push_back(one.finding);
  }

  std::optional<DType> ElementsOf(const Operand& operand) const {
    return legality_.kernel().values[operand.value.index()].type.dtype;
  }

  // Of what it makes; of the last of what it takes where it makes truth values, or nothing.
  std::optional<DType> ElementsOf(const Instr& op) const {
    for (const Type& type : op.types) {
      if (type.is_array() && !IsBool(type.dtype)) return type.dtype;
    }
    for (auto arg = op.args.rbegin(); arg != op.args.rend(); ++arg) {
      const Type type = TypeOfArg(legality_.kernel(), *arg);
      if ((type.is_array() || type.is_ref()) && type.element == ElementKind::kData) return type.dtype;
    }
    return std::nullopt;
  }

  std::size_t GroupOf(const Shape& shape, const Shape& array) {
    const auto same = [&](const Group& group) { return group.shape == shape && group.array == array; };
    const auto found = std::find_if(groups_.begin(), groups_.end(), same);
    if (found != groups_.end()) return static_cast<std::size_t>(found - groups_.begin());
    groups_.push_back({.shape = shape, .array = array, .findings = {}, .seen = {}});
    return groups_.size() - 1;
  }

  static void See(Seen seen, Group& group) {
    for (Seen& known : group.seen) {
      if (known.name != seen.name || known.shape != seen.shape) continue;
      known.block |= seen.block;
      return;
    }
    group.seen.push_back(std::move(seen));
  }

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      for (const Region& inner : op.regions) Walk(inner);
      Step(op);
    }
  }

  // The group that it has become a part of.
  std::size_t RootOf(std::size_t group) const {
    while (group != kNone && groups_[group].into != kNone) group = groups_[group].into;
    return group;
  }

  // Shapes that one operation combines have to change together: the later group becomes a part of the earlier one.
  std::size_t Joined(std::size_t a, std::size_t b) {
    a = RootOf(a), b = RootOf(b);
    if (a == b || b == kNone) return a;
    if (a == kNone) return b;
    Group& to = groups_[std::min(a, b)];
    Group& from = groups_[std::max(a, b)];
    from.into = std::min(a, b);
    to.bits = std::min(to.bits, from.bits);
    to.findings.insert(to.findings.end(), from.findings.begin(), from.findings.end());
    for (Seen& seen : from.seen) See(std::move(seen), to);
    from.findings.clear();
    return from.into;
  }

  // What is computed of values of a group is the group's; what is made, read or copied is its shape's.
  void Step(const Instr& op) {
    std::size_t group = kNone;
    for (const Arg& arg : op.args) {
      if (arg.kind == Arg::Kind::kValue) group = Joined(group, group_of_[arg.value.index()]);
    }
    if (const auto about = about_.find(&op); about != about_.end()) {
      for (const Legality::OfShape& one : about->second) group = Add(one, group);
    }
    for (const ValueId result : op.results) {
      if (result.valid() && op.regions.empty()) group_of_[result.index()] = group;
    }
  }

  std::size_t Add(const Legality::OfShape& one, std::size_t group) {
    const Type type = TypeOfAccess(*one.op);
    if (type.shape.empty()) return group;
    if (one.about == About::kRows && !CopiesRows(*one.op, type.shape)) return group;
    if (group == kNone) group = RootOf(GroupOf(type.shape, {}));
    groups_[group].bits = std::min(groups_[group].bits, Info(type.dtype).bits);
    groups_[group].findings.push_back(one.finding);
    for (const Arg& arg : one.op->args) {
      if (layouts::IsRefArg(legality_.kernel(), arg)) SeeRef(arg, type.shape, groups_[group]);
    }
    return group;
  }

  void SeeRef(const Arg& arg, const Shape& shape, Group& group) const {
    const ValueInfo& ref = legality_.kernel().values[arg.value.index()];
    if (ref.type.element != ElementKind::kData) return;  // a barrier
    See({ref.label.empty() ? ref.name : ref.label, shape, AreLastOf(shape, ref.type.shape)}, group);
  }

  // Of what it makes or reads, stores or copies.
  Type TypeOfAccess(const Instr& op) const {
    const Kernel& kernel = legality_.kernel();
    for (const Type& type : op.types) {
      if (type.is_array() && !type.shape.empty()) return type;
    }
    const OpRow& row = RowOf(op);
    if (row.access == RefAccess::kStore && row.stored < op.args.size()) return TypeOfArg(kernel, op.args[row.stored]);
    for (const Arg& arg : op.args) {
      if (!layouts::IsRefArg(kernel, arg)) continue;
      const absl::StatusOr<Type> view = ViewType(kernel, kernel.values[arg.value.index()].type, arg.transforms);
      if (view.ok()) return *view;
    }
    return {};
  }

  bool CopiesRows(const Instr& op, const Shape& shape) const {
    return std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
      if (!layouts::IsRefArg(legality_.kernel(), arg)) return false;
      const Type& ref = legality_.kernel().values[arg.value.index()].type;
      return ref.space == Space::kGmem && !ref.shape.empty() && ref.shape.back() == shape.back();
    });
  }

  // ---- words

  Shape Fitting(const Group& group, const Shape& shape) const {
    switch (legality_.backend()) {
      case TargetBackend::kTriton:
        return FitsTriton(shape);
      case TargetBackend::kMosaicGpu:
        return InSharedMemory(FitsMosaicGpu(shape, group.bits), group);
      default:
        return FitsTpu(shape, group.array);
    }
  }

  // Half as large, along the dimension that is largest, until all blocks of the group have room together.
  Shape InSharedMemory(Shape shape, const Group& group) const {
    constexpr std::int64_t kByteBits = 8;
    const auto blocks = static_cast<std::int64_t>(std::max<std::size_t>(1, group.seen.size()));
    const std::int64_t most = legality_.chip() == nullptr ? 0 : legality_.chip()->smem_bytes;
    while (most > 0 && NumElements(shape) * group.bits / kByteBits * blocks > most) {
      const auto largest = std::max_element(shape.begin(), shape.end());
      if (*largest <= layouts::kLanesOfWarpgroup) break;
      *largest /= 2;
    }
    return shape;
  }

  // "the blocks of 'x_ref' and 'o_ref' are [3,100]", of each shape.
  static std::string Listed(const Group& group, bool blocks) {
    std::vector<std::pair<Shape, std::vector<std::string>>> by_shape;
    for (const Seen& seen : group.seen) {
      if (seen.block != blocks) continue;
      auto at = std::find_if(by_shape.begin(), by_shape.end(), [&](const auto& it) { return it.first == seen.shape; });
      if (at == by_shape.end()) at = by_shape.insert(by_shape.end(), {seen.shape, {}});
      at->second.push_back(Cat("'", seen.name, "'"));
    }
    std::vector<std::string> parts;
    for (auto& [shape, names] : by_shape) {
      const bool many = names.size() > 1;
      const std::string last = std::exchange(names.back(), "");
      names.pop_back();
      const std::string all = many ? Cat(absl::StrJoin(names, ", "), " and ", last) : last;
      parts.push_back(
          blocks ? Cat(many ? "the blocks of " : "the block of ", all, many ? " are " : " is ", ToString(shape))
                 : Cat(ToString(shape), " at a time of ", all));
    }
    return absl::StrJoin(parts, ", ");
  }

  void Report(const Group& group) {
    const bool blocks = std::any_of(group.seen.begin(), group.seen.end(), [](const Seen& it) { return it.block; });
    const std::string listed = Listed(group, blocks);
    const std::string why = listed.empty() ? Cat("arrays of ", ToString(group.shape), " are made here")
                            : blocks       ? listed
                                           : Cat("the kernel reads or writes ", listed);
    std::vector<Shape> shapes = {group.shape};
    for (const Seen& seen : group.seen) {
      const bool known = std::find(shapes.begin(), shapes.end(), seen.shape) != shapes.end();
      if (blocks && seen.block && !known) shapes.push_back(seen.shape);
    }
    std::vector<std::string> fits;
    for (const Shape& shape : shapes)
      fits.push_back(Cat(ToString(Fitting(group, shape)), shapes.size() > 1 ? Cat(" for ", ToString(shape)) : ""));
    const std::string fix =
        Cat("use ", absl::StrJoin(fits, " and "), blocks ? ", with the arrays padded to whole blocks" : "",
            legality_.backend() == TargetBackend::kTriton ? ", and mask what lies outside" : "");
    for (const std::size_t number : group.findings) {
      legality_.finding(number).why = why;
      legality_.finding(number).fix = fix;
    }
  }

  Legality& legality_;
  std::map<const Instr*, std::vector<Legality::OfShape>> about_;
  std::vector<Group> groups_;
  std::vector<OfType> types_;
  std::vector<std::size_t> group_of_;  // by value
};

}  // namespace

void NameShapes(Legality& legality) {
  if (!legality.of_shapes().empty()) ShapeNames(legality).Name();
}

}  // namespace palladion::legality
