#include "emu/front/cpp/function_copies.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion {

void FunctionCopies::ExpectCopy(const KernelMemory& from, const KernelMemory& to, bool into_shared) {
  const FunctionMemory::Object source = memory_.ObjectOf(from), destination = memory_.ObjectOf(to);
  const PlaceLevel first = into_shared ? PlaceLevel::kDevice : PlaceLevel::kBlock;
  const PlaceLevel last = into_shared ? PlaceLevel::kBlock : PlaceLevel::kDevice;
  if (source.memory != first || destination.memory != last)
    requests_.Refuse(Cat("copy_async goes from global to shared memory with a barrier, and back without one; found '",
                         source.name, "' to '", destination.name, into_shared ? "' with" : "' without"));
  memory_.ExpectWritable(destination, "a copy");
  if (from.dtype() != to.dtype() || from.shape() != to.shape())
    requests_.Refuse(Cat("a copy of ", TypeString(from.dtype(), from.shape()), " at '", source.name, "' to ",
                         TypeString(to.dtype(), to.shape()), " at '", destination.name, "'"));
}

void FunctionCopies::Copy(const KernelMemory& from, const KernelMemory& to, const KernelBarrier* arrives) {
  ExpectCopy(from, to, arrives != nullptr);
  SyncElement barrier;
  if (arrives != nullptr) barrier = syncs_.ElementOf(*arrives);
  if (!requests_.Request(threads::OtherRequest::kStart, Answer::kNone)) return;
  const FunctionMemory::Object source = memory_.ObjectOf(from), destination = memory_.ObjectOf(to);
  const bool usable = memory_.Usable(source);
  if (!memory_.Usable(destination) || !usable) return;
  ByteCount bytes(static_cast<std::int64_t>(StorageBytes(from.dtype())));
  for (const std::int64_t size : from.shape()) bytes = size * bytes;
  AsyncRequest request{.name = "copy_async"};
  request.At(requests_.site());
  if (arrives != nullptr) {
    request.completions.push_back(requests_.gpu().CompletionAt(barrier));
  } else {
    request.await = "ctx.wait_copies()";
    request.queue = requests_.gpu().QueueOf(AsyncQueue::kStores);
    request.must_await = Half::kRead;
  }
  request.sources.push_back({.where = memory_.BoxOf(from, source), .bytes = bytes});
  request.destinations.push_back({.where = memory_.BoxOf(to, destination), .bytes = bytes});
  requests_.Expect(requests_.gpu().Start(std::move(request)));
}

void FunctionCopies::Commit() {
  if (requests_.Request(threads::OtherRequest::kCommitGroup, Answer::kNone))
    requests_.Expect(requests_.gpu().CommitGroup(AsyncQueue::kStores, requests_.site()));
}

void FunctionCopies::Wait(std::int64_t may_remain, bool read_only) {
  if (may_remain < 0) requests_.Refuse(Cat("at least 0 groups may remain; found ", may_remain));
  requests_.WaitFor({.kind = WaitTarget::Kind::kGroups,
                     .object = {},
                     .value = may_remain,
                     .reads_only = read_only,
                     .queue = AsyncQueue::kStores});
}

void FunctionCopies::FenceShared() {
  if (requests_.Request(threads::OtherRequest::kFence, Answer::kNone))
    requests_.Expect(requests_.gpu().Make(Fence::kSharedToAsync, requests_.site()));
}

}  // namespace palladion
