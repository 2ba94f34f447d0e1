// The hunt after false verdicts, as many kernels as one likes (docs/develop/hunting.md):
//
//   build/hunt [FAMILY] [KERNELS [FIRST]] [--show] [--seeds N] [--schedules N] [--states N] [--resume FILE]
//     [--record FILE --commit NAME]
//   build/hunt [FAMILY] [KERNELS [FIRST]] --policies N
//   build/hunt ends [FAMILY] [KERNELS [FIRST]] [--show] [--seeds N] [--interleavings N] [--ops N]
//
// `tensor`: kernels of Blackwell, `tpu`: of TPUs, `loops`: with loops that wait, `pipelines`: of TPUs with blocks,
// `clusters`: of two blocks that copy together, `warps`: of threads whose warps do something of their own, `credits`:
// of threads that take credits of semaphores and give them back, `cancel`: of cluster launch control, `lanes`: of
// Triton, whose lanes touch memory; all have numbers of their own.
// `--seeds N`: schedules beyond the check's own that each `proved` kernel runs under (1000 for each fifth number, 64
// for the others). `--schedules N`, `--states N`: of the check's own exhaustive search and of the reference machine's.
// `--resume FILE`: the counts so far are there after each kernel, and a hunt that finds them goes on behind them.
// `--record FILE`: a row of the table of all runs. Prints each contradiction with a kernel that is shrunk to what it
// needs, then a table by verdict. Exits nonzero when there was one.
// `--policies N`: no hunt, but for each kernel which of so many seeds of each policy shows its deadlock or race
// (hunt_seeds.h).
// `ends`: runs every schedule of those kernels whose reference machine has at most 120 states, and says of how many
// that came to an end; `--show`: of each; `--seeds`: so many random schedules must end as one of the search does, and
// `--interleavings`: all that there are, where these are no more. `--ops`: of kernels that are cut to so many
// operations. Exits nonzero where one did not end, or ended in other ways.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "emu/tools/hunt/hunt_cancel.h"
#include "emu/tools/hunt/hunt_ends.h"
#include "emu/tools/hunt/hunt_lanes.h"
#include "emu/tools/hunt/hunt_oracle.h"
#include "emu/tools/hunt/hunt_random.h"
#include "emu/tools/hunt/hunt_record.h"
#include "emu/tools/hunt/hunt_seeds.h"
#include "semantics/base/cat.h"

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
  std::string family = "all", commit = "unknown", resume, record;
  std::uint64_t kernels = 10'000, first = 1;
  std::int64_t more_seeds = 0;  // 0: kMany of every fifth kernel, kFew of the others
  bool show = false;
  std::int64_t max_schedules = 3'000, max_states = 200'000;
  std::int64_t interleavings = 0;
  std::int64_t ops = 0;       // of kernels that are cut; 0: none is
  std::int64_t policies = 0;  // seeds of each policy, instead of a hunt
};

constexpr std::int64_t kMany = 1000, kFew = 64;

const std::map<std::string_view, Kernels> kFamilies = {
    {"tensor", Kernels::kTensor},       {"tpu", Kernels::kTpu},           {"loops", Kernels::kLoops},
    {"pipelines", Kernels::kPipelines}, {"clusters", Kernels::kClusters}, {"warps", Kernels::kWarps},
    {"credits", Kernels::kCredits},     {"cancel", Kernels::kCancel},     {"lanes", Kernels::kLanes}};

const std::map<std::string_view, std::int64_t Arguments::*> kCounts = {{"--seeds", &Arguments::more_seeds},
                                                                       {"--schedules", &Arguments::max_schedules},
                                                                       {"--states", &Arguments::max_states},
                                                                       {"--policies", &Arguments::policies},
                                                                       {"--interleavings", &Arguments::interleavings},
                                                                       {"--ops", &Arguments::ops}};
const std::map<std::string_view, std::string Arguments::*> kNames = {
    {"--commit", &Arguments::commit}, {"--resume", &Arguments::resume}, {"--record", &Arguments::record}};

