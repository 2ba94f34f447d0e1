#include "emu/run/threads/block_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/scratch_scope.h"

namespace palladion::threads {
namespace {

// Of a block's two memories, the one where the allocation lies.
SharedStack& StackFor(Block& block, const AllocationPlace& place) {
  return place.tensor_columns > 0 ? block.tensor : block.shared;
}

// The stack that has the name; shared memory's where none has.
SharedStack& StackOf(Block& block, const ObjectName& name) {
  const bool tensor = block.tensor.Find(name) != nullptr || block.tensor.FindLeft(name) != nullptr;
  return tensor ? block.tensor : block.shared;
}
const SharedStack& StackOf(const Block& block, const ObjectName& name) {
  return StackOf(const_cast<Block&>(block), name);
}

memory_model::ProxySpace SpaceOf(const AllocationPlace& place) {
  if (place.tensor_columns > 0) return memory_model::ProxySpace::kTensor;
  if (place.memory == PlaceLevel::kBlock) return memory_model::ProxySpace::kShared;
  return place.memory == PlaceLevel::kDevice ? memory_model::ProxySpace::kGlobal : memory_model::ProxySpace::kPlain;
}

// Of a block's two memories, for the next owner of their bytes.
std::int32_t ArenaOf(BlockId block, bool tensor) { return 2 * block.value + (tensor ? 1 : 0); }

}  // namespace

// Registers are the thread's own; the model knows them, because engines touch accumulators.
absl::StatusOr<BufferId> BlockMemory::Make(const AllocRequest& request, const memory_model::Place& place) {
  PALLADION_ASSIGN_OR_RETURN(const BufferId id, base_.memory.Alloc(request));
  base_.model.Adopt(id, {.name = request.name,
                         .shape = {request.shape.begin(), request.shape.end()},
                         .element_size = base_.memory.ElementSizeOf(id),
                         .space = SpaceOf(*request.place),
                         .place = place,
                         .holds_nothing = true});
  return id;
}

// What one of several threads allocates alone is its own; so is global memory of one, which has no peers.
bool BlockMemory::IsOwn(AgentId thread, const AllocationPlace& place) const {
  const bool several = place.memory == PlaceLevel::kDevice || base_.residents.BlockOf(thread).threads.size() > 1;
  return place.memory == PlaceLevel::kThread || (place.owner == PlaceLevel::kThread && several);
}

bool BlockMemory::HasUnreached(BlockId block) const {
  return std::any_of(shared_.begin(), shared_.end(), [&](const auto& each) {
    const auto& [of, name] = each.second;
    const SharedBuffer* const shared = of == block ? StackOf(base_.residents.Of(of), name).Find(name) : nullptr;
    return shared != nullptr && !shared->reached;
  });
}

std::vector<BufferId> BlockMemory::BuffersOf(BlockId block) const {
  std::vector<BufferId> buffers;
  for (const auto& [buffer, name] : shared_) {
    if (name.first == block) buffers.push_back(BufferId{buffer});
  }
  return buffers;
}

// Peers may have made the bytes another's while some have not left.
std::vector<BufferId> BlockMemory::Replaceable(BlockId block) const {
  std::vector<BufferId> buffers;
  for (const auto& [buffer, name] : shared_) {
    if (name.first != block) continue;
    const bool over = StackOf(base_.residents.Of(block), name.second).FindLeft(name.second) != nullptr;
    if (over || base_.shape.has_block_peers()) buffers.push_back(BufferId{buffer});
  }
  return buffers;
}

absl::StatusOr<BufferId> BlockMemory::Alloc(AgentId thread, const AllocRequest& request) {
  const PlaceLevel memory = request.place->memory;
  if (IsOwn(thread, *request.place)) return Make(request, base_.residents.BlockOf(thread).place);
  return memory == PlaceLevel::kDevice ? AllocGlobal(thread, request) : AllocShared(thread, request);
}

// Global memory has no place in a block's stack: its bytes are not allocated again while they are in use.
absl::StatusOr<BufferId> BlockMemory::AllocGlobal(AgentId id, const AllocRequest& request) {
  Thread& thread = base_.residents.Of(id);
  const Block& block = base_.residents.Of(thread.block);
  const bool of_grid = request.place->owner == PlaceLevel::kDevice;
  const std::int64_t device = base_.shape.DeviceOf(block.index);
  const ObjectName name = of_grid ? ObjectName{request.place->step, device} : thread.NextName(request.place->step);
  const auto [at, added] = globals_.try_emplace({of_grid ? BlockId{} : thread.block, name});
  if (!added) return at->second.buffer;
  const auto made = Make(request, of_grid ? base_.shape.PlaceOfDevice(device) : block.place);
  if (!made.ok()) {
    globals_.erase(at);
    return made.status();
  }
  at->second = {*made, block.threads.size()};
  global_[made->value] = at->first;
  return *made;
}

absl::StatusOr<BufferId> BlockMemory::AllocShared(AgentId id, const AllocRequest& request) {
  Thread& thread = base_.residents.Of(id);
  SharedStack& stack = StackFor(base_.residents.Of(thread.block), *request.place);
  const ObjectName name = thread.NextName(request.place->step);
  SharedBuffer* shared = stack.Find(name);
  if (shared != nullptr && !shared->reached && shared->freed) {
    stack.Retire(name);  // a peer reached for it too early
    shared = nullptr;
  }
  if (shared == nullptr) {
    const AllocationPlace& place = *request.place;
    const NewShared made{
        .name = {thread.block, name},
        .offset = stack.Top(),
        .thread = id,
        .cells = place.tensor_columns > 0 ? TensorCellsOf(base_.shape.program(), place.step) : nullptr};
    PALLADION_ASSIGN_OR_RETURN(const BufferId buffer, MakeShared(made, request));
    stack.Find(name)->reached = true;
    return buffer;
  }
  if (!std::exchange(shared->reached, true) && base_.shape.tpus() && !operands_.AtEntry(id))
    base_.model.Reallocate(id, shared->buffer, {request.loc, request.text_line});
  return shared->buffer;
}

// False: it is no such memory. The grid's stays until the kernel ends.
bool BlockMemory::LeaveGlobal(BufferId buffer, const Site& site) {
  const auto named = global_.find(buffer.value);
  if (named == global_.end()) return false;
  const auto at = globals_.find(named->second);
  const BlockId block = at->first.first;
  if (!block.valid() || --at->second.users > 0) return true;
  globals_.erase(at);
  global_.erase(named);
  if (races_) {
    base_.model.FreeAfter(base_.residents.Of(block).threads, "the end of its scope", buffer, CodeSite::Of(site));
  }
  Release(buffer);
  return true;
}

// New memory takes the bytes of scopes that are over: what is still in flight there is unordered with that, and what
// was done to them is still invisible to asynchronous units until a commit.
absl::StatusOr<BufferId> BlockMemory::MakeShared(const NewShared& made, const AllocRequest& request) {
  PALLADION_ASSIGN_OR_RETURN(const BufferId buffer, base_.memory.Alloc(request));
  const auto& [id, name] = made.name;
  Block& block = base_.residents.Of(id);
  syncs_.EndLeft(id, memory_model::Barrier::Ends::kScope);
  const TensorCells* const cells = made.cells;
  const ByteCount bytes = cells != nullptr ? cells->columns * SharedStack::kColumn : base_.memory.BytesOf(buffer);
  const SharedBuffer shared{
      .buffer = buffer, .offset = made.offset, .bytes = bytes, .cells = cells, .users = block.threads.size()};
  const SharedStack::Replaced replaced = StackFor(block, *request.place).Place(name, shared);
  for (const BufferId freed : replaced.freed) {
    if (races_) base_.model.Free(made.thread, freed, {request.loc, request.text_line});
  }
  for (const BufferId gone : replaced.gone) Release(gone);
  Track(made, buffer, request);
  shared_[buffer.value] = made.name;
  return buffer;
}

// Blocks of a cluster begin together, and their memory with them. A device's is there from when it enters the kernel;
// what a scope makes later, from then on.
void BlockMemory::Track(const NewShared& made, BufferId buffer, const AllocRequest& request) {
  const Block& block = base_.residents.Of(made.name.first);
  const CodeSite site{request.loc, request.text_line};
  memory_model::TrackedBuffer tracked{.name = request.name,
                                      .shape = {request.shape.begin(), request.shape.end()},
                                      .element_size = base_.memory.ElementSizeOf(buffer),
                                      .space = SpaceOf(*request.place),
                                      .place = block.place,
                                      .holds_nothing = true,
                                      .arena = ArenaOf(made.name.first, made.cells != nullptr),
                                      .offset = made.offset,
                                      .cells = made.cells};
  const AgentId core = block.threads[0];
  if (!base_.shape.tpus()) return base_.model.Adopt(buffer, std::move(tracked));
  if (made.thread != core || operands_.AtEntry(core))
    return base_.model.AllocAtStart(core, buffer, std::move(tracked), site);
  base_.model.Alloc(core, buffer, std::move(tracked), site);
}

void BlockMemory::Leave(BufferId buffer, const Site& site) {
  if (LeaveGlobal(buffer, site)) return;
  const auto named = shared_.find(buffer.value);
  if (named == shared_.end()) return Release(buffer);  // registers
  const auto& [block, name] = named->second;
  StackOf(base_.residents.Of(block), name).Leave(name);
}

// The bytes stay until no engine has them in hand.
void BlockMemory::Release(BufferId buffer) {
  shared_.erase(buffer.value);
  if (in_use_.Free(buffer)) Free(buffer);
}

void BlockMemory::Free(BufferId buffer) {
  base_.memory.Free(buffer);
  base_.model.Drop(buffer);
}

// The agents that are done when the block ends: its threads, and all threads of blocks that end together.
std::vector<AgentId> BlockMemory::LastToUse(const Block& block) const {
  std::vector<AgentId> last = block.threads;
  if (!base_.shape.ends_together()) return last;
  for (const BlockId other : base_.residents.ClusterOf(block.cluster).blocks) {
    const std::vector<AgentId>& threads = base_.residents.Of(other).threads;
    if (&base_.residents.Of(other) != &block) last.insert(last.end(), threads.begin(), threads.end());
  }
  return last;
}

void BlockMemory::BlockEnds(BlockId id) {
  Block& block = base_.residents.Of(id);
  const bool peers = races_ && base_.shape.has_block_peers();
  const std::string end = peers ? Cat("the end of ", base_.shape.BlockNameOf(block.index)) : "";
  const std::vector<AgentId> last = LastToUse(block);
  for (SharedStack* const stack : {&block.shared, &block.tensor}) {
    for (const SharedBuffer& shared : stack->End()) {
      // Only a peer can reach it unordered: what the block's own engines still do is NOT_AWAITED.
      if (peers && !shared.freed) base_.model.FreeAfter(last, end, shared.buffer, {});
      Release(shared.buffer);
    }
  }
  for (const bool tensor : {false, true}) base_.model.EndArena(ArenaOf(id, tensor));
}

// Has a thread of the block asked for it?
bool BlockMemory::HasCome(const Block& block, const ObjectName& name) const {
  return std::any_of(block.threads.begin(), block.threads.end(), [&](AgentId thread) {
    const std::vector<ObjectName>& next = base_.residents.Of(thread).names;
    return std::any_of(next.begin(), next.end(), [&](const ObjectName& one) {
      return one.step == name.step && one.occurrence > name.occurrence;
    });
  });
}

// Where a peer has not come to the allocation yet, its bytes are there all the same: they were from its start on.
BufferId BlockMemory::OfPeer(AgentId thread, BufferId buffer, absl::Span<const PeerCoordinate> where,
                             const Site& site) {
  if (!where.empty() && operands_.Has(buffer)) return operands_.OfPeer(thread, buffer, where, site);
  const auto named = shared_.find(buffer.value);
  if (named == shared_.end()) return buffer;
  const auto [mine, name] = named->second;
  const Block& own = base_.residents.Of(mine);
  const std::vector<std::int64_t> index = LaunchShape::PeerOf(own.index, where);
  const BlockId peer = peers_.At(index);
  if (peer == mine) return buffer;
  const std::string object(base_.memory.NameOf(buffer));
  if (!peers_.Runs(peer)) {
    peers_.Report(thread, Cat("'", object, "'"), index, site);
    return buffer;
  }
  Block& other = base_.residents.Of(peer);
  const SharedStack& theirs = StackOf(other, name);
  if (const SharedBuffer* found = theirs.Find(name); found != nullptr) return found->buffer;
  if (const SharedBuffer* left = theirs.FindLeft(name); left != nullptr) return left->buffer;
  if (HasCome(other, name)) {
    peers_.ReportLeft(thread, object, peer, site);
    return buffer;
  }
  const SharedBuffer* const here = StackOf(own, name).Find(name);  // all blocks of a grid have one layout
  const TensorCells* const cells = here == nullptr ? nullptr : here->cells;
  const AllocationPlace place{.tensor_columns = cells == nullptr ? 0 : cells->columns};
  const absl::Span<const std::int64_t> own_shape = base_.memory.ShapeOf(buffer);
  const std::vector<std::int64_t> shape(own_shape.begin(), own_shape.end());  // buffers move when one is added
  const AllocRequest request{.name = object,
                             .dtype = base_.memory.DTypeOf(buffer),
                             .shape = shape,
                             .loc = site.loc,
                             .text_line = site.text_line,
                             .place = place};
  const ByteCount offset = here == nullptr ? StackFor(other, place).Top() : here->offset;
  const absl::StatusOr<BufferId> made =
      MakeShared({.name = {peer, name}, .offset = offset, .thread = thread, .cells = cells}, request);
  return made.ok() ? *made : buffer;
}

std::int64_t BlockMemory::DeviceOf(BufferId buffer) const {
  const auto named = shared_.find(buffer.value);
  if (named != shared_.end()) return base_.shape.DeviceOf(base_.residents.Of(named->second.first).index);
  return operands_.DeviceOf(buffer);
}

}  // namespace palladion::threads
