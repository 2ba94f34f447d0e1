#include "emu/tools/golden/causes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "emu/check/plain_run.h"
#include "emu/run/launch/launch.h"
#include "emu/tools/golden/compare.h"
#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/status.h"
#include "semantics/ir/printer.h"

namespace palladion::golden {
namespace {

constexpr std::size_t kMostShown = 8;
constexpr std::int64_t kLeastShare = 4;  // what explains less than one in so many is no explanation
// Noise meets half of what a hypothesis gives at the most, as it has both signs: a hypothesis that is right less often
// is none.
constexpr double kLeastMet = 0.7;
// An error that no single element shows is there where it and the backend's go together by so many standard errors, and
// are of one size. Noise and other orders of summation know nothing of it.
constexpr double kLeastStandardErrors = 8, kLeastOfSize = 0.6, kMostOfSize = 1.4;
// By value is what takes the error away: a value that is as far off as the golden one explains nothing.
constexpr double kLeftOfError = 0.25;

// How near is near enough where a mistake moved values: an element's own tolerance, or the usual one of its output, as
// the value that stands there may be another element's.
double UsualTolerance(const GoldenOutput& output) {
  if (!output.tolerance.has_value()) return 0;
  std::vector<double> all(output.tolerance->span<double>().begin(), output.tolerance->span<double>().end());
  std::erase_if(all, [](double e) { return !std::isfinite(e); });
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

class Search {
 public:
  Search(const Bundle& bundle, absl::Span<const Tensor* const> found, const CauseOptions& options)
      : bundle_(bundle), found_(found), options_(options), seen_{bundle.outputs, found, held_} {
    for (std::size_t i = 0; i < found.size(); ++i) {
      usual_.push_back(UsualTolerance(bundle.outputs[i]));
      held_.emplace_back();
      if (found[i] != nullptr) held_.back() = CompareOutput(bundle.outputs[i], *found[i], {}).held;
    }
  }

  absl::StatusOr<Causes> Run() {
    causes_.over = CountOf(Held::kOver) > 0;
    causes_.wrong = CountOf(causes_.over ? Held::kOver : Held::kWithin);
    causes_.right = CountOf(Held::kSame) + (causes_.over ? CountOf(Held::kWithin) : 0);
    if (causes_.wrong == 0 || !options_.wanted) return causes_;
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel,
                               PrepareText(bundle_.text, {.kernel = bundle_.kernel, .target = bundle_.target}));
    const Module module = OnlyKernel(kernel);
    const auto start = std::chrono::steady_clock::now();
    for (const Hypothesis& hypothesis : AllOf(module)) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (causes_.tried + causes_.failed >= options_.most || spent.count() > options_.seconds) {
        ++causes_.left;
        continue;
      }
      PALLADION_RETURN_IF_ERROR(Try(module, hypothesis));
    }
    Rank();
    return causes_;
  }

 private:
  // Where nothing is over tolerance, only what changes roundings can be meant.
  std::vector<Hypothesis> AllOf(const Module& module) const {
    std::vector<Hypothesis> all;
    if (causes_.over) {
      AddEpilogueHypotheses(module, all);
      AddOutputHypotheses(module, seen_, all);
    }
    AddOperandHypotheses(module, all);
    if (causes_.over) {
      AddBlockHypotheses(module, all);
      AddPaddingHypotheses(module, all);
    }
    AddRoundingHypotheses(module, all);
    AddSumHypotheses(module, all);
    if (causes_.over) AddProgramHypotheses(module, all);
    return all;
  }

  std::int64_t CountOf(Held what) const {
    std::int64_t n = 0;
    for (const std::vector<Held>& held : held_) n += std::count(held.begin(), held.end(), what);
    return n;
  }

  absl::StatusOr<std::vector<Tensor>> Outputs(const std::string& text, Fill fill) const {
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel,
                               PrepareText(text, {.kernel = bundle_.kernel, .target = bundle_.target}));
    agents::LaunchOptions launch{.run = options_.run};
    launch.fill = fill;
    launch.run.legality = LegalityMode::kOff;  // of values alone
    PALLADION_ASSIGN_OR_RETURN(RunResult result, check::RunWatched(kernel, bundle_.inputs, launch));
    PALLADION_RETURN_IF_ERROR(launch::EndOf(result.report));
    return std::move(result.outputs);
  }

