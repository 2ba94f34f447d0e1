// The hunt after false verdicts, as many kernels as one likes (docs/hunting.md):
//
//   build/hunt [tensor] [KERNELS [FIRST [--show]]]
//
// `tensor`: kernels of Blackwell, which have numbers of their own.
// Prints each contradiction with a kernel that is shrunk to what it needs, then a table by verdict. Exits nonzero when
// there was one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "emu/hunt/hunt_oracle.h"
#include "emu/hunt/hunt_random.h"

namespace palladion::hunt {
namespace {

void Print(std::uint64_t seed, const HuntKernel& kernel, const Contradiction& contradiction,
           const HuntOptions& options) {
  const HuntKernel small = ShrinkKernel(kernel, contradiction.kind, options);
  const HuntResult result = Judge(small, options);
  std::string detail = contradiction.detail;
  for (const Contradiction& again : result.contradictions) {
    if (again.kind == contradiction.kind) detail = again.detail;
  }
  std::printf("== kernel %llu on %s: %s\n   %s\n   verdict: %s (%s)\n%s\n", static_cast<unsigned long long>(seed),
              kernel.target.c_str(), contradiction.kind.c_str(), detail.c_str(), result.verdict.c_str(),
              result.codes.c_str(), result.text.c_str());
  std::fflush(stdout);
}

int Hunt(std::uint64_t kernels, std::uint64_t first, bool show, Kernels which) {
  const HuntOptions options{.more_seeds = 256, .elided_seeds = 24, .part_seeds = 24};
  std::map<std::string, int> by_verdict, by_kind;
  int searched = 0, exhausted = 0, clean = 0, missed = 0;
  std::int64_t compared = 0, racy = 0;
  for (std::uint64_t seed = first; seed < first + kernels; ++seed) {
    const HuntKernel kernel = RandomKernel(seed, which);
    const HuntResult result = Judge(kernel, options);
    if (show)
      std::printf("%s%llu: %s (%s)\n", result.text.c_str(), static_cast<unsigned long long>(seed),
                  result.verdict.c_str(), result.codes.c_str());
    ++by_verdict[result.verdict];
    searched += result.searched;
    exhausted += result.exhausted;
    clean += result.verdict == "clean";
    missed += result.missed;
    compared += result.races_compared;
    racy += result.racy;
    for (const Contradiction& contradiction : result.contradictions) {
      if (++by_kind[contradiction.kind] <= 3) Print(seed, kernel, contradiction, options);
    }
  }
  std::printf("%llu kernels from %llu\n", static_cast<unsigned long long>(kernels),
              static_cast<unsigned long long>(first));
  for (const auto& [verdict, times] : by_verdict) std::printf("  %s: %d\n", verdict.c_str(), times);
  std::printf("every order searched: by the reference machine %d, by the check %d\n", searched, exhausted);
  std::printf("clean under the seeds: %d, of them not in every order: %d\n", clean, missed);
  std::printf("schedules whose races were compared: %lld, with races: %lld\n", static_cast<long long>(compared),
              static_cast<long long>(racy));
  for (const auto& [kind, times] : by_kind) std::printf("contradiction: %s: %d\n", kind.c_str(), times);
  return by_kind.empty() ? 0 : 1;
}

}  // namespace
}  // namespace palladion::hunt

int main(int argc, char** argv) {
  const bool tensor = argc > 1 && std::string(argv[1]) == "tensor";
  if (tensor) ++argv, --argc;
  const std::uint64_t kernels = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  using palladion::hunt::Kernels;
  return palladion::hunt::Hunt(kernels, first, argc > 3, tensor ? Kernels::kTensor : Kernels::kAll);
}
