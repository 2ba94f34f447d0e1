// Numbers of kernel text to the storage bytes of an element type and back. Based on: docs/spec/kernel-text.md ("the
// shortest decimals that read back to the same bits") and element.h, whose one rounding from a double this uses for f16
// and narrower. f64 and f32 are rounded once from the decimal. For the others the decimal is first rounded to a double:
// only a decimal of more than 17 digits that lies within half an ulp of a double from a midpoint of the narrow type can
// come out one step away from the nearest value, and no text that this project prints holds such a decimal.
#ifndef PALLADION_SEMANTICS_IR_LITERAL_H_
#define PALLADION_SEMANTICS_IR_LITERAL_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "semantics/base/dtype.h"
#include "semantics/base/status.h"

namespace palladion {

using ElementBytes = std::array<std::byte, 8>;  // one element's storage, the unused high bytes zero

// `number` is a number token's text, or one of inf, nan, true, false; InvalidArgument (without a place) says what fits:
// an integer out of the type's range, a fraction for an integer type, a decimal that rounds past the largest finite
// value, inf or nan for a type without them, 0x with more bits than the type has.
absl::StatusOr<ElementBytes> ParseNumber(DType dtype, bool negative, std::string_view number);

// The spelling that ParseNumber reads back to the same bytes: "true", "-5", "0.1", "-inf", "nan", or 0x bits for a NaN
// other than the quiet one and for bytes that are no value of the type. Reads StorageBytes(dtype) bytes.
std::string NumberText(DType dtype, const std::byte* element);

// Always a fraction, an exponent, inf or nan, so that it does not read as an integer.
std::string ShortestDecimal(double value);
std::string ShortestDecimal(float value);

// A whole decimal or fraction with optional exponent, without a sign. Infinity when it is too large.
double ParseDouble(std::string_view number);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_LITERAL_H_
