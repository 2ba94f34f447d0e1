#include "memory_model/engine/async_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "memory_model/engine/mover.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {
QueueId AsyncEngine::AddQueue(QueueOrder order) {
  const QueueId id = queues_.Next();
  queues_.Add().order = order;
  return id;
}

absl::Status AsyncEngine::Check(const AsyncRequest& request) {
  const auto fail = [&](std::string_view what) {
    return absl::InvalidArgumentError(ToAbsl(Cat("asynchronous ", request.name, ": ", what)));
  };
  for (const auto* operands : {&request.sources, &request.destinations}) {
    for (const AsyncOperand& operand : *operands) {
      const auto* box = std::get_if<BoxAccess>(&operand.where);
      if (box != nullptr && box->mask.lanes != nullptr) return fail("a masked operand; give its places instead");
    }
  }
  for (const AsyncOperand& source : request.sources) {
    if (source.reduce != nullptr) return fail("a source that reduces");
  }
  if (request.function == nullptr) {
    if (request.sources.size() != request.destinations.size()) {
      return fail(Cat(request.sources.size(), " sources and ", request.destinations.size(),
                      " destinations without a function between them"));
    }
    for (std::size_t i = 0; i < request.sources.size(); ++i) {
      const AsyncOperand &from = request.sources[i], &to = request.destinations[i];
      if (from.bytes != to.bytes) {
        return fail(Cat("source ", i, " has ", from.bytes.value(), " bytes and its destination ", to.bytes.value()));
      }
      if (ElementsOf(from) != ElementsOf(to)) {
        return fail(Cat("source ", i, " has ", ElementsOf(from).value(), " elements and its destination ",
                        ElementsOf(to).value()));
      }
    }
  }
  for (const Completion& completion : request.completions) {
    if (completion.after == Half::kRead && request.sources.empty())
      return fail("completes after its read phase, and reads nothing");
  }
  if (request.after_earlier && !request.queue.valid()) return fail("waits for earlier ones, and is in no queue");
  return absl::OkStatus();
}

void AsyncEngine::Start(AgentId id, AgentId issuer, AsyncRequest request) {
  Operation& operation = operations_[id];
  operation.record = {id, issuer, request.must_await, request.site};
  operation.request = std::move(request);
  AsyncRequest& kept = operation.request;
  for (auto* operands : {&kept.sources, &kept.destinations}) {
    for (AsyncOperand& operand : *operands) {  // whose memory is the issuer's frame's
      if (auto* box = std::get_if<BoxAccess>(&operand.where)) box->site = {}, box->defined = nullptr;
    }
  }
  operation.values.reserve(kept.sources.size());
  for (const AsyncOperand& source : kept.sources)
    operation.values.push_back(kept.views != FunctionViews::kNone ? AsyncValue{} : NewValue(source.bytes.size()));
  operation.has_read = kept.sources.empty();
  if (!kept.queue.valid()) return;
  Queue& queue = queues_[kept.queue];
  const bool groups = queue.order != QueueOrder::kLanding && queue.order != QueueOrder::kIssued;
  if (groups) queue.open.push_back(id);
  queue.in_flight.push_back(id);
  if (!operation.has_read) queue.to_read.push_back(id);
  queue.to_write.push_back(id);
}

// A half writes all bytes of a value, and so does a function.
AsyncValue AsyncEngine::NewValue(std::size_t bytes) {
  if (!moves_) return {};
  std::vector<AsyncValue>& spare = spare_.values;
  const auto fits =
      std::find_if(spare.begin(), spare.end(), [&](const auto& one) { return one.bytes.size() == bytes; });
  if (fits == spare.end()) return {std::vector<std::byte>(bytes), {}};
  std::swap(*fits, spare.back());
  AsyncValue value = std::move(spare.back());
  spare.pop_back();
  value.marks.clear();
  value.view = {};
  return value;
}

