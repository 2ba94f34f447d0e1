#include "emu/front/cpp/function_syncs.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

WaitTarget PhaseOf(SyncElement barrier) { return {.kind = WaitTarget::Kind::kBarrier, .object = barrier}; }
WaitTarget CountOf(SyncElement semaphore) { return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore}; }

}  // namespace

template <class Tag>
SyncElement FunctionSyncs::ElementOf(const KernelSync<Tag>& sync, std::string_view what) {
  if (sync.number < 0) requests_.Refuse(Cat("this ", what, " was never made"));
  if (sync.run != machine_.run())
    requests_.Refuse(Cat("this ", what, " is of another run: a function must not keep it from one call to the next"));
  const FunctionMachine::SyncObject& object = machine_.syncs()[static_cast<std::size_t>(sync.number)];
  if (object.block >= 0 && object.block != requests_.block())
    requests_.Refuse(Cat(what, " '", object.name, "' is another block's: make one in each"));
  if (sync.element < 0 || sync.element >= object.count)
    requests_.Refuse(
        Cat(what, " '", object.name, "' has the elements 0 to ", object.count - 1, "; found ", sync.element));
  return {object.array, sync.element};
}

SyncElement FunctionSyncs::ElementOf(KernelBarrier barrier) { return ElementOf(barrier, "barrier"); }

template <class Tag>
KernelSync<Tag> FunctionSyncs::MakeSync(SyncRequest request, KernelScope scope) {
  const std::int64_t count = request.shape.empty() ? 1 : request.shape[0];
  const bool barrier = request.kind == SyncKind::kBarrier;
  if (count < 1) requests_.Refuse(Cat("'", request.name, "' needs at least one element; found ", count));
  if (request.num_arrivals < 1) requests_.Refuse(Cat("'", request.name, "' needs at least one arrival"));
  if (!requests_.Request(threads::OtherRequest::kAlloc, Answer::kMatters)) return {};
  const std::string type =
      barrier ? Cat("an array of ", count, " barriers of ", request.num_arrivals, " arrivals")
              : Cat("an array of ", count, " semaphores of the ", scope == KernelScope::kGrid ? "grid" : "block");
  const FunctionMachine::Named named = machine_.NameOf(request.name, type, scope);
  if (!named.differs.empty())
    requests_.Refuse(Cat("'", request.name, "' is ", type, " here and ", named.differs, " elsewhere"));
  request.place = named.place;
  request.site = requests_.site();
  const absl::StatusOr<SyncId> made = requests_.gpu().AllocSync(request);
  if (!made.ok()) requests_.Refuse(made.status());
  const std::int64_t owner = scope == KernelScope::kGrid ? -1 : requests_.block();
  machine_.syncs().push_back({.array = *made, .name = request.name, .count = count, .block = owner});
  return {machine_.run(), static_cast<std::int32_t>(machine_.syncs().size()) - 1, 0};
}

KernelBarrier FunctionSyncs::MakeBarrier(std::string name, std::int64_t arrivals, std::int64_t count) {
  SyncRequest request{.name = std::move(name), .kind = SyncKind::kBarrier, .num_arrivals = arrivals};
  if (count != 1) request.shape = {count};
  return MakeSync<KernelBarrierTag>(std::move(request), KernelScope::kBlock);
}

KernelSemaphore FunctionSyncs::MakeSemaphore(std::string name, KernelScope scope, std::int64_t count) {
  SyncRequest request{.name = std::move(name), .kind = SyncKind::kSemaphore};
  if (count != 1) request.shape = {count};
  return MakeSync<KernelSemaphoreTag>(std::move(request), scope);
}

void FunctionSyncs::Arrive(KernelBarrier barrier) {
  const SyncElement element = ElementOf(barrier);
  if (requests_.Request(threads::SyncObjectRequest{element}, Answer::kNone))
    requests_.Expect(requests_.gpu().Arrive({.at = PhaseOf(element)}, requests_.site()));
}

void FunctionSyncs::Wait(KernelBarrier barrier) { requests_.WaitFor(PhaseOf(ElementOf(barrier))); }

bool FunctionSyncs::Test(KernelBarrier barrier) {
  const SyncElement element = ElementOf(barrier);
  if (!requests_.Request(threads::SyncObjectRequest{element}, Answer::kMatters)) return false;
  const absl::StatusOr<std::int64_t> come = requests_.gpu().Poll(PhaseOf(element), requests_.site());
  requests_.Expect(come.status());
  return *come != 0;
}

void FunctionSyncs::SyncBlock() {
  if (!requests_.Request(threads::OtherRequest::kMeet, Answer::kMatters)) return;
  const WaitTarget all{.kind = WaitTarget::Kind::kMeeting};
  requests_.Expect(requests_.gpu().Arrive({.at = all, .what = "sync_block"}, requests_.site()));
  requests_.WaitFor(all);
}

void FunctionSyncs::Signal(KernelSemaphore semaphore, std::int64_t value) {
  if (value < 1) requests_.Refuse(Cat("a signal is of at least 1; found ", value));
  const SyncElement element = ElementOf(semaphore, "semaphore");
  if (requests_.Request(threads::SyncObjectRequest{element}, Answer::kNone))
    requests_.Expect(requests_.gpu().Arrive({.at = CountOf(element), .amount = value}, requests_.site()));
}

void FunctionSyncs::Wait(KernelSemaphore semaphore, std::int64_t value) {
  if (value < 1) requests_.Refuse(Cat("a wait is for at least 1; found ", value));
  WaitTarget count = CountOf(ElementOf(semaphore, "semaphore"));
  count.value = value;
  requests_.WaitFor(count);
}

std::int64_t FunctionSyncs::Read(KernelSemaphore semaphore) {
  const SyncElement element = ElementOf(semaphore, "semaphore");
  if (!requests_.Request(threads::SyncObjectRequest{element}, Answer::kMatters)) return 0;
  const absl::StatusOr<std::int64_t> count = requests_.gpu().Poll(CountOf(element), requests_.site());
  requests_.Expect(count.status());
  return *count;
}

}  // namespace palladion
