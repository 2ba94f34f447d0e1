#include "emu/c_api.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/check.h"
#include "emu/check/inline_suppressions.h"
#include "emu/check/into_arrays.h"
#include "emu/check/replayed_run.h"
#include "emu/chip/machines/chip.h"
#include "emu/chip/machines/description.h"
#include "emu/emulate.h"
#include "emu/front/bridge/bridge.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_report.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/bridge/progress.h"
#include "emu/front/options/check_options.h"
#include "emu/front/reports/explain.h"
#include "emu/front/reports/machines_format.h"
#include "emu/front/reports/part_json.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/operations.h"
#include "emu/session.h"
#include "emu/tools/mutation/mutants.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"

struct palladion_program {
  palladion::PreparedKernel kernel;
};

namespace {

using palladion::Cat;
using palladion::bridge::CopyText;
using palladion::bridge::Guarded;
using palladion::bridge::Printed;
using palladion::bridge::SetError;
using palladion::bridge::TextOf;
using palladion::bridge::TextsOf;

// Of runs and checks of this thread; -1: none.
thread_local std::int64_t session_of_thread = -1;

std::shared_ptr<palladion::Session> SessionOfThread() {
  return session_of_thread < 0 ? nullptr : palladion::bridge::ProcessBridge().Between(session_of_thread);
}

struct ArraysOfCaller {
  const palladion_array* inputs;
  size_t n_inputs;
  const palladion_array* outputs = nullptr;
  size_t n_outputs = 0;
};

// Calls `work` with the arrays, interruptible and shown.
template <class Work>
absl::Status WithArrays(const palladion_program* program, const ArraysOfCaller& arrays, const Work& work) {
  return Guarded([&]() -> absl::Status {
    if (program == nullptr)
      return absl::InvalidArgumentError("no program: palladion_prepare gives one, or says what is wrong");
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::ConstArray> in,
                               palladion::bridge::ConstArrays(arrays.inputs, arrays.n_inputs));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::MutableArray> out,
                               palladion::bridge::MutableArrays(arrays.outputs, arrays.n_outputs));
    palladion::bridge::InterruptibleRun interruptible;
    const palladion::bridge::ShownRun shown(program->kernel.name(), 0, *interruptible.control());
    return work(in, out, *interruptible.control());
  });
}

// Where a report goes, or the error.
struct Into {
  palladion_report** report;
  palladion_error* error;
};

// The report of `work`, and its code; or its error.
template <class Work>
palladion_code Reported(const palladion_program* program, const ArraysOfCaller& arrays, const Into& into,
                        const Work& work) {
  palladion_code code = PALLADION_CLEAN;
  if (into.report != nullptr) *into.report = nullptr;
  const absl::Status status =
      WithArrays(program, arrays, [&](const auto& in, const auto& out, auto& control) -> absl::Status {
        PALLADION_ASSIGN_OR_RETURN(palladion::Report found, work(in, out, control));
        palladion::check::ApplyInlineSuppressions(&program->kernel.state().module(), found);
        code = static_cast<palladion_code>(palladion::ExitCodeOf(found));
        if (into.report != nullptr) *into.report = palladion::bridge::HandleOf(std::move(found));
        return absl::OkStatus();
      });
  return status.ok() ? code : SetError(status, into.error);
}

}  // namespace

palladion_program* palladion_prepare(const char* text, size_t size, const char* kernel, const char* target,
                                     palladion_error* error) {
  return palladion_prepare_launches(text, size, kernel, target, 1, error);
}

palladion_program* palladion_prepare_launches(const char* text, size_t size, const char* kernel, const char* target,
                                              int64_t launches, palladion_error* error) {
  palladion_program* program = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    absl::StatusOr<palladion::PreparedKernel> prepared = palladion::PrepareLaunches(
        TextOf(text, size), launches,
        {.kernel = kernel == nullptr ? "" : kernel, .target = target == nullptr ? "" : target, .path = ""});
    if (!prepared.ok()) return prepared.status();
    program = new palladion_program{*std::move(prepared)};
    return absl::OkStatus();
  });
  SetError(status, error);
  return program;
}

void palladion_session_use(int64_t session) { session_of_thread = session; }

palladion_code palladion_run(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                             palladion_array* outputs, size_t n_outputs, palladion_report** report,
                             palladion_error* error) {
  return palladion_run_with(program, inputs, n_inputs, outputs, n_outputs, nullptr, report, error);
}

palladion_code palladion_run_with(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                                  palladion_array* outputs, size_t n_outputs, const char* const* how,
                                  palladion_report** report, palladion_error* error) {
  return Reported(program, {inputs, n_inputs, outputs, n_outputs}, {report, error},
                  [&](absl::Span<const palladion::ConstArray> in, absl::Span<const palladion::MutableArray> out,
                      palladion::RunControl& control) -> absl::StatusOr<palladion::Report> {
                    PALLADION_ASSIGN_OR_RETURN(palladion::CheckOptions options,
                                               palladion::options::RunOptionsOf(TextsOf(how)));
                    options.run.control = &control;
                    const std::shared_ptr<palladion::Session> session = SessionOfThread();
                    options.run.session = session.get();
                    if (!options.replay.empty()) return palladion::check::ReplayInto(program->kernel, in, out, options);
                    return palladion::RunInto(program->kernel, in, out, options.run);
                  });
}

