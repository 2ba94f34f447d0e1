// Programs that did not run, and blocks of outputs that nobody wrote: the body stands behind a condition.
#include <algorithm>
#include <utility>

#include "emu/golden/hypotheses.h"
#include "semantics/base/cat.h"

namespace palladion::golden {
namespace {

constexpr std::int64_t kMostPrograms = 256;  // of which each is left out once

// A place in the grid; -1: all of a dimension.
using Place = std::vector<std::int64_t>;

std::string Told(const Place& place) {
  std::string text;
  for (const std::int64_t i : place) Append(&text, text.empty() ? "(" : ", ", i < 0 ? std::string("*") : Cat(i));
  return text + ")";
}

// The body runs everywhere but at the place.
void LeaveOut(Kernel& kernel, const Place& place) {
  Region& body = kernel.bodies[0].region;
  std::vector<Instr> first;
  Writer writer(kernel, first, kernel.bodies[0].region.body.empty() ? LocId{} : body.body[0].loc);
  const Type number = ArrayType(DType::kI32, {}), truth = ArrayType(DType::kBool, {});
  Arg here;
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] < 0) continue;
    const Arg id = writer.Apply("program_id", {}, number, {{"axis", Attr{static_cast<std::int64_t>(d)}}});
    const Arg equal = writer.Apply("eq", {id, IntLiteral(DType::kI32, place[d])}, truth);
    here = here.kind == Arg::Kind::kNone ? equal : writer.Apply("and", {here, equal}, truth);
  }
  Instr cond;
  cond.name = "cond";
  cond.args = {writer.Convert(here, DType::kI32)};
  cond.loc = writer.loc();
  cond.regions.resize(2);
  cond.regions[0].body = std::move(body.body);
  writer.Add(std::move(cond));
  body.body = std::move(first);
}

Place PlaceOf(const Kernel& kernel, std::int64_t program) {
  Place place(kernel.launch.grid.size());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = program % kernel.launch.grid[d].size;
    program /= kernel.launch.grid[d].size;
  }
  return place;
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

void Add(std::string_view kind, std::string what, const Place& place, std::vector<Hypothesis>& to) {
  const auto edit = [place](Module& edited) { LeaveOut(edited.kernels[0], place); };
  to.push_back({.kind = std::string(kind), .what = std::move(what), .edit = edit, .anything = true});
}

}  // namespace

void AddProgramHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  const Kernel& kernel = module.kernels[0];
  const std::int64_t programs = std::min(ProgramsOf(kernel), kMostPrograms);
  std::vector<Place> done;
  for (const Operand& operand : kernel.operands) {
    if (operand.role != Role::kOut || !operand.block.has_value()) continue;
    const std::vector<bool> used = AxesOf(operand, kernel.launch.grid.size());
    for (std::int64_t p = 0; p < programs; ++p) {
      Place place = PlaceOf(kernel, p);
      for (std::size_t d = 0; d < place.size(); ++d) place[d] = used[d] ? place[d] : -1;
      const bool all = std::none_of(place.begin(), place.end(), [](std::int64_t i) { return i >= 0; });
      if (all || std::find(done.begin(), done.end(), place) != done.end()) continue;
      done.push_back(place);
      Add(kStale, Cat("the block of '", NameOf(kernel, operand), "' of the programs ", Told(place), " was not written"),
          place, to);
    }
  }
  for (std::int64_t p = 0; p < programs; ++p) {
    const Place place = PlaceOf(kernel, p);
    Add(kMissing, Cat("program ", Told(place), " did not run"), place, to);
  }
}

}  // namespace palladion::golden
