// What the operations that move elements share: rules about axes, strides in bytes, and the kernel of one strided copy.
// An element of a key array is its words. Based on: JAX's shape rules; the copies go through
// semantics/tensor/copy_box.h.
#ifndef PALLADION_SEMANTICS_OPS_SHAPE_SHAPE_COMMON_H_
#define PALLADION_SEMANTICS_OPS_SHAPE_SHAPE_COMMON_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/units.h"
#include "semantics/ir/strides.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/copy_box.h"

namespace palladion {

using Axes = std::vector<std::int64_t>;

ElementSize SizeOfElement(const Type& type);

// The type with another shape: what most results are.
Type WithShape(const Type& type, Shape shape);

// InvalidArgument unless operand `index` is an array or an array of keys.
absl::Status ExpectData(const VerifyContext& context, std::size_t index);

// The common start of a verify function: one operand of data, one result.
absl::Status ExpectOneToOne(const Instr& op, const VerifyContext& context);

// InvalidArgument unless the axes are different and in [0, rank). `what` names the attribute in the message.
absl::Status ExpectAxes(absl::Span<const std::int64_t> axes, int rank, std::string_view what);

// InvalidArgument if an entry is negative.
absl::Status ExpectSizes(absl::Span<const std::int64_t> sizes, std::string_view what);

// InvalidArgument unless the attribute has one entry for each of `rank` dimensions.
absl::Status ExpectLength(std::size_t found, int rank, std::string_view what);

// InvalidArgument if a shape that attributes ask for has more than kMaxRank dimensions or kMaxElements elements, so
// that no product of sizes overflows later.
absl::Status ExpectPossible(absl::Span<const std::int64_t> shape);

bool Contains(absl::Span<const std::int64_t> axes, std::int64_t axis);

// ElementStrides in bytes.
std::vector<ByteCount> DenseStrides(const Shape& shape, ElementSize element_size);

// A copy of a box, ready to run: simplified, and with rows of one repeated element marked.
struct BoxCopy {
  enum class Row : std::uint8_t { kNothing, kElement, kBox, kFill };
  Row row = Row::kNothing;
  ElementSize element_size{1};
  ByteCount source_offset, destination_offset;
  ElementCount fill_count;    // kFill: of a row, next to each other in the destination
  std::vector<CopyDim> dims;  // kFill: the dimensions around the row

  void operator()(const std::byte* source, std::byte* destination) const;
};

// Unimplemented where more than kMaxRank dimensions of more than one element are left.
absl::StatusOr<BoxCopy> MakeBoxCopy(absl::Span<const CopyDim> dims, ElementSize element_size,
                                    ByteCount source_offset = {}, ByteCount destination_offset = {});

// The kernel that makes result 0 of operand 0 by one copy.
absl::StatusOr<ValueKernel> CopyKernel(absl::Span<const CopyDim> dims, ElementSize element_size,
                                       ByteCount source_offset = {});

// The copy of all elements to a dense result; the result's dimension i is the source's with strides[i].
absl::StatusOr<ValueKernel> GatherStridesKernel(const Shape& shape, absl::Span<const ByteCount> strides,
                                                ElementSize element_size, ByteCount source_offset = {});

// `memcpy` of a whole operand; reshape, squeeze and expand_dims are this.
absl::StatusOr<ValueKernel> PrepareSameBytes(const Instr& op, const ValueTypes& types);

// One element of any integer type, as a 64-bit number; u64 beyond the range of i64 becomes its largest number.
std::int64_t IntegerAt(const std::byte* data, DType dtype, std::size_t index);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_SHAPE_SHAPE_COMMON_H_
