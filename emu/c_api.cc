#include "emu/c_api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/json.h"
#include "emu/mutants.h"
#include "emu/operand_check.h"
#include "emu/operations.h"
#include "semantics/base/cat.h"

struct palladion_program {
  palladion::PreparedKernel kernel;
};

namespace {

using palladion::Cat;

char* CopyText(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::string ErrorText(const absl::Status& status) {
  return Cat(absl::StatusCodeToString(status.code()), ": ", status.message());
}

// NULL is the empty text.
std::string_view TextOf(const char* text, std::size_t size) {
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

void SetText(char** place, const std::string& text) {
  if (place != nullptr) *place = CopyText(text);
}

// Nothing may be thrown across the C ABI: what escapes (memory, above all) becomes a status.
template <class F>
absl::Status Guarded(const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("exception: ", e.what()));
  }
}

absl::StatusOr<palladion::DType> DTypeOf(const palladion_array& array) {
  const char* name = array.dtype == nullptr ? "" : array.dtype;
  if (auto dtype = palladion::DTypeFromName(name)) return *dtype;
  return absl::InvalidArgumentError(
      Cat("unknown dtype '", name, "'; the names are those of kernel text, such as f32 or bf16"));
}

template <class Array, class Byte>
absl::Status Convert(const palladion_array* arrays, std::size_t n, std::vector<Array>& out) {
  if (n > 0 && arrays == nullptr)
    return absl::InvalidArgumentError(Cat("expected ", n, " arrays; found the null pointer"));
  for (std::size_t i = 0; i < n; ++i) {
    if (arrays[i].rank < 0 || (arrays[i].rank > 0 && arrays[i].shape == nullptr)) {
      return absl::InvalidArgumentError(Cat("array ", i,
                                            " must have a rank of 0 or more and as many sizes; found rank ",
                                            arrays[i].rank, arrays[i].shape == nullptr ? " and no sizes" : ""));
    }
    absl::StatusOr<palladion::DType> dtype = DTypeOf(arrays[i]);
    if (!dtype.ok()) return dtype.status();
    out.push_back({*dtype, absl::MakeSpan(arrays[i].shape, static_cast<std::size_t>(arrays[i].rank)),
                   static_cast<Byte*>(arrays[i].data)});
  }
  return absl::OkStatus();
}

palladion::CheckOptions OptionsOf(const palladion_check_options& given) {
  palladion::CheckOptions options{.seeds = given.seeds,
                                  .exhaustive = given.exhaustive != 0,
                                  .races = given.races != 0,
                                  .definedness = given.definedness != 0,
                                  .contracts = given.contracts != 0,
                                  .strict = given.strict != 0,
                                  .threads = given.threads};
  if (given.budget > 0) options.run.loop_budget = given.budget;
  if (given.replay != nullptr) options.replay = given.replay;
  if (given.fill != nullptr) options.fill = given.fill;
  return options;
}

// The arrays fit the kernel's operands; `out` may be empty.
absl::StatusOr<palladion::Report> Checked(const palladion::PreparedKernel& kernel,
                                          const std::vector<palladion::ConstArray>& in,
                                          const std::vector<palladion::MutableArray>& out,
                                          const palladion_check_options* options) {
  std::vector<palladion::Tensor> inputs, outputs;
  for (const palladion::ConstArray& array : in) {
    absl::StatusOr<palladion::Tensor> tensor =
        palladion::Tensor::CreateUninitialized(array.dtype, {array.shape.begin(), array.shape.end()});
    if (!tensor.ok()) return tensor.status();
    if (tensor->num_bytes() > 0) std::memcpy(tensor->bytes(), array.data, tensor->num_bytes());
    inputs.push_back(*std::move(tensor));
  }
  absl::StatusOr<palladion::Report> report =
      palladion::Check(kernel, inputs, options == nullptr ? palladion::CheckOptions() : OptionsOf(*options), &outputs);
  for (std::size_t i = 0; report.ok() && i < std::min(out.size(), outputs.size()); ++i) {
    if (outputs[i].num_bytes() > 0) std::memcpy(out[i].data, outputs[i].bytes(), outputs[i].num_bytes());
  }
  return report;
}

}  // namespace

palladion_program* palladion_prepare(const char* text, size_t size, const char* kernel, const char* target,
                                     char** error) {
  palladion_program* program = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    absl::StatusOr<palladion::PreparedKernel> prepared = palladion::PrepareText(
        TextOf(text, size),
        {.kernel = kernel == nullptr ? "" : kernel, .target = target == nullptr ? "" : target, .path = ""});
    if (!prepared.ok()) return prepared.status();
    program = new palladion_program{*std::move(prepared)};
    return absl::OkStatus();
  });
  if (!status.ok()) SetText(error, ErrorText(status));
  return program;
}

