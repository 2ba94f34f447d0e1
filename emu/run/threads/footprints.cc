#include "emu/run/threads/footprints.h"

#include <algorithm>
#include <variant>

namespace palladion::threads {
namespace {

// Of a copy of a block. Rows of the array: all others that touch part of a buffer touch all of it.
scheduler::Touch RowsOf(const BoxAccess& block, bool writes) {
  scheduler::Touch rows{.object = block.buffer.value, .writes = writes};
  if (block.rank == 0) return rows;
  const std::int64_t a = block.start[0], b = a + (block.count[0] - 1) * block.step[0];
  rows.first = std::min(a, b);
  rows.last = std::max(a, b);
  return rows;
}

}  // namespace

scheduler::Footprint FootprintOf(const ThreadMachine& machine, AgentId thread, const WaitTarget& target) {
  if (!Waitables::IsWait(target)) return {};
  return scheduler::Footprint().Add(machine.waitables().Of(target).TouchOf(thread, target));
}

// A test takes the phase that has come, and a read learns from every signal in the count: both depend on being alone.
// Arrivals at barriers of a cluster reach other blocks.
scheduler::Footprint FootprintOf(const ThreadMachine& machine, const SyncObjectRequest& request) {
  const SyncRequest& array = machine.syncs()[request.object.array].request;
  if (array.kind == SyncKind::kClusterBarrier || array.leader_tracked) return scheduler::Footprint::Everything();
  return scheduler::Footprint::Writes(machine.syncs().ObjectOf(request.object));
}

scheduler::Footprint FootprintOf(const ThreadMachine& machine, const HalfRequest& request) {
  const AsyncRequest& async = machine.model().RequestOf(request.operation);
  const bool reads = request.half == Half::kRead;
  scheduler::Footprint touched;
  // Copies of blocks end in any order, and only their core, which waits, can see that they have.
  if (async.block != nullptr) {
    scheduler::Touch copy = machine.queues().TouchOf(async.queue, request.operation);
    copy.writes = false;
    touched.Add(copy);
  } else if (async.queue.valid()) {
    touched.Add({.object = machine.queues().ObjectOf(async.queue)});
  }
  if (async.pipelined.has_value()) {  // it begins where those that it follows have ended
    const std::int64_t block = machine.model().agents().PlaceOf(request.operation).at(PlaceLevel::kBlock);
    touched.Add({.object = TensorCoreObjectOf(block), .writes = !reads});
  }
  for (const Completion& completion : async.completions) {
    if (completion.after == request.half) touched.Add({.object = ObjectOf(completion)});
  }
  for (const AsyncOperand& operand : reads ? async.sources : async.destinations)
    touched.Add(async.block == nullptr ? scheduler::Touch{.object = operand.buffer().value, .writes = !reads}
                                       : RowsOf(std::get<BoxAccess>(operand.where), /*writes=*/!reads));
  return touched;
}

scheduler::Footprint FootprintOf(const ThreadMachine& machine, const AnswerRequest& request) {
  const AsyncRequest& async = machine.model().RequestOf(request.operation);
  scheduler::Footprint touched = scheduler::Footprint::Writes(kLaunchControlObject);
  for (const AsyncOperand& to : async.destinations) touched.Add({.object = to.buffer().value});
  for (const Completion& completion : async.completions) touched.Add({.object = ObjectOf(completion)});
  return touched;
}

scheduler::Footprint FootprintOf(BeginRequest) { return scheduler::Footprint::Reads(kLaunchControlObject); }

scheduler::Footprint FootprintOf(OtherRequest) { return scheduler::Footprint::Everything(); }

}  // namespace palladion::threads