void AsyncEngine::Keep(std::vector<AsyncValue>* values) {
  constexpr std::size_t kMost = 16;
  if (!moves_) return;
  for (AsyncValue& value : *values) {
    if (spare_.values.size() < kMost && !value.bytes.empty()) spare_.values.push_back(std::move(value));
  }
}

// Only the room of its lists: operands are large.
void AsyncEngine::Keep(AsyncRequest* request) {
  constexpr std::size_t kMost = 64;
  if (spare_.requests.size() == kMost) return;
  AsyncRequest& spare = spare_.requests.emplace_back();
  const auto take = [](auto& from, auto* to) { to->swap(from), to->clear(); };
  take(request->sources, &spare.sources);
  take(request->destinations, &spare.destinations);
  take(request->completions, &spare.completions);
  take(request->program, &spare.program);
}

AsyncRequest AsyncEngine::NewRequest() {
  if (spare_.requests.empty()) return {};
  AsyncRequest request = std::move(spare_.requests.back());
  spare_.requests.pop_back();
  return request;
}

const AsyncEngine::Operation* AsyncEngine::Find(AgentId id) const {
  const auto at = operations_.find(id);
  return at == operations_.end() ? nullptr : &at->second;
}

bool AsyncEngine::Done(AgentId id, Half half) const {
  const Operation* operation = Find(id);
  return operation == nullptr || operation->done(half);
}

std::vector<AsyncEngine::Record> AsyncEngine::Unfinished() const {
  std::vector<Record> records;
  for (const auto& [id, operation] : operations_) AddParts(operation, &records);
  return records;
}

// One for each destination that completes by itself: its id follows the operation's.
void AsyncEngine::AddParts(const Operation& operation, std::vector<Record>* records) {
  Record record = operation.record;
  for (std::size_t part = 0; part < operation.request.parts(); ++part, ++record.id.value) records->push_back(record);
}

void AsyncEngine::Follow(AgentId operation, std::vector<AgentId> earlier) {
  earlier.erase(std::remove_if(earlier.begin(), earlier.end(), [this](AgentId one) { return Find(one) == nullptr; }),
                earlier.end());
  operations_.at(operation).follows = std::move(earlier);
}

bool AsyncEngine::FollowsOutsideItsQueue(AgentId id) const {
  const Operation& operation = *Find(id);
  return std::any_of(operation.follows.begin(), operation.follows.end(), [&](AgentId earlier) {
    const Operation* const one = Find(earlier);
    return one != nullptr && one->request.queue != operation.request.queue;
  });
}

bool AsyncEngine::MayGo(const Operation& operation, Half half) const {
  const auto is_in_flight = [this](AgentId earlier) { return Find(earlier) != nullptr; };
  if (std::any_of(operation.follows.begin(), operation.follows.end(), is_in_flight)) return false;
  const QueueId queue = operation.request.queue;
  if (!queue.valid()) return true;
  const Queue& mine = queues_[queue];
  if (mine.order == QueueOrder::kSerial || operation.request.after_earlier) {
    return mine.in_flight.front() == operation.record.id;
  }
  if (mine.order == QueueOrder::kNone || mine.order == QueueOrder::kIssued ||
      (mine.order == QueueOrder::kLanding && half == Half::kRead))
    return true;
  const std::deque<AgentId>& left = half == Half::kRead ? mine.to_read : mine.to_write;
  return left.empty() || !(left.front() < operation.record.id);
}

bool AsyncEngine::CanPerform(const PendingHalf& which) const {
  const Operation* operation = Find(which.operation);
  if (operation == nullptr || !MayGo(*operation, which.half)) return false;
  return which.half == Half::kRead ? !operation->has_read : operation->has_read;
}

std::vector<PendingHalf> AsyncEngine::Pending() const {
  std::vector<PendingHalf> pending;
  for (const auto& [id, operation] : operations_) {
    const Half next = operation.has_read ? Half::kWrite : Half::kRead;
    if (MayGo(operation, next)) pending.push_back({operation.record.id, next});
  }
  return pending;
}