palladion_code palladion_check(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                               palladion_array* outputs, size_t n_outputs, const char* const* options,
                               palladion_report** report, palladion_error* error) {
  return Reported(program, {inputs, n_inputs, outputs, n_outputs}, {report, error},
                  [&](absl::Span<const palladion::ConstArray> in, absl::Span<const palladion::MutableArray> out,
                      palladion::RunControl& control) -> absl::StatusOr<palladion::Report> {
                    PALLADION_ASSIGN_OR_RETURN(palladion::CheckOptions how,
                                               palladion::options::CheckOptionsOf(TextsOf(options)));
                    how.run.control = &control;
                    const std::shared_ptr<palladion::Session> session = SessionOfThread();
                    how.run.session = session.get();
                    return palladion::check::CheckInto({program->kernel, in, out, how});
                  });
}

char* palladion_check_seeds(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                            const char* const* options, int64_t first, int64_t last, palladion_error* error) {
  char* part = nullptr;
  const absl::Status status = WithArrays(
      program, {inputs, n_inputs},
      [&](absl::Span<const palladion::ConstArray> in, absl::Span<const palladion::MutableArray>,
          palladion::RunControl& control) -> absl::Status {
        PALLADION_ASSIGN_OR_RETURN(palladion::CheckOptions how, palladion::options::CheckOptionsOf(TextsOf(options)));
        how.run.control = &control;
        PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::Tensor> tensors,
                                   palladion::check::CopiesOf(program->kernel, in));
        PALLADION_ASSIGN_OR_RETURN(const palladion::CheckPart checked,
                                   palladion::CheckSeeds(program->kernel, tensors, how, first, last));
        part = CopyText(palladion::reports::PartJson(checked));
        return absl::OkStatus();
      });
  SetError(status, error);
  return part;
}

char* palladion_mutants(const char* text, size_t size, const char* kernel, size_t per_kind, palladion_error* error) {
  char* list = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    const absl::StatusOr<std::vector<palladion::mutation::Mutant>> mutants = palladion::mutation::Mutants(
        TextOf(text, size), "<text>", {.kernel = kernel == nullptr ? "" : kernel, .per_kind = per_kind});
    if (mutants.ok()) list = CopyText(palladion::mutation::MutantsJson(*mutants, true));
    return mutants.status();
  });
  SetError(status, error);
  return list;
}

char* palladion_kernels(const char* text, size_t size, palladion_error* error) {
  char* names = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    absl::StatusOr<std::vector<std::string>> found = palladion::KernelNames(TextOf(text, size));
    if (found.ok()) names = CopyText(absl::StrJoin(*found, "\n"));
    return found.status();
  });
  SetError(status, error);
  return names;
}

char* palladion_canonical(const char* text, size_t size, palladion_error* error) {
  return Printed([=] { return palladion::CanonicalText(TextOf(text, size)); }, error);
}

char* palladion_text_json(const char* text, size_t size, palladion_error* error) {
  return Printed([=] { return palladion::TextAsJson(TextOf(text, size)); }, error);
}

char* palladion_operations(void) { return CopyText(palladion::OperationsJson()); }

char* palladion_finding_codes(void) {
  palladion::JsonWriter json;
  json.Open('[');
  for (const palladion::CodeRow& row : palladion::AllCodes()) {
    json.Open('{').Key("code").String(row.name).Key("severity").String(palladion::Name(row.severity));
    json.Key("rule").String(row.rule).Close('}');
  }
  return CopyText(json.Close(']').Take());
}

char* palladion_explain(const char* name, palladion_error* error) {
  return Printed([=] { return palladion::reports::ExplainedJson(TextOf(name)); }, error);
}

char* palladion_chips(void) {
  palladion::JsonWriter json;
  json.Open('[');
  for (const palladion::machines::Chip& chip : palladion::machines::AllChips()) {
    json.Open('{').Key("name").String(chip.name).Key("device_kind").String(chip.device_kind);
    json.Key("tpu")
        .Bool(chip.is_tpu)
        .Key("generation")
        .Number(chip.generation)
        .Key("cores")
        .Number(chip.cores)
        .Key("hbm_bytes")
        .Number(chip.hbm_bytes)
        .Close('}');
  }
  return CopyText(json.Close(']').Take());
}

char* palladion_machines(const char* name, const char* const* changes, size_t n, palladion_error* error) {
  char* json = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (name == nullptr) {
      json = CopyText(palladion::reports::MachinesJson());
      return absl::OkStatus();
    }
    PALLADION_ASSIGN_OR_RETURN(const palladion::machines::Machine* found, palladion::machines::FindMachine(name));
    palladion::machines::Machine machine = *found;
    PALLADION_RETURN_IF_ERROR(machine.Set(std::vector<std::string>(changes, changes + n)));
    json = CopyText(palladion::reports::MachineJson(machine));
    return absl::OkStatus();
  });
  SetError(status, error);
  return json;
}

void palladion_free_program(palladion_program* program) { delete program; }

void palladion_free_string(char* text) { std::free(text); }
