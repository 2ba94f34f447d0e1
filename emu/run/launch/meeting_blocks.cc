#include "emu/run/launch/meeting_blocks.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/grid_checks.h"
#include "semantics/prepare/block_mode.h"
#include "semantics/prepare/pipelined_blocks.h"

namespace palladion::launch {
namespace {

constexpr absl::string_view kMet = "palladion/blocks-meet";

bool Overlap(const memory_model::ElementBox& a, const memory_model::ElementBox& b, std::size_t rank) {
  for (std::size_t d = 0; d < rank; ++d) {
    if (a.low[d] >= b.high[d] || b.low[d] >= a.high[d]) return false;
  }
  return true;
}

}  // namespace

MeetingBlocks::MeetingBlocks(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                             bool take_turns)
    : kernel_(kernel), cores_({.dims = GridDims(kernel.program(), inputs), .take_turns = take_turns}) {}

bool MeetingBlocks::MayMeet(const kernel::PreparedKernelState& kernel) {
  const Program& program = kernel.program();
  if (!program.grid_in_agent) return false;
  const std::vector<std::size_t> shared = SharedBlocks(kernel.text(), program);
  return std::any_of(shared.begin(), shared.end(), [&](std::size_t i) { return !program.operand_infos[i].pipelined; });
}

void MeetingBlocks::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  for (const std::size_t i : SharedBlocks(kernel_.text(), kernel_.program())) {
    auto array =
        std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& known) { return known.id == arrays[i]; });
    if (array == arrays_.end()) {
      const absl::Span<const std::int64_t> shape = memory.ShapeOf(arrays[i]);
      array = arrays_.insert(array, {.id = arrays[i], .shape = {shape.begin(), shape.end()}});
    }
    array->open += BuffersOf(kernel_.text().operands[i]) > 1 ? 1 : 0;
  }
}

void MeetingBlocks::Issued(const Who&, const AsyncRequest& request) {
  if (!cores_.any()) return;
  if (const auto* from = std::get_if<BoxAccess>(&request.sources[0].where)) Look(*from, /*flush=*/false);
  if (const auto* to = std::get_if<BoxAccess>(&request.destinations[0].where)) Look(*to, /*flush=*/true);
}

void MeetingBlocks::Look(const BoxAccess& access, bool flush) {
  const auto array =
      std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& known) { return known.id == access.buffer; });
  if (array == arrays_.end()) return;
  memory_model::ElementBox box;
  const memory_model::BoxReach reach = memory_model::ReachOf(array->shape, access);
  if (memory_model::ExtentOf(access, reach, &box) == memory_model::Extent::kNothing) return;
  ++copies_;
  const auto number = static_cast<std::size_t>(array - arrays_.begin());
  std::vector<Flush>& recent = cores_.here();
  std::erase_if(recent, [&](const Flush& old) { return old.step + arrays_[old.array].open < cores_.step(); });
  meet_ |= std::any_of(recent.begin(), recent.end(), [&](const Flush& old) {
    return old.array == number && Overlap(old.box, box, array->shape.size());
  });
  if (flush) recent.push_back({.array = number, .step = cores_.step(), .box = box});
}

absl::Status BlocksMeet() {
  absl::Status status = absl::AbortedError("blocks of an array that two operands share meet");
  status.SetPayload(kMet, absl::Cord());
  return status;
}

bool HaveMet(const absl::Status& status) { return absl::IsAborted(status) && status.GetPayload(kMet).has_value(); }

absl::StatusOr<PreparedKernel> WithPipeline(const PreparedKernel& kernel) {
  return kernel::PreparedAgain(kernel, {.blocks = BlockWays::kOverEngines});
}

}  // namespace palladion::launch
