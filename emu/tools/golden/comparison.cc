#include "emu/tools/golden/comparison.h"

#include <algorithm>
#include <utility>

#include "emu/tools/debug/element_query.h"
#include "emu/tools/debug/why.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/tensor/element_index.h"

namespace palladion::golden {
namespace {

constexpr int kWhyDepth = 3;
constexpr std::size_t kWhyLines = 24;

ElementStory StoryOf(const Bundle& bundle, const GoldenOutput& output, const Tensor& found, std::int64_t i,
                     const ComparisonOptions& options) {
  ElementStory story;
  story.element = debug::NamedElement(output.operand.name, IndexOfElement(output.operand.shape, i));
  story.golden = ElementText(output.values, i);
  story.found = ElementText(found, i);
  story.tolerance = output.tolerance.has_value() ? ElementText(*output.tolerance, i) : "0";
  if (!options.why) return story;
  const auto why = [&]() -> absl::StatusOr<std::string> {
    PALLADION_ASSIGN_OR_RETURN(
        const PreparedKernel kernel,
        PrepareText(bundle.text,
                    {.kernel = bundle.kernel, .target = bundle.target, .path = "kernel.pkir", .observable = true}));
    debug::WhyOptions how{.depth = kWhyDepth, .lines = kWhyLines};
    how.run = options.run;
    return debug::Why(kernel, bundle.inputs, story.element, how);
  };
  const absl::StatusOr<std::string> why_text = why();
  story.why =
      why_text.ok() ? *why_text : Cat("where it comes from is not known: ", ToStd(why_text.status().message()), "\n");
  return story;
}

}  // namespace

absl::StatusOr<Comparison> Compare(const Bundle& bundle, std::vector<FoundOutput> found,
                                   const ComparisonOptions& options) {
  Comparison out{.kernel = bundle.kernel, .target = bundle.target, .defects = bundle.defects};
  std::vector<const Tensor*> compared;
  for (const GoldenOutput& golden : bundle.outputs) {
    const auto is_it = [&](const FoundOutput& one) {
      return one.name == golden.operand.name || (!one.name.empty() && one.name == golden.operand.label);
    };
    const auto given = std::find_if(found.begin(), found.end(), is_it);
    absl::Status status = absl::OkStatus();
    if (given == found.end()) {
      status = absl::InvalidArgumentError(Cat("output '", golden.operand.name, "' is missing: expected ",
                                              TypeString(golden.operand.dtype, golden.operand.shape), " as ",
                                              golden.operand.name, ".npy"));
    } else if (const auto times = std::count_if(found.begin(), found.end(), is_it); times > 1) {
      status = absl::InvalidArgumentError(
          Cat("output '", golden.operand.name, "' is given ", times, " times: expected it once"));
    } else {
      status = given->values.ok() ? CheckFits(golden, *given->values) : given->values.status();
    }
    out.derivations.push_back(golden.derivation);
    out.stories.emplace_back();
    out.worst.emplace_back();
    compared.push_back(status.ok() ? &*given->values : nullptr);
    if (!status.ok()) {
      out.outputs.push_back({.name = golden.operand.name, .error = status});
      continue;
    }
    out.outputs.push_back(CompareOutput(golden, *given->values, options.compare));
    const OutputComparison& one = out.outputs.back();
    if (one.first >= 0) out.stories.back().push_back(StoryOf(bundle, golden, *given->values, one.first, options));
    if (one.worst >= 0 && one.worst != one.first)
      out.stories.back().push_back(StoryOf(bundle, golden, *given->values, one.worst, options));
    for (const std::int64_t i : one.worst_few) {
      if (options.worst) out.worst.back().push_back(StoryOf(bundle, golden, *given->values, i, options));
    }
  }
  for (const FoundOutput& one : found) {
    const bool known = std::any_of(bundle.outputs.begin(), bundle.outputs.end(), [&](const GoldenOutput& golden) {
      return one.name == golden.operand.name || one.name == golden.operand.label;
    });
    if (!known) out.unknown.push_back(one.name);
  }
  PALLADION_ASSIGN_OR_RETURN(out.causes, FindCauses(bundle, compared, options.causes));
  return out;
}

ExitCode ExitCodeOf(const Comparison& comparison) {
  const auto any = [&](auto is) { return std::any_of(comparison.outputs.begin(), comparison.outputs.end(), is); };
  if (!comparison.unknown.empty() || any([](const OutputComparison& one) { return !one.error.ok(); }))
    return ExitCode::kMalformed;
  return any([](const OutputComparison& one) { return one.over > 0; }) ? ExitCode::kDefect : ExitCode::kClean;
}

}  // namespace palladion::golden
