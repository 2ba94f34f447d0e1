#include "emu/tools/mutation/mutants.h"

#include <algorithm>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/mutation/mutation_sites.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/verifier.h"

namespace palladion::mutation {
namespace {

constexpr Mutation kAll[] = {
    Mutation::kDropMask,    Mutation::kDropInit,     Mutation::kSwapIndex, Mutation::kMakeParallel,
    Mutation::kShrinkBlock, Mutation::kDropStore,    Mutation::kReadPast,  Mutation::kDropSync,
    Mutation::kRepeatSync,  Mutation::kSwapSync,     Mutation::kMoveSync,  Mutation::kNextSlot,
    Mutation::kArrivals,    Mutation::kOtherBarrier, Mutation::kWaitCount, Mutation::kOtherDevice};

// Which of n to take when at most `most` may be: the first, and the others at equal distances.
std::vector<std::size_t> Spread(std::size_t n, std::size_t most) {
  const std::size_t taken = most == 0 ? n : std::min(n, most);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < taken; ++i) chosen.push_back(i * n / taken);
  return chosen;
}

Mutant Mutated(const Module& original, std::size_t at, std::size_t number) {
  Module module = original;
  const std::vector<MutationSite> sites = MutationSites(original, module.kernels[0]);
  const MutationSite& site = sites[at];
  Mutant mutant{
      .mutation = site.mutation, .name = Cat(Name(site.mutation), "_", number), .line = site.line, .what = site.what};
  site.apply();
  mutant.text = Print(module);
  const absl::StatusOr<VerifiedModule> verified = Verify(std::move(module));
  if (!verified.ok()) mutant.refused = std::string(ToStd(verified.status().message()));
  return mutant;
}

}  // namespace

std::string_view Name(Mutation mutation) {
  constexpr std::string_view kNames[] = {"drop_mask",    "drop_init",     "swap_index", "make_parallel",
                                         "shrink_block", "drop_store",    "read_past",  "drop_sync",
                                         "repeat_sync",  "swap_sync",     "move_sync",  "next_slot",
                                         "arrivals",     "other_barrier", "wait_count", "other_device"};
  return kNames[static_cast<std::size_t>(mutation)];
}

std::string_view Description(Mutation mutation) {
  constexpr std::string_view kTexts[] = {"drop a mask",
                                         "drop an initialisation under a condition",
                                         "swap two results of an index map",
                                         "make an ordered grid dimension parallel",
                                         "shrink a block so that it no longer divides its array",
                                         "drop a store to an output",
                                         "read one element past",
                                         "drop a wait, an arrival, a fence or a copy",
                                         "do a wait, an arrival, a fence or a copy twice",
                                         "swap two synchronising instructions",
                                         "move a synchronising instruction across an access",
                                         "take the next slot",
                                         "change the arrivals of a barrier",
                                         "take another barrier or semaphore",
                                         "change how much a wait leaves in flight",
                                         "name another device"};
  return kTexts[static_cast<std::size_t>(mutation)];
}

absl::Span<const Mutation> AllMutations() { return kAll; }

absl::StatusOr<std::vector<Mutant>> Mutants(std::string_view text, std::string_view path,
                                            const MutantOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(Module module,
                             edit::OnlyKernel(text, path, {.kernel = options.kernel, .verb = "mutated"}));
  std::vector<std::vector<std::size_t>> of_kind(std::size(kAll));
  {
    Module copy = module;
    const std::vector<MutationSite> sites = MutationSites(module, copy.kernels[0]);
    for (std::size_t i = 0; i < sites.size(); ++i) of_kind[static_cast<std::size_t>(sites[i].mutation)].push_back(i);
  }
  std::vector<Mutant> mutants;
  for (const std::vector<std::size_t>& sites : of_kind) {
    for (const std::size_t i : Spread(sites.size(), options.per_kind)) mutants.push_back(Mutated(module, sites[i], i));
  }
  return mutants;
}

std::string MutantsJson(absl::Span<const Mutant> mutants, bool with_text) {
  JsonWriter json;
  json.Open('[');
  for (const Mutant& mutant : mutants) {
    json.Open('{').Key("name").String(mutant.name).Key("mutation").String(Name(mutant.mutation));
    json.Key("line").Number(mutant.line).Key("what").String(mutant.what).Key("refused").String(mutant.refused);
    if (with_text) {
      json.Key("text").String(mutant.text);
    } else {
      json.Key("file").String(mutant.name + ".pkir");
    }
    json.Close('}');
  }
  json.Close(']');
  return json.Take();
}

}  // namespace palladion::mutation
