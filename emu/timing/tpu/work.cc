#include "emu/timing/tpu/work.h"

#include <algorithm>
#include <string>
#include <vector>

#include "emu/run/watch/observed.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::tpu {
namespace {

bool IsScalar(const Type& type) { return type.shape.empty(); }

std::int64_t LastOf(const Type& type, std::size_t from_end) {
  const std::size_t rank = type.shape.size();
  return rank < from_end ? 1 : type.shape[rank - from_end];
}

class Costing {
 public:
  Costing(const TpuCosts& costs, const Kernel& kernel, const Instr& instr, const TpuDistinct& distinct)
      : costs_(costs), kernel_(kernel), instr_(instr), row_(*instr.row) {
    for (const Arg& arg : instr.args) {
      if (arg.kind == Arg::Kind::kNone) continue;
      const Type type = TypeOfArg(kernel, arg);
      if (!type.is_array() && !type.is_key()) continue;
      values_.push_back(type);
      const auto found = arg.kind == Arg::Kind::kValue ? distinct.find(arg.value.value) : distinct.end();
      distinct_.push_back(found != distinct.end() ? found->second : type.shape);
    }
  }

  absl::StatusOr<TpuInstruction> Take() && {
    if (instr_.types.size() == 1) cost_.distinct = DistinctOfResult();
    PALLADION_RETURN_IF_ERROR(Count());
    for (const Type& type : instr_.types) {
      if (type.is_array() && !IsScalar(type)) cost_.registers += At32(type);
    }
    return std::move(cost_);
  }

 private:
  absl::Status Count() {
    switch (row_.unit) {
      case Unit::kNone:
        cost_.prints = row_.effect == Effect::kPrints;
        return absl::OkStatus();
      case Unit::kScalar:
      case Unit::kControl:
        return CountScalar();
      case Unit::kMemory:
        return CountMemory();
      case Unit::kMatrix:
        return CountMatrix();
      case Unit::kTranscendental:
      case Unit::kDivision:
      case Unit::kVector:
      case Unit::kLarger:
        return CountValues();
    }
    return absl::OkStatus();
  }

  absl::Status NoCost(std::string_view why) const {
    return absl::UnimplementedError(Cat("'", watch::OpName(instr_), "' has no cost on a TPU: ", std::string(why)));
  }

  TpuWork& work() { return cost_.work; }
  double Packed(const Type& type) const { return RegistersOf(costs_, type, /*packed=*/true); }
  double At32(const Type& type) const { return RegistersOf(costs_, type, /*packed=*/false); }

  absl::Status CountScalar() {
    work()[TpuSlot::kScalar] = 1;
    cost_.closes = row_.loops != Loops::kUnsaid && row_.loops != Loops::kOnce;
    return absl::OkStatus();
  }

  // ---- memory

  absl::Status CountMemory() {
    switch (row_.access) {
      case RefAccess::kLoad:
        return CountLoad(instr_.types[0]);
      case RefAccess::kStore:
        if (!instr_.results.empty() && instr_.results[0].valid()) PALLADION_RETURN_IF_ERROR(CountLoad(instr_.types[0]));
        return CountStore();
      case RefAccess::kAdd:
        PALLADION_RETURN_IF_ERROR(CountLoad(Stored()));
        if (!InScalarMemory()) work()[TpuSlot::kVector] += At32(Stored());
        cost_.flops += static_cast<double>(NumElements(Stored().shape));
        return CountStore();
      case RefAccess::kNone:
      case RefAccess::kPrefetch:
      case RefAccess::kCopy:  // what the engines do of it is counted where they are
        work()[TpuSlot::kScalar] += 1;
        return absl::OkStatus();
      case RefAccess::kAtomic:
      case RefAccess::kProduct:
      case RefAccess::kAccumulator:
        break;
    }
    return NoCost("no source says what such an access takes");
  }

