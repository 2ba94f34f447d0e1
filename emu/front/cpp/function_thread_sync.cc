// A thread's requests to barriers, semaphores and engines.
#include <utility>

#include "emu/front/cpp/function_thread.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

WaitTarget PhaseOf(SyncElement barrier) { return {.kind = WaitTarget::Kind::kBarrier, .object = barrier}; }
WaitTarget CountOf(SyncElement semaphore) { return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore}; }

}  // namespace

// ---- copies

void FunctionThread::ExpectCopy(const KernelMemory& from, const KernelMemory& to, bool into_shared) {
  const Object source = ObjectOf(from), destination = ObjectOf(to);
  const PlaceLevel first = into_shared ? PlaceLevel::kDevice : PlaceLevel::kBlock;
  const PlaceLevel last = into_shared ? PlaceLevel::kBlock : PlaceLevel::kDevice;
  if (source.memory != first || destination.memory != last)
    Refuse(Cat("copy_async goes from global to shared memory with a barrier, and back without one; found '",
               source.name, "' to '", destination.name, into_shared ? "' with" : "' without"));
  ExpectWritable(destination, "a copy");
  if (from.dtype() != to.dtype() || from.shape() != to.shape())
    Refuse(Cat("a copy of ", TypeString(from.dtype(), from.shape()), " at '", source.name, "' to ",
               TypeString(to.dtype(), to.shape()), " at '", destination.name, "'"));
}

void FunctionThread::Copy(const KernelMemory& from, const KernelMemory& to, const KernelBarrier* arrives) {
  ExpectCopy(from, to, arrives != nullptr);
  SyncElement barrier;
  if (arrives != nullptr) barrier = ElementOf(*arrives, "barrier");
  if (!Ask(threads::OtherRequest::kStart, Answer::kNone)) return;
  const Object source = ObjectOf(from), destination = ObjectOf(to);
  const bool usable = Usable(source);
  if (!Usable(destination) || !usable) return;
  ByteCount bytes(static_cast<std::int64_t>(StorageBytes(from.dtype())));
  for (const std::int64_t size : from.shape()) bytes = size * bytes;
  AsyncRequest request{.name = "copy_async"};
  request.At(site_);
  if (arrives != nullptr) {
    request.completions.push_back(gpu().CompletionAt(barrier));
  } else {
    request.await = "ctx.wait_copies()";
    request.queue = gpu().QueueOf(AsyncQueue::kStores);
    request.must_await = Half::kRead;
  }
  request.sources.push_back({.where = BoxOf(from, source), .bytes = bytes});
  request.destinations.push_back({.where = BoxOf(to, destination), .bytes = bytes});
  Expect(gpu().Start(std::move(request)));
}

void FunctionThread::copy_async(const KernelMemory& from, const KernelMemory& to, KernelBarrier arrives,
                                CodePlace place) {
  At(place);
  Copy(from, to, &arrives);
}

void FunctionThread::copy_async(const KernelMemory& from, const KernelMemory& to, CodePlace place) {
  At(place);
  Copy(from, to, nullptr);
}

void FunctionThread::commit_copies(CodePlace place) {
  At(place);
  if (Ask(threads::OtherRequest::kCommitGroup, Answer::kNone)) Expect(gpu().CommitGroup(AsyncQueue::kStores, site_));
}

void FunctionThread::wait_copies(std::int64_t may_remain, bool read_only, CodePlace place) {
  At(place);
  if (may_remain < 0) Refuse(Cat("at least 0 groups may remain; found ", may_remain));
  WaitFor({.kind = WaitTarget::Kind::kGroups,
           .object = {},
           .value = may_remain,
           .reads_only = read_only,
           .queue = AsyncQueue::kStores});
}

void FunctionThread::commit_smem(CodePlace place) {
  At(place);
  if (Ask(threads::OtherRequest::kFence, Answer::kNone)) Expect(gpu().Make(Fence::kSharedToAsync, site_));
}

// ---- barriers and semaphores

template <class Tag>
SyncElement FunctionThread::ElementOf(const KernelSync<Tag>& sync, std::string_view what) {
  if (sync.number < 0) Refuse(Cat("this ", what, " was never made"));
  if (sync.run != machine_.run())
    Refuse(Cat("this ", what, " is of another run: a function must not keep it from one call to the next"));
  const FunctionMachine::SyncObject& object = machine_.syncs()[static_cast<std::size_t>(sync.number)];
  if (object.block >= 0 && object.block != block_)
    Refuse(Cat(what, " '", object.name, "' is another block's: make one in each"));
  if (sync.element < 0 || sync.element >= object.count)
    Refuse(Cat(what, " '", object.name, "' has the elements 0 to ", object.count - 1, "; found ", sync.element));
  return {object.array, sync.element};
}

