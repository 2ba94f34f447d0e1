// Symbolic integers of a Triton kernel: an array is a start and a step along each of its dimensions where it is affine,
// and else opaque. For index_expressions.h.
#ifndef PALLADION_EMU_CHECK_LEGALITY_KNOWN_INDICES_H_
#define PALLADION_EMU_CHECK_LEGALITY_KNOWN_INDICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "semantics/ir/module.h"

namespace palladion::legality {

// The number of a form, from 1 on.
using Form = std::uint32_t;

// Scalars, numbered by their form.
class Forms {
 public:
  Form Of(const std::string& form);
  Form Constant(std::int64_t value);
  Form Unique() { return ++last_; }
  std::optional<std::int64_t> ConstantOf(Form form) const;

  Form Sum(Form a, Form b);
  Form Difference(Form a, Form b);
  Form Product(Form a, Form b);

 private:
  Form last_ = 0;
  absl::flat_hash_map<std::string, Form> known_;
  absl::flat_hash_map<Form, std::int64_t> constants_;
};

// The element at (i, j, ...) is base + i * step[0] + j * step[1] + ..., or where it is not affine, nothing is known but
// the form of the whole: `base`.
struct KnownIndex {
  Form base = 0;  // 0: not known yet
  bool affine = true;
  Shape shape{};
  std::vector<std::int64_t> step{};

  bool IsScalar() const { return shape.empty(); }
};

std::string TextOf(const KnownIndex& index);  // of equal ones the same

// Element by element, of a shape that each has or is spread to; none: the result is not affine.
std::optional<KnownIndex> SumOf(const KnownIndex& a, const KnownIndex& b, bool minus, Forms& forms);
std::optional<KnownIndex> ProductOf(const KnownIndex& a, const KnownIndex& b, Forms& forms);
// Dimension d of `from` is `dims[d]` of an array of `shape`.
std::optional<KnownIndex> SpreadTo(const KnownIndex& from, const Shape& shape, const Shape& dims);
// Dimensions of one element come and go.
std::optional<KnownIndex> ShapedAs(const KnownIndex& from, const Shape& shape);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_KNOWN_INDICES_H_
