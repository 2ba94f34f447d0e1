#include "conformance/backend_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "conformance/case_judge.h"
#include "conformance/case_runner.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/unfinished.h"
#include "semantics/tensor/npy.h"
#include "semantics/tensor/npy_header.h"

namespace palladion::conformance {
namespace {

namespace fs = std::filesystem;

// From here on the kernel does not run: the text, the target or the budget refuse it.
constexpr int kNotModelled = 3, kFirstRefusal = kNotModelled;

void Fail(CaseRecord& record, std::string message) {
  record.outcome = Outcome::kFailed;
  record.messages.push_back(std::move(message));
}

void Unsupported(CaseRecord& record, std::string message) {
  record.outcome = Outcome::kUnsupported;
  record.messages = {std::move(message)};
}

bool RefusalExpected(const Case& test) { return test.exit_code >= kFirstRefusal; }
bool WrongOnPurpose(const Case& test) { return test.exit_code > 0 && !RefusalExpected(test); }

// A kernel that is wrong on purpose may hang, and may take its runner with it.
void FailUnlessWrong(const Case& test, const std::string& message, CaseRecord& record) {
  if (!WrongOnPurpose(test)) return Fail(record, message);
  Unsupported(record, Cat("the kernel is wrong on purpose, and nothing can be said of it: ", message));
}

// "RACE_*" means every code that begins with "RACE_".
bool Means(std::string_view pattern, std::string_view code) {
  return pattern.ends_with("*") ? code.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == code;
}

bool AnyMeans(const std::vector<std::string>& patterns, std::string_view code) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return Means(p, code); });
}

std::set<std::string> ExpectedCodes(const Case& test) {
  std::set<std::string> codes;
  for (const GuiltyLine& guilty : test.guilty) codes.insert(guilty.code);
  for (const ExpectedFinding& finding : test.findings) codes.insert(finding.code);
  return codes;
}

// False: the case has mistakes, and none of them is of those that the backend looks for.
bool JudgeFindings(const Case& test, const BackendAnswer& answer, CaseRecord& record) {
  const std::set<std::string> expected = ExpectedCodes(test);
  const std::set<std::string> found(answer.findings->begin(), answer.findings->end());
  for (const std::string& code : expected) {
    if (AnyMeans(*answer.findings, code)) {
      record.codes.found.push_back(code);
    } else if (!answer.finds.has_value() || AnyMeans(*answer.finds, code)) {
      record.codes.missed.push_back(code);
      Fail(record, Cat("finding ", code, " was expected and not reported"));
    }
  }
  for (const std::string& code : found) {
    const auto means = [&](const std::string& e) { return Means(code, e); };
    if (std::any_of(expected.begin(), expected.end(), means)) continue;
    record.codes.wrong.push_back(PlainText(code, 40));
    Fail(record, Cat("finding ", record.codes.wrong.back(), " was reported, and the case has none of that code"));
  }
  record.judged_findings = true;
  return expected.empty() || !record.codes.found.empty() || !record.codes.missed.empty();
}

absl::StatusOr<Tensor> ReadOutput(const BackendRequest& request, const OperandDescription& output,
                                  const std::string& file) {
  if (file.empty() || file.find('/') != std::string::npos)
    return absl::InvalidArgumentError(
        Cat("its file is '", PlainText(file, 100), "'; expected the name of a file in the case's folder"));
  const fs::path path = fs::path(request.folder) / file;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)))
    return absl::InvalidArgumentError(Cat("there is no file '", PlainText(file, 100), "' in the case's folder"));
  // Before it is read: what it claims to hold is the backend's word.
  std::uintmax_t bytes = StorageBytes(output.dtype);
  for (const std::int64_t size : output.shape) bytes *= static_cast<std::uintmax_t>(size);
  if (fs::file_size(path, error) > bytes + kMaxNpyDataOffset || error)
    return absl::InvalidArgumentError(
        Cat("its file is larger than ", TypeString(output.dtype, output.shape), " can be"));
  absl::StatusOr<Tensor> tensor = ReadNpy(path.string(), output.dtype);
  if (!tensor.ok()) return absl::InvalidArgumentError(Cat(PlainText(std::string(tensor.status().message()), 400)));
  if (tensor->shape() != output.shape) {
    return absl::InvalidArgumentError(Cat("expected ", TypeString(output.dtype, output.shape), ", found ",
                                          TypeString(tensor->dtype(), tensor->shape())));
  }
  return tensor;
}

// A hash without a list is our own bits, for cases whose outputs are exact and long.
void JudgeOutput(const Case& test, const OperandDescription& described, const Tensor& found, CaseRecord& record) {
  const auto same = [&](const CaseOutput& o) { return o.name == described.name; };
  const auto output = std::find_if(test.outputs.begin(), test.outputs.end(), same);
  if (output == test.outputs.end()) return;
  std::vector<std::string> differences = ListDifferences(*output, found);
  if (output->lists.empty()) differences = {HashDifference(*output, found)};
  for (const std::string& difference : differences) {
    if (!difference.empty()) Fail(record, Cat(described.name, ": ", difference));
  }
}

