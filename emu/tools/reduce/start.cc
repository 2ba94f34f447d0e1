#include "emu/tools/reduce/start.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"

namespace palladion::reduce {
namespace {

absl::Status NotFoundAtStart(const State& start, const FindingChoice& choice, const KeepFinding& keep) {
  PALLADION_ASSIGN_OR_RETURN(const Report report, keep.Check(start));
  std::vector<std::string> codes;
  for (const ReportedFinding& finding : report.findings) {
    const std::string code(Code(finding.code));
    if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
  }
  return absl::InvalidArgumentError(Cat(start.module.path, ": a check with these inputs finds no ", ToText(choice),
                                        "; it finds ", codes.empty() ? "nothing" : absl::StrJoin(codes, ", "),
                                        report.error.has_value() ? Cat(" (", report.error->message, ")") : "",
                                        "; nothing was reduced. Look with `palladion check` for inputs and seeds that "
                                        "show it"));
}

}  // namespace

absl::StatusOr<PreparedKernel> PrepareForInputs(const Source& source) {
  PrepareOptions options{.kernel = source.kernel, .target = source.target, .path = source.path};
  absl::StatusOr<PreparedKernel> kernel = PrepareText(source.text, options);
  if (kernel.ok()) return kernel;
  options.target = "generic";
  absl::StatusOr<PreparedKernel> generic = PrepareText(source.text, options);
  return generic.ok() ? std::move(generic) : std::move(kernel);
}

absl::StatusOr<State> StateOf(const Source& source, std::vector<Input> inputs, int line) {
  PALLADION_ASSIGN_OR_RETURN(Module module, edit::OnlyKernel(source.text, source.path, {source.kernel, "reduced"}));
  State state{.module = std::move(module), .text = "", .inputs = std::move(inputs)};
  if (line != 0) {
    PALLADION_ASSIGN_OR_RETURN(Module written, Parse(source.text, source.path));
    std::erase_if(written.kernels, [&](const Kernel& kernel) { return kernel.name != state.kernel().name; });
    PALLADION_ASSIGN_OR_RETURN(state.line, LineInCanonical(written, state.module, line));
  }
  return Settle(std::move(state));
}

absl::StatusOr<ReducedFinding> ReduceFinding(const State& start, const FindingChoice& choice,
                                             const KeepFindingOptions& how, const ReduceOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(KeepFinding keep, KeepFinding::Create(choice, start.kernel(), how));
  PALLADION_ASSIGN_OR_RETURN(const bool there, keep.Adjust(start));
  if (Interrupted(options.control)) return InterruptedStatus();
  if (!there) return NotFoundAtStart(start, choice, keep);
  const auto holds = [&](const State& state) { return keep.Holds(state); };
  PALLADION_ASSIGN_OR_RETURN(Reduced reduced, Reduce(start, holds, options));
  std::string replay;
  PALLADION_ASSIGN_OR_RETURN(replay, keep.Replay(reduced.state));
  return ReducedFinding{std::move(reduced), std::move(replay)};
}

}  // namespace palladion::reduce
