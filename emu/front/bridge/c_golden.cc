// The part of the C ABI that makes golden bundles and compares outputs with them.
#include <cstring>
#include <filesystem>
#include <utility>

#include "emu/c_api.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/reports/report_reader.h"
#include "emu/tools/golden/comparison.h"
#include "emu/tools/golden/error_map.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"
#include "semantics/base/whole_file.h"
#include "semantics/tensor/npy.h"

namespace {

using palladion::Tensor;
using palladion::bridge::CopyText;
using palladion::bridge::Guarded;
using palladion::bridge::SetError;
using palladion::bridge::SetText;
using palladion::bridge::TextOf;

// FOLDER/in_NAME.npy of every input, as palladion.record writes them.
absl::StatusOr<std::vector<Tensor>> ReadRecorded(const palladion::PreparedKernel& kernel, const std::string& folder) {
  std::vector<Tensor> inputs;
  for (const palladion::OperandDescription& input : kernel.inputs()) {
    PALLADION_ASSIGN_OR_RETURN(inputs.emplace_back(),
                               palladion::ReadNpy(palladion::Cat(folder, "/in_", input.name, ".npy"), input.dtype));
  }
  return inputs;
}

absl::StatusOr<Tensor> TensorOf(const palladion::ConstArray& array) {
  PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(array.dtype, {array.shape.begin(), array.shape.end()}));
  if (tensor.num_bytes() != 0) std::memcpy(tensor.bytes(), array.data, tensor.num_bytes());
  return tensor;
}

absl::Status WriteOne(const std::string& path, std::string_view content) {
  PALLADION_ASSIGN_OR_RETURN(palladion::WholeFile file, palladion::WholeFile::Open(path));
  PALLADION_RETURN_IF_ERROR(file.Write(content));
  return file.Commit();
}

absl::Status WritePages(const palladion::golden::Bundle& bundle, const palladion::golden::Comparison& comparison,
                        const std::string& folder) {
  PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::golden::Page> pages,
                             palladion::golden::PagesOf(bundle, comparison));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const palladion::golden::Page& page : pages) {
    const std::string path = palladion::Cat(folder, "/", page.name);
    const absl::Status status = WriteOne(path, page.content);
    if (!status.ok())
      return absl::Status(status.code(), palladion::ToAbsl(palladion::Cat(
                                             path, ": cannot be written: ", palladion::ToStd(status.message()))));
  }
  return absl::OkStatus();
}

}  // namespace

palladion_code palladion_golden(const char* text, size_t size, const char* target, const char* recorded,
                                const char* directory, palladion_error* error) {
  const absl::Status status = Guarded([&]() -> absl::Status {
    palladion::golden::GoldenOptions options;
    options.prepare.target = std::string(TextOf(target));
    palladion::RunControl control{palladion::bridge::InterruptCount()};
    options.run.control = &control;
    PALLADION_ASSIGN_OR_RETURN(const palladion::PreparedKernel kernel,
                               palladion::PrepareText(TextOf(text, size), options.prepare));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadRecorded(kernel, std::string(TextOf(recorded))));
    PALLADION_ASSIGN_OR_RETURN(const palladion::golden::Bundle bundle,
                               palladion::golden::MakeBundle(TextOf(text, size), inputs, options, palladion::ToJson));
    return palladion::golden::WriteBundle(bundle, std::string(TextOf(directory)));
  });
  return SetError(status, error);
}

char* palladion_compare(const palladion_compare_request* request, char** text, palladion_error* error) {
  char* report = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(
        const palladion::golden::Bundle bundle,
        palladion::golden::ReadBundle(std::string(TextOf(request->directory)), palladion::reports::ReadReport));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<palladion::ConstArray> arrays,
                               palladion::bridge::ConstArrays(request->outputs, request->n_outputs));
    std::vector<palladion::golden::FoundOutput> found;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      found.push_back({std::string(TextOf(request->names[i])), TensorOf(arrays[i])});
    palladion::golden::ComparisonOptions options;
    options.compare.signed_zero = request->signed_zero != 0;
    options.causes.wanted = request->causes != 0;
    options.worst = !TextOf(request->out).empty();
    if (request->hypotheses > 0) options.causes.most = request->hypotheses;
    palladion::RunControl control{palladion::bridge::InterruptCount()};
    options.run.control = options.causes.run.control = &control;
    PALLADION_ASSIGN_OR_RETURN(const palladion::golden::Comparison comparison,
                               palladion::golden::Compare(bundle, std::move(found), options));
    const std::string out(TextOf(request->out));
    if (!out.empty()) PALLADION_RETURN_IF_ERROR(WritePages(bundle, comparison, out));
    report = CopyText(palladion::golden::ToJson(comparison));
    SetText(text, palladion::PrintableLines(palladion::golden::ToText(comparison)));
    return absl::OkStatus();
  });
  SetError(status, error);
  return report;
}
