// A bundle as a folder, and back. Every file but the manifest has its hash there.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_format.h"
#include "emu/tools/golden/bundle.h"
#include "emu/values.h"
#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"
#include "semantics/base/system_error.h"
#include "semantics/base/unfinished.h"
#include "semantics/base/whole_file.h"
#include "semantics/tensor/npy.h"

namespace palladion::golden {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kHash = "fnv1a64";

std::string HashOf(std::string_view bytes) {
  Tensor tensor(DType::kU8, {static_cast<std::int64_t>(bytes.size())});
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  return absl::StrFormat("%016x", Fnv1a(tensor));
}

struct File {
  std::string path, content;
};

// A manifest may come from anywhere, and its names become paths: none may lead out of the bundle's folder.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

std::vector<File> FilesOf(const Bundle& bundle) {
  std::vector<File> files = {{"kernel.pkir", bundle.text}, {"report.json", bundle.report + "\n"}};
  for (std::size_t i = 0; i < bundle.inputs.size(); ++i)
    files.push_back({Cat("inputs/", bundle.operands[i].name, ".npy"), FormatNpy(bundle.inputs[i])});
  for (const GoldenOutput& output : bundle.outputs) {
    const std::string name = output.operand.name + ".npy";
    files.push_back({"outputs/" + name, FormatNpy(output.values)});
    if (output.undefined.has_value()) files.push_back({"undefined/" + name, FormatNpy(*output.undefined)});
    if (output.tolerance.has_value()) files.push_back({"tolerance/" + name, FormatNpy(*output.tolerance)});
  }
  return files;
}

void WriteOperand(JsonWriter& json, const OperandDescription& operand) {
  json.Key("name").String(operand.name).Key("label").String(operand.label);
  json.Key("dtype").String(Name(operand.dtype)).Key("shape").Open('[');
  for (const std::int64_t size : operand.shape) json.Number(size);
  json.Close(']');
}

std::string ManifestOf(const Bundle& bundle, const std::vector<File>& files) {
  JsonWriter json;
  json.Open('{').Key("bundle").Number(kBundleVersion).Key("palladion").String(PALLADION_VERSION);
  json.Key("kernel").String(bundle.kernel).Key("target").String(bundle.target);
  json.Key("inputs").Open('[');
  for (const OperandDescription& operand : bundle.operands) {
    json.Open('{');
    WriteOperand(json, operand);
    json.Close('}');
  }
  json.Close(']').Key("outputs").Open('[');
  for (const GoldenOutput& output : bundle.outputs) {
    json.Open('{');
    WriteOperand(json, output.operand);
    json.Key("undefined").Bool(output.undefined.has_value()).Key("tolerance").Bool(output.tolerance.has_value());
    json.Key("derivation").String(output.derivation).Close('}');
  }
  json.Close(']').Key("hash_kind").String(kHash).Key("files").Open('{');
  for (const File& file : files) json.Key(file.path).String(HashOf(file.content));
  return json.Close('}').Close('}').Take() + "\n";
}

absl::Status WriteFile(const fs::path& path, std::string_view content) {
  PALLADION_ASSIGN_OR_RETURN(WholeFile file, WholeFile::Open(path.string()));
  PALLADION_RETURN_IF_ERROR(file.Write(content));
  return file.Commit();
}

absl::Status AtPlace(const std::string& place, std::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), ToAbsl(Cat(place, ": ", what, ": ", ToStd(status.message()))));
}

absl::StatusOr<std::string> ReadWhole(const fs::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || fs::is_directory(path, error))
    return absl::InvalidArgumentError(Cat("'", path.string(),
                                          "': cannot be read: ", errno == 0 ? "a directory" : std::strerror(errno),
                                          "; is the folder a bundle that `palladion golden` wrote?"));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The files of a bundle's folder, each held against the manifest.
class Reader {
 public:
  Reader(const std::string& directory, ReportOfText report_of) : directory_(directory), report_of_(report_of) {}

