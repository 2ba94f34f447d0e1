#include "emu/golden/hypotheses.h"

#include <utility>

#include "emu/mutation/mutation_sites.h"
#include "semantics/base/cat.h"

namespace palladion::golden {
namespace {

void RewriteRegion(Kernel& kernel, Region& region, const std::function<void(Instr&&, Writer&)>& write) {
  std::vector<Instr> old = std::move(region.body);
  region.body.clear();
  for (Instr& instr : old) {
    for (Region& inner : instr.regions) RewriteRegion(kernel, inner, write);
    Writer writer(kernel, region.body, instr.loc);
    write(std::move(instr), writer);
  }
}

// The number of mutation sites does not depend on the copy, so site `at` of one is that of every other.
void AddMutations(const Module& module, mutation::Mutation mutation, const Hypothesis& like,
                  std::vector<Hypothesis>& to) {
  Module copy = module;
  const std::vector<mutation::MutationSite> sites = mutation::MutationSites(module, copy.kernels[0]);
  for (std::size_t at = 0; at < sites.size(); ++at) {
    if (sites[at].mutation != mutation) continue;
    Hypothesis one = like;
    one.what = Cat(sites[at].what, like.what);
    one.edit = [at](Module& edited) {
      const Module original = edited;
      mutation::MutationSites(original, edited.kernels[0])[at].apply();
    };
    to.push_back(std::move(one));
  }
}

}  // namespace

void RewriteBodies(Kernel& kernel, const std::function<void(Instr&&, Writer&)>& write) {
  for (Body& body : kernel.bodies) RewriteRegion(kernel, body.region, write);
}

ValueId RenameResult(Instr& instr, std::size_t result, Kernel& kernel) {
  return std::exchange(instr.results[result], Writer::NewValue(kernel, instr.types[result]));
}

void Define(ValueId result, const Arg& x, Writer& writer) {
  Instr instr;
  instr.name = "copy";
  instr.args = {x};
  instr.results = {result};
  instr.types = {writer.kernel().values[result.index()].type};
  instr.loc = writer.loc();
  writer.Add(std::move(instr));
}

std::int64_t ProgramsOf(const Kernel& kernel) {
  if (!kernel.launch.mesh.empty() || kernel.launch.grid.empty() || kernel.bodies.size() != 1) return 0;
  std::int64_t n = 1;
  for (const GridDim& dim : kernel.launch.grid) n *= dim.bound.valid() ? 0 : dim.size;
  return n;
}

std::string NameOf(const Kernel& kernel, const Operand& operand) {
  return operand.label.empty() ? kernel.values[operand.value.index()].name : operand.label;
}

std::int64_t BlocksOf(const Kernel& kernel, const Operand& operand, std::size_t d) {
  const std::int64_t size = operand.block->dims[d].kind == BlockDim::Kind::kBlocked ? operand.block->dims[d].size : 1;
  const std::int64_t array = kernel.values[operand.value.index()].type.shape[d];
  return size > 0 ? (array + size - 1) / size : 0;
}

void AddPaddingHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  for (const Fill::Kind fill : {Fill::Kind::kZero, Fill::Kind::kPoison, Fill::Kind::kIntMax}) {
    const std::string_view holds = fill == Fill::Kind::kZero     ? "zeros"
                                   : fill == Fill::Kind::kPoison ? "NaN (integers: their poison)"
                                                                 : "the largest integers";
    const Hypothesis like{
        .kind = kPadding, .what = Cat(", and what lies outside holds ", holds), .edit = {}, .fill = {.kind = fill}};
    AddMutations(module, mutation::Mutation::kDropMask, like, to);
  }
  AddMutations(module, mutation::Mutation::kNextSlot, {.kind = kWrongSlot}, to);
}

}  // namespace palladion::golden
