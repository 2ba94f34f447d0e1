// Random numbers that are the same on every host: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which needs one word of
// state and takes any seed. Not for cryptography.
#ifndef PALLADION_SCHEDULER_POLICIES_RANDOM_H_
#define PALLADION_SCHEDULER_POLICIES_RANDOM_H_

#include <cstdint>

namespace palladion::scheduler {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Uniform in [0, n), n > 0: the high word of a product, without its bias (Lemire, ACM TOMACS 29, 2019).
  std::uint64_t Below(std::uint64_t n) {
    const std::uint64_t threshold = (0 - n) % n;
    for (;;) {
      const auto product = static_cast<unsigned __int128>(Next()) * n;
      if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
    }
  }

  bool Chance(std::uint64_t of_1000) { return Below(1000) < of_1000; }

 private:
  std::uint64_t state_;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_RANDOM_H_
