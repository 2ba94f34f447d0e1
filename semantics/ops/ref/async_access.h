// What operations of engines, barriers and semaphores ask of their operands: one element of an array of such objects,
// one side of an asynchronous operation.
#ifndef PALLADION_SEMANTICS_OPS_REF_ASYNC_ACCESS_H_
#define PALLADION_SEMANTICS_OPS_REF_ASYNC_ACCESS_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"

namespace palladion {

// The operand of that name; nullptr where it is not given, or `none`.
const Arg* FindOperand(const Instr& op, std::string_view name);
// Its type, as an access through its view sees it. InvalidArgument where it is not given.
absl::StatusOr<Type> OperandType(const Instr& op, const VerifyContext& context, std::string_view name);
// The same, where the operand must be a view of numbers in one of these memories.
absl::StatusOr<Type> ExpectNumbersIn(const Instr& op, const VerifyContext& context, std::string_view name,
                                     std::initializer_list<Space> spaces);

// One element of an array of such objects. `kinds`: which count.
absl::Status ExpectSync(const Type& type, std::initializer_list<ElementKind> kinds, std::string_view what);

// The element of a barrier or semaphore ref that a view names; an array that is not valid where an index is outside,
// which is reported.
SyncElement ElementOf(const ViewPlan& view, const Step& step, Frame& frame);

// Definedness: what is undefined in the indices of a view decides what is touched.
void UseIndices(const ViewPlan& view, const Step& step, Frame& frame);

// The operand predicate= is one truth value.
absl::Status ExpectPredicate(const Instr& op, const VerifyContext& context);
// Its value; true where there is none, an invalid slot. Definedness: it decides what happens.
bool IsTrue(SlotId predicate, std::string_view what, const Step& step, Frame& frame);

// Of the view's value: some sizes are known only at run time.
std::size_t BytesOf(const ViewPlan& view, Frame& frame);

// A view as one side of an asynchronous operation. `outside`: what lies outside the array. An index that reaches
// outside the array is legal there, so only the array bounds it; with kError the view's own levels do.
AsyncOperand OperandOf(const ViewPlan& view, Outside outside, const Step& step, Frame& frame);

// A value that an operation takes with it: it is what it was when that was issued.
AsyncValue CaptureValue(SlotId value, const Type& type, Frame& frame);

// Where no element of a copy's side in global memory lies inside its array: the note OOB. `what` becomes of it: "zeros
// arrive".
void NoteWhollyOutside(const AsyncOperand& operand, const ViewPlan& view, std::string_view what, const Step& step,
                       Frame& frame);

// "[0:64, 128:192]", for messages and comparisons.
std::string DescribeBox(const BoxAccess& box);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_REF_ASYNC_ACCESS_H_
