// Typed access to an instruction's attributes, for verify and prepare functions. Each error names the attribute, what
// was expected and what was found; the verifier adds the place.
#ifndef PALLADION_SEMANTICS_REGISTRY_ATTRS_H_
#define PALLADION_SEMANTICS_REGISTRY_ATTRS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/registry/op_row.h"

namespace palladion {

absl::StatusOr<std::int64_t> IntAttr(const Instr& op, std::string_view name);
absl::StatusOr<bool> BoolAttr(const Instr& op, std::string_view name);
absl::StatusOr<std::string> StringAttr(const Instr& op, std::string_view name);  // a string or a bare word
absl::StatusOr<DType> DTypeAttr(const Instr& op, std::string_view name);
absl::StatusOr<std::vector<std::int64_t>> IntsAttr(const Instr& op, std::string_view name);
absl::StatusOr<std::vector<std::vector<std::int64_t>>> IntListsAttr(const Instr& op, std::string_view name);

bool HasAttr(const Instr& op, std::string_view name);  // present and not `none`
bool BoolAttrOr(const Instr& op, std::string_view name, bool fallback);
std::int64_t IntAttrOr(const Instr& op, std::string_view name, std::int64_t fallback);

// After verification, where the attribute is known to be there: the value, or a fatal internal error.
std::int64_t Int(const Instr& op, std::string_view name);
std::vector<std::int64_t> Ints(const Instr& op, std::string_view name);

// Common rules of verify functions.
absl::Status ExpectOperands(const VerifyContext& context, std::size_t count);
absl::Status ExpectResults(const Instr& op, std::size_t count);
absl::Status ExpectType(const Instr& op, std::size_t result, const Type& expected);  // of a result
absl::Status ExpectSameType(const Type& found, const Type& expected, std::string_view what);
// A region returns values of these types.
absl::Status ExpectParams(const Region& region, const Kernel& kernel, absl::Span<const Type> types,
                          std::string_view what);
absl::Status ExpectRegions(const Instr& op, std::size_t count);
absl::Status ExpectReturns(const Region& region, const Kernel& kernel, absl::Span<const Type> types,
                           std::string_view what);
absl::Status ExpectAxis(std::int64_t axis, int rank, std::string_view what);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_ATTRS_H_
