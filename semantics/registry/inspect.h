// What a checked run looks for in the operands of value operations: numbers whose results hardware does not define (a
// divisor of zero, a shift past the width, a float that the integer type does not hold) and promises to the compiler.
// An operation's row names its inspectors (OpRow::inspect); plain runs never call them. Rules:
// docs/spec/contracts.md#values. They see operands element by element; whether the results matter they do not know.
#ifndef PALLADION_SEMANTICS_REGISTRY_INSPECT_H_
#define PALLADION_SEMANTICS_REGISTRY_INSPECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "semantics/base/finding.h"
#include "semantics/ir/module.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

struct Scan {
  std::int64_t count = 0;                    // elements that break the rule
  std::int64_t first = -1;                   // the first of them
  std::vector<std::int64_t>* all = nullptr;  // where not nullptr: gets each of them
};

// One operand of one operation.
struct Inspector {
  FindingCode code = FindingCode::kDivZero;
  Severity severity = Severity::kNote;
  std::size_t operand = 0;
  Type type;               // the operand's
  std::string name;        // "divisor"
  std::string rule;        // "must not be 0"
  bool undefines = false;  // the results of such elements are undefined, and a finding only where they matter
  // Scans n consecutive elements. `undefined`: a byte per element, those that are not 0 are not looked at; or nullptr.
  void (*run)(const void* params, const std::byte* x, const std::uint8_t* undefined, std::size_t n,
              Scan& scan) = nullptr;
  std::shared_ptr<const void> params;
  std::size_t site = 0;  // its number in the program
};

// All of one instruction, with its place.
struct Inspected {
  std::string op;
  LocId loc;
  int text_line = 0;
  std::vector<Inspector> inspectors;
};

// The functions of the rows: what there is to look for, for these types. They assume a verified instruction.
std::vector<Inspector> InspectDivision(const Instr& op, const ValueTypes& types);       // div, rem of integers
std::vector<Inspector> InspectShift(const Instr& op, const ValueTypes& types);          // the three shifts
std::vector<Inspector> InspectConversion(const Instr& op, const ValueTypes& types);     // float to integer
std::vector<Inspector> InspectMultipleOf(const Instr& op, const ValueTypes& types);     // multiple_of
std::vector<Inspector> InspectMaxContiguous(const Instr& op, const ValueTypes& types);  // max_contiguous
std::vector<Inspector> InspectSliceStarts(const Instr& op, const ValueTypes& types);    // dynamic_slice and its update

// Index vectors whose component c must lie in [0, last[c]].
Inspector InspectIndices(std::size_t operand, const Type& type, std::vector<std::int64_t> last);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_INSPECT_H_
