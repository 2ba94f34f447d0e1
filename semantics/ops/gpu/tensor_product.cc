#include "semantics/ops/gpu/tensor_product.h"

#include <algorithm>

namespace palladion {
namespace {

// b of two blocks side by side: each of its k rows is one of the first and one of the second.
AsyncValue SideBySide(const AsyncValue& left, const AsyncValue& right, std::int64_t k) {
  AsyncValue both;
  const auto rows = static_cast<std::size_t>(k);
  const auto append = [rows](const auto& one, const auto& two, auto* joined) {
    const auto width = static_cast<std::ptrdiff_t>(one.size() / rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * width;
      joined->insert(joined->end(), one.begin() + at, one.begin() + at + width);
      joined->insert(joined->end(), two.begin() + at, two.begin() + at + width);
    }
  };
  append(left.bytes, right.bytes, &both.bytes);
  if (left.marks.empty() && right.marks.empty()) return both;
  const std::size_t elements = std::max(left.marks.size(), right.marks.size());
  const auto all_of = [elements](const AsyncValue& value) {
    return value.marks.empty() ? std::vector<std::uint8_t>(elements, 0) : value.marks;
  };
  append(all_of(left), all_of(right), &both.marks);
  return both;
}

}  // namespace

TensorProduct::TensorProduct(const ScaledMmaForm& form, std::size_t blocks) : form_(form), blocks_(blocks) {
  if (form.block != 0 || form.sparse) {
    scaled_.emplace(form);
  } else {
    plain_.emplace(Mma::Form{form.m, form.n, form.k, form.a, form.b, form.acc});
  }
}

void TensorProduct::RunPlain(bool accumulates, const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) const {
  const std::size_t a = accumulates ? 1 : 0, b = a + 1, each = in.size() / blocks_;
  absl::InlinedVector<const AsyncValue*, 2> right;
  for (std::size_t block = 0; block < blocks_; ++block) right.push_back(&in[block * each + b]);
  for (std::size_t block = 0; block < blocks_; ++block) {
    const AsyncValue* values = &in[block * each];
    plain_->Run({.a = values[a], .b = right, .acc = accumulates ? values : nullptr}, &(*out)[block]);
  }
}

void TensorProduct::Run(bool accumulates, const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) const {
  const std::size_t a = accumulates ? 1 : 0, b = a + 1;  // of a block's values
  const std::size_t each = in.size() / blocks_;
  if (plain_.has_value()) return RunPlain(accumulates, in, out);
  const AsyncValue joined = blocks_ == 2 ? SideBySide(in[b], in[each + b], form_.k) : AsyncValue{};
  for (std::size_t block = 0; block < blocks_; ++block) {
    AsyncValue& sum = (*out)[block];
    const AsyncValue* values = &in[block * each];
    const AsyncValue zeros{accumulates ? std::vector<std::byte>() : std::vector<std::byte>(sum.bytes.size()), {}};
    const AsyncValue &before = accumulates ? values[0] : zeros, &right = blocks_ == 2 ? joined : values[b];
    const AsyncValue* more = values + b + 1;
    const bool has_scales = form_.block != 0;
    scaled_->Run({.a = values[a],
                  .b = right,
                  .acc = before,
                  .a_scale = has_scales ? &more[0] : nullptr,
                  .b_scale = has_scales ? &more[1] : nullptr,
                  .positions = form_.sparse ? &more[has_scales ? 2 : 0] : nullptr},
                 &sum);
  }
}

}  // namespace palladion