template <class Tag>
KernelSync<Tag> FunctionThread::MakeSync(SyncRequest request, KernelScope scope) {
  const std::int64_t count = request.shape.empty() ? 1 : request.shape[0];
  const bool barrier = request.kind == SyncKind::kBarrier;
  if (count < 1) Refuse(Cat("'", request.name, "' needs at least one element; found ", count));
  if (request.num_arrivals < 1) Refuse(Cat("'", request.name, "' needs at least one arrival"));
  if (!Ask(threads::OtherRequest::kAlloc, Answer::kMatters)) return {};
  const std::string type =
      barrier ? Cat("an array of ", count, " barriers of ", request.num_arrivals, " arrivals")
              : Cat("an array of ", count, " semaphores of the ", scope == KernelScope::kGrid ? "grid" : "block");
  const FunctionMachine::Named named = machine_.NameOf(request.name, type, scope);
  if (!named.differs.empty()) Refuse(Cat("'", request.name, "' is ", type, " here and ", named.differs, " elsewhere"));
  request.place = named.place;
  request.site = site_;
  const absl::StatusOr<SyncId> made = gpu().AllocSync(request);
  if (!made.ok()) Refuse(made.status());
  const std::int64_t owner = scope == KernelScope::kGrid ? -1 : block_;
  machine_.syncs().push_back({.array = *made, .name = request.name, .count = count, .block = owner});
  return {machine_.run(), static_cast<std::int32_t>(machine_.syncs().size()) - 1, 0};
}

KernelBarrier FunctionThread::make_barrier(std::string name, std::int64_t arrivals, std::int64_t count,
                                           CodePlace place) {
  At(place);
  SyncRequest request{.name = std::move(name), .kind = SyncKind::kBarrier, .num_arrivals = arrivals};
  if (count != 1) request.shape = {count};
  return MakeSync<KernelBarrierTag>(std::move(request), KernelScope::kBlock);
}

KernelSemaphore FunctionThread::make_semaphore(std::string name, KernelScope scope, std::int64_t count,
                                               CodePlace place) {
  At(place);
  SyncRequest request{.name = std::move(name), .kind = SyncKind::kSemaphore};
  if (count != 1) request.shape = {count};
  return MakeSync<KernelSemaphoreTag>(std::move(request), scope);
}

void FunctionThread::WaitFor(const WaitTarget& target) {
  scheduler::Operation waiting{.loc = site_.loc};
  wait_.Ask(id_, target, &waiting);
  if (Ask(waiting, Answer::kMatters)) Expect(gpu().Wait(target, site_));
}

void FunctionThread::arrive(KernelBarrier barrier, CodePlace place) {
  At(place);
  const SyncElement element = ElementOf(barrier, "barrier");
  if (Ask(threads::SyncObjectRequest{element}, Answer::kNone)) Expect(gpu().Arrive({.at = PhaseOf(element)}, site_));
}

void FunctionThread::wait(KernelBarrier barrier, CodePlace place) {
  At(place);
  WaitFor(PhaseOf(ElementOf(barrier, "barrier")));
}

bool FunctionThread::test(KernelBarrier barrier, CodePlace place) {
  At(place);
  const SyncElement element = ElementOf(barrier, "barrier");
  if (!Ask(threads::SyncObjectRequest{element}, Answer::kMatters)) return false;
  const absl::StatusOr<std::int64_t> come = gpu().Poll(PhaseOf(element), site_);
  Expect(come.status());
  return *come != 0;
}

void FunctionThread::sync_block(CodePlace place) {
  At(place);
  if (!Ask(threads::OtherRequest::kMeet, Answer::kMatters)) return;
  const WaitTarget all{.kind = WaitTarget::Kind::kMeeting};
  Expect(gpu().Arrive({.at = all, .what = "sync_block"}, site_));
  WaitFor(all);
}

void FunctionThread::signal(KernelSemaphore semaphore, std::int64_t value, CodePlace place) {
  At(place);
  if (value < 1) Refuse(Cat("a signal is of at least 1; found ", value));
  const SyncElement element = ElementOf(semaphore, "semaphore");
  if (Ask(threads::SyncObjectRequest{element}, Answer::kNone))
    Expect(gpu().Arrive({.at = CountOf(element), .amount = value}, site_));
}

void FunctionThread::wait(KernelSemaphore semaphore, std::int64_t value, CodePlace place) {
  At(place);
  if (value < 1) Refuse(Cat("a wait is for at least 1; found ", value));
  WaitTarget count = CountOf(ElementOf(semaphore, "semaphore"));
  count.value = value;
  WaitFor(count);
}

std::int64_t FunctionThread::read(KernelSemaphore semaphore, CodePlace place) {
  At(place);
  const SyncElement element = ElementOf(semaphore, "semaphore");
  if (!Ask(threads::SyncObjectRequest{element}, Answer::kMatters)) return 0;
  const absl::StatusOr<std::int64_t> count = gpu().Poll(CountOf(element), site_);
  Expect(count.status());
  return *count;
}

}  // namespace palladion