  Type Stored() const { return TypeOfArg(kernel_, instr_.args[row_.stored]); }
  bool InScalarMemory() const { return TypeOfArg(kernel_, instr_.args[0]).space == Space::kSmem; }

  absl::Status CountLoad(const Type& type) {
    if (InScalarMemory()) {
      work()[TpuSlot::kScalar] += static_cast<double>(NumElements(type.shape));
    } else {
      work()[TpuSlot::kLoad] += Packed(type);
    }
    return absl::OkStatus();
  }
  absl::Status CountStore() {
    if (InScalarMemory()) {
      work()[TpuSlot::kScalar] += static_cast<double>(NumElements(Stored().shape));
    } else {
      work()[TpuSlot::kStore] += Packed(Stored());
    }
    return absl::OkStatus();
  }

  // ---- matrix products

  absl::Status CountMatrix() {
    if (row_.flow != Flow::kDot || values_.size() != 2)
      return NoCost("what a kernel does that drives the matrix units by hand is not counted yet");
    const auto lists = IntListsAttr(instr_, "contract"), batch = IntListsAttr(instr_, "batch");
    PALLADION_RETURN_IF_ERROR(lists.status());
    TpuProduct product{.type = values_[0].dtype};
    if (Info(values_[1].dtype).bits > Info(product.type).bits) product.type = values_[1].dtype;
    for (const std::int64_t axis : (*lists)[0]) product.k *= values_[0].shape[static_cast<std::size_t>(axis)];
    if (batch.ok() && !batch->empty()) {
      for (const std::int64_t axis : (*batch)[0]) product.batch *= values_[0].shape[static_cast<std::size_t>(axis)];
    }
    const std::int64_t shared = std::max<std::int64_t>(1, product.k * product.batch);
    product.m = NumElements(values_[0].shape) / shared;
    product.n = NumElements(values_[1].shape) / shared;
    PALLADION_ASSIGN_OR_RETURN(product.passes, PassesOf(product.type));
    PALLADION_ASSIGN_OR_RETURN(cost_.work, WorkOf(costs_, product));
    cost_.flops = cost_.products = 2.0 * static_cast<double>(product.batch * product.m) *
                                   static_cast<double>(product.n) * static_cast<double>(product.k);
    cost_.product_type = product.type;
    return absl::OkStatus();
  }

  // f32 in one pass of bf16 by default; in three or six where more precision is requested.
  absl::StatusOr<int> PassesOf(DType type) const {
    const Attr* attr = Find(instr_.attrs, "precision");
    if (type != DType::kF32 || attr == nullptr || std::holds_alternative<AttrNone>(attr->value)) return 1;
    const AttrList* both = std::get_if<AttrList>(&attr->value);
    const Attr& one = both == nullptr || both->empty() ? *attr : (*both)[0];
    const AttrIdent* word = std::get_if<AttrIdent>(&one.value);
    if (word != nullptr && word->name == "default") return 1;
    if (word != nullptr && word->name == "high") return 3;
    if (word != nullptr && word->name == "highest") return 6;
    return absl::UnimplementedError(
        Cat("a product of precision ", ToString(*attr), " has no cost on a TPU; default, high and highest have one"));
  }

  // ---- values

  absl::Status CountValues() {
    const bool scalar = std::all_of(values_.begin(), values_.end(), IsScalar) &&
                        std::all_of(instr_.types.begin(), instr_.types.end(), IsScalar);
    if (scalar) {
      const bool function = row_.unit == Unit::kTranscendental;  // the scalar core has none
      work()[function ? TpuSlot::kTranscendental : TpuSlot::kScalar] = 1;
      return absl::OkStatus();
    }
    if (values_.empty()) return CountElementwise();  // made of nothing, lane by lane
    switch (row_.flow) {
      case Flow::kElementwise:
      case Flow::kMask:
        cost_.several = true;
        cost_.flops = static_cast<double>(Largest());
        [[fallthrough]];
      case Flow::kSelect:
      case Flow::kConvert:
      case Flow::kParts:
        return CountElementwise();
      case Flow::kMove:
      case Flow::kPlace:
        return CountMove();
      case Flow::kReduce:
        return CountReduction();
      case Flow::kCombine:
      case Flow::kPrefix:
      case Flow::kSort:
      case Flow::kDot:
      case Flow::kAll:
        break;
    }
    return NoCost("no source says what it takes");
  }

