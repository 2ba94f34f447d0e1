#include "emu/check/legality/index_expressions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/legality/known_indices.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "emu/chip/layouts/layout_rules.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

// A dimension of a view: along which of the array's it runs, and how.
struct Shown {
  std::size_t dim = 0;
  std::int64_t step = 1, size = 1;
};
// What a view shows of an array: where it begins along each dimension of the array.
struct ShownArray {
  std::vector<Form> base;
  std::vector<Shown> shown;
};
// Arrays of indices, each of a dimension of the array, and where their common shape stands among the dimensions shown.
struct IndexArrays {
  std::vector<std::pair<Shown, KnownIndex>> of;
  Shape shape;
  std::size_t before = 0;
};

class Numbering {
 public:
  explicit Numbering(const Kernel& kernel)
      : kernel_(kernel), values_(kernel.values.size()), arrays_(kernel.values.size()) {}

  std::map<const Instr*, std::uint32_t> Take() && {
    std::vector<std::optional<ShownArray>> shown;
    for (const Operand& operand : kernel_.operands) {
      if (operand.role != Role::kBound) shown.push_back(ArrayOf(operand));
    }
    for (const Body& body : kernel_.bodies) {
      for (std::size_t i = 0; i < body.region.params.size() && i < shown.size(); ++i)
        arrays_[body.region.params[i].value.index()] = shown[i];
      Walk(body.region);
    }
    return std::move(numbers_);
  }

 private:
  // ---- operands

