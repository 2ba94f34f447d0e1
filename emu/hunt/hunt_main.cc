// The hunt after false verdicts, as many kernels as one likes (docs/hunting.md):
//
//   build/hunt [tensor] [KERNELS [FIRST]] [--show] [--seeds N]
//   build/hunt ends [tensor] [KERNELS [FIRST]] [--show]
//
// `tensor`: kernels of Blackwell, which have numbers of their own. `--seeds N`: schedules beyond the check's own that
// each `proved` kernel runs under (256). Prints each contradiction with a kernel that is shrunk to what it needs, then
// a table by verdict. `ends`: runs every schedule of those kernels whose reference machine has at most 120 states, and
// says of how many that came to an end; `--show`: of each. Exits nonzero when there was one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/hunt/hunt_ends.h"
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

struct Arguments {
  bool ends = false;
  Kernels which = Kernels::kAll;
  std::uint64_t kernels = 10'000, first = 1;
  std::int64_t more_seeds = 256;
  bool show = false;
};

Arguments Read(absl::Span<char* const> given) {
  Arguments read;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view word = given[i];
    if (word == "ends") {
      read.ends = true;
    } else if (word == "tensor") {
      read.which = Kernels::kTensor;
    } else if (word == "--show") {
      read.show = true;
    } else if (word == "--seeds" && i + 1 < given.size()) {
      read.more_seeds = std::atoi(given[++i]);
    } else {
      numbers.push_back(std::strtoull(given[i], nullptr, 10));
    }
  }
  if (!numbers.empty()) read.kernels = numbers[0];
  if (numbers.size() > 1) read.first = numbers[1];
  return read;
}

int CountEnds(const Arguments& arguments) {
  int asked = 0, ended = 0, slow = 0, others = 0;
  std::int64_t schedules = 0, pruned = 0;
  double seconds = 0, longest = 0;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.kernels; ++seed) {
    const HuntKernel kernel = RandomKernel(seed, arguments.which);
    const Ends ends = EndsOf(kernel, {});
    if (!ends.asked) continue;
    ++asked;
    ended += ends.ended;
    slow += ends.seconds > 1;
    schedules += ends.schedules;
    pruned += ends.pruned;
    seconds += ends.seconds;
    longest = std::max(longest, ends.seconds);
    const bool differs = ends.ended && !ends.expected.empty() && ends.found != ends.expected;
    others += differs;
    if (arguments.show) std::printf("%s", Write(kernel).text.c_str());
    if (arguments.show || differs || !ends.ended)
      std::printf("%llu: %s%s, %lld states, %lld schedules, %lld given up, %.2f s %s\n",
                  static_cast<unsigned long long>(seed), ends.ended ? "ended" : "did not end",
                  differs ? ", with other outcomes than the reference machine" : "",
                  static_cast<long long>(ends.states), static_cast<long long>(ends.schedules),
                  static_cast<long long>(ends.pruned), ends.seconds, ends.error.c_str());
    std::fflush(stdout);
  }
  std::printf(
      "%d kernels of at most 120 states; every schedule of %d was run, in %.1f s; more than a second each: %d, "
      "the longest %.2f s; schedules %lld, given up %lld; outcomes differ: %d\n",
      asked, ended, seconds, slow, longest, static_cast<long long>(schedules), static_cast<long long>(pruned), others);
  return ended == asked && others == 0 ? 0 : 1;
}

int Hunt(const Arguments& arguments) {
  const auto [ends, which, kernels, first, more_seeds, show] = arguments;
  const HuntOptions options{.more_seeds = more_seeds, .elided_seeds = 24, .part_seeds = 24};
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
  const palladion::hunt::Arguments arguments =
      palladion::hunt::Read(absl::MakeConstSpan(argv + 1, static_cast<std::size_t>(argc - 1)));
  return arguments.ends ? palladion::hunt::CountEnds(arguments) : palladion::hunt::Hunt(arguments);
}
