#include "scheduler/coroutine_agent.h"

#include <cxxabi.h>

#include <boost/coroutine2/coroutine.hpp>
#include <boost/coroutine2/fixedsize_stack.hpp>
#include <cstddef>
#include <exception>
#include <utility>

// AddressSanitizer must know every change of stacks, or it takes an exception on the other one for an overflow.
// Weak: there only where the sanitizer is.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* size);
}

namespace palladion::scheduler {
namespace {

using Coroutine = boost::coroutines2::coroutine<void>;

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

// Around a switch: what is written before it on one stack, and after it on the other.
void LeaveFor(void** fake_stack, const StackBounds& to) {
  if (__sanitizer_start_switch_fiber != nullptr) __sanitizer_start_switch_fiber(fake_stack, to.bottom, to.size);
}
void Arrive(void* fake_stack, StackBounds* from) {
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(fake_stack, from == nullptr ? nullptr : &from->bottom,
                                    from == nullptr ? nullptr : &from->size);
}

// What the C++ runtime keeps of exceptions in flight is a thread's, and would have to be a stack's: a body may be held
// inside a `catch`, or in a destructor that an exception calls, while others throw and catch theirs. (Itanium C++ ABI,
// 2.2.2; Boost.Context leaves it alone.)
class ExceptionsInFlight {
 public:
  // The thread's for the ones kept here: on the way to the stack that they are of, and back.
  void Swap() { std::swap(*reinterpret_cast<Globals*>(abi::__cxa_get_globals()), kept_); }

 private:
  struct Globals {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  Globals kept_;
};

// Remembers where the stack is.
class StackAllocator {
 public:
  explicit StackAllocator(StackBounds* bounds) : bounds_(bounds) {}
  boost::context::stack_context allocate() {
    const boost::context::stack_context stack = plain_.allocate();
    *bounds_ = {static_cast<const std::byte*>(stack.sp) - stack.size, stack.size};
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) { plain_.deallocate(stack); }

 private:
  // A sanitizer's frames are several times as large.
  static constexpr std::size_t kBytes = std::size_t{64} << 10, kSanitizedBytes = std::size_t{256} << 10;
  boost::context::fixedsize_stack plain_{__sanitizer_start_switch_fiber == nullptr ? kBytes : kSanitizedBytes};
  StackBounds* bounds_;
};

}  // namespace

class CoroutineAgent::Stack final : public AgentContext {
 public:
  explicit Stack(Body body)
      : body_(std::move(body)), resume_(StackAllocator(&own_), [this](Coroutine::pull_type& hold) { Main(hold); }) {}

  ~Stack() override {
    if (started_ && !done_) {
      stopped_ = true;
      Switch();
    }
    // Boost unwinds what is left of a coroutine on its own stack, even of one whose body has returned, and comes back
    // by itself: after the switch there the sanitizer still sees that stack, and the way back has to be announced too.
    void* fake_stack = nullptr;
    StackBounds here;
    LeaveFor(&fake_stack, own_);
    { const Coroutine::push_type last = std::move(resume_); }
    Arrive(nullptr, &here);
    LeaveFor(nullptr, here);
    Arrive(fake_stack, nullptr);
  }

  absl::Status Resume(Gate& gate) {
    gate_ = &gate;
    started_ = true;
    Switch();
    gate_ = nullptr;
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    return absl::OkStatus();
  }

  bool done() const { return done_; }

  void Go(const Operation& operation) override {
    while (!gate_->MayGo(operation)) {
      void* fake_stack = nullptr;
      LeaveFor(&fake_stack, caller_);
      (*hold_)();
      Arrive(fake_stack, &caller_);
      if (stopped_) throw AgentStopped();
    }
  }

  AgentOrdinal Spawn(std::shared_ptr<Agent> agent, const Operation& first) override {
    return gate_->Spawn(std::move(agent), first);
  }

 private:
  void Switch() {
    void* fake_stack = nullptr;
    exceptions_.Swap();
    LeaveFor(&fake_stack, own_);
    resume_();
    Arrive(fake_stack, nullptr);
    exceptions_.Swap();
  }

  // On the coroutine's stack. What the body throws belongs to the resumer: a test's failure, out of memory.
  void Main(Coroutine::pull_type& hold) {
    Arrive(nullptr, &caller_);
    hold_ = &hold;
    try {
      body_(*this);
    } catch (const AgentStopped&) {
    } catch (...) {
      error_ = std::current_exception();
    }
    done_ = true;
    void* fake_stack = nullptr;
    LeaveFor(&fake_stack, caller_);
  }

  Body body_;
  Gate* gate_ = nullptr;
  Coroutine::pull_type* hold_ = nullptr;
  StackBounds own_, caller_;
  ExceptionsInFlight exceptions_;
  std::exception_ptr error_;
  bool started_ = false, done_ = false, stopped_ = false;
  Coroutine::push_type resume_;
};

CoroutineAgent::CoroutineAgent(std::string name, Body body, AgentRole role)
    : name_(std::move(name)), role_(role), stack_(std::make_unique<Stack>(std::move(body))) {}

CoroutineAgent::~CoroutineAgent() = default;

absl::Status CoroutineAgent::Resume(Gate& gate) { return stack_->Resume(gate); }

bool CoroutineAgent::done() const { return stack_->done(); }

}  // namespace palladion::scheduler
