#include "emu/tools/reduce/reduce.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/pass.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::reduce {
namespace {

class Reducer {
 public:
  Reducer(const State& start, const Keeps& keeps, const ReduceOptions& options)
      : best_(start), keeps_(keeps), options_(options) {}

  absl::StatusOr<Reduced> Run() {
    tried_.insert(KeyOf(best_));
    bool changed = true;
    while (changed && !stopped_) {
      const std::string before = KeyOf(best_);
      ++rounds_;
      for (const Pass& pass : AllPasses()) PALLADION_RETURN_IF_ERROR(RunPass(pass));
      changed = KeyOf(best_) != before;
    }
    const Ended ended = Interrupted(options_.control) ? Ended::kInterrupted
                        : stopped_                    ? Ended::kBudget
                                                      : Ended::kSmallest;
    return Reduced{.state = std::move(best_), .ended = ended, .tried = tests_, .rounds = rounds_};
  }

 private:
  // What makes two candidates one.
  static std::string KeyOf(const State& state) {
    std::string key = state.text;
    for (const Input& input : state.inputs) Append(&key, input.name, "=", input.words, Fnv1a(*input.value), "\n");
    return key;
  }

  bool Over() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    stopped_ = Interrupted(options_.control) || (options_.most_tried > 0 && tests_ >= options_.most_tried) ||
               (options_.most_seconds > 0 && spent.count() > options_.most_seconds);
    return stopped_;
  }

  // Places from the last to the first: an instruction goes before what it uses.
  absl::Status RunPass(const Pass& pass) {
    std::size_t places = PlacesOf(pass);
    for (std::size_t size = pass.together ? places : 1; size > 0; size /= 2) {
      for (std::size_t end = places; end > 0 && !Over();) {
        const std::size_t begin = end - std::min(size, end);
        PALLADION_ASSIGN_OR_RETURN(const bool taken, Try(pass, begin, end));
        if (taken) places = PlacesOf(pass);
        end = taken ? std::min(begin, places) : begin;
      }
    }
    return absl::OkStatus();
  }

  std::size_t PlacesOf(const Pass& pass) const {
    Chooser none(0, 0);
    State copy = best_;
    pass.apply(copy, none);
    return none.seen();
  }

  absl::StatusOr<bool> Try(const Pass& pass, std::size_t begin, std::size_t end) {
    Chooser chooser(begin, end);
    State edited = best_;
    pass.apply(edited, chooser);
    absl::StatusOr<State> candidate = Settle(std::move(edited));
    if (!candidate.ok() || !tried_.insert(KeyOf(*candidate)).second) return false;
    ++tests_;
    PALLADION_ASSIGN_OR_RETURN(const bool kept, keeps_(*candidate));
    // An interrupted check may have found nothing for that reason alone, never something.
    if (kept) best_ = *std::move(candidate);
    return kept;
  }

  State best_;
  const Keeps& keeps_;
  const ReduceOptions& options_;
  std::set<std::string> tried_;
  std::int64_t tests_ = 0, rounds_ = 0;
  bool stopped_ = false;  // before the end
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// What makes a check cheap comes first.
constexpr Pass kPasses[] = {
    {"shrink-grid", ShrinkGrid, false},
    {"shrink-mesh", ShrinkMesh, false},
    {"drop-operands", DropOperands},
    {"drop-instructions", DropInstructions},
    {"inline-regions", InlineRegions, false},
    {"shorten-loops", ShortenLoops, false},
    {"divide-sizes", DivideSizes, false},
    {"shrink-sizes", ShrinkSizes, false},
    {"drop-grid-dims", DropGridDims, false},
    {"forward-operands", ForwardOperands},
    {"reuse-values", ReuseValues},
    {"drop-region-refs", DropRegionRefs},
    {"drop-arguments", DropArguments},
    {"simplify-maps", SimplifyMaps},
    {"simplify-inputs", SimplifyInputs, false},
    {"drop-properties", DropProperties},
    {"drop-names", DropNames},
};

std::int64_t ProductOf(const AttrMap& attrs) {
  std::int64_t product = 1;
  for (const AttrEntry& entry : attrs) {
    if (const auto* number = std::get_if<std::int64_t>(&entry.second.value)) product *= *number;
    const auto* list = std::get_if<AttrList>(&entry.second.value);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (const auto* number = std::get_if<std::int64_t>(&(*list)[i].value)) product *= *number;
    }
  }
  return product;
}

}  // namespace

absl::Span<const Pass> AllPasses() { return kPasses; }

absl::StatusOr<Reduced> Reduce(const State& start, const Keeps& keeps, const ReduceOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const bool there, keeps(start));
  if (!there && Interrupted(options.control)) return InterruptedStatus();
  if (!there) return absl::InvalidArgumentError("what is to be kept is not there at the start; nothing was reduced");
  return Reducer(start, keeps, options).Run();
}

Extent ExtentOf(const State& state) {
  Kernel kernel = state.kernel();
  Extent extent{.programs = ProductOf(kernel.launch.mesh_attrs)};
  for (Body& body : kernel.bodies) edit::ForEachInstr(body.region, [&](Instr&) { ++extent.instructions; });
  for (const GridDim& dim : kernel.launch.grid) extent.programs *= dim.bound.valid() ? 1 : dim.size;
  for (const Input& input : state.inputs) extent.elements += input.value->num_elements();
  return extent;
}

}  // namespace palladion::reduce
