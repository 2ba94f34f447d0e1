// sort: rows of several arrays, ordered together by the first of them; specified in docs/spec/shape.md. Based on: JAX's
// sort, whose order of floats is -inf < ... < -0 = +0 < ... < inf < NaN with all NaNs equal. Always stable. A merge of
// growing runs of row numbers in scratch, over keys that compare as unsigned numbers.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

absl::Status VerifySort(const Instr& op, const VerifyContext& context) {
  if (context.in.empty()) return ExpectOperands(context, 1);
  const Type& first = context.in[0];
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kAnyKind));
    if (context.in[i].shape != first.shape) {
      return absl::InvalidArgumentError(Cat("operands must have one shape; operand 0 is ", ToString(first),
                                            ", operand ", i, " is ", ToString(context.in[i])));
    }
  }
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t dim, IntAttr(op, "dim"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(dim, first.rank(), "attribute 'dim'"));
  if (HasAttr(op, "stable")) PALLADION_RETURN_IF_ERROR(BoolAttr(op, "stable").status());
  const std::int64_t keys = IntAttrOr(op, "num_keys", 1);
  if (keys < 1 || keys > static_cast<std::int64_t>(context.in.size())) {
    return absl::InvalidArgumentError(
        Cat("attribute 'num_keys' must lie in [1, ", context.in.size(), "]; found ", keys));
  }
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, context.in.size()));
  for (std::size_t i = 0; i < context.in.size(); ++i) PALLADION_RETURN_IF_ERROR(ExpectType(op, i, context.in[i]));
  return absl::OkStatus();
}

// A number that orders as the element does.
template <DType D>
std::uint64_t KeyOf(const std::byte* element) {
  using E = Element<D>;
  StorageOf<D> value;
  std::memcpy(&value, element, sizeof(value));
  if constexpr (E::kIsFloat) {
    const double number = E::ToDouble(value);
    if (number != number) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
    return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
  } else if constexpr (E::kBits == 1) {
    return value != 0 ? 1 : 0;
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^
           (std::is_signed_v<StorageOf<D>> ? kSignBit : 0);
  }
}

template <DType D>
void KeysOf(const std::byte* first, std::int64_t step, std::uint64_t* keys, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) keys[i] = KeyOf<D>(first + static_cast<std::int64_t>(i) * step);
}

struct SortParams {
  struct Operand {
    std::int64_t bytes;
    void (*keys)(const std::byte*, std::int64_t, std::uint64_t*, std::size_t);
  };
  std::vector<Operand> operands;
  std::size_t keys;
  std::size_t outer, length, inner;
};

class RowSorter {
 public:
  RowSorter(const SortParams& p, std::byte* scratch) : p_(p), keys_(reinterpret_cast<std::uint64_t*>(scratch)) {
    order_ = keys_ + p.keys * p.length;
    spare_ = order_ + p.length;
  }

  // Sorts the row whose first element is number `first` of each operand; neighbours are `step` elements apart.
  void Sort(const ValueOperands& operands, std::int64_t first, std::int64_t step) {
    for (std::size_t k = 0; k < p_.keys; ++k) {
      const SortParams::Operand& operand = p_.operands[k];
      operand.keys(operands.in[k] + first * operand.bytes, step * operand.bytes, keys_ + k * p_.length, p_.length);
    }
    for (std::size_t i = 0; i < p_.length; ++i) order_[i] = i;
    for (std::size_t run = 1; run < p_.length; run *= 2) {
      for (std::size_t begin = 0; begin < p_.length; begin += 2 * run) {
        Merge(begin, std::min(begin + run, p_.length), std::min(begin + 2 * run, p_.length));
      }
      std::swap(order_, spare_);
    }
    for (std::size_t k = 0; k < p_.operands.size(); ++k) {
      const std::int64_t bytes = p_.operands[k].bytes;
      const std::byte* from = operands.in[k] + first * bytes;
      std::byte* to = operands.out[k] + first * bytes;
      for (std::size_t i = 0; i < p_.length; ++i) {
        std::memcpy(to + static_cast<std::int64_t>(i) * step * bytes,
                    from + static_cast<std::int64_t>(order_[i]) * step * bytes, static_cast<std::size_t>(bytes));
      }
    }
  }

 private:
  bool Less(std::uint64_t a, std::uint64_t b) const {
    for (std::size_t k = 0; k < p_.keys; ++k) {
      const std::uint64_t* keys = keys_ + k * p_.length;
      if (keys[a] != keys[b]) return keys[a] < keys[b];
    }
    return false;
  }

  void Merge(std::size_t begin, std::size_t middle, std::size_t end) {
    std::size_t left = begin, right = middle;
    for (std::size_t i = begin; i < end; ++i) {
      const bool takes_right = left == middle || (right < end && Less(order_[right], order_[left]));
      spare_[i] = takes_right ? order_[right++] : order_[left++];
    }
  }

  const SortParams& p_;
  std::uint64_t* keys_;
  std::uint64_t* order_;
  std::uint64_t* spare_;
};

void EvalSort(const SortParams& p, const ValueOperands& operands) {
  if (p.length == 0) return;  // rows of nothing have no first element to point to
  RowSorter sorter(p, operands.scratch);
  const auto inner = static_cast<std::int64_t>(p.inner);
  for (std::size_t o = 0; o < p.outer; ++o) {
    for (std::size_t i = 0; i < p.inner; ++i) {
      sorter.Sort(operands, static_cast<std::int64_t>(o * p.length * p.inner + i), inner);
    }
  }
}

absl::StatusOr<ValueKernel> PrepareSort(const Instr& op, const ValueTypes& types) {
  const auto dim = static_cast<std::size_t>(Int(op, "dim"));
  const Shape& shape = types.in[0].shape;
  SortParams params{.operands = {}, .keys = 0, .outer = 1, .length = static_cast<std::size_t>(shape[dim]), .inner = 1};
  params.keys = static_cast<std::size_t>(IntAttrOr(op, "num_keys", 1));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d < dim) params.outer *= static_cast<std::size_t>(shape[d]);
    if (d > dim) params.inner *= static_cast<std::size_t>(shape[d]);
  }
  for (const Type& type : types.in) {
    const auto keys = VisitDType(type.dtype, [](auto tag) { return &KeysOf<decltype(tag)::value>; });
    params.operands.push_back({static_cast<std::int64_t>(StorageBytes(type.dtype)), keys});
  }
  const std::size_t scratch = (params.keys + 2) * params.length * sizeof(std::uint64_t);
  return Bind<EvalSort>(std::move(params), scratch);
}

constexpr OpRow kSortOps[] = {
    {.name = "sort",
     .spec = "shape.md#sort",
     .verify = VerifySort,
     .prepare = PrepareSort,
     .flow = Flow::kSort,
     .backends = kTpu},
};

}  // namespace

absl::Span<const OpRow> SortOps() { return kSortOps; }

}  // namespace palladion