int palladion_run(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                  palladion_array* outputs, size_t n_outputs, char** report) {
  palladion::ExitCode code = palladion::ExitCode::kClean;
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (program == nullptr)
      return absl::InvalidArgumentError("no program: palladion_prepare gives one, or says what is wrong");
    std::vector<palladion::ConstArray> in;
    std::vector<palladion::MutableArray> out;
    if (absl::Status s = Convert<palladion::ConstArray, const std::byte>(inputs, n_inputs, in); !s.ok()) return s;
    if (absl::Status s = Convert<palladion::MutableArray, std::byte>(outputs, n_outputs, out); !s.ok()) return s;
    absl::StatusOr<palladion::Report> result = palladion::RunInto(program->kernel, in, out);
    if (!result.ok()) return result.status();
    code = palladion::ExitCodeOf(*result);
    SetText(report, palladion::ToJson(*result));
    return absl::OkStatus();
  });
  if (status.ok()) return static_cast<int>(code);
  SetText(report, Cat("{\"message\": ", palladion::JsonString(ErrorText(status)), "}"));
  return static_cast<int>(palladion::ExitCodeOf(status));
}

void palladion_check_defaults(palladion_check_options* options) {
  if (options == nullptr) return;
  const palladion::CheckOptions defaults;
  *options = {.seeds = defaults.seeds,
              .exhaustive = defaults.exhaustive ? 1 : 0,
              .replay = nullptr,
              .fill = nullptr,
              .races = defaults.races ? 1 : 0,
              .definedness = defaults.definedness ? 1 : 0,
              .contracts = defaults.contracts ? 1 : 0,
              .strict = defaults.strict ? 1 : 0,
              .threads = defaults.threads,
              .budget = defaults.run.loop_budget};
}

int palladion_check(const palladion_program* program, const palladion_array* inputs, size_t n_inputs,
                    palladion_array* outputs, size_t n_outputs, const palladion_check_options* options, char** report) {
  palladion::ExitCode code = palladion::ExitCode::kClean;
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (program == nullptr)
      return absl::InvalidArgumentError("no program: palladion_prepare gives one, or says what is wrong");
    std::vector<palladion::ConstArray> in;
    std::vector<palladion::MutableArray> out;
    if (absl::Status s = Convert<palladion::ConstArray, const std::byte>(inputs, n_inputs, in); !s.ok()) return s;
    if (absl::Status s = Convert<palladion::MutableArray, std::byte>(outputs, n_outputs, out); !s.ok()) return s;
    if (n_outputs > 0) {
      if (absl::Status s = palladion::CheckOutputs(program->kernel, out); !s.ok()) return s;
    }
    if (absl::Status s = palladion::CheckInputs(program->kernel, in); !s.ok()) return s;
    absl::StatusOr<palladion::Report> result = Checked(program->kernel, in, out, options);
    if (!result.ok()) return result.status();
    code = palladion::ExitCodeOf(*result);
    SetText(report, palladion::ToJson(*result));
    return absl::OkStatus();
  });
  if (status.ok()) return static_cast<int>(code);
  SetText(report, Cat("{\"message\": ", palladion::JsonString(ErrorText(status)), "}"));
  return static_cast<int>(palladion::ExitCodeOf(status));
}

char* palladion_mutants(const char* text, size_t size, const char* kernel, size_t per_kind, char** error) {
  char* list = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    const absl::StatusOr<std::vector<palladion::Mutant>> mutants = palladion::Mutants(
        TextOf(text, size), "<text>", {.kernel = kernel == nullptr ? "" : kernel, .per_kind = per_kind});
    if (mutants.ok()) list = CopyText(palladion::MutantsJson(*mutants, true));
    return mutants.status();
  });
  if (!status.ok()) SetText(error, ErrorText(status));
  return list;
}

char* palladion_kernels(const char* text, size_t size, char** error) {
  char* names = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    absl::StatusOr<std::vector<std::string>> found = palladion::KernelNames(TextOf(text, size));
    if (found.ok()) names = CopyText(absl::StrJoin(*found, "\n"));
    return found.status();
  });
  if (!status.ok()) SetText(error, ErrorText(status));
  return names;
}

char* palladion_canonical(const char* text, size_t size, char** error) {
  char* canonical = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    absl::StatusOr<std::string> printed = palladion::CanonicalText(TextOf(text, size));
    if (printed.ok()) canonical = CopyText(*printed);
    return printed.status();
  });
  if (!status.ok()) SetText(error, ErrorText(status));
  return canonical;
}

char* palladion_operations(void) { return CopyText(palladion::OperationsJson()); }

void palladion_free_program(palladion_program* program) { delete program; }

void palladion_free_string(char* text) { std::free(text); }
