#include "emu/tools/golden/hypotheses.h"

#include <algorithm>
#include <utility>

#include "emu/tools/mutation/mutation_sites.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

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

// The dimensions of the grid that an output's index map asks for.
std::vector<bool> AxesOf(const Operand& operand, std::size_t rank) {
  std::vector<bool> used(rank);
  const auto look = [&](const std::vector<Arg>& args) {
    for (const Arg& arg : args) {
      for (std::size_t d = 0; d < rank; ++d)
        used[d] = used[d] || (arg.kind == Arg::Kind::kValue && arg.value == operand.block->map.params[d].value);
    }
  };
  for (const Instr& instr : operand.block->map.body) look(instr.args);
  look(operand.block->map.results);
  return used;
}

}  // namespace

void RewriteBodies(Kernel& kernel, const std::function<void(Instr&&, Writer&)>& write) {
  for (Body& body : kernel.bodies) RewriteRegion(kernel, body.region, write);
}

ValueId RenameResult(Instr& instr, std::size_t result, Kernel& kernel) {
  return std::exchange(instr.results[result], Writer::NewValue(kernel, instr.types[result]));
}

void Define(ValueId result, const Arg& x, Writer& writer) {
  Instr instr = MakeInstr(OpId::kCopy, {x}, writer.loc());
  instr.results = {result};
  instr.types = {writer.kernel().values[result.index()].type};
  writer.Add(std::move(instr));
}

std::int64_t ProgramsOf(const Kernel& kernel) {
  if (!kernel.launch.mesh.empty() || kernel.launch.grid.empty() || kernel.bodies.size() != 1) return 0;
  std::int64_t n = 1;
  for (const GridDim& dim : kernel.launch.grid) n *= dim.bound.valid() ? 0 : dim.size;
  return n;
}

std::string PlaceText(const Place& place) {
  std::string text;
  for (const std::int64_t i : place) Append(&text, text.empty() ? "(" : ", ", i < 0 ? std::string("*") : Cat(i));
  return text + ")";
}

Place PlaceOf(const Kernel& kernel, std::int64_t program) {
  Place place(kernel.launch.grid.size());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = program % kernel.launch.grid[d].size;
    program /= kernel.launch.grid[d].size;
  }
  return place;
}

std::vector<Place> PlacesOf(const Kernel& kernel, const Operand& operand, std::int64_t most) {
  std::vector<Place> places;
  const std::vector<bool> used = AxesOf(operand, kernel.launch.grid.size());
  const std::int64_t programs = std::min(ProgramsOf(kernel), most);
  for (std::int64_t p = 0; p < programs; ++p) {
    Place place = PlaceOf(kernel, p);
    for (std::size_t d = 0; d < place.size(); ++d) place[d] = used[d] ? place[d] : -1;
    const bool all = std::none_of(place.begin(), place.end(), [](std::int64_t i) { return i >= 0; });
    if (!all && std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  if (places.size() < 2) places.clear();
  return places;
}

void CountVmapped(Kernel& kernel) {
  std::vector<std::int64_t> counted;  // by the number without vmapped ones
  const std::vector<std::int64_t>& vmapped = kernel.launch.vmapped;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(kernel.launch.grid.size()); ++d) {
    if (std::find(vmapped.begin(), vmapped.end(), d) == vmapped.end()) counted.push_back(d);
  }
  kernel.launch.vmapped.clear();
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    for (AttrEntry& entry : instr.attrs) {
      auto* axis = std::get_if<std::int64_t>(&entry.second.value);
      if ((Is(instr, OpId::kProgramId) || Is(instr, OpId::kNumPrograms)) && entry.first == "axis" && axis != nullptr)
        *axis = counted[static_cast<std::size_t>(*axis)];
    }
    writer.Add(std::move(instr));
  });
}

Arg IsHere(const Place& place, Writer& writer) {
  const Type number = ArrayType(DType::kI32, {}), truth = ArrayType(DType::kBool, {});
  Arg here;
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] < 0) continue;
    const Arg id = writer.Apply(OpId::kProgramId, {}, number, {{"axis", Attr{static_cast<std::int64_t>(d)}}});
    const Arg equal = writer.Apply(OpId::kEq, {id, IntLiteral(DType::kI32, place[d])}, truth);
    here = here.kind == Arg::Kind::kNone ? equal : writer.Apply(OpId::kAnd, {here, equal}, truth);
  }
  return here;
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
