#include "memory_model/sets/operand_set.h"

#include <cstddef>
#include <variant>

#include "memory_model/sets/box.h"

namespace palladion::memory_model {

AccessSet SetOfAll(absl::Span<const std::int64_t> shape, ElementSize element_size) {
  BoxAccess whole;
  whole.rank = whole.value_rank = static_cast<int>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    whole.start[d] = whole.lower[d] = 0;
    whole.count[d] = whole.upper[d] = shape[d];
    whole.step[d] = 1;
    whole.order[d] = static_cast<std::uint8_t>(d);
  }
  return SetOf(shape, element_size, whole, ReachOf(shape, whole));
}

AccessSet SetOfOperand(const AsyncOperand& operand, absl::Span<const std::int64_t> shape, ElementSize element_size) {
  if (const auto* box = std::get_if<BoxAccess>(&operand.where))
    return SetOf(shape, element_size, *box, ReachOf(shape, *box));
  const auto& points = std::get<AsyncPoints>(operand.where);
  PointAccess access;
  access.offset = points.offset;
  access.piece_bytes = points.piece_bytes.size();
  access.pieces_per_element = points.pieces_per_element;
  return SetOf(access);
}

}  // namespace palladion::memory_model
