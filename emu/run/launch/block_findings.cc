// The texts of GridChecks' findings about blocks.
#include <optional>
#include <string>

#include "emu/run/launch/grid_checks.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
Finding GridChecks::FindingOf(const Revisit& revisit, const std::optional<memory_model::WitnessAccess>& first) const {
  Finding finding{.code = FindingCode::kOutRevisit,
                  .message = Cat("the block ", revisit.again.box, " of '", NameOf(revisit.buffer), "' was left",
                                 first.has_value() ? Cat(" after ", AgentName(first->program)) : std::string(),
                                 " and is written back to its array again after ", AgentName(revisit.again.program),
                                 ": the first visit's result is lost"),
                  .loc = revisit.again.loc,
                  .text_line = revisit.again.text_line,
                  .count = revisit.count,
                  .why =
                      "an output block is never read from its array: its memory holds nothing when it is visited "
                      "again, and goes back whole",
                  .fix =
                      "order the grid, or its index map, so that the programs that share a block follow one "
                      "another; or pay for fetching it again, with pl.Buffered(1, revisit=pl.RevisitMode.ANY)"};
  if (first.has_value()) finding.first = Describe(*first, revisit.buffer);
  finding.second = Describe(revisit.again, revisit.buffer);
  return finding;
}

// What a program stores for the next one's maps, its result depends on; what it stores over what maps near it have read
// counts only if they are computed again.
Finding GridChecks::FindingOf(const LateIndex& late) const {
  const std::string store = AgentName(late.store.program), map = AgentName(late.map.program);
  const std::string what = Cat("'", late.name, "'", late.index);
  Finding finding{.code = FindingCode::kRaceReadWrite,
                  .severity = late.before && late.changes ? Severity::kDefect : Severity::kNote,
                  .message = late.before
                                 ? Cat(what, ": ", store, " stores what an index map reads for ", map,
                                       ", the next one: it depends on the pipeline which of the two comes first")
                                 : Cat(what, ": ", store, " stores over what an index map has read for ", map,
                                       ": a pipeline that computes the map again finds another block"),
                  .loc = late.store.loc,
                  .text_line = late.store.text_line,
                  .count = late.count,
                  .why =
                      "when index maps are computed is not documented: for blocks with two buffers before the body of "
                      "the program before, for others after it, and in pltpu.emit_pipeline at every use",
                  .fix =
                      "store what index maps read at least two programs ahead, and nothing that they have read for "
                      "this program or the one before; or copy the block by hand from an array in pl.ANY"};
  if (!late.changes) finding.message += "; with these operands it stores what is there";
  finding.confidence = Confidence::kPolicyDependent;
  finding.first = GridWords::Describe(late.map, late.name);
  finding.second = GridWords::Describe(late.store, late.name);
  finding.first->box = finding.second->box = late.index;
  return finding;
}

Finding GridChecks::FindingOf(const EmittedRevisit& revisit) const {
  Finding finding{
      .code = FindingCode::kOutRevisit,
      .message = Cat("the block ", revisit.flush.box, " of '", revisit.array,
                     "' was left and is written back to its array again: the first visit's result is lost, and "
                     "what the body read at this visit, ",
                     revisit.read.box, " of '", revisit.buffer, "', had been left there by another block"),
      .loc = revisit.flush.loc,
      .text_line = revisit.flush.text_line,
      .count = revisit.count,
      .why =
          "pltpu.emit_pipeline does not read an output block from its array: its buffer holds nothing of it "
          "when it is visited again, and goes back whole",
      .fix =
          "order the pipeline's grid, or its index map, so that the steps that share a block follow one "
          "another"};
  finding.first = GridWords::Describe(revisit.read, revisit.buffer);
  finding.second = GridWords::Describe(revisit.flush, revisit.array);
  return finding;
}

Finding GridChecks::FindingOf(const HandedBlock& handed) const {
  const OperandInfo& operand = kernel_.program().operand_infos[handed.operand];
  const std::string& name = kernel_.program().refs[operand.ref.index()].name;
  const bool scratch = operand.role == Role::kScratch;
  const bool one_task = memory_model::TaskClock(dims_).SameTask(handed.stored.program, handed.read.program);
  return {.code = FindingCode::kGridOrder,
          .severity = RowOf(FindingCode::kGridOrder).severity,
          .message = Cat("'", name, "'", handed.element, ": ", AgentName(handed.read.program),
                         handed.read.kind == AccessKind::kRead ? " reads" : " updates",
                         scratch ? " what an earlier program of its own index left there, and " : " what ",
                         AgentName(handed.stored.program), " may have ",
                         scratch ? "written there since" : "stored in the same block of the input"),
          .loc = handed.read.loc,
          .text_line = handed.read.text_line,
          .count = static_cast<std::int64_t>(handed.pairs.size()),
          .first = GridWords::Describe(handed.stored, name),
          .second = GridWords::Describe(handed.read, name),
          .why = Cat(one_task ? "between them other programs may run on the same core"
                              : words_.WhyUnordered(handed.stored.program, handed.read.program),
                     scratch ? "; those that share a core share its scratch"
                             : "; a core that keeps its block does not fetch it again, any other one does"),
          .fix = scratch ? "give each index along the parallel dimensions elements of its own, or write before you read"
                         : "store into scratch or an output instead of the input, or into all of the block before it "
                           "is read"};
}

}  // namespace palladion::launch