void AsyncEngine::Read(Operation* operation, Machine* memory) {
  const AsyncRequest& request = operation->request;
  for (std::size_t i = 0; i < request.sources.size(); ++i) {
    const AsyncOperand& source = request.sources[i];
    AsyncValue& value = operation->values[i];
    if (request.views != FunctionViews::kNone && moves_) {
      if (BeginWholeCowRead(request, source, tracked_, &value, memory)) continue;
      if (value.bytes.empty()) value = NewValue(source.bytes.size());
    }
    MoveHalf(request, source, {.load = true, .tracked = tracked_}, &value, memory);
  }
}

namespace {

// What a function is to write there is read from other places, but for the elements that it replaces.
void KeepApart(const AsyncRequest& request, const ValueView& room, std::vector<AsyncValue>* sources) {
  bool may_replace = request.views == FunctionViews::kReplaces;
  for (std::size_t i = 0; i < sources->size(); ++i) {
    AsyncValue& source = (*sources)[i];
    if (source.view.data == nullptr) continue;
    const ByteCount bytes = request.sources[i].bytes;
    const ElementSize element_size(bytes.value() / source.view.elements().value());
    if (!source.view.Meets(room, element_size)) continue;
    if (may_replace && source.view == room) {
      may_replace = false;
      continue;
    }
    source.bytes.resize(bytes.size());
    CopyOut(source.view, element_size, source.bytes.data());
    source.view = {};
  }
}

}  // namespace

void AsyncEngine::Compute(Operation* operation, Machine* memory) {
  const AsyncRequest& request = operation->request;
  for (AsyncValue& value : operation->values) {
    if (value.cow_read.valid()) value.view = memory->Take(value.cow_read, &value.bytes);
    value.cow_read = {};
  }
  for (const AsyncOperand& destination : request.destinations) {
    AsyncValue& result = operation->results.emplace_back();
    if (request.views != FunctionViews::kNone && moves_ && MakeRoom(request, destination, &result, memory)) {
      KeepApart(request, result.view, &operation->values);
    } else {
      result = NewValue(destination.bytes.size());
    }
  }
  if (moves_) request.function(operation->values, &operation->results);
}

void AsyncEngine::Write(Operation* operation, Machine* memory) {
  const AsyncRequest& request = operation->request;
  auto& results = request.function != nullptr ? operation->results : operation->values;
  for (std::size_t i = 0; i < request.destinations.size(); ++i) {
    const AsyncOperand& destination = request.destinations[i];
    if (results[i].view.data != nullptr) {
      Wrote(request, destination, tracked_, &results[i], memory);
    } else {
      MoveHalf(request, destination, {.tracked = tracked_}, &results[i], memory);
    }
  }
}

AsyncEngine::Performed AsyncEngine::Perform(const PendingHalf& which, Machine* memory) {
  auto& operation = const_cast<Operation&>(*Find(which.operation));
  const AsyncRequest& request = operation.request;
  if (which.half == Half::kRead) {
    if (!operation.read_ahead) Read(&operation, memory);
    operation.has_read = true;
  } else {
    if (request.function != nullptr) Compute(&operation, memory);
    Write(&operation, memory);
    operation.has_written = true;
  }
  Performed performed{.due = {}, .site = request.site, .queue = request.queue, .parts = request.parts()};
  for (const Completion& completion : request.completions) {
    if (completion.after == which.half) performed.due.push_back(completion);
  }
  const auto leave = [&](std::deque<AgentId>& order) {
    order.erase(std::find(order.begin(), order.end(), which.operation));
  };
  if (request.queue.valid()) {
    Queue& queue = queues_[request.queue];
    leave(which.half == Half::kRead ? queue.to_read : queue.to_write);
    if (operation.done()) leave(queue.in_flight);
  }
  if (operation.done()) {
    AddParts(operation, &finished_);
    Keep(&operation.values);
    Keep(&operation.results);
    Keep(&operation.request);
    operations_.erase(which.operation);
  }
  return performed;
}