  std::int64_t Largest() const {
    std::int64_t most = 0;
    for (const Type& type : instr_.types) most = std::max(most, NumElements(type.shape));
    return most;
  }

  // ---- registers that differ

  static bool IsOfOne(const Shape& shape) { return NumElements(shape) <= 1; }

  // Where dimensions are alike in both, but for those of one element.
  static Shape WithOnes(const Shape& from, const Shape& whole, const Shape& to) {
    Shape result = to;
    std::size_t at = 0;
    const auto skip = [&] {
      while (at < whole.size() && whole[at] == 1) ++at;
    };
    for (std::int64_t& size : result) {
      if (size == 1) continue;
      skip();
      if (at >= whole.size() || whole[at] != size) return to;
      size = from[at++];
    }
    return result;
  }

  Shape DistinctOfResult() const {
    const Shape& to = instr_.types[0].shape;
    if (values_.empty()) return DistinctOfMade(to);
    if (row_.unit == Unit::kMemory || row_.unit == Unit::kMatrix) return to;
    switch (row_.flow) {
      case Flow::kElementwise:
      case Flow::kMask:
      case Flow::kSelect:
      case Flow::kConvert:
      case Flow::kParts:
        return DistinctOfEach(to);
      case Flow::kMove:
        return DistinctOfMoved(to);
      default:
        return to;
    }
  }

  // An iota.
  Shape DistinctOfMade(const Shape& to) const {
    if (!HasAttr(instr_, "dim")) return to;
    Shape result(to.size(), 1);
    const auto dim = static_cast<std::size_t>(Int(instr_, "dim"));
    if (dim < to.size()) result[dim] = to[dim];
    return result;
  }

  Shape DistinctOfEach(const Shape& to) const {
    Shape result(to.size(), 1);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (IsOfOne(values_[i].shape)) continue;
      if (distinct_[i].size() != to.size()) return to;
      for (std::size_t d = 0; d < to.size(); ++d) result[d] = std::max(result[d], distinct_[i][d]);
    }
    return result;
  }

  Shape DistinctOfMoved(const Shape& to) const {
    if (std::all_of(distinct_.begin(), distinct_.end(), IsOfOne)) return Shape(to.size(), 1);
    if (values_.size() > 1 && !IsOfOne(values_[1].shape)) return to;
    // broadcast_in_dim alone has both; of the others that have `dims` they are what goes, comes or is turned round.
    const bool has_dims = HasAttr(instr_, "dims"), has_shape = HasAttr(instr_, "shape");
    if (!has_dims || !has_shape) {
      return NumElements(values_[0].shape) == NumElements(to) && (has_dims || has_shape)
                 ? WithOnes(distinct_[0], values_[0].shape, to)
                 : to;
    }
    Shape result(to.size(), 1);
    const std::vector<std::int64_t> dims = Ints(instr_, "dims");
    for (std::size_t i = 0; i < dims.size() && i < distinct_[0].size(); ++i)
      result[static_cast<std::size_t>(dims[i])] = distinct_[0][i];
    return result;
  }

  // Registers of a value of the type that differ as `distinct` does.
  double Differing(Type type, const Shape& distinct) const {
    type.shape = distinct;
    return At32(type);
  }

