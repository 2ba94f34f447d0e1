// What the files of the elementwise kernels offer each other: the reference for everything, and per target what that
// target has.
#ifndef PALLADION_SEMANTICS_SIMD_ELEMENTWISE_INTERNAL_H_
#define PALLADION_SEMANTICS_SIMD_ELEMENTWISE_INTERNAL_H_

#include "semantics/simd/elementwise.h"

namespace palladion::simd {

// The reference loops; nullptr where the operation has no meaning for the type.
BinaryFn FindBinaryScalar(BinaryOp op, DType dtype, Form form);
BinaryFn FindCompareScalar(BinaryOp op, DType dtype, Form form);
UnaryFn FindUnaryScalar(UnaryOp op, DType dtype);

// nullptr: this target has no kernel of its own; the reference serves.
BinaryFn FindFloatBinarySimd(BinaryOp op, DType dtype, Form form, Target target);
BinaryFn FindIntBinarySimd(BinaryOp op, DType dtype, Form form, Target target);
BinaryFn FindCompareSimd(BinaryOp op, DType dtype, Form form, Target target);
UnaryFn FindFloatUnarySimd(UnaryOp op, DType dtype, Target target);
UnaryFn FindIntUnarySimd(UnaryOp op, DType dtype, Target target);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_ELEMENTWISE_INTERNAL_H_