std::vector<AgentId> AsyncEngine::ToRead(BufferId buffer) const {
  std::vector<AgentId> found;
  for (const auto& [id, operation] : operations_) {
    const std::vector<AsyncOperand>& sources = operation.request.sources;
    const auto is = [&](const AsyncOperand& source) { return source.buffer() == buffer; };
    if (!operation.has_read && !operation.read_ahead && std::any_of(sources.begin(), sources.end(), is))
      found.push_back(id);
  }
  return found;
}

void AsyncEngine::ReadAhead(AgentId id, Machine* memory) {
  auto& operation = const_cast<Operation&>(*Find(id));
  Read(&operation, memory);
  operation.read_ahead = true;
}

void AsyncEngine::CommitGroup(QueueId queue) {
  Queue& q = queues_[queue];
  q.groups.push_back(q.open);
  q.open.clear();
}

void AsyncEngine::Retire(QueueId id) {
  const Group& open = queues_[id].open;
  never_committed_.insert(never_committed_.end(), open.begin(), open.end());
  queues_.Retire(id);
}

bool AsyncEngine::IsUncommitted(AgentId operation) const {
  bool open = std::find(never_committed_.begin(), never_committed_.end(), operation) != never_committed_.end();
  queues_.ForEach([&](QueueId, const Queue& queue) {
    open |= std::find(queue.open.begin(), queue.open.end(), operation) != queue.open.end();
  });
  return open;
}

bool AsyncEngine::IsInGroup(AgentId operation) const {
  const auto has = [&](const Group& group) { return std::find(group.begin(), group.end(), operation) != group.end(); };
  bool found = false;
  queues_.ForEach([&](QueueId, const Queue& queue) {
    found |= has(queue.open) || std::any_of(queue.groups.begin(), queue.groups.end(), has);
  });
  return found;
}

std::vector<AgentId> AsyncEngine::InGroups() const {
  std::vector<AgentId> operations;
  queues_.ForEach([&](QueueId, const Queue& queue) {
    operations.insert(operations.end(), queue.open.begin(), queue.open.end());
    for (const auto& group : queue.groups) operations.insert(operations.end(), group.begin(), group.end());
  });
  std::sort(operations.begin(), operations.end());
  return operations;
}

std::vector<AgentId> AsyncEngine::GroupsBut(QueueId queue, std::size_t may_remain) const {
  const Queue& q = queues_[queue];
  std::vector<AgentId> operations;
  for (std::size_t i = 0; i + may_remain < q.groups.size(); ++i) {
    operations.insert(operations.end(), q.groups[i].begin(), q.groups[i].end());
  }
  return operations;
}

bool AsyncEngine::GroupsDone(QueueId queue, std::size_t may_remain, Half half) const {
  const Queue& q = queues_[queue];
  for (std::size_t i = 0; i + may_remain < q.groups.size(); ++i) {
    for (const AgentId id : q.groups[i]) {
      if (!Done(id, half)) return false;
    }
  }
  return true;
}

void AsyncEngine::DropGroupsBut(QueueId queue, std::size_t may_remain) {
  std::deque<Group>& groups = queues_[queue].groups;
  while (groups.size() > may_remain) groups.pop_front();
}

void AsyncEngine::Forget(const std::vector<AgentId>& gone) {
  const auto is_gone = [&](AgentId id) { return std::binary_search(gone.begin(), gone.end(), id); };
  finished_.erase(
      std::remove_if(finished_.begin(), finished_.end(), [&](const Record& record) { return is_gone(record.id); }),
      finished_.end());
  std::erase_if(never_committed_, is_gone);
  queues_.ForEach([&](QueueId, Queue& queue) {
    queue.open.erase(std::remove_if(queue.open.begin(), queue.open.end(), is_gone), queue.open.end());
    for (auto& group : queue.groups) group.erase(std::remove_if(group.begin(), group.end(), is_gone), group.end());
    while (!queue.groups.empty() && queue.groups.front().empty()) queue.groups.pop_front();
  });
}

}  // namespace palladion::memory_model