  absl::StatusOr<Bundle> Read() {
    const fs::path path = directory_ / kManifest;
    PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
    try {
      manifest_ = Json::parse(text);
      return FromManifest();
    } catch (const Json::exception& error) {
      return absl::InvalidArgumentError(
          Cat(path.string(), ": not a bundle's manifest (", error.what(), "); write the bundle again"));
    }
  }

 private:
  // A report that cannot be read, of another version, says nothing of findings.
  void ReadDefects(Bundle& bundle) const {
    const absl::StatusOr<Report> report = report_of_(bundle.report);
    if (report.ok()) bundle.defects = DefectsOf(*report);
    bundle.defect = !bundle.defects.empty();
  }

  absl::StatusOr<Bundle> FromManifest() {
    const std::string manifest = (directory_ / kManifest).string();
    if (const int version = manifest_.at("bundle").get<int>(); version != kBundleVersion)
      return absl::InvalidArgumentError(
          Cat(manifest, ": expected a bundle of version ", kBundleVersion, "; found ", version));
    if (const auto hash = manifest_.at("hash_kind").get<std::string>(); hash != kHash)
      return absl::InvalidArgumentError(Cat(manifest, ": expected hashes of kind ", kHash, "; found '", hash, "'"));
    Bundle bundle;
    bundle.kernel = manifest_.at("kernel").get<std::string>();
    bundle.target = manifest_.at("target").get<std::string>();
    PALLADION_ASSIGN_OR_RETURN(bundle.text, Content("kernel.pkir"));
    PALLADION_ASSIGN_OR_RETURN(bundle.report, Content("report.json"));
    ReadDefects(bundle);
    for (const Json& input : manifest_.at("inputs")) {
      PALLADION_ASSIGN_OR_RETURN(bundle.operands.emplace_back(), OperandOf(input));
      PALLADION_ASSIGN_OR_RETURN(bundle.inputs.emplace_back(),
                                 Array("inputs", bundle.operands.back(), bundle.operands.back().dtype));
    }
    for (const Json& one : manifest_.at("outputs")) {
      GoldenOutput& output = bundle.outputs.emplace_back();
      PALLADION_ASSIGN_OR_RETURN(output.operand, OperandOf(one));
      PALLADION_ASSIGN_OR_RETURN(output.values, Array("outputs", output.operand, output.operand.dtype));
      output.derivation = one.at("derivation").get<std::string>();
      if (one.at("undefined").get<bool>()) {
        PALLADION_ASSIGN_OR_RETURN(output.undefined, Array("undefined", output.operand, DType::kBool));
      }
      if (one.at("tolerance").get<bool>()) {
        PALLADION_ASSIGN_OR_RETURN(output.tolerance, Array("tolerance", output.operand, DType::kF64));
      }
    }
    PALLADION_RETURN_IF_ERROR(ExpectKernelsOwn(bundle));
    return bundle;
  }

  // The manifest has no hash of its own: what it says of operands is the kernel's, or the bundle was changed.
  absl::Status ExpectKernelsOwn(const Bundle& bundle) const {
    PALLADION_ASSIGN_OR_RETURN(
        const PreparedKernel kernel,
        PrepareText(bundle.text, {.kernel = bundle.kernel, .target = bundle.target, .path = "kernel.pkir"}));
    const auto same = [](const OperandDescription& a, const OperandDescription& b) {
      return a.name == b.name && a.label == b.label && a.dtype == b.dtype && a.shape == b.shape;
    };
    const auto same_output = [&](const GoldenOutput& golden, const OperandDescription& output) {
      return same(golden.operand, output) && golden.tolerance.has_value() == IsFloat(output.dtype);
    };
    const auto &inputs = kernel.inputs(), &outputs = kernel.outputs();
    if (std::equal(bundle.operands.begin(), bundle.operands.end(), inputs.begin(), inputs.end(), same) &&
        std::equal(bundle.outputs.begin(), bundle.outputs.end(), outputs.begin(), outputs.end(), same_output))
      return absl::OkStatus();
    return absl::InvalidArgumentError(Cat((directory_ / kManifest).string(),
                                          ": expected the operands of kernel.pkir; found others; the file was changed, "
                                          "write the bundle again"));
  }

