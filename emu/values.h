// Arrays written as text, and comparing arrays element by element. Based on: docs/spec/cases.md ("Values",
// "Comparison"); numbers are read by semantics/ir/literal.h, whose limits hold here too.
#ifndef PALLADION_EMU_VALUES_H_
#define PALLADION_EMU_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/export.h"
#include "semantics/base/dtype.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

// The array that `text` describes: a flat row-major list in brackets, zeros, iota, full(v), random(seed=s, lo=a, hi=b)
// or random_bits(s). InvalidArgument: not one of these, a number that the type does not hold, too few or too many
// numbers. ResourceExhausted: no memory.
PALLADION_EXPORT absl::StatusOr<Tensor> TensorFromText(DType dtype, absl::Span<const std::int64_t> shape,
                                                       std::string_view text);

// Whether `text` begins like one of the forms above rather than like a file's name.
PALLADION_EXPORT bool LooksLikeValueText(std::string_view text);

// FNV-1a, 64 bits, of the storage bytes in row-major order; each element is little-endian.
PALLADION_EXPORT std::uint64_t Fnv1a(const Tensor& tensor);

// One element (0 <= i < num_elements) as a number that TensorFromText reads back to the same bits.
PALLADION_EXPORT std::string ElementText(const Tensor& tensor, std::int64_t i);

PALLADION_EXPORT bool IsNaN(const Tensor& tensor, std::int64_t i);

// Steps between neighbouring values of the type from element i of `a` to element i of `b`, which have one type and
// shape; +0 and -0 are no step apart, two NaNs neither. nullopt: exactly one is a NaN, or an infinity and the other not
// the same one.
PALLADION_EXPORT std::optional<std::uint64_t> UlpDistance(const Tensor& a, const Tensor& b, std::int64_t i);

}  // namespace palladion

#endif  // PALLADION_EMU_VALUES_H_
