// The type of an access through a view. Based on: docs/spec/kernel-text.md, "Views and the shape of an access", which
// states NumPy's and JAX's rules. Values of indices are not known here: what lies out of range at run time is the
// machine's to find.
#ifndef PALLADION_SEMANTICS_IR_VIEW_TYPE_H_
#define PALLADION_SEMANTICS_IR_VIEW_TYPE_H_

#include "absl/types/span.h"
#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// The array (or key) type that an access to a ref of type `ref` through `transforms` has. Indices and
// slices may leave a dimension. InvalidArgument, without a place: the chain breaks a rule (count of entries, a
// permutation that is none, sizes that differ); ResourceExhausted: the access is larger than an array may be;
// Unimplemented: refs as indices, tensor memory. A size that is known only at run time is kDynamicDim.
absl::StatusOr<Type> ViewType(const Kernel& kernel, const Type& ref, absl::Span<const Transform> transforms);

// The number of elements; ResourceExhausted past kMaxRank or kMaxElements (dimensions of size 0 left out of the
// product).
absl::StatusOr<std::int64_t> CheckLimits(const Shape& shape);

// The type of an argument that is a value, a literal or a constant; of a ref its own type.
Type TypeOfArg(const Kernel& kernel, const Arg& arg);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_VIEW_TYPE_H_