  // A kernel that cannot be prepared, or does not end, is no explanation.
  absl::Status Try(const Module& module, const Hypothesis& hypothesis) {
    std::string text;
    if (hypothesis.computed == nullptr) {
      Module edited = module;
      hypothesis.edit(edited);
      text = Print(edited);
    }
    const absl::StatusOr<std::vector<Tensor>> outputs =
        hypothesis.computed == nullptr ? Outputs(text, hypothesis.fill) : hypothesis.computed();
    if (!outputs.ok()) {
      ++causes_.failed;
      return absl::IsCancelled(outputs.status()) ? outputs.status() : absl::OkStatus();
    }
    ++causes_.tried;
    if (hypothesis.enlarged != 0) {
      JudgeTogether(hypothesis, *outputs, text);
      return absl::OkStatus();
    }
    std::optional<std::vector<Tensor>> others;
    if (hypothesis.anything) {
      absl::StatusOr<std::vector<Tensor>> again = Outputs(text, {.kind = Fill::Kind::kZero});
      if (again.ok()) others = *std::move(again);
    }
    Cause cause{.kind = hypothesis.kind, .what = hypothesis.what, .explained = 0, .spoiled = 0, .text = text};
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      if (found_[i] != nullptr) Judge(hypothesis, i, (*outputs)[i], others ? &(*others)[i] : nullptr, cause);
    }
    // What it leaves unwritten is an explanation of that block; where more is wrong, it is none of anything.
    if (cause.unwritten > 0 && cause.explained < causes_.wrong) cause.explained -= std::exchange(cause.unwritten, 0);
    const bool right = static_cast<double>(cause.met) >= kLeastMet * static_cast<double>(cause.changed);
    if (right && cause.explained > cause.spoiled) causes_.likely.push_back(std::move(cause));
    return absl::OkStatus();
  }

  static bool SameBits(const Tensor& a, const Tensor& b, std::int64_t i) {
    const std::size_t n = StorageBytes(a.dtype()), at = static_cast<std::size_t>(i) * n;
    return std::equal(a.bytes() + at, a.bytes() + at + n, b.bytes() + at);
  }

  // How near is near enough for element i, where the hypothesis has values of `scale`.
  double Reach(std::size_t output, std::int64_t i, double scale) const {
    const std::optional<Tensor>& tolerance = bundle_.outputs[output].tolerance;
    const double own = tolerance.has_value() ? tolerance->data<double>()[i] : 0;
    return scale * (std::isfinite(own) ? std::max(own, usual_[output]) : usual_[output]);
  }

  static double Distance(const Tensor& a, const Tensor& b, std::int64_t i) {
    const double x = NumberAt(a, i), y = NumberAt(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double distance = std::abs(x - y);
    return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
  }

  // Is what the hypothesis gives what the backend gave? A wrong element's error has to be taken away, too.
  bool Explains(const Hypothesis& hypothesis, std::size_t output, const Tensor& gives, std::int64_t i,
                bool wrong) const {
    if (SameBits(gives, *found_[output], i)) return true;
    if (hypothesis.of_numbers || (!causes_.over && !hypothesis.of_width)) return false;
    const double left = Distance(gives, *found_[output], i);
    if (left > Reach(output, i, hypothesis.scale)) return false;
    return !wrong || left <= kLeftOfError * Distance(bundle_.outputs[output].values, *found_[output], i);
  }

  // Does the hypothesis say that the kernel gives something else here?
  bool Changes(const Hypothesis& hypothesis, std::size_t output, const Tensor& gives, std::int64_t i) const {
    const Tensor& golden = bundle_.outputs[output].values;
    if (hypothesis.of_numbers || !causes_.over) return !SameBits(gives, golden, i);
    return Distance(gives, golden, i) > Reach(output, i, 1);
  }

  void Judge(const Hypothesis& hypothesis, std::size_t output, const Tensor& gives, const Tensor* other, Cause& cause) {
    for (std::int64_t i = 0; i < gives.num_elements(); ++i) {
      const Held held = held_[output][static_cast<std::size_t>(i)];
      if (held == Held::kUndefined) continue;
      const bool wrong = held == Held::kOver || (!causes_.over && held == Held::kWithin);
      const bool unwritten = other != nullptr && !SameBits(gives, *other, i);
      const bool explained = unwritten || Explains(hypothesis, output, gives, i, wrong);
      if (wrong && explained) ++cause.explained;
      if (wrong && unwritten) ++cause.unwritten;
      if (!wrong && (unwritten || !explained)) ++cause.spoiled;
      if (unwritten || !Changes(hypothesis, output, gives, i)) continue;
      ++cause.changed;
      if (explained) ++cause.met;
    }
  }

  // How far the backend's errors are the hypothesis' ones, by linear regression over all elements. A bias that both
  // have, as sums of positive numbers do, says nothing: each is held against its mean.
  struct Together {
    double found = 0, given = 0, found2 = 0, given2 = 0, both = 0;  // sums, of squares and of products
    double elements = 0;

    void Add(double error, double of_hypothesis) {
      found += error, given += of_hypothesis, ++elements;
      found2 += error * error, given2 += of_hypothesis * of_hypothesis, both += error * of_hypothesis;
    }
    bool IsShown() const {
      const double a = found2 - found * found / elements, b = given2 - given * given / elements;
      const double ab = both - found * given / elements;
      if (!(a > 0 && b > 0)) return false;
      const double size = ab / b, standard_errors = ab / std::sqrt(a * b) * std::sqrt(elements);
      return standard_errors >= kLeastStandardErrors && size >= kLeastOfSize && size <= kMostOfSize;
    }
  };

  // Explained are the wrong elements whose error it makes smaller, spoiled the right ones that it would move.
  void JudgeTogether(const Hypothesis& hypothesis, const std::vector<Tensor>& outputs, const std::string& text) {
    Cause cause{.kind = hypothesis.kind, .what = hypothesis.what, .text = text};
    Together together;
    for (std::size_t output = 0; output < outputs.size() && !causes_.over; ++output) {
      if (found_[output] == nullptr) continue;
      for (std::int64_t i = 0; i < outputs[output].num_elements(); ++i) {
        const Held held = held_[output][static_cast<std::size_t>(i)];
        const double golden = NumberAt(bundle_.outputs[output].values, i);
        const double error = NumberAt(*found_[output], i) - golden;
        const double given = (NumberAt(outputs[output], i) - golden) / hypothesis.enlarged;
        if (held == Held::kUndefined || !std::isfinite(error) || !std::isfinite(given) || given == 0) continue;
        together.Add(error, given);
        if (held == Held::kWithin && std::abs(error - given) < std::abs(error)) ++cause.explained;
        if (held == Held::kSame && static_cast<float>(golden + given) != static_cast<float>(golden)) ++cause.spoiled;
      }
    }
    if (together.IsShown()) causes_.likely.push_back(std::move(cause));
  }

  void Rank() {
    const auto order = [](const Cause& cause) {
      return std::make_pair(cause.spoiled - cause.explained, cause.unwritten);
    };
    std::stable_sort(causes_.likely.begin(), causes_.likely.end(),
                     [&](const Cause& a, const Cause& b) { return order(a) < order(b); });
    const std::int64_t best = causes_.likely.empty() ? 0 : -order(causes_.likely[0]).first;
    const std::int64_t least = std::max(best / 2, causes_.wrong / kLeastShare);
    std::erase_if(causes_.likely, [&](const Cause& cause) { return -order(cause).first < least; });
    // Where something explains all of it by value, that anything might stand there is no other explanation.
    const bool known = !causes_.likely.empty() && causes_.likely[0].unwritten == 0 && causes_.likely[0].spoiled == 0 &&
                       causes_.likely[0].explained == causes_.wrong;
    std::erase_if(causes_.likely, [&](const Cause& cause) { return known && cause.unwritten == cause.explained; });
    if (causes_.likely.size() > kMostShown) causes_.likely.resize(kMostShown);
  }

  const Bundle& bundle_;
  const absl::Span<const Tensor* const> found_;
  const CauseOptions& options_;
  std::vector<double> usual_;            // of each output
  std::vector<std::vector<Held>> held_;  // of each output's elements
  const SeenOutputs seen_;
  Causes causes_;
};

}  // namespace

absl::StatusOr<Causes> FindCauses(const Bundle& bundle, absl::Span<const Tensor* const> found,
                                  const CauseOptions& options) {
  return Search(bundle, found, options).Run();
}

}  // namespace palladion::golden
