// The matrix units of a TPU's core as a kernel drives them itself: staging registers, the weights that a unit
// multiplies by, and its accumulators. docs/spec/tpu.md, from matmul_push_rhs on.
#ifndef PALLADION_SEMANTICS_OPS_TPU_MATRIX_UNITS_H_
#define PALLADION_SEMANTICS_OPS_TPU_MATRIX_UNITS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "semantics/port/async.h"
#include "semantics/program/builder.h"

namespace palladion {

// A matrix that is never changed in place, so that copies of a core's state share it.
struct UnitMatrix {
  std::shared_ptr<const AsyncValue> value;
  std::int64_t rows = 0, columns = 0;
  DType dtype = DType::kF32;
  CodeSite site;  // of the operation that put it there
};

struct MatrixUnit {
  std::map<std::int64_t, UnitMatrix> staged;        // by register
  std::optional<UnitMatrix> weights;                // none: nothing has been loaded yet
  std::map<std::int64_t, UnitMatrix> accumulators;  // by base address
};

class MatrixUnits {
 public:
  std::map<std::int64_t, MatrixUnit> units;  // by index
};

// After the last program of a kernel that uses them: a step that looks for what was left behind.
void EmitExpectIdleUnits(Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_TPU_MATRIX_UNITS_H_
