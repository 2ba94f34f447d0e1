// Findings about accesses that leave their ref: elements outside, in lanes that are not masked off. Bounds themselves
// are computed in sets/box.h. Based on: docs/spec/ref.md. Limit: a box is one finding, whichever of its elements are
// outside, and a list of places names the first of each element.
#ifndef PALLADION_MEMORY_MODEL_BYTES_BOUNDS_FINDINGS_H_
#define PALLADION_MEMORY_MODEL_BYTES_BOUNDS_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "memory_model/bytes/launch_buffers.h"
#include "memory_model/bytes/memory_buffer.h"
#include "memory_model/bytes/padded_bounds.h"
#include "memory_model/sets/box.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/finding.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

// Is a lane that takes part outside the legal box? `elements`: of the box.
bool AnyLaneOutside(const BoxAccess& access, const BoxReach& reach, std::size_t elements);

// Is the block where no array reaches (kNowhere)? That has been a finding of its own, so its data need not be another.
// One that lies in the padding which its index map counts in is none of these.
bool WindowNowhere(const BoxAccess& access);

enum class Direction : std::uint8_t { kLoad, kStore };

class BoundsFindings {
 public:
  void NameAgents(const AgentNaming& naming) { naming_ = naming; }
  const AgentNaming& naming() const { return naming_; }

  // Accesses that stay in an array's tiles are none.
  void SetPaddedBounds(PaddedBounds bounds) { padded_bounds_ = std::move(bounds); }
  bool InTiles(const MemoryBuffer& buffer, const BoxAccess& access) const {  // of a TPU, where they count as in bounds
    return padded_bounds_.has_value() && padded_bounds_->Covers(buffer.name, buffer.dtype, buffer.shape, access);
  }

  // Of a box that is not legal; nothing where it stays in the array's tiles.
  std::optional<Finding> OfBox(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                               Direction direction) const;
  // Of a copy that touches nothing of an array but its tiles' padding.
  std::vector<Finding> OfCopy(const LaunchBuffers& buffers, const AsyncRequest& request) const;
  // Of an element of a list of places.
  Finding OfPoint(const MemoryBuffer& buffer, const Site& site, std::size_t element, Direction direction) const;

 private:
  std::optional<Finding> InPadding(const MemoryBuffer& buffer, const AsyncOperand& operand, Direction direction) const;

  AgentNaming naming_;
  std::optional<PaddedBounds> padded_bounds_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_BOUNDS_FINDINGS_H_