void JudgeOutputs(const BackendRequest& request, const std::map<std::string, std::string>& files, CaseRecord& record) {
  for (const auto& [name, file] : files) {
    const auto same = [wanted = name](const OperandDescription& d) { return d.name == wanted; };
    if (std::none_of(request.outputs.begin(), request.outputs.end(), same))
      Fail(record, Cat("the answer has an output '", PlainText(name, 100), "', which the kernel has not"));
  }
  for (const OperandDescription& output : request.outputs) {
    const auto file = files.find(output.name);
    if (file == files.end()) {
      Fail(record, Cat("the answer has no output '", output.name, "'"));
      continue;
    }
    absl::StatusOr<Tensor> tensor = ReadOutput(request, output, file->second);
    if (tensor.ok()) {
      JudgeOutput(*request.test, output, *tensor, record);
    } else {
      Fail(record, Cat(output.name, ": ", ToStd(tensor.status().message())));
    }
  }
}

void JudgeRan(const BackendRequest& request, const BackendAnswer& answer, CaseRecord& record) {
  const Case& test = *request.test;
  if (WrongOnPurpose(test) && !answer.findings.has_value())
    return Unsupported(record, "the kernel is wrong on purpose, and the backend reports no findings");
  if (answer.findings.has_value() && !JudgeFindings(test, answer, record) && record.outcome == Outcome::kPassed &&
      WrongOnPurpose(test))
    return Unsupported(record, "the kernel has mistakes that the backend does not look for");
  if (answer.printed.has_value()) {
    std::vector<std::string> lines = *answer.printed, failures;
    for (std::string& line : lines) line = PlainText(line);
    CheckPrinted(test, lines, failures);
    for (std::string& failure : failures) Fail(record, std::move(failure));
  }
  // What a wrong kernel leaves is no result that a backend must have.
  if (answer.outputs.has_value() || !WrongOnPurpose(test)) {
    JudgeOutputs(request, answer.outputs.value_or(std::map<std::string, std::string>{}), record);
  }
  if (request.outputs.empty() && !record.judged_findings && !answer.printed.has_value())
    Unsupported(record, "the kernel has no outputs, and the answer has neither findings nor printed lines");
}

// Not by WholeFile, which waits for the disk: the folder lives as long as the case.
absl::Status WriteText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::InternalError(Cat("cannot write ", path, "; is the disk full?"));
}

// The kernel's operands as files. A case that is to be refused, or a check of a text that cannot be prepared (all that
// is found is that its target refuses it), may have none.
absl::Status WriteInputs(BackendRequest& request) {
  PALLADION_RETURN_IF_ERROR(WriteText(Cat(request.folder, "/", kKernelFile), request.test->kernel));
  absl::StatusOr<PreparedKernel> kernel = PrepareText(request.test->kernel, {.target = request.test->target});
  if (!kernel.ok()) return request.test->exit_code > 0 ? absl::OkStatus() : kernel.status();
  request.inputs = kernel->inputs();
  request.outputs = kernel->outputs();
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, MakeInputs(*request.test, *kernel));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(WriteText(Cat(request.folder, "/", InputFile(request.inputs[i])), FormatNpy(inputs[i])));
  }
  return absl::OkStatus();
}

}  // namespace

void JudgeAnswer(const BackendRequest& request, const BackendAnswer& answer, CaseRecord& record) {
  const std::string words = answer.message.empty() ? "" : ": " + answer.message;
  if (answer.status == AnswerStatus::kNotSupported) {
    Unsupported(record, "not supported" + words);
  } else if (RefusalExpected(*request.test)) {
    if (answer.status == AnswerStatus::kRan && request.test->exit_code == kNotModelled)
      Unsupported(record, "the backend ran what Palladion does not model: nothing is known of its outputs");
    else if (answer.status == AnswerStatus::kRan)
      Fail(record, "the backend ran a kernel that it must refuse");
  } else if (answer.status == AnswerStatus::kError) {
    FailUnlessWrong(*request.test, "the backend answers with an error" + words, record);
  } else {
    JudgeRan(request, answer, record);
  }
}

absl::StatusOr<BackendAnswer> Backend::Ask(const BackendRequest& request) {
  if (process_ == nullptr || process_->HasEnded()) {
    PALLADION_ASSIGN_OR_RETURN(process_, BackendProcess::Start(options_.command));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::string line, process_->Ask(RequestLine(request), options_.time, interrupted_));
  return ParseAnswer(line, request.name);
}

absl::Status Backend::Run(const Case& test, CaseRecord& record) {
  absl::StatusOr<Part> folder = Part::NewFolder(options_.folder);
  if (!folder.ok())
    return absl::InternalError(
        Cat("no folder can be made in ", options_.folder, ": ", ToStd(folder.status().message())));
  BackendRequest request{.name = record.name, .folder = folder->path(), .test = &test};
  if (test.launches > 1) {
    Unsupported(record, "launches in a row are no part of the protocol");
    return absl::OkStatus();
  }
  if (const absl::Status status = WriteInputs(request); !status.ok()) {
    Fail(record, Cat("the case cannot be given to a backend: ", ToStd(status.message())));
    return absl::OkStatus();
  }
  absl::StatusOr<BackendAnswer> answer = Ask(request);
  if (absl::IsCancelled(answer.status())) return answer.status();
  if (answer.ok()) {
    JudgeAnswer(request, *answer, record);
  } else {
    process_.reset();
    FailUnlessWrong(test, Cat("the backend: ", ToStd(answer.status().message())), record);
  }
  return absl::OkStatus();
}

}  // namespace palladion::conformance
