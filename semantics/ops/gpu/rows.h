// Copies whose side in global memory is named by an array of indices, a row for each: gathers and scatters of TMA.
// Spec: docs/spec/gpu-copies.md#rows. Based on: PTX, cp.async.bulk.tensor with .tile::gather4 and .tile::scatter4, and
// LaunchContext.async_copy of JAX 0.10.2, which makes one such instruction of every four indices. Limits: which indices
// and sizes hardware takes is a rule of emu/check/legality.
#ifndef PALLADION_SEMANTICS_OPS_GPU_ROWS_H_
#define PALLADION_SEMANTICS_OPS_GPU_ROWS_H_

#include "semantics/program/builder.h"

namespace palladion {

// Of a gather: what of its source lies outside the array is zeros, or undefined; with kError it stays out of bounds.
// Nothing where the source is a box.
void FillOutside(Outside outside, AsyncRequest* request);

// Of a scatter: what of its destination lies outside the array is dropped, and a place that it names twice is a
// finding. Nothing where the destination is a box.
void DropOutside(const ViewPlan& destination, const Step& step, Frame& frame, AsyncRequest* request);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_ROWS_H_