  static ShownArray Whole(const Shape& shape, Form zero) {
    ShownArray array;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      array.base.push_back(zero);
      array.shown.push_back({d, 1, shape[d]});
    }
    return array;
  }

  // None: what its blocks show is not made of indices alone.
  std::optional<ShownArray> ArrayOf(const Operand& operand) {
    const Type& type = kernel_.values[operand.value.index()].type;
    if (!operand.block.has_value()) return Whole(type.shape, forms_.Constant(0));
    const BlockSpec& block = *operand.block;
    const std::vector<Param>& params = block.map.params;
    for (std::size_t axis = 0; axis < params.size() && axis < kernel_.launch.grid.size(); ++axis)
      Set(params[axis].value, {.base = Program(static_cast<std::int64_t>(axis))});
    Walk(block.map);
    if (!block.view.empty() || block.map.results.size() != block.dims.size()) return std::nullopt;
    ShownArray array;
    for (std::size_t d = 0; d < block.dims.size(); ++d) {
      const BlockDim& dim = block.dims[d];
      const Form at = Of(block.map.results[d]).base;
      if (dim.kind == BlockDim::Kind::kBoundedSlice || dim.kind == BlockDim::Kind::kIndirect) return std::nullopt;
      const bool counted = dim.kind == BlockDim::Kind::kBlocked;
      array.base.push_back(counted ? forms_.Product(at, forms_.Constant(dim.size)) : at);
      if (dim.kind != BlockDim::Kind::kSqueezed) array.shown.push_back({d, 1, dim.size});
    }
    return array;
  }

  Form Program(std::int64_t axis) { return forms_.Of(Cat("program ", axis)); }

  // ---- values

  void Set(ValueId value, KnownIndex index) {
    if (value.valid()) values_[value.index()] = std::move(index);
  }
  KnownIndex Opaque(const Shape& shape, Form form) const { return {.base = form, .affine = shape.empty()}; }
  KnownIndex Unique(const Shape& shape) { return Opaque(shape, forms_.Unique()); }

  KnownIndex Of(const Arg& arg) {
    if (arg.kind == Arg::Kind::kLiteral) {
      if (const std::optional<std::int64_t> number = layouts::LiteralInt(arg))
        return {.base = forms_.Constant(*number)};
      std::string bits;
      for (const std::byte byte : arg.literal.bytes) Append(&bits, " ", static_cast<int>(byte));
      return {.base = forms_.Of(Cat("literal ", Name(arg.literal.dtype), bits))};
    }
    if (arg.kind != Arg::Kind::kValue) return Unique(TypeOfArg(kernel_, arg).shape);
    KnownIndex& index = values_[arg.value.index()];
    if (index.base == 0) index = Unique(kernel_.values[arg.value.index()].type.shape);
    return index;
  }

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      if (!op.regions.empty()) {
        Regions(op);
        continue;
      }
      const bool accesses = RowOf(op).access != RefAccess::kNone;
      if (accesses) numbers_[&op] = AccessOf(op);
      for (std::size_t i = 0; i < op.results.size() && i < op.types.size(); ++i) {
        if (!op.results[i].valid() || !op.types[i].is_array()) continue;
        Set(op.results[i], accesses ? Loaded(op, op.types[i].shape) : Result(op, i));
      }
    }
  }

  KnownIndex Loaded(const Instr& op, const Shape& shape) {
    if (shape.empty()) return {.base = forms_.Of("loaded")};
    const Arg* const ref = RefOf(op);
    return ref == nullptr ? Unique(shape) : Opaque(shape, forms_.Of(Cat("of ", ref->value.value, " ", numbers_[&op])));
  }

  KnownIndex Result(const Instr& op, std::size_t i) {
    const Shape& shape = op.types[i].shape;
    static const RuleRows kPrograms("program_id");
    if (RowOf(op).effect != Effect::kPure) return Unique(shape);
    if (kPrograms.Has(op)) return {.base = Program(layouts::IntOf(op.attrs, "axis").value_or(0))};
    if (IsInteger(op.types[i].dtype)) {
      if (std::optional<KnownIndex> index = Computed(op, shape)) return *std::move(index);
    }
    std::string form = Cat(RowOf(op).dialect, ".", RowOf(op).name, ToString(op.attrs), " ", i, ToString(shape));
    for (const Arg& arg : op.args) Append(&form, " ", TextOf(Of(arg)));
    return Opaque(shape, forms_.Of(form));
  }

  static Shape LastDims(std::size_t of, std::size_t count) {
    Shape dims;
    for (std::size_t d = count < of ? of - count : 0; d < of; ++d) dims.push_back(static_cast<std::int64_t>(d));
    return dims;
  }

  // An index that is affine, or a scalar.
  std::optional<KnownIndex> Computed(const Instr& op, const Shape& shape) {
    static const RuleRows kSums("add");
    static const RuleRows kDifferences("sub");
    static const RuleRows kProducts("mul");
    static const RuleRows kConverts("convert_element_type");
    static const RuleRows kIotas("iota");
    static const RuleRows kSpreads("broadcast_in_dim");
    static const RuleRows kWidens("broadcast_to");
    static const RuleRows kShapes("reshape", "squeeze", "expand_dims");
    if (kIotas.Has(op)) {
      KnownIndex iota{.base = forms_.Constant(0), .shape = shape, .step = std::vector<std::int64_t>(shape.size(), 0)};
      const auto dim = static_cast<std::size_t>(layouts::IntOf(op.attrs, "dim").value_or(0));
      if (dim < shape.size()) iota.step[dim] = 1;
      return iota;
    }
    if (op.args.empty() || !IsInteger(TypeOfArg(kernel_, op.args[0]).dtype)) return std::nullopt;
    const KnownIndex first = Of(op.args[0]);
    if (kSpreads.Has(op)) return SpreadTo(first, shape, layouts::IntsOf(op, "dims"));
    if (kWidens.Has(op)) return SpreadTo(first, shape, LastDims(shape.size(), first.shape.size()));
    if (kShapes.Has(op)) return ShapedAs(first, shape);
    if (kConverts.Has(op)) return first;
    if (op.args.size() != 2) return std::nullopt;
    const KnownIndex second = Of(op.args[1]);
    if (kProducts.Has(op)) return ProductOf(first, second, forms_);
    if (kSums.Has(op) || kDifferences.Has(op)) return SumOf(first, second, kDifferences.Has(op), forms_);
    return std::nullopt;
  }

  // ---- regions

  void Regions(const Instr& op) {
    if (IsLoop(RowOf(op))) {
      Carries(op);
    } else {
      for (const Region& region : op.regions) Pass(op, region);
    }
    for (const Region& region : op.regions) Walk(region);
    if (IsLoop(RowOf(op)) || op.regions.size() != 1) return;
    const std::vector<Arg>& results = op.regions[0].results;
    for (std::size_t i = 0; i < op.results.size() && i < results.size(); ++i) Set(op.results[i], Of(results[i]));
  }

  // The operands of a call are its region's parameters; a scope's are memory of its own.
  void Pass(const Instr& op, const Region& region) {
    for (std::size_t i = 0; i < region.params.size(); ++i) {
      const ValueId param = region.params[i].value;
      const Type& type = kernel_.values[param.index()].type;
      const bool passed = i < op.args.size() && op.args[i].kind == Arg::Kind::kValue;
      if (type.is_ref()) {
        const bool same = passed && layouts::IsRefArg(kernel_, op.args[i]);
        arrays_[param.index()] = same ? arrays_[op.args[i].value.index()] : Whole(type.shape, forms_.Constant(0));
      } else if (i < op.args.size()) {
        Set(param, Of(op.args[i]));
      }
    }
  }

  void Carries(const Instr& op) {
    std::size_t carry = 0;
    for (const Arg& arg : op.args) {
      if (arg.name != "init") continue;
      for (const Region& region : op.regions) {
        if (carry < region.params.size()) Set(region.params[carry].value, CarryOf(op.regions.back(), carry, Of(arg)));
      }
      ++carry;
    }
  }

  // A counter is known by its start and step, and what no turn changes by its first value.
  KnownIndex CarryOf(const Region& body, std::size_t carry, const KnownIndex& init) {
    static const RuleRows kSums("add");
    const Shape& shape = kernel_.values[body.params[carry].value.index()].type.shape;
    const auto is_it = [&](const Arg& arg) {
      return arg.kind == Arg::Kind::kValue && arg.value == body.params[carry].value;
    };
    if (carry >= body.results.size()) return Unique(shape);
    const Arg& next = body.results[carry];
    if (is_it(next)) return init;
    const auto makes_it = [&](const Instr& op) {
      return next.kind == Arg::Kind::kValue && op.results.size() == 1 && op.results[0] == next.value;
    };
    const auto made = std::find_if(body.body.begin(), body.body.end(), makes_it);
    if (!shape.empty() || made == body.body.end() || !kSums.Has(*made)) return Unique(shape);
    const bool first = is_it(made->args[0]);
    const std::optional<std::int64_t> step = layouts::LiteralInt(made->args[first ? 1 : 0]);
    if (!step.has_value() || !is_it(made->args[first ? 0 : 1])) return Unique(shape);
    return {.base = forms_.Of(Cat("from ", init.base, " by ", *step))};
  }

  // ---- accesses

  const Arg* RefOf(const Instr& op) const {
    const auto is_ref = [&](const Arg& arg) { return layouts::IsRefArg(kernel_, arg); };
    const auto at = std::find_if(op.args.begin(), op.args.end(), is_ref);
    return at == op.args.end() ? nullptr : &*at;
  }

  std::uint32_t AccessOf(const Instr& op) {
    const Arg* const ref = RefOf(op);
    if (ref == nullptr || !arrays_[ref->value.index()].has_value()) return forms_.Unique();
    ShownArray array = *arrays_[ref->value.index()];
    IndexArrays arrays;
    for (const Transform& transform : ref->transforms) {
      if (transform.kind != Transform::Kind::kAt || !arrays.of.empty() || !At(transform, array, arrays))
        return forms_.Unique();
    }
    return NumberOf(array, arrays);
  }

  // False: an index that has no form.
  bool At(const Transform& at, ShownArray& array, IndexArrays& arrays) {
    if (at.indices.size() != array.shown.size()) return false;
    std::vector<Shown> shown;
    std::size_t points = 0, first = 0, last = 0;
    for (std::size_t d = 0; d < at.indices.size(); ++d) {
      const Index& index = at.indices[d];
      const Shown& of = array.shown[d];
      if (index.kind == Index::Kind::kRef) return false;
      if (index.kind == Index::Kind::kFull) {
        shown.push_back(of);
        continue;
      }
      const KnownIndex start = Of(index.start);
      if (start.affine) {
        const Form moved = forms_.Product(forms_.Constant(of.step), start.base);
        array.base[of.dim] = forms_.Sum(array.base[of.dim], moved);
      }
      if (index.kind == Index::Kind::kSlice) {
        const std::optional<std::int64_t> size = layouts::LiteralInt(index.size);
        if (!size.has_value() || !start.IsScalar() || !start.affine) return false;
        shown.push_back({of.dim, of.step * index.stride, *size});
        continue;
      }
      if (points++ == 0) first = d, arrays.before = shown.size();
      last = d;
      if (!TypeOfArg(kernel_, index.start).shape.empty() && !AddArray(of, index.start, arrays)) return false;
    }
    if (points > 0 && last - first + 1 != points) arrays.before = 0;
    array.shown = std::move(shown);
    return true;
  }

  // Arrays of indices are spread to one shape.
  bool AddArray(const Shown& of, const Arg& index, IndexArrays& arrays) {
    const Shape shape = TypeOfArg(kernel_, index).shape;
    Shape& common = arrays.shape;
    if (common.size() < shape.size()) common.insert(common.begin(), shape.size() - common.size(), 1);
    const std::size_t skipped = common.size() - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d) common[skipped + d] = std::max(common[skipped + d], shape[d]);
    KnownIndex known = Of(index);
    known.shape = shape;
    arrays.of.emplace_back(of, std::move(known));
    return true;
  }

  std::uint32_t NumberOf(const ShownArray& array, const IndexArrays& arrays) {
    Shape sizes;  // of the value
    for (const Shown& shown : array.shown) sizes.push_back(shown.size);
    const std::size_t rank = arrays.shape.size();
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(arrays.before), arrays.shape.begin(), arrays.shape.end());
    std::vector<std::string> dims(array.base.size());
    // Dimensions of one element change no layout.
    const auto add = [&](std::size_t dim, std::size_t at, std::int64_t step) {
      if (sizes[at] == 1) return;
      const auto ones = std::count(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
      Append(&dims[dim], " ", at - static_cast<std::size_t>(ones), "*", step);
    };
    for (std::size_t s = 0; s < array.shown.size(); ++s)
      add(array.shown[s].dim, s < arrays.before ? s : s + rank, array.shown[s].step);
    for (const auto& [of, index] : arrays.of) {
      const std::size_t skipped = arrays.before + rank - index.shape.size();
      for (std::size_t d = 0; index.affine && d < index.step.size(); ++d) {
        if (index.step[d] != 0) add(of.dim, skipped + d, index.step[d] * of.step);
      }
      if (!index.affine) Append(&dims[of.dim], " ", skipped, "[", index.base, "*", of.step);
    }
    sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
    std::string form = Cat("at ", ToString(sizes));
    for (std::size_t d = 0; d < dims.size(); ++d) Append(&form, "; ", array.base[d], dims[d]);
    return forms_.Of(form);
  }

  const Kernel& kernel_;
  Forms forms_;
  std::vector<KnownIndex> values_;                 // by value
  std::vector<std::optional<ShownArray>> arrays_;  // of refs
  std::map<const Instr*, std::uint32_t> numbers_;
};

}  // namespace

std::map<const Instr*, std::uint32_t> IndexExpressionsOf(const Kernel& kernel) { return Numbering(kernel).Take(); }

}  // namespace palladion::legality
