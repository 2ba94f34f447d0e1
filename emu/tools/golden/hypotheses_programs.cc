// Programs that did not run, and unwritten blocks of outputs: the body is made conditional.
#include <algorithm>
#include <utility>

#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

namespace palladion::golden {
namespace {

constexpr std::int64_t kMostPrograms = 256;  // of which each is left out once

// The body runs everywhere but at the place.
void LeaveOut(Kernel& kernel, const Place& place) {
  CountVmapped(kernel);
  Region& body = kernel.bodies[0].region;
  std::vector<Instr> first;
  Writer writer(kernel, first, kernel.bodies[0].region.body.empty() ? LocId{} : body.body[0].loc);
  const Arg here = IsHere(place, writer);
  Instr cond = MakeInstr(OpId::kCond, {writer.Convert(here, DType::kI32)}, writer.loc());
  cond.regions.resize(2);
  cond.regions[0].body = std::move(body.body);
  writer.Add(std::move(cond));
  body.body = std::move(first);
}

void Add(std::string_view kind, std::string what, const Place& place, std::vector<Hypothesis>& to) {
  const auto edit = [place](Module& edited) { LeaveOut(edited.kernels[0], place); };
  to.push_back({.kind = std::string(kind), .what = std::move(what), .edit = edit, .anything = true});
}

// The place is one program, which writes nothing but that block: that it did not run cannot be distinguished from it.
bool IsOneProgram(const Place& place) {
  return std::all_of(place.begin(), place.end(), [](std::int64_t i) { return i >= 0; });
}

}  // namespace

void AddProgramHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  const Kernel& kernel = module.kernels[0];
  const std::int64_t programs = std::min(ProgramsOf(kernel), kMostPrograms);
  const bool one_output = std::count_if(kernel.operands.begin(), kernel.operands.end(),
                                        [](const Operand& operand) { return operand.role == Role::kOut; }) == 1;
  std::vector<Place> known;
  for (const Operand& operand : kernel.operands) {
    if (operand.role != Role::kOut || !operand.block.has_value()) continue;
    for (const Place& place : PlacesOf(kernel, operand, kMostPrograms)) {
      const bool one = one_output && IsOneProgram(place);
      if (one) known.push_back(place);
      Add(kStale,
          Cat("the block of '", NameOf(kernel, operand), one ? "' of program " : "' of the programs ", PlaceText(place),
              " was not written", one ? ", or the program did not run" : ""),
          place, to);
    }
  }
  if (programs < 2) return;  // that nothing ran explains whatever is there
  for (std::int64_t p = 0; p < programs; ++p) {
    const Place place = PlaceOf(kernel, p);
    if (std::find(known.begin(), known.end(), place) != known.end()) continue;
    Add(kMissing, Cat("program ", PlaceText(place), " did not run"), place, to);
  }
}

}  // namespace palladion::golden
