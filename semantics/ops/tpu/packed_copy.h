// A side of a copy whose view bitcasts to or from elements of less than a byte. Here such an element has a byte of its
// own in memory, so what the view shows is put together from, or cut out of, the bytes that lie there. A side touches
// whole bytes of memory: of a wide array those that the view's elements are bits of, each once.
#ifndef PALLADION_SEMANTICS_OPS_TPU_PACKED_COPY_H_
#define PALLADION_SEMANTICS_OPS_TPU_PACKED_COPY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/port/async.h"
#include "semantics/program/builder.h"
#include "semantics/program/view.h"

namespace palladion {

// Where each unit of the view's elements, ViewPlan::unit_bits bits of it, lies among the bytes that are touched.
struct PackedPlaces {
  std::vector<std::uint32_t> byte;  // its index in the operand's places
  std::vector<std::uint8_t> part;   // which part of that byte, lowest first
  std::size_t bytes = 0;            // that are touched
  std::size_t units_per_element = 1;
  int unit_bits = 0;
  DType seen = DType::kI4;     // the view's elements
  bool sign_extended = false;  // the memory's elements are signed, and narrower than a byte
  int memory_bits = 8;         // of one of these
};

struct PackedOperand {
  AsyncOperand operand;
  std::shared_ptr<const PackedPlaces> places;
};

// Unimplemented: a destination of which a byte would be written in part.
absl::StatusOr<PackedOperand> PackedOperandOf(const ViewPlan& view, bool is_destination, const Step& step,
                                              Frame& frame);

// What a copy between two sides does to their values; nullptr: of a side that is not packed, whose value has the view's
// elements.
AsyncFunction PackedFunction(std::shared_ptr<const PackedPlaces> source,
                             std::shared_ptr<const PackedPlaces> destination);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_TPU_PACKED_COPY_H_