  absl::Status CountElementwise() {
    double registers = 0;
    for (std::size_t i = 0; i < values_.size(); ++i)
      registers = std::max(registers, Differing(values_[i], distinct_[i]));
    for (const Type& type : instr_.types)
      registers = std::max(registers, instr_.types.size() == 1 ? Differing(type, cost_.distinct) : At32(type));
    work()[TpuSlot::kVector] = registers;
    if (row_.unit == Unit::kTranscendental) work()[TpuSlot::kTranscendental] = registers;
    return absl::OkStatus();
  }

  // Are whole registers moved? Then registers are only renamed.
  bool MovesWholeRegisters(const Type& from, const Type& to) const {
    const bool same_tiles = LastOf(from, 1) == LastOf(to, 1) && LastOf(from, 2) == LastOf(to, 2);
    const bool other_size = NumElements(from.shape) != NumElements(to.shape) || from.shape.size() != to.shape.size();
    const auto whole = [&](const Type& type) {
      return LastOf(type, 1) % costs_.lanes == 0 &&
             LastOf(type, 2) % (costs_.sublanes * std::max(1, 32 / Info(type.dtype).bits)) == 0;
    };
    return other_size && (same_tiles || (whole(from) && whole(to) && NumElements(from.shape) != NumElements(to.shape)));
  }

  // A register of one value everywhere takes a vector operation; each other register that is taken apart or put
  // together goes through the XLU once. Of a larger array that something is taken from, or put into, only the
  // registers that move count.
  absl::Status CountMove() {
    const std::size_t moved = row_.moved == 0 ? values_.size() : std::min<std::size_t>(row_.moved, values_.size());
    for (const Type& to : instr_.types) {
      for (std::size_t i = 0; i < moved; ++i) {
        Type from = values_[i];
        if (instr_.types.size() == 1 && cost_.distinct != to.shape) from.shape = distinct_[i];
        if (NumElements(from.shape) <= 1) {
          work()[TpuSlot::kVector] += 1;
        } else if (!MovesWholeRegisters(from, to)) {
          const bool all = NumElements(from.shape) == NumElements(to.shape);
          work()[TpuSlot::kCross] += all ? std::max(Packed(from), Packed(to)) : std::min(Packed(from), Packed(to));
        }
      }
    }
    return absl::OkStatus();
  }

  // Registers are added to each other first, on the vector unit; what is left within a register, the XLU adds.
  absl::Status CountReduction() {
    const Type& from = values_[0];
    std::vector<std::int64_t> axes;
    if (HasAttr(instr_, "axes")) {
      axes = Ints(instr_, "axes");
    } else {
      axes = {Int(instr_, "axis")};
    }
    Type left = from;
    bool within = false;
    const auto rank = static_cast<std::int64_t>(from.shape.size());
    for (const std::int64_t axis : axes) {
      const bool tiled = axis + 2 >= rank;
      within |= tiled;
      const std::int64_t tile = axis + 1 == rank ? costs_.lanes : costs_.sublanes;
      std::int64_t& size = left.shape[static_cast<std::size_t>(axis)];
      size = tiled ? std::min(size, tile) : 1;
    }
    work()[TpuSlot::kVector] = std::max(0.0, At32(from) - At32(left));
    if (within) work()[TpuSlot::kCross] = At32(left);
    cost_.across_lanes = std::find(axes.begin(), axes.end(), rank - 1) != axes.end();
    cost_.flops = static_cast<double>(NumElements(from.shape));
    return absl::OkStatus();
  }

  const TpuCosts& costs_;
  const Kernel& kernel_;
  const Instr& instr_;
  const OpRow& row_;
  std::vector<Type> values_;     // the operands that are values
  std::vector<Shape> distinct_;  // of these
  TpuInstruction cost_;
};

}  // namespace

absl::StatusOr<TpuInstruction> InstructionOf(const TpuCosts& costs, const Kernel& kernel, const Instr& instr,
                                             const TpuDistinct& distinct) {
  return Costing(costs, kernel, instr, distinct).Take();
}

}  // namespace palladion::timing::tpu
