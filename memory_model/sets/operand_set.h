// What an operand of an asynchronous operation touches of its array, and all of an array. Based on access_set.h.
#ifndef PALLADION_MEMORY_MODEL_SETS_OPERAND_SET_H_
#define PALLADION_MEMORY_MODEL_SETS_OPERAND_SET_H_

#include <cstdint>

#include "absl/types/span.h"
#include "memory_model/sets/access_set.h"
#include "semantics/base/units.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

AccessSet SetOfAll(absl::Span<const std::int64_t> shape, ElementSize element_size);
AccessSet SetOfOperand(const AsyncOperand& operand, absl::Span<const std::int64_t> shape, ElementSize element_size);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_OPERAND_SET_H_