// Nothing where a word is neither a family, nor a flag with what it needs, nor one of two numbers.
std::optional<Arguments> Read(absl::Span<char* const> given) {
  Arguments read;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view word = given[i];
    const bool last = i + 1 == given.size();
    std::uint64_t number = 0;
    if (word == "ends") {
      read.ends = true;
    } else if (word == "--show") {
      read.show = true;
    } else if (const auto family = kFamilies.find(word); family != kFamilies.end()) {
      read.which = family->second;
      read.family = word;
    } else if (const auto count = kCounts.find(word); count != kCounts.end()) {
      if (last || !absl::SimpleAtoi(given[++i], &(read.*count->second))) return std::nullopt;
    } else if (const auto name = kNames.find(word); name != kNames.end()) {
      if (last) return std::nullopt;
      read.*name->second = given[++i];
    } else if (absl::SimpleAtoi(given[i], &number) && numbers.size() < 2) {
      numbers.push_back(number);
    } else {
      return std::nullopt;
    }
  }
  if (!numbers.empty()) read.kernels = numbers[0];
  if (numbers.size() > 1) read.first = numbers[1];
  return read;
}

int SayUsage() {
  std::string families;
  for (const auto& [name, kernels] : kFamilies) families += Cat(families.empty() ? "" : "|", name);
  std::fprintf(stderr,
               "usage: hunt [ends] [%s] [KERNELS [FIRST]] [--show] [--seeds N] [--schedules N] [--states N]\n"
               "  [--policies N] [--interleavings N] [--ops N] [--resume FILE] [--record FILE] [--commit NAME]\n"
               "emu/tools/hunt/hunt_main.cc says what each is for\n",
               families.c_str());
  return 4;
}

int CountEnds(const Arguments& arguments) {
  int searched = 0, ended = 0, slow = 0, others = 0;
  std::int64_t schedules = 0, pruned = 0, compared = 0, interleavings = 0;
  double seconds = 0, longest = 0;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.kernels; ++seed) {
    HuntKernel kernel = RandomKernel(seed, arguments.which);
    if (arguments.ops > 0) kernel = CutTo(std::move(kernel), static_cast<int>(arguments.ops), seed);
    const Ends ends = EndsOf(kernel, {.seeds = arguments.more_seeds, .interleavings = arguments.interleavings});
    if (!ends.searched) continue;
    ++searched;
    ended += ends.ended;
    slow += ends.seconds > 1;
    schedules += ends.schedules;
    pruned += ends.pruned;
    compared += ends.interleavings > 0;
    interleavings += ends.interleavings;
    seconds += ends.seconds;
    longest = std::max(longest, ends.seconds);
    const bool differs = ends.ended && !ends.expected.empty() && ends.found != ends.expected;
    others += differs || !ends.unseen.empty();
    for (const std::string& way : ends.unseen)
      std::printf("%llu: no schedule of the search ends so: %s\n", static_cast<unsigned long long>(seed), way.c_str());
    if (arguments.show) std::printf("%s", Write(kernel).text.c_str());
    if (arguments.show || differs || !ends.ended || !ends.error.empty())
      std::printf("%llu: %s%s, %lld states, %lld schedules, %lld given up, %.2f s %s\n",
                  static_cast<unsigned long long>(seed), ends.ended ? "ended" : "did not end",
                  differs ? ", with other outcomes than the reference machine" : "",
                  static_cast<long long>(ends.states), static_cast<long long>(ends.schedules),
                  static_cast<long long>(ends.pruned), ends.seconds, ends.error.c_str());
    std::fflush(stdout);
  }
  std::printf(
      "%d kernels of at most 120 states; every schedule of %d was run, in %.1f s; more than a second each: %d, "
      "the longest %.2f s; schedules %lld, given up %lld; all interleavings of %lld were compared: %lld; outcomes "
      "differ: "
      "%d\n",
      searched, ended, seconds, slow, longest, static_cast<long long>(schedules), static_cast<long long>(pruned),
      static_cast<long long>(compared), static_cast<long long>(interleavings), others);
  return ended == searched && others == 0 ? 0 : 1;
}

