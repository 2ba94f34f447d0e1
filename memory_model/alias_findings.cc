// The texts of findings about copies of blocks: a fetch from an array to which another block is written back at the
// same time (ALIAS), and two write-backs to one place (RACE_WW).
#include <string>
#include <string_view>

#include "memory_model/access_findings.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

// When the pipeline fetches and flushes, as far as it matters to a fetch that is too early.
std::string_view WhyOpen(const BlockCopy& fetch, const BlockCopy& flush) {
  if (flush.buffers == 1)
    return "with two buffers for the input's blocks a pipeline starts the fetch for the next program before the body "
           "of this one, whose block goes back after it";
  if (fetch.buffers == 1)
    return "with two buffers for the output's blocks a pipeline awaits the flush of the last program after the body of "
           "this one, and the fetch comes before it";
  return "a pipeline starts the fetch for the next program before the body of this one, and awaits the flush of the "
         "last one after it";
}

}  // namespace

Finding AccessFindings::AliasOf(const UnorderedPair& pair, const Sort& sort) const {
  const AccessEvent &earlier = pair.conflict.earlier, &event = pair.event;
  const bool two_flushes = agents_.BlockOf(earlier.who)->flush && agents_.BlockOf(event.who)->flush;
  const bool flushed_first = agents_.BlockOf(earlier.who)->flush;
  const AccessEvent &flush = flushed_first ? earlier : event, &other = flushed_first ? event : earlier;
  const BlockCopy &back = *agents_.BlockOf(flush.who), &block = *agents_.BlockOf(other.who);
  const auto side = [&](const AccessEvent& access, const BlockCopy& of) {
    return FindingAccess{.kind = access.kind,
                         .agent = AgentName(of.program),
                         .object = of.ref,
                         .box = pair.conflict.overlap,
                         .loc = access.loc,
                         .text_line = access.text_line};
  };
  Finding finding{.code = sort.code, .severity = sort.severity, .loc = other.loc, .text_line = other.text_line};
  if (two_flushes) {
    finding.message = Cat("the block of '", block.ref, "' that is written back after ", AgentName(block.program),
                          " overlaps at ", pair.conflict.overlap, " the block that is written back after ",
                          AgentName(back.program), ": either may be written last");
    finding.why = "a pipeline with two buffers starts the flush of this program before it awaits that of the last one";
    finding.fix = "let no two programs in a row write the same elements, or have one buffer, with pl.Buffered(1)";
  } else {
    finding.message =
        Cat("the block of '", block.ref, "' that ", AgentName(block.program), " fetches overlaps at ",
            pair.conflict.overlap, " the block of '", back.ref, "' that is written back to the same array after ",
            AgentName(back.program),
            sort.severity == Severity::kDefect ? ": the fetch may see what was there before"
                                               : ", but with these operands it changes no byte that is fetched");
    finding.why = WhyOpen(block, back);
    finding.fix = "keep what later programs need in scratch, or do not alias the input with the output";
  }
  finding.first = side(flush, back);
  finding.second = side(other, block);
  return finding;
}

}  // namespace palladion::memory_model
