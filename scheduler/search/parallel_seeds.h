// Many runs on all cores, with results that do not depend on the number of cores: runs are independent, and their
// results are merged in the order of the seeds, by one thread at a time.
#ifndef PALLADION_SCHEDULER_SEARCH_PARALLEL_SEEDS_H_
#define PALLADION_SCHEDULER_SEARCH_PARALLEL_SEEDS_H_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace palladion::scheduler {

// Calls run(seed) for first <= seed < last, and take(seed, result) for each in order; take returns false to stop: no
// later result is taken. threads 0: one for each core. What run throws, the lowest seed's first, is thrown here.
template <class Result>
class ParallelSeeds {
 public:
  using Run = std::function<Result(std::int64_t seed)>;
  using Take = std::function<bool(std::int64_t seed, Result result)>;

  ParallelSeeds(std::int64_t first, std::int64_t last, int threads) : last_(last), threads_(threads) {
    next_run_ = next_take_ = first;
    if (threads_ == 0) threads_ = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    threads_ = static_cast<int>(std::clamp<std::int64_t>(last - first, 1, threads_));
  }

  void Do(const Run& run, const Take& take) {
    std::vector<std::thread> helpers;
    for (int i = 1; i < threads_; ++i) helpers.emplace_back([&] { Work(run, take); });
    Work(run, take);
    for (std::thread& helper : helpers) helper.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  struct Done {
    std::optional<Result> result;
    std::exception_ptr error;
  };

  void Work(const Run& run, const Take& take) {
    std::unique_lock lock(mutex_);
    for (;;) {
      // No run gets far ahead of the slowest: results that wait take memory.
      changed_.wait(lock, [&] { return stopped_ || next_run_ == last_ || next_run_ < next_take_ + 8 * threads_; });
      if (stopped_ || next_run_ == last_) return;
      const std::int64_t seed = next_run_++;
      lock.unlock();
      Done done;
      try {
        done.result.emplace(run(seed));
      } catch (...) {
        done.error = std::current_exception();
      }
      lock.lock();
      done_.emplace(seed, std::move(done));
      TakeInOrder(take);
      changed_.notify_all();
    }
  }

  void TakeInOrder(const Take& take) {
    for (auto at = done_.find(next_take_); at != done_.end() && !stopped_; at = done_.find(next_take_)) {
      Done done = std::move(at->second);
      done_.erase(at);
      error_ = done.error;
      stopped_ = done.error != nullptr || !take(next_take_, std::move(*done.result));
      ++next_take_;
    }
  }

  const std::int64_t last_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Done> done_;  // not taken yet
  std::int64_t next_run_, next_take_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_SEARCH_PARALLEL_SEEDS_H_
