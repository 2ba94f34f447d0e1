// The finding that a block is fetched from an array to which another one goes back meanwhile (ALIAS), in words.
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
  const bool flushed_first = agents_.BlockOf(earlier.who)->flush;
  const AccessEvent &flush = flushed_first ? earlier : event, &fetch = flushed_first ? event : earlier;
  const BlockCopy &back = *agents_.BlockOf(flush.who), &block = *agents_.BlockOf(fetch.who);
  const auto side = [&](const AccessEvent& access, const BlockCopy& of) {
    return FindingAccess{.kind = access.kind,
                         .agent = AgentName(of.program),
                         .object = of.ref,
                         .box = pair.conflict.overlap,
                         .loc = access.loc,
                         .text_line = access.text_line};
  };
  Finding finding{.code = FindingCode::kAlias,
                  .severity = sort.severity,
                  .message = Cat("the block of '", block.ref, "' that ", AgentName(block.program),
                                 " fetches overlaps at ", pair.conflict.overlap, " the block of '", back.ref,
                                 "' that goes back to the same array after ", AgentName(back.program),
                                 sort.severity == Severity::kDefect
                                     ? ": the fetch may see what was there before"
                                     : ", where it leaves all bytes of the fetch as they are with these operands"),
                  .loc = fetch.loc,
                  .text_line = fetch.text_line,
                  .why = std::string(WhyOpen(block, back)),
                  .fix = "keep what later programs need in scratch, or do not alias the input with the output"};
  finding.first = side(flush, back);
  finding.second = side(fetch, block);
  return finding;
}

}  // namespace palladion::memory_model
