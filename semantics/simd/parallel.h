// Host threads that share one pure operation: the operation is cut into parts that write disjoint bytes, so the bits
// never depend on how many threads there are or which of them runs what. Not for agents: those have no host threads.
// A worker waits for the next round awake for a moment, since the operations of a kernel follow each other closely and
// waking a sleeper takes longer than many an operation; then it sleeps.
#ifndef PALLADION_SEMANTICS_SIMD_PARALLEL_H_
#define PALLADION_SEMANTICS_SIMD_PARALLEL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace palladion::simd {

class Parallel {
 public:
  // `threads` includes the caller of For; one or fewer starts none. Workers compute with the default floating-point
  // environment (to nearest, subnormals kept), whatever the creating thread has.
  explicit Parallel(std::size_t threads = std::thread::hardware_concurrency());
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  // Calls run(part) once for every part in [0, parts), on the workers and on the calling thread, and returns when all
  // have returned. `run` does not throw. Calls of For from several threads take turns; `run` itself does not call For.
  void For(std::size_t parts, absl::FunctionRef<void(std::size_t)> run);

 private:
  void Work();
  bool WaitForRound(std::uint64_t seen);  // false: stopping
  bool HasRound(std::uint64_t seen) const;
  void RunParts();
  void WaitUntilAllAreOut();

  // The gate holds the number of the round, whether workers may enter it, and how many are inside. A worker that comes
  // too late finds it shut and is not waited for.
  static constexpr std::uint64_t kInside = (std::uint64_t{1} << 16) - 1;
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kRound = std::uint64_t{1} << 17;

  std::mutex turn_;  // held by the For in progress
  std::atomic<std::uint64_t> gate_{0};
  std::atomic<std::size_t> asleep_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> waiting_{false};  // For sleeps until all are out
  std::mutex mutex_;                  // of the sleepers
  std::condition_variable wake_;
  std::condition_variable out_;
  std::size_t parts_ = 0;  // of a round, as is run_: written while no worker is inside
  const absl::FunctionRef<void(std::size_t)>* run_ = nullptr;
  std::atomic<std::size_t> next_part_{0};
  std::vector<std::thread> workers_;
};

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_PARALLEL_H_