  absl::StatusOr<OperandDescription> OperandOf(const Json& json) const {
    const auto name = json.at("dtype").get<std::string>();
    const std::optional<DType> dtype = DTypeFromName(name);
    if (!dtype.has_value())
      return absl::InvalidArgumentError(
          Cat((directory_ / kManifest).string(), ": expected an element type; found '", name, "'"));
    const auto operand = json.at("name").get<std::string>();
    if (!IsFileName(operand))
      return absl::InvalidArgumentError(Cat((directory_ / kManifest).string(),
                                            ": expected the name of an operand, which is also the name of its file; "
                                            "found '",
                                            operand, "'"));
    return OperandDescription{.name = operand,
                              .label = json.at("label").get<std::string>(),
                              .dtype = *dtype,
                              .shape = json.at("shape").get<std::vector<std::int64_t>>()};
  }

  absl::StatusOr<std::string> Content(const std::string& name) const {
    PALLADION_ASSIGN_OR_RETURN(std::string content, ReadWhole(directory_ / name));
    const auto expected = manifest_.at("files").at(name).get<std::string>();
    if (const std::string found = HashOf(content); found != expected)
      return absl::InvalidArgumentError(Cat((directory_ / name).string(), ": expected ", kHash, " ", expected,
                                            " as the manifest says; found ", found,
                                            "; the file was changed, write the bundle again"));
    return content;
  }

  absl::StatusOr<Tensor> Array(const std::string& folder, const OperandDescription& operand, DType dtype) const {
    const std::string name = Cat(folder, "/", operand.name, ".npy");
    PALLADION_ASSIGN_OR_RETURN(const std::string content, Content(name));
    absl::StatusOr<Tensor> tensor = ParseNpy(content, dtype);
    if (!tensor.ok()) return AtPlace((directory_ / name).string(), "no array", tensor.status());
    if (tensor->shape() != operand.shape)
      return absl::InvalidArgumentError(Cat((directory_ / name).string(), ": expected ",
                                            TypeString(dtype, operand.shape), "; found ",
                                            TypeString(tensor->dtype(), tensor->shape())));
    return tensor;
  }

  fs::path directory_;
  ReportOfText report_of_;
  Json manifest_;
};

}  // namespace

absl::Status WriteBundle(const Bundle& bundle, const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !(fs::is_directory(directory, error) && fs::is_empty(directory, error)))
    return absl::InvalidArgumentError(
        Cat(directory, ": expected no such folder, or an empty one; choose another with --out"));
  fs::path target = fs::absolute(directory, error).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  fs::create_directories(target.parent_path(), error);
  if (error) return AtPlace(directory, "cannot be made", SystemStatus(error.value()));
  absl::StatusOr<Part> part = Part::NewFolder(target.parent_path().string());
  if (!part.ok()) return AtPlace(directory, "cannot be written", part.status());
  std::vector<File> files = FilesOf(bundle);
  files.push_back({std::string(kManifest), ManifestOf(bundle, files)});
  for (const File& file : files) {
    const fs::path path = fs::path(part->path()) / file.path;
    fs::create_directories(path.parent_path(), error);
    const absl::Status status = error ? SystemStatus(error.value()) : WriteFile(path, file.content);
    if (!status.ok()) {
      fs::remove_all(part->path(), error);
      return AtPlace(directory, "cannot be written", status);
    }
  }
  if (std::rename(part->path().c_str(), target.c_str()) != 0) {
    const absl::Status status = SystemStatus(errno);
    fs::remove_all(part->path(), error);
    return AtPlace(directory, "cannot be written", status);
  }
  part->Finished();
  return absl::OkStatus();
}

absl::StatusOr<Bundle> ReadBundle(const std::string& directory, ReportOfText report_of) {
  return Reader(directory, report_of).Read();
}

}  // namespace palladion::golden
