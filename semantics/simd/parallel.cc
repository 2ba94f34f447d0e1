#include "semantics/simd/parallel.h"

#include <cfenv>
#include <chrono>

#include "semantics/simd/host.h"

namespace palladion::simd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kAwake{50};  // about what falling asleep and being woken costs
constexpr int kPausesPerLook = 32;               // looking at the clock costs a few pauses

// True once `done` holds; false when it did not within `limit`.
template <class Done>
bool Spin(Clock::duration limit, Done done) {
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace

Parallel::Parallel(std::size_t threads) {
  for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

Parallel::~Parallel() {
  stopping_.store(true);
  {
    const std::lock_guard<std::mutex> lock(mutex_);  // a worker that is about to sleep has seen it, or will be notified
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Parallel::For(std::size_t parts, absl::FunctionRef<void(std::size_t)> run) {
  const std::lock_guard<std::mutex> turn(turn_);
  parts_ = parts;
  run_ = &run;
  next_part_.store(0, std::memory_order_relaxed);
  if (workers_.empty() || parts < 2) return RunParts();
  gate_.store((gate_.load(std::memory_order_relaxed) + kRound) | kOpen);
  if (asleep_.load() > 0) {
    { const std::lock_guard<std::mutex> lock(mutex_); }
    wake_.notify_all();
  }
  RunParts();
  gate_.fetch_and(~kOpen);
  WaitUntilAllAreOut();
}

// A worker that is inside has at most one part to finish. On a busy host its processor may have been taken away: then
// this thread sleeps, which gives its own one away at once, where yielding would give it to any process for as long as
// they like.
void Parallel::WaitUntilAllAreOut() {
  const auto all_out = [this] { return (gate_.load() & kInside) == 0; };
  if (Spin(kAwake, all_out)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.store(true);
  out_.wait(lock, all_out);
  waiting_.store(false);
}

bool Parallel::HasRound(std::uint64_t seen) const {
  const std::uint64_t gate = gate_.load();
  return stopping_.load() || ((gate & kOpen) != 0 && gate / kRound != seen);
}

bool Parallel::WaitForRound(std::uint64_t seen) {
  const auto ready = [&] { return HasRound(seen); };
  if (!Spin(kAwake, ready)) {
    std::unique_lock<std::mutex> lock(mutex_);
    ++asleep_;
    wake_.wait(lock, ready);
    --asleep_;
  }
  return !stopping_.load();
}

void Parallel::Work() {
  std::fesetenv(FE_DFL_ENV);
  std::uint64_t seen = 0;
  while (WaitForRound(seen)) {
    std::uint64_t gate = gate_.load();
    while ((gate & kOpen) != 0 && gate / kRound != seen) {
      if (!gate_.compare_exchange_weak(gate, gate + 1)) continue;
      seen = gate / kRound;
      RunParts();
      if (((gate_.fetch_sub(1) - 1) & kInside) == 0 && waiting_.load()) {
        { const std::lock_guard<std::mutex> lock(mutex_); }
        out_.notify_one();
      }
    }
  }
}

void Parallel::RunParts() {
  for (std::size_t part = next_part_++; part < parts_; part = next_part_++) (*run_)(part);
}

}  // namespace palladion::simd
