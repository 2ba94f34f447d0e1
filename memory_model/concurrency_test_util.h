// Small programs for tests of the model, without kernel text: each thread is a list of requests, run in an order drawn
// from a seed.
#ifndef PALLADION_MEMORY_MODEL_CONCURRENCY_TEST_UTIL_H_
#define PALLADION_MEMORY_MODEL_CONCURRENCY_TEST_UTIL_H_

#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"
#include "memory_model/concurrency_model.h"

namespace palladion::memory_model::concurrency_test {

using Shape = std::vector<std::int64_t>;

// Elements [start, start + count) of dimension 0, all of the others.
struct Rows {
  std::int64_t start = 0, count = 1;
};

class Script {
 public:
  explicit Script(FencePolicy policy = FencePolicy::kPallas, bool proxies = true, bool automatic_barriers = false)
      : model(FenceRule(policy, automatic_barriers), proxies) {}

  AgentId Thread(const std::string& name, const Place& place = {}) {
    threads_.push_back({model.agents().Add(name, place), {}, 0});
    return threads_.back().id;
  }
  BufferId Buffer(const std::string& name, Shape shape, ProxySpace space, const Place& place = {}) {
    std::size_t elements = 1;
    for (const std::int64_t n : shape) elements *= static_cast<std::size_t>(n);
    data_.push_back(std::make_unique<std::vector<float>>(elements, static_cast<float>(data_.size() + 1)));
    const BufferId id = memory.Adopt({.name = name, .dtype = DType::kF32, .shape = shape},
                                     reinterpret_cast<std::byte*>(data_.back()->data()));
    model.Adopt(id, {name, shape, ElementSize(4), space, place});
    shapes_.resize(id.index() + 1);
    shapes_[id.index()] = std::move(shape);
    return id;
  }
  const std::vector<float>& DataOf(std::size_t buffer) const { return *data_[buffer]; }

  // What a thread does next; each call is a line of its own, counted from 1.
  void Do(AgentId thread, std::function<void(CodeSite)> run, std::function<bool()> ready = nullptr,
          std::function<WaitRecord(CodeSite)> waiting = nullptr) {
    Of(thread).steps.push_back({std::move(run), std::move(ready), std::move(waiting), {LocId{}, ++lines_}});
  }
  int lines() const { return lines_; }

  void Touch(AgentId t, BufferId b, AccessKind kind, const Rows& rows) {
    const AccessSet set = SetOfRows(b, rows);
    Do(t, [=, this](CodeSite at) { model.Touch(t, b, kind, set, at); });
  }
  void Read(AgentId t, BufferId b, const Rows& rows) { Touch(t, b, AccessKind::kRead, rows); }
  void Write(AgentId t, BufferId b, const Rows& rows) { Touch(t, b, AccessKind::kWrite, rows); }
  void Commit(AgentId t) {
    Do(t, [=, this](CodeSite at) { model.Commit(t, ClockPart::kAsyncSmem, at); });
  }
  void Arrive(AgentId t, BarrierId b) {
    Do(t, [=, this](CodeSite at) { model.Arrive(t, b, at); });
  }
  void Wait(AgentId t, BarrierId b) {
    Do(
        t, [=, this](CodeSite at) { model.Wait(t, b, at); }, [=, this] { return model.CanWait(t, b); },
        [=, this](CodeSite at) { return model.Of(b).Waiting(t, at); });
  }
  void Signal(AgentId t, SemaphoreId s, std::int64_t amount = 1) {
    Do(t, [=, this](CodeSite at) { model.Signal(t, s, at, amount); });
  }
  void Wait(AgentId t, SemaphoreId s, std::int64_t value = 1, bool decrement = true) {
    Do(
        t, [=, this](CodeSite) { model.Wait(t, s, value, {.decrement = decrement}); },
        [=, this] { return model.CanWait(s, value); },
        [=, this](CodeSite at) { return model.Of(s).Waiting(t, value, at); });
  }
  void Enter(AgentId t, RendezvousId r, const std::string& what) {
    Do(t, [=, this](CodeSite at) { model.Enter(t, r, what, at); });
    Do(
        t, [=, this](CodeSite) { model.Leave(t, r); }, [=, this] { return model.CanLeave(t, r); },
        [=, this](CodeSite at) { return model.Of(r).Waiting(t, at, model.agents()); });
  }

