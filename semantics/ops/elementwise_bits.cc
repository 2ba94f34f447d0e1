// Operations on the bits of integers and truth values: and, or, xor, not, shifts, clz, population_count.
#include "semantics/ops/elementwise_common.h"
#include "semantics/ops/families.h"
#include "semantics/ops/inspect.h"

namespace palladion {
namespace {

using simd::BinaryOp;
using simd::UnaryOp;

constexpr OpRow kRows[] = {
    {.name = "and",
     .spec = "elementwise.md#and",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kAnd>,
     .flow = Flow::kMask},
    {.name = "or",
     .spec = "elementwise.md#or",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kOr>,
     .flow = Flow::kMask,
     .decides = Decides::kOnes},
    {.name = "xor",
     .spec = "elementwise.md#xor",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kXor>,
     .flow = Flow::kElementwise},
    {.name = "not",
     .spec = "elementwise.md#not",
     .verify = VerifyBoolsOrInts<1>,
     .prepare = PrepareUnary<UnaryOp::kNot>,
     .flow = Flow::kElementwise},
    {.name = "shift_left",
     .spec = "elementwise.md#shift_left",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftLeft>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "shift_right_logical",
     .spec = "elementwise.md#shift_right_logical",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftRightLogical>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "shift_right_arithmetic",
     .spec = "elementwise.md#shift_right_arithmetic",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftRightArithmetic>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "clz",
     .spec = "elementwise.md#clz",
     .verify = VerifyInts<1>,
     .prepare = PrepareUnary<UnaryOp::kClz>,
     .flow = Flow::kElementwise},
    {.name = "population_count",
     .spec = "elementwise.md#population_count",
     .verify = VerifyInts<1>,
     .prepare = PrepareUnary<UnaryOp::kPopulationCount>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
};

}  // namespace

absl::Span<const OpRow> BitwiseOps() { return kRows; }

}  // namespace palladion
