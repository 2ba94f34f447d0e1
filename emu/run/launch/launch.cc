#include "emu/run/launch/launch.h"

#include <optional>
#include <utility>

#include "emu/session.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::launch {
namespace {

// `copy` nullptr: of the semaphores.
agents::HeldFinding HeldFindingOf(const kernel::PreparedKernelState& kernel, const agents::LeftCopy* copy,
                                  const agents::OperandPlace& place) {
  const Program& program = kernel.program();
  const std::string semaphore = Cat("'", program.operand_infos[place.operand].name, "'");
  Finding finding{.code = FindingCode::kSemaphoreLeak,
                  .message = Cat("the semaphore ", semaphore, " of kernel @", program.kernel_name),
                  .fix = "let a later kernel take the semaphore, and wait for all that is signalled"};
  for (const Kernel& text : kernel.module().kernels) {
    if (text.name != program.kernel_name) continue;
    finding.loc = text.operands[place.operand].loc;
    finding.text_line = text.operands[place.operand].text_line;
  }
  if (copy != nullptr) {
    finding = {.code = FindingCode::kNotAwaited,
               .message = Cat("no kernel of the session has waited for ", copy->name, " of kernel @",
                              program.kernel_name, ", which signals semaphore ", semaphore),
               .loc = copy->site.loc,
               .text_line = copy->site.text_line,
               .fix = "pass the semaphore, and the array that the copy writes, to a kernel that waits for it"};
  }
  finding.severity = RowOf(finding.code).severity;
  return {program.kernel_name, ToString(program.target), Reported(finding, kernel.module())};
}

}  // namespace

absl::Status LeaveTo(Session* session, const agents::SessionState::Launched& launch) {
  return session == nullptr ? absl::OkStatus() : session->state().Take(launch, HeldFindingOf);
}

absl::Status EndOf(const Report& report) {
  if (report.interrupted) return InterruptedStatus();
  if (!report.error.has_value()) return absl::OkStatus();
  const auto code = static_cast<ExitCode>(ExitCodeOf(Report{.error = report.error}));
  const absl::StatusCode status = code == ExitCode::kUnsupported ? absl::StatusCode::kUnimplemented
                                  : code == ExitCode::kBudget    ? absl::StatusCode::kResourceExhausted
                                  : code == ExitCode::kInternal  ? absl::StatusCode::kInternal
                                                                 : absl::StatusCode::kInvalidArgument;
  return absl::Status(status, ToAbsl(report.error->message));
}

}  // namespace palladion::launch