  AsyncRequest Copy(BufferId from, const Rows& source, BufferId to, const Rows& destination) const {
    AsyncRequest request;
    request.sources.push_back(Operand(from, source));
    request.destinations.push_back(Operand(to, destination));
    return request;
  }
  void Start(AgentId t, const AsyncRequest& request) {
    Do(t, [=, this](CodeSite at) {
      AsyncRequest now = request;
      now.site = at;
      status_.Update(model.Start(t, std::move(now)).status());
    });
  }
  void CommitGroup(AgentId t, QueueId q) {
    Do(t, [=, this](CodeSite) { model.CommitGroup(q); });
  }
  void AwaitGroups(AgentId t, QueueId q, std::size_t may_remain, Half half, bool promised = false) {
    Do(
        t,
        [=, this](CodeSite at) {
          model.AwaitGroups(t, q, {.may_remain = may_remain, .half = half, .promised = promised, .site = at});
        },
        [=, this] { return model.CanAwaitGroups(q, may_remain, half); });
  }

  AsyncOperand Operand(BufferId b, const Rows& rows) const {
    const Shape& shape = shapes_[b.index()];
    BoxAccess box;
    box.buffer = b;
    box.rank = box.value_rank = static_cast<int>(shape.size());
    ByteCount bytes(4);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      box.start[d] = d == 0 ? rows.start : 0;
      box.count[d] = d == 0 ? rows.count : shape[d];
      box.step[d] = 1;
      box.lower[d] = 0;
      box.upper[d] = shape[d];
      box.order[d] = static_cast<std::uint8_t>(d);
      bytes = box.count[d] * bytes;
    }
    return {box, bytes, Proxy::kAsync};
  }
  AccessSet SetOfRows(BufferId b, const Rows& rows) const {
    const AsyncOperand operand = Operand(b, rows);
    const auto& box = std::get<BoxAccess>(operand.where);
    return SetOf(shapes_[b.index()], ElementSize(4), box, ReachOf(shapes_[b.index()], box));
  }

  // Until all threads are done and all halves performed, or nothing can go. 0: the first thread that can go, engines at
  // once; 1: engines only when no thread can go; else at random.
  void Run(std::uint32_t seed) {
    std::mt19937 random(seed);
    while (true) {
      std::vector<Thread_*> can;
      for (Thread_& thread : threads_) {
        if (thread.next < thread.steps.size() &&
            (!thread.steps[thread.next].ready || thread.steps[thread.next].ready())) {
          can.push_back(&thread);
        }
      }
      const std::vector<PendingHalf> pending = model.Pending();
      const std::size_t choices = can.size() + pending.size();
      if (choices == 0) break;
      std::size_t choice = random() % choices;
      if (seed == 0) choice = pending.empty() ? 0 : can.size();
      if (seed == 1) choice = can.empty() ? choices - 1 : 0;
      if (choice >= can.size()) {
        model.Perform(pending[choice - can.size()], &memory);
      } else {
        Thread_& thread = *can[choice];
        const Step& step = thread.steps[thread.next++];
        step.run(step.site);
        if (thread.next == thread.steps.size()) model.AgentEnds(thread.id);
      }
    }
    for (const Thread_& thread : threads_) {
      if (thread.next == thread.steps.size()) continue;
      const Step& step = thread.steps[thread.next];
      if (step.waiting) blocked.push_back(step.waiting(step.site));
    }
    if (blocked.empty()) model.End({LocId{}, lines_ + 1});
  }

  // The codes found, each once; DEADLOCK if threads are blocked.
  std::set<std::string> Codes() const {
    std::set<std::string> codes;
    for (const Finding& finding : model.findings()) codes.insert(std::string(Code(finding.code)));
    if (!blocked.empty()) codes.insert("DEADLOCK");
    if (!status_.ok()) codes.insert(std::string(status_.message()));
    return codes;
  }
  const Finding* Find(FindingCode code) const {
    for (const Finding& finding : model.findings()) {
      if (finding.code == code) return &finding;
    }
    return nullptr;
  }

  ConcurrencyModel model;
  Memory memory;
  std::vector<WaitRecord> blocked;

 private:
  struct Step {
    std::function<void(CodeSite)> run;
    std::function<bool()> ready;
    std::function<WaitRecord(CodeSite)> waiting;
    CodeSite site;
  };
  struct Thread_ {
    AgentId id;
    std::vector<Step> steps;
    std::size_t next = 0;
  };
  Thread_& Of(AgentId thread) { return threads_[thread.index()]; }

  std::vector<Thread_> threads_;
  std::vector<std::unique_ptr<std::vector<float>>> data_;
  std::vector<Shape> shapes_;
  int lines_ = 0;
  absl::Status status_;
};

}  // namespace palladion::memory_model::concurrency_test

#endif  // PALLADION_MEMORY_MODEL_CONCURRENCY_TEST_UTIL_H_
