// What threads allocate, and what of it another block of the cluster sees.
#include <algorithm>
#include <iterator>
#include <utility>

#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"

namespace palladion::threads {

namespace {

memory_model::ProxySpace SpaceOf(PlaceLevel memory) {
  if (memory == PlaceLevel::kBlock) return memory_model::ProxySpace::kShared;
  return memory == PlaceLevel::kDevice ? memory_model::ProxySpace::kGlobal : memory_model::ProxySpace::kPlain;
}

}  // namespace

ObjectName ThreadMachine::NextName(std::int64_t step) { return {step, Current().occurrences[step]++}; }

// Registers are the thread's own; the model knows them, because engines touch accumulators.
absl::StatusOr<BufferId> ThreadMachine::MakeBuffer(const AllocRequest& request, const memory_model::Place& place) {
  PALLADION_ASSIGN_OR_RETURN(const BufferId id, memory_.Alloc(request));
  std::int64_t bytes = static_cast<std::int64_t>(memory_.ElementBytesOf(id));
  model_.Adopt(id, {.name = request.name,
                    .shape = {request.shape.begin(), request.shape.end()},
                    .element_bytes = bytes,
                    .space = SpaceOf(request.place->memory),
                    .place = place});
  return id;
}

absl::StatusOr<BufferId> ThreadMachine::Alloc(const AllocRequest& request) {
  if (!request.place.has_value()) return memory_.Alloc(request);
  const PlaceLevel memory = request.place->memory;
  const BlockId block = Current().block;
  // What one of several threads allocates alone is its own; so is global memory of one, which has no peers.
  const bool alone = request.place->owner == PlaceLevel::kThread;
  const bool own = alone && (memory == PlaceLevel::kDevice || Of(block).threads.size() > 1);
  if (memory == PlaceLevel::kThread || own) return MakeBuffer(request, Of(block).place);
  if (memory == PlaceLevel::kDevice) return AllocGlobal(request);
  const ObjectName name = NextName(request.place->step);
  auto found = Of(block).live.find(name);
  if (found != Of(block).live.end() && !found->second.reached && found->second.freed) {
    Of(block).retired.push_back(found->second);  // a peer reached for it too early
    Of(block).live.erase(found);
    found = Of(block).live.end();
  }
  if (found == Of(block).live.end()) {
    PALLADION_RETURN_IF_ERROR(AllocShared(request, name, block, Of(block).Top()).status());
  }
  SharedBuffer& shared = Of(block).live.at(name);
  if (!std::exchange(shared.reached, true) && found != Of(block).live.end() && several_devices() && !AtEntry(current_))
    model_.Reallocate(current_, shared.buffer, {request.loc, request.text_line});
  return shared.buffer;
}

// Global memory has no place in a block's stack: nobody else gets its bytes while somebody uses them.
absl::StatusOr<BufferId> ThreadMachine::AllocGlobal(const AllocRequest& request) {
  const BlockId block = Current().block;
  const bool of_grid = request.place->owner == PlaceLevel::kDevice;
  const ObjectName name = of_grid ? ObjectName{request.place->step, 0} : NextName(request.place->step);
  const auto [at, added] = globals_.try_emplace({of_grid ? BlockId{} : block, name});
  if (!added) return at->second.buffer;
  const auto made = MakeBuffer(request, of_grid ? DevicePlace() : Of(block).place);
  if (!made.ok()) {
    globals_.erase(at);
    return made.status();
  }
  at->second = {*made, Of(block).threads.size()};
  global_of_[made->value] = at->first;
  return *made;
}

// False: it is no such memory. The grid's stays until the kernel ends.
bool ThreadMachine::LeaveGlobal(BufferId buffer, const Site& site) {
  const auto named = global_of_.find(buffer.value);
  if (named == global_of_.end()) return false;
  const auto at = globals_.find(named->second);
  const BlockId block = at->first.first;
  if (!block.valid() || --at->second.users > 0) return true;
  globals_.erase(at);
  global_of_.erase(named);
  if (options_.races) model_.FreeAfter(Of(block).threads, "the end of its scope", buffer, CodeSite::Of(site));
  Release(buffer);
  return true;
}

// New memory takes the bytes of scopes that are over: what is still under way there is unordered with that, and what
// was done to them is still invisible to asynchronous units until somebody commits it.
absl::StatusOr<BufferId> ThreadMachine::AllocShared(const AllocRequest& request, const ObjectName& name, BlockId id,
                                                    std::int64_t offset) {
  PALLADION_ASSIGN_OR_RETURN(const BufferId buffer, memory_.Alloc(request));
  Block& block = Of(id);
  EndLeft(block, memory_model::Barrier::Ends::kScope);
  SharedBuffer shared{.buffer = buffer, .offset = offset, .users = block.threads.size()};
  shared.bytes = static_cast<std::int64_t>(memory_.ElementBytesOf(buffer));
  for (const std::int64_t size : request.shape) shared.bytes *= size;
  const CodeSite site{request.loc, request.text_line};
  const auto overlaps = [&](const SharedBuffer& old) {
    return old.offset < shared.offset + shared.bytes && shared.offset < old.offset + old.bytes;
  };
  const auto free = [&](SharedBuffer& old) {
    if (!std::exchange(old.freed, true) && options_.races) model_.Free(current_, old.buffer, site);
  };
  // A peer may reach for the new memory before the block has left the scopes whose bytes it has.
  for (auto& [of, old] : block.live) {
    if (overlaps(old)) free(old);
  }
  for (SharedBuffer& old : block.retired) {
    if (!overlaps(old)) continue;
    free(old);
    Release(old.buffer);
  }
  block.retired.erase(std::remove_if(block.retired.begin(), block.retired.end(), overlaps), block.retired.end());
  Began(buffer,
        {.name = request.name,
         .shape = {request.shape.begin(), request.shape.end()},
         .element_bytes = static_cast<std::int64_t>(memory_.ElementBytesOf(buffer)),
         .space = memory_model::ProxySpace::kShared,
         .place = block.place,
         .arena = id.value,
         .offset = offset},
        block, site);
  block.live[name] = shared;
  names_[buffer.value] = {id, name};
  return buffer;
}

void ThreadMachine::Leave(BufferId buffer, const Site& site) {
  if (LeaveGlobal(buffer, site)) return;
  const auto named = names_.find(buffer.value);
  if (named == names_.end()) return Release(buffer);  // registers
  Block& block = Of(named->second.first);
  const auto at = block.live.find(named->second.second);
  if (at == block.live.end() || --at->second.users > 0) return;
  block.retired.push_back(at->second);
  block.live.erase(at);
}

// The bytes stay until no engine has them in hand.
void ThreadMachine::Release(BufferId buffer) {
  names_.erase(buffer.value);
  const auto pending = pending_.find(buffer.value);
  if (pending != pending_.end() && pending->second > 0) {
    to_free_.push_back(buffer);
  } else {
    FreeMemory(buffer);
  }
}

void ThreadMachine::FreeMemory(BufferId buffer) {
  memory_.Free(buffer);
  model_.Drop(buffer);
}

void ThreadMachine::EndBlock(BlockId id) {
  Block& block = Of(id);
  if (std::exchange(block.ended, true)) return;
  EndLeft(block, memory_model::Barrier::Ends::kBlock);
  std::vector<SyncId> syncs;
  for (const auto& [name, sync] : block.syncs) syncs.push_back(sync);
  for (const SyncId sync : syncs) EndSync(sync, {}, memory_model::Barrier::Ends::kBlock);
  for (const auto& [name, shared] : block.live) block.retired.push_back(shared);
  const bool peers = options_.races && HasPeers();
  const std::string end = peers ? Cat("the end of ", NameOf(block)) : "";
  for (const SharedBuffer& shared : block.retired) {
    // Nobody but a peer can reach it unordered: what the block's own engines still do is NOT_AWAITED.
    if (peers && !shared.freed) model_.FreeAfter(block.threads, end, shared.buffer, {});
    Release(shared.buffer);
  }
  block.live.clear();
  block.retired.clear();
  model_.EndArena(id.value);
  for (auto at = collectives_.begin(); at != collectives_.end();) {
    at = MemberOf(at->first, block.index).has_value() ? collectives_.erase(at) : std::next(at);
  }
}

// -1: there is no such block.
std::int64_t ThreadMachine::PeerNumber(BlockId block, absl::Span<const PeerCoordinate> where) const {
  std::vector<std::int64_t> index = Of(block).index;
  for (const PeerCoordinate& coordinate : where) index[coordinate.grid_dim] = coordinate.index;
  for (std::size_t d = 0; d < block_dims_; ++d) {
    if (index[d] < 0 || index[d] >= grid_[d]) return -1;
  }
  return NumberOf(index);
}

BlockId ThreadMachine::PeerOf(BlockId block, absl::Span<const PeerCoordinate> where) const {
  const auto found = block_at_.find(PeerNumber(block, where));
  return found == block_at_.end() ? BlockId{} : found->second;
}

// What is wrong with a peer that cannot be reached.
std::string ThreadMachine::WhyNoPeer(BlockId block, absl::Span<const PeerCoordinate> where) const {
  if (several_devices() && !OfCores()) {
    std::vector<std::int64_t> device = Of(block).index;
    for (const PeerCoordinate& coordinate : where) device[coordinate.grid_dim] = coordinate.index;
    device.resize(program_.device_axes.size());
    return Cat("of ", DeviceName(device), ", which is not in the mesh of ", program_.devices,
               program_.devices == 1 ? " device" : " devices");
  }
  if (OfCores()) {
    std::vector<std::int64_t> core = Of(block).index;
    for (const PeerCoordinate& coordinate : where) core[coordinate.grid_dim] = coordinate.index;
    return Cat("of ", AgentName(NamingOf(program_), core), ", which ",
               HasBegun(PeerNumber(block, where)) ? "has come to its end" : "is not in the mesh");
  }
  return Cat("of a block that ", HasBegun(PeerNumber(block, where)) ? "has come to its end" : "is not in its cluster");
}

void ThreadMachine::ReportPeer(std::string_view what, const Site& site) {
  memory_.Report({.code = FindingCode::kPeerLifetime,
                  .message = Cat(NameOf(current_), " reaches for ", what),
                  .loc = site.loc,
                  .text_line = site.text_line,
                  .fix = several_devices() || OfCores()
                             ? "name a device, or a core, of the mesh: numbers from 0 to the size less 1"
                             : "name a block of the cluster, and let a cluster barrier order the access within the "
                               "life of its memory"});
}

// Where a peer has not come to the allocation yet, its bytes are there all the same: they were from its start on.
BufferId ThreadMachine::PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site) {
  if (const auto operand = operand_of_.find(buffer.value); operand != operand_of_.end() && !where.empty())
    return PeerArray(buffer, operand->second, where, site);
  const auto named = names_.find(buffer.value);
  if (named == names_.end()) return buffer;
  const ObjectName name = named->second.second;
  const BlockId mine = named->second.first, peer = PeerOf(mine, where);
  if (peer == mine) return buffer;
  const std::string object(memory_.NameOf(buffer));
  if (!peer.valid() || Of(peer).ended || Of(peer).running == 0) {
    ReportPeer(Cat("'", object, "' ", WhyNoPeer(mine, where)), site);
    return buffer;
  }
  if (const auto found = Of(peer).live.find(name); found != Of(peer).live.end()) return found->second.buffer;
  const AllocRequest request{.name = object,
                             .dtype = memory_.DTypeOf(buffer),
                             .shape = memory_.ShapeOf(buffer),
                             .loc = site.loc,
                             .text_line = site.text_line};
  const auto own = Of(mine).live.find(name);  // all blocks of a grid have one layout
  const std::int64_t offset = own == Of(mine).live.end() ? Of(peer).Top() : own->second.offset;
  const absl::StatusOr<BufferId> made = AllocShared(request, name, peer, offset);
  return made.ok() ? *made : buffer;
}

}  // namespace palladion::threads
