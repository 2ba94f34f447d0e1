#include "semantics/program/block_pipeline.h"

#include <memory>
#include <utility>

#include "semantics/base/status.h"
#include "semantics/program/block_copies.h"
#include "semantics/program/blocks.h"

namespace palladion {
namespace {

const OperandInfo& InfoOf(const void* params, const Frame& frame) {
  return frame.program().operand_infos[static_cast<const OperandParams*>(params)->operand];
}

std::int64_t& TurnOf(const OperandInfo& info, Frame& frame) {
  return *reinterpret_cast<std::int64_t*>(frame.slot(info.turn));
}

RefId NewestOf(const OperandInfo& info, Frame& frame) {
  return info.slots[static_cast<std::size_t>(TurnOf(info, frame))];
}

void TakeOther(const OperandInfo& info, Frame& frame) {
  if (info.buffers > 1) TurnOf(info, frame) ^= 1;
}

// Without engines a copy is complete where it is asked for, and there are no groups to wait for.
bool HasEngines(const Frame& frame) { return frame.program().uses_port; }

AsyncQueue QueueFor(bool flush, const Frame& frame) {
  if (!HasEngines(frame)) return AsyncQueue::kBlocks;
  return flush ? AsyncQueue::kFlushes : AsyncQueue::kFetches;
}

// Between the array and the newest block, which is the program's of that number.
absl::Status StartCopy(const OperandInfo& info, bool flush, std::int64_t number, const Step& step, Frame& frame) {
  const RefId block = NewestOf(info, frame);
  AsyncRequest copy = frame.machine().NewRequest();
  copy.name = flush ? "flush" : "fetch";
  copy.sources.resize(1);
  copy.destinations.resize(1);
  WholeOperand(flush ? block : info.array, step, frame, copy.sources[0]);
  WholeOperand(flush ? info.array : block, step, frame, copy.destinations[0]);
  copy.sources[0].proxy = copy.destinations[0].proxy = Proxy::kGeneric;  // a TPU's memory is one for all
  copy.queue = frame.machine().QueueOf(QueueFor(flush, frame));
  copy.At(frame.site(step));
  copy.block = std::make_shared<const BlockCopy>(BlockCopy{.ref = frame.program().refs[info.ref.index()].name,
                                                           .flush = flush,
                                                           .buffers = info.buffers,
                                                           .number = number,
                                                           .program = copy.program});
  return frame.machine().Start(std::move(copy));
}

// From here on the body's ref is of the newest block.
void TakeNewest(const OperandInfo& info, const Step& step, Frame& frame) {
  const BufferId left = frame.ref(info.ref).buffer;
  frame.ref(info.ref) = frame.ref(NewestOf(info, frame));
  const BufferId now = frame.ref(info.ref).buffer;
  if (!frame.first_program() && left != now)
    frame.machine().Turn({.from = left, .to = now, .input = info.role != Role::kOut}, frame.site(step));
}

absl::Status Fetch(const OperandInfo& info, std::int64_t number, const Step& step, Frame& frame) {
  PlaceWindow(info, info.array, step, frame);
  KeepIndex(info, frame);
  return StartCopy(info, /*flush=*/false, number, step, frame);
}

// An output's memory holds nothing when it is new; it is not read from the array, unless it asks for that.
absl::Status BeginOutput(const OperandInfo& info, const Step& step, Frame& frame) {
  if (!frame.first_program()) TakeOther(info, frame);
  TakeNewest(info, step, frame);
  if (info.restored) return Fetch(info, frame.program_number(), step, frame);
  PlaceWindow(info, info.array, step, frame);
  KeepIndex(info, frame);
  // The first one is new memory, where another device's copy may have come already.
  if (!frame.first_program()) frame.machine().Poison(frame.ref(info.ref).buffer);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunBeginBlock(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  const bool first = frame.begins_task();
  if (frame.first_program()) TurnOf(info, frame) = 0;
  UseIndex(info, step, frame);
  if (info.role == Role::kOut) return first || !IsKept(info, frame) ? BeginOutput(info, step, frame) : absl::OkStatus();
  if (first || (info.buffers == 1 && !IsKept(info, frame)))
    PALLADION_RETURN_IF_ERROR(Fetch(info, frame.program_number(), step, frame));
  TakeNewest(info, step, frame);
  return absl::OkStatus();
}

// The maps' results are the next program's, and so are messages about its block.
absl::Status RunFetchNext(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  const std::optional<std::int64_t> next = frame.NextOfTask();
  if (info.role == Role::kOut || info.buffers == 1 || !next.has_value() || IsKept(info, frame)) return absl::OkStatus();
  TakeOther(info, frame);
  frame.StandAt(*next);
  const absl::Status fetched = Fetch(info, *next, step, frame);
  frame.StandAt(frame.program_number());
  return fetched;
}

absl::Status RunFlushIfOver(const void* params, const Step& step, Frame& frame) {
  const OperandInfo& info = InfoOf(params, frame);
  if (frame.NextOfTask().has_value() && IsKept(info, frame)) return absl::OkStatus();
  return StartCopy(info, /*flush=*/true, frame.program_number(), step, frame);
}

absl::Status RunCommitBlocks(const void* params, const Step& step, Frame& frame) {
  if (!HasEngines(frame)) return absl::OkStatus();
  return frame.machine().CommitGroup(static_cast<const GroupParams*>(params)->queue, frame.site(step));
}

// Where the next program may be another core's, nothing goes on.
WaitTarget WaitsForGroups(const void* params, const Step&, Frame& frame) {
  const auto& groups = *static_cast<const GroupParams*>(params);
  return {.kind = WaitTarget::Kind::kGroups,
          .object = {},
          .value = frame.NextOfTask().has_value() ? groups.may_remain : 0,
          .queue = groups.queue};
}

absl::Status RunAwaitGroups(const void* params, const Step& step, Frame& frame) {
  if (!HasEngines(frame)) return absl::OkStatus();
  return frame.machine().Wait(WaitsForGroups(params, step, frame), frame.site(step));
}

}  // namespace palladion
