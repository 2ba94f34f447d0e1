#include "emu/check/legality/known_indices.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"

namespace palladion::legality {

Form Forms::Of(const std::string& form) {
  const auto [at, is_new] = known_.try_emplace(form, last_ + 1);
  if (is_new) ++last_;
  return at->second;
}

Form Forms::Constant(std::int64_t value) {
  const Form form = Of(Cat("= ", value));
  constants_[form] = value;
  return form;
}

std::optional<std::int64_t> Forms::ConstantOf(Form form) const {
  const auto at = constants_.find(form);
  return at == constants_.end() ? std::nullopt : std::optional(at->second);
}

// Integers wrap; what a constant that does is the form of does not matter.
Form Forms::Sum(Form a, Form b) {
  const std::optional<std::int64_t> x = ConstantOf(a), y = ConstantOf(b);
  std::int64_t sum = 0;
  if (x.has_value() && y.has_value() && !__builtin_add_overflow(*x, *y, &sum)) return Constant(sum);
  if (x == 0) return b;
  if (y == 0) return a;
  return Of(Cat(std::min(a, b), " + ", std::max(a, b)));
}

Form Forms::Difference(Form a, Form b) {
  const std::optional<std::int64_t> x = ConstantOf(a), y = ConstantOf(b);
  std::int64_t difference = 0;
  if (x.has_value() && y.has_value() && !__builtin_sub_overflow(*x, *y, &difference)) return Constant(difference);
  return y == 0 ? a : Of(Cat(a, " - ", b));
}

Form Forms::Product(Form a, Form b) {
  const std::optional<std::int64_t> x = ConstantOf(a), y = ConstantOf(b);
  std::int64_t product = 0;
  if (x.has_value() && y.has_value() && !__builtin_mul_overflow(*x, *y, &product)) return Constant(product);
  if (x == 0 || y == 0) return Constant(0);
  if (x == 1) return b;
  if (y == 1) return a;
  return Of(Cat(std::min(a, b), " * ", std::max(a, b)));
}

std::string TextOf(const KnownIndex& index) {
  return Cat(index.affine ? "" : "!", index.base, ":", absl::StrJoin(index.shape, ","), ":",
             absl::StrJoin(index.step, ","));
}

namespace {

// Both of them, of one shape; a scalar is spread to the other's.
bool Match(KnownIndex& a, KnownIndex& b) {
  if (!a.affine || !b.affine) return false;
  for (KnownIndex* one : {&a, &b}) {
    const Shape& shape = one == &a ? b.shape : a.shape;
    if (one->IsScalar()) one->shape = shape, one->step.assign(shape.size(), 0);
  }
  return a.shape == b.shape;
}

bool IsConstant(const KnownIndex& index) {
  return std::all_of(index.step.begin(), index.step.end(), [](std::int64_t step) { return step == 0; });
}

}  // namespace

std::optional<KnownIndex> SumOf(const KnownIndex& a, const KnownIndex& b, bool minus, Forms& forms) {
  KnownIndex sum = a, other = b;
  if (!Match(sum, other)) return std::nullopt;
  sum.base = minus ? forms.Difference(a.base, b.base) : forms.Sum(a.base, b.base);
  for (std::size_t d = 0; d < sum.step.size(); ++d) sum.step[d] += minus ? -other.step[d] : other.step[d];
  return sum;
}

std::optional<KnownIndex> ProductOf(const KnownIndex& a, const KnownIndex& b, Forms& forms) {
  KnownIndex product = a, factor = b;
  if (!Match(product, factor)) return std::nullopt;
  if (!IsConstant(factor)) std::swap(product, factor);
  const std::optional<std::int64_t> by = forms.ConstantOf(factor.base);
  if (!IsConstant(factor) || (!IsConstant(product) && !by.has_value())) return std::nullopt;
  product.base = forms.Product(product.base, factor.base);
  for (std::int64_t& step : product.step) {
    if (step != 0 && __builtin_mul_overflow(step, *by, &step)) return std::nullopt;
  }
  return product;
}

std::optional<KnownIndex> SpreadTo(const KnownIndex& from, const Shape& shape, const Shape& dims) {
  if (!from.affine || dims.size() != from.shape.size()) return std::nullopt;
  KnownIndex to{.base = from.base, .shape = shape, .step = std::vector<std::int64_t>(shape.size(), 0)};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto at = static_cast<std::size_t>(dims[d]);
    if (at >= shape.size()) return std::nullopt;
    if (from.shape[d] != 1) to.step[at] = from.step[d];
  }
  return to;
}

std::optional<KnownIndex> ShapedAs(const KnownIndex& from, const Shape& shape) {
  if (!from.affine) return std::nullopt;
  KnownIndex to{.base = from.base, .shape = shape, .step = std::vector<std::int64_t>(shape.size(), 0)};
  std::size_t d = 0;
  const auto skip = [&] {
    while (d < from.shape.size() && from.shape[d] == 1) ++d;
  };
  for (std::size_t at = 0; at < shape.size(); ++at) {
    if (shape[at] == 1) continue;
    skip();
    if (d == from.shape.size() || from.shape[d] != shape[at]) return std::nullopt;
    to.step[at] = from.step[d++];
  }
  skip();
  return d == from.shape.size() ? std::optional(to) : std::nullopt;
}

}  // namespace palladion::legality
