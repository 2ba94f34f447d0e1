// Kernel text to a Module. Based on: docs/spec/kernel-text.md; the only reader of that grammar.
// Checks the grammar, names, number ranges and the limits below, so that the memory a text asks for is bounded by its
// length. It does not catch what needs the meaning of an operation or of a launch: that is Verify (verifier.h).
#ifndef PALLADION_SEMANTICS_IR_PARSER_H_
#define PALLADION_SEMANTICS_IR_PARSER_H_

#include <cstddef>
#include <string_view>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;
inline constexpr int kMaxDepth =
    64;  // of regions, of attributes, of `select` and `.peer` in views, and transforms of one view
inline constexpr std::size_t kMaxAttrs = 1024;     // of one {...}
inline constexpr std::size_t kMaxOperands = 4096;  // of one kernel
inline constexpr int kMaxInstructions = 1 << 20;
// Arguments, index entries, transforms, attributes and values together. The largest of their structs has some 400
// bytes.
inline constexpr int kMaxNodes = 1 << 22;

// `path` stands in errors and in Module::path. InvalidArgument "path:line:column: expected X, found Y" with the remedy;
// ResourceExhausted, with place too, where a limit is passed.
absl::StatusOr<Module> Parse(std::string_view text, std::string_view path = "<text>");

// A type's attributes, as ToString(AttrMap) writes them: "{arrivals=2}".
absl::StatusOr<AttrMap> ParseAttrMap(std::string_view text);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_PARSER_H_