void PrintTotals(const HuntTotals& totals) {
  const auto count = [&](const char* name) { return static_cast<long long>(totals.Count(name)); };
  std::printf("%lld kernels from %lld\n", static_cast<long long>(totals.kernels), static_cast<long long>(totals.first));
  for (const char* const verdict : {"proved", "clean", "nondeterministic", "warning", "defect", "refused"}) {
    if (count(verdict) > 0) std::printf("  %s: %lld\n", verdict, count(verdict));
  }
  std::printf("every order searched: by the reference machine %lld, by the check %lld\n", count("searched"),
              count("exhausted"));
  std::printf("clean under the seeds, and not in every order: %lld\n", count("missed"));
  std::printf("schedules whose races were compared: %lld, with races: %lld\n", count("races_compared"),
              count("with_races"));
  std::printf("the same kernel in other words: %lld\n", count("related"));
  for (const auto& [kind, times] : totals.contradicted)
    std::printf("contradiction: %s: %lld\n", kind.c_str(), static_cast<long long>(times));
}

int Hunt(const Arguments& arguments) {
  for (std::uint64_t i = 0; arguments.policies > 0 && i < arguments.kernels; ++i)
    std::fputs(SeedsNeeded(arguments.first + i, arguments.which, arguments.policies).c_str(), stdout);
  if (arguments.policies > 0) return 0;
  HuntTotals totals{
      .commit = arguments.commit, .family = arguments.family, .first = static_cast<std::int64_t>(arguments.first)};
  const auto fails = [](const absl::Status& status) {
    if (!status.ok()) std::fprintf(stderr, "hunt: %s\n", std::string(status.message()).c_str());
    return !status.ok();
  };
  if (!arguments.resume.empty() && fails(GoOn(arguments.resume, &totals))) return 4;
  while (totals.kernels < static_cast<std::int64_t>(arguments.kernels)) {
    const std::uint64_t seed = arguments.first + static_cast<std::uint64_t>(totals.kernels);
    const std::int64_t more = seed % 5 == 0 ? kMany : kFew;
    const HuntOptions options{.more_seeds = arguments.more_seeds > 0 ? arguments.more_seeds : more,
                              .max_states = arguments.max_states,
                              .max_schedules = arguments.max_schedules,
                              .elided_seeds = 24,
                              .related_seeds = 16,
                              .part_seeds = 24};
    const bool lanes = arguments.which == Kernels::kLanes, own = lanes || arguments.which == Kernels::kCancel;
    const HuntKernel kernel = own ? HuntKernel() : RandomKernel(seed, arguments.which);
    const HuntResult result = lanes ? JudgeLanes(RandomLanes(seed), options)
                              : own ? JudgeCancel(RandomCancel(seed), options)
                                    : Judge(kernel, options);
    if (arguments.show)
      std::printf("%s%llu: %s (%s)\n", result.text.c_str(), static_cast<unsigned long long>(seed),
                  result.verdict.c_str(), result.codes.c_str());
    totals.Add(result);
    for (const Contradiction& contradiction : result.contradictions) {
      if (totals.contradicted[contradiction.kind] > 3) continue;
      if (own)
        std::printf("== kernel %llu: %s: %s\n%s\n", static_cast<unsigned long long>(seed), contradiction.kind.c_str(),
                    contradiction.detail.c_str(), result.text.c_str());
      if (!own) Print(seed, kernel, contradiction, options);
    }
    if (!arguments.resume.empty() && fails(Save(arguments.resume, totals))) return 4;
  }
  PrintTotals(totals);
  if (!arguments.record.empty() && fails(AddRow(arguments.record, totals))) return 4;
  return totals.contradicted.empty() ? 0 : 1;
}

}  // namespace
}  // namespace palladion::hunt

int main(int argc, char** argv) {
  const auto arguments = palladion::hunt::Read(absl::MakeConstSpan(argv + 1, static_cast<std::size_t>(argc - 1)));
  if (!arguments.has_value()) return palladion::hunt::SayUsage();
  return arguments->ends ? palladion::hunt::CountEnds(*arguments) : palladion::hunt::Hunt(*arguments);
}
