#include "memory_model/bytes/bounds_findings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/port/nowhere.h"

namespace palladion::memory_model {

// Rows of lanes go at once.
bool AnyLaneOutside(const BoxAccess& access, const BoxReach& reach, std::size_t elements) {
  if (access.mask.lanes == nullptr) return true;
  const auto named = static_cast<std::size_t>(access.value_rank);
  bool outer_outside = false;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const auto end = access.order.begin() + access.value_rank;
    if (std::find(access.order.begin(), end, d) == end) outer_outside |= !reach.legal[d].contains(0);
  }
  const auto any = [&](std::size_t first, std::size_t count) {
    return std::any_of(access.mask.lanes + first, access.mask.lanes + first + count,
                       [](std::uint8_t lane) { return lane != 0; });
  };
  if (named == 0 || outer_outside) return outer_outside && any(0, elements);
  const std::size_t last = access.order[named - 1];
  const auto row = static_cast<std::size_t>(access.count[last]);
  const auto begin = static_cast<std::size_t>(reach.legal[last].begin),
             end = static_cast<std::size_t>(reach.legal[last].end);
  std::array<std::int64_t, kMaxBoxRank> index{};
  for (std::size_t e = 0; e < elements; e += row) {
    bool outside = false;
    for (std::size_t j = 0; j + 1 < named; ++j) outside |= !reach.legal[access.order[j]].contains(index[j]);
    if (outside ? any(e, row) : any(e, begin) || any(e + end, row - end)) return true;
    for (std::size_t j = named - 1; j-- > 0;) {
      if (++index[j] < access.count[access.order[j]]) break;
      index[j] = 0;
    }
  }
  return false;
}

bool WindowNowhere(const BoxAccess& access) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    if (access.lower[d] >= kNowhere || access.upper[d] <= -kNowhere) return true;
  }
  return false;
}

std::optional<Finding> BoundsFindings::OfBox(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                                             Direction direction) const {
  if (InTiles(buffer, access)) return std::nullopt;
  const bool is_store = direction == Direction::kStore;
  std::vector<std::string> box;
  std::string worst;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const bool windowed = access.lower[d] != std::numeric_limits<std::int64_t>::min();
    const std::int64_t origin = windowed ? access.lower[d] : 0;
    const std::int64_t size = windowed ? access.upper[d] - access.lower[d] : buffer.shape[d];
    const std::int64_t first = access.start[d] - origin;
    const std::int64_t last = first + (access.count[d] - 1) * access.step[d];
    box.push_back(first == last ? Cat(first) : Cat(first, "..", last));
    if (!reach.legal[d].all(access.count[d]) && worst.empty()) {
      worst = Cat("dimension ", d, " has indices 0..", size - 1);
    }
  }
  return Finding{
      .code = FindingCode::kOutOfBounds,
      .severity = Severity::kDefect,
      .message = Cat(is_store ? "store to '" : "load of '", buffer.name, "'[", absl::StrJoin(box, ", "), "]",
                     AtAgent(naming_, access.site.program), " is out of bounds: ", worst,
                     is_store ? "; the elements outside were not written" : "; the elements outside read as poison"),
      .loc = access.site.loc,
      .text_line = access.site.text_line,
      .fix = "mask the elements outside, or shrink the slice"};
}

std::vector<Finding> BoundsFindings::OfCopy(const LaunchBuffers& buffers, const AsyncRequest& request) const {
  std::vector<Finding> findings;
  if (!padded_bounds_.has_value() || request.function != nullptr) return findings;
  const auto look = [&](const std::vector<AsyncOperand>& operands, Direction direction) {
    for (const AsyncOperand& operand : operands) {
      std::optional<Finding> found = InPadding(buffers[operand.buffer()], operand, direction);
      if (!found.has_value()) continue;
      found->loc = request.site.loc;
      found->text_line = request.site.text_line;
      findings.push_back(*std::move(found));
    }
  };
  look(request.sources, Direction::kLoad);
  look(request.destinations, Direction::kStore);
  return findings;
}

// It is in bounds there, but a copy that touches nothing else is often a mistake.
std::optional<Finding> BoundsFindings::InPadding(const MemoryBuffer& buffer, const AsyncOperand& operand,
                                                 Direction direction) const {
  const auto* const box = std::get_if<BoxAccess>(&operand.where);
  if (box == nullptr) return std::nullopt;
  const BoxReach reach = ReachOf(buffer.shape, *box);
  if (reach.empty || !reach.none_copied || !InTiles(buffer, *box)) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < static_cast<std::size_t>(box->rank); ++d)
    parts.push_back(Cat(box->start[d], ":", box->start[d] + (box->count[d] - 1) * box->step[d] + 1));
  return Finding{.code = FindingCode::kOutOfBounds,
                 .severity = Severity::kWarning,
                 .message = Cat("the copy has the box '", buffer.name, "'[", absl::StrJoin(parts, ", "),
                                "], which lies wholly in the padding of the tiles, outside the array of shape [",
                                absl::StrJoin(buffer.shape, ","), "]: ",
                                direction == Direction::kStore ? "nothing is written" : "undefined data arrives"),
                 .why = "what is beyond an array's shape is undefined; a copy of nothing else is often a wrong index",
                 .fix = "check the index, or start the copy only if it overlaps the array (pl.when)"};
}

Finding BoundsFindings::OfPoint(const MemoryBuffer& buffer, const Site& site, std::size_t element,
                                Direction direction) const {
  const bool is_store = direction == Direction::kStore;
  return {
      .code = FindingCode::kOutOfBounds,
      .severity = Severity::kDefect,
      .message = Cat(is_store ? "store to '" : "load of '", buffer.name, "' through an index array or view, element ",
                     element, " of the value", AtAgent(naming_, site.program), ", is out of bounds of its ref"),
      .loc = site.loc,
      .text_line = site.text_line,
      .fix = "mask it, or correct the index"};
}

}  // namespace palladion::memory_model
