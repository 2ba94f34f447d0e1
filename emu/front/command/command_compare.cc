// The command `compare`, and `diff --dump`: a backend's outputs, and its intermediate values, against a bundle of
// `golden`.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/output_directory.h"
#include "emu/front/reports/report_reader.h"
#include "emu/tools/golden/checkpoints.h"
#include "emu/tools/golden/comparison.h"
#include "emu/tools/golden/error_map.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

golden::FoundOutput FoundAt(const golden::Bundle& bundle, const std::string& name, const std::string& path) {
  std::optional<DType> dtype;
  for (const golden::GoldenOutput& output : bundle.outputs) {
    if (output.operand.name == name || output.operand.label == name) dtype = output.operand.dtype;
  }
  return {name, ReadNpy(path, dtype)};
}

// A folder of NAME.npy, or NAME=FILE.npy. The comparison reports what is missing in a folder.
absl::StatusOr<std::vector<golden::FoundOutput>> ReadFound(const CommandLine& line, const golden::Bundle& bundle) {
  std::vector<golden::FoundOutput> found;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    std::error_code error;
    if (fs::is_directory(word, error)) {
      for (const golden::GoldenOutput& output : bundle.outputs) {
        const fs::path path = fs::path(word) / (output.operand.name + ".npy");
        if (fs::exists(path, error)) found.push_back(FoundAt(bundle, output.operand.name, path.string()));
      }
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return absl::InvalidArgumentError(
          Cat("'", word, "': expected a folder of NAME.npy, or NAME=FILE.npy; found neither"));
    found.push_back(FoundAt(bundle, word.substr(0, equals), word.substr(equals + 1)));
  }
  return found;
}

absl::Status WritePages(const golden::Bundle& bundle, const golden::Comparison& comparison, OutputDirectory& out) {
  PALLADION_ASSIGN_OR_RETURN(const std::vector<golden::Page> pages, golden::PagesOf(bundle, comparison));
  for (const golden::Page& page : pages) PALLADION_RETURN_IF_ERROR(out.Write(page.name, page.content));
  return out.Commit();
}

}  // namespace

absl::StatusOr<ExitCode> CommandCompare(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  golden::ComparisonOptions options;
  options.compare.signed_zero = line.Has("signed-zero");
  options.causes.wanted = !line.Has("no-causes");
  options.worst = line.Has("out");
  PALLADION_ASSIGN_OR_RETURN(options.causes.most, PositiveFlag(line, "hypotheses", options.causes.most));
  if (line.words.size() < 2)
    return absl::InvalidArgumentError(
        Cat("expected a bundle's folder and outputs (a folder of NAME.npy, or NAME=FILE.npy); found ",
            line.words.size(), " words"));
  std::optional<OutputDirectory> directory;
  if (line.Has("out")) {
    PALLADION_ASSIGN_OR_RETURN(OutputDirectory opened, OutputDirectory::Open(line));
    directory.emplace(std::move(opened));
  }
  PALLADION_ASSIGN_OR_RETURN(const golden::Bundle bundle, golden::ReadBundle(line.words[0], reports::ReadReport));
  PALLADION_ASSIGN_OR_RETURN(std::vector<golden::FoundOutput> found, ReadFound(line, bundle));
  std::optional<Attended> attended(std::in_place, console, bundle.kernel);
  options.run.control = options.causes.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const golden::Comparison comparison, golden::Compare(bundle, std::move(found), options));
  attended.reset();
  if (directory.has_value()) PALLADION_RETURN_IF_ERROR(WritePages(bundle, comparison, *directory));
  console.out << (format == "json" ? golden::ToJson(comparison) + "\n" : PrintableLines(golden::ToText(comparison)));
  return golden::ExitCodeOf(comparison);
}

absl::StatusOr<ExitCode> CommandDiffDumps(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  if (line.words.size() != 2)
    return absl::InvalidArgumentError(Cat(
        "with --dump, expected a bundle's folder and a folder of dump_REF_N.npy; found ", line.words.size(), " words"));
  PALLADION_ASSIGN_OR_RETURN(const golden::Bundle bundle, golden::ReadBundle(line.words[0], reports::ReadReport));
  golden::CheckpointOptions options{.refs = line.Flag("dump"), .folder = line.words[1]};
  std::optional<Attended> attended(std::in_place, console, bundle.kernel);
  options.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const golden::Checkpoints checkpoints, golden::CompareCheckpoints(bundle, options));
  attended.reset();
  console.out << (format == "json" ? golden::ToJson(checkpoints) + "\n" : PrintableLines(golden::ToText(checkpoints)));
  return checkpoints.first.has_value() ? ExitCode::kDefect : ExitCode::kClean;
}

}  // namespace palladion::command
