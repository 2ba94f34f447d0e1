// Which elements of its operands contributed to one element of a value operation's result. Based on the rules of
// definedness (semantics/registry/shadow.h), which are tested against the operations themselves: marks that number the
// elements of an operand go in, and the mark that comes out names the first one that matters. Limits: an element counts
// even if its value has no influence (0 * x has x as a source).
#ifndef PALLADION_EMU_RUN_WATCH_ELEMENT_SOURCES_H_
#define PALLADION_EMU_RUN_WATCH_ELEMENT_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/registry/shadow.h"

namespace palladion::watch {

class ElementSources {
 public:
  // One execution of the instruction: the operands' values outlive this. Errors are those of preparing the operation.
  static absl::StatusOr<ElementSources> Of(const Instr& instr, ValueTypes types,
                                           std::vector<const std::byte*> operand_values);

  // Elements of the operand that element `element` of the result was made of, ascending: the first `limit` of them from
  // `from` on. Each costs a few passes over the operand.
  std::vector<std::int64_t> In(std::size_t operand, std::size_t result, std::int64_t element, std::size_t limit,
                               std::int64_t from = 0);

  // Which elements of the result were made of a bad one: a byte for each, 0 where not. `bad_elements` has a byte, 0 or
  // 1, for each element of each operand; an empty list where none of the operand's is bad.
  std::vector<std::uint8_t> MadeOf(const std::vector<std::vector<std::uint8_t>>& bad_elements, std::size_t result);

  // How many elements of the first operand the result's element was made of, where the rule alone says it (reductions,
  // contractions, all); else 0.
  std::int64_t Count(const Instr& instr) const;

  std::int64_t elements(std::size_t operand) const;  // of the operand; a PRNG key is one

 private:
  ElementSources() = default;
  const std::vector<std::uint8_t>& Run(const std::vector<const std::uint8_t*>& marks, std::size_t result);

  ShadowKernel rule_;
  ValueTypes types_;
  std::vector<const std::byte*> values_;
  std::vector<std::vector<std::uint8_t>> out_;
  std::vector<std::byte> scratch_;
};

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_ELEMENT_SOURCES_H_
