#include "emu/run/launch/reads_from.h"

#include <algorithm>

#include "memory_model/order/agents.h"
#include "memory_model/sets/region.h"

namespace palladion::launch {
namespace {

constexpr std::uint64_t kThread = 1, kWarp = 2, kOperation = 3, kCallers = 4, kUnwritten = 5;

}  // namespace

ReadsFrom::Agent& ReadsFrom::ThreadOf(AgentId thread) {
  if (thread.index() >= threads_.size()) threads_.resize(thread.index() + 1);
  Agent*& agent = threads_[thread.index()];
  if (agent != nullptr) return *agent;
  std::uint64_t name = kThread;
  const threads::Thread& resident = machine_->residents().Of(thread);
  for (const std::int64_t i : resident.index) name = Mixed(name, static_cast<std::uint64_t>(i));
  if (resident.is_warp()) name = Mixed(Mixed(name, kWarp), static_cast<std::uint64_t>(resident.warp));
  agent = &named_[name];  // a warp that is forked again goes on where it was
  agent->name = name;
  return *agent;
}

ReadsFrom::Agent& ReadsFrom::Of(const Who& who) {
  return who.of_engine() ? operations_[memory_model::AgentTable::NumberOf(who.operation)] : ThreadOf(who.agent);
}

void ReadsFrom::Issued(const Who& who, const AsyncRequest& request) {
  if (who.at_once) return;
  Agent& issuer =
      ThreadOf(machine_->current());  // of a copy of the launch before this one, the thread that goes on with it
  // Its parts and copies of blocks have numbers too, and no names here: they do nothing themselves.
  const std::size_t number = memory_model::AgentTable::NumberOf(who.operation);
  operations_.resize(number + request.parts());
  operations_[number].name = Mixed(Mixed(issuer.name, kOperation), issuer.issued++);
}

void ReadsFrom::Reset(BufferId buffer) {
  if (buffer.index() >= buffers_.size()) buffers_.resize(buffer.index() + 1);
  buffers_[buffer.index()].Clear(kUnwritten);
}

// An array of the caller's has its number from before the first agent ran.
LastWrites& ReadsFrom::Of(BufferId buffer) {
  if (buffer.index() >= buffers_.size()) buffers_.resize(buffer.index() + 1);
  LastWrites& of = buffers_[buffer.index()];
  if (of.begun()) return of;
  if (!of.cleared()) of.Clear(Mixed(kCallers, static_cast<std::uint64_t>(buffer.value)));
  of.Begin(memory_->ShapeOf(buffer));
  return of;
}

void ReadsFrom::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                    const std::byte*) {
  if (reach.empty || reach.none_copied) return;
  Agent& agent = Of(who);
  LastWrites& writers = Of(access.buffer);
  if (kind == AccessKind::kRead) {
    agent.seen = Mixed(agent.seen, writers.Read(access, reach));
    return;
  }
  writers.Write(access, reach, Mixed(agent.name, ++agent.writes));
}

void ReadsFrom::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  Agent& agent = Of(who);
  LastWrites& writers = Of(access.buffer);
  const ElementSize element_size = memory_->ElementSizeOf(access.buffer);
  if (kind != AccessKind::kWrite) agent.seen = Mixed(agent.seen, writers.Read(access, element_size));
  if (kind != AccessKind::kRead) writers.Write(access, element_size, Mixed(agent.name, ++agent.writes));
}

// The sums do not depend on the order in which agents are met.
void ReadsFrom::Finished(memory_model::Memory&, absl::Span<const BufferId> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (program_.operand_infos[i].role == Role::kOut) signature_ += Mixed(arrays.size() + i, Of(arrays[i]).All());
  }
  if (++devices_ < program_.devices) return;
  const auto add = [&](const Agent& agent) {
    signature_ += Mixed(Mixed(agent.name, agent.seen), Mixed(agent.writes, agent.issued));
  };
  for (const auto& [name, agent] : named_) add(agent);
  for (const Agent& operation : operations_) {
    if (operation.name != 0) add(operation);
  }
}

}  // namespace palladion::launch
