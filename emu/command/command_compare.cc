// The command `compare`: a backend's outputs against a bundle of `golden`.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "emu/command/attended.h"
#include "emu/command/command_common.h"
#include "emu/golden/comparison.h"
#include "emu/reports/printable.h"
#include "semantics/base/cat.h"
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

// A folder of NAME.npy, or NAME=FILE.npy. What is missing in a folder is told by the comparison.
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

}  // namespace

absl::StatusOr<ExitCode> CommandCompare(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  golden::ComparisonOptions options;
  options.compare.signed_zero = line.Has("signed-zero");
  options.causes.wanted = !line.Has("no-causes");
  PALLADION_ASSIGN_OR_RETURN(options.causes.most, PositiveFlag(line, "hypotheses", options.causes.most));
  if (line.words.size() < 2)
    return absl::InvalidArgumentError(
        Cat("expected a bundle's folder and outputs (a folder of NAME.npy, or NAME=FILE.npy); found ",
            line.words.size(), " words"));
  PALLADION_ASSIGN_OR_RETURN(const golden::Bundle bundle, golden::ReadBundle(line.words[0]));
  PALLADION_ASSIGN_OR_RETURN(std::vector<golden::FoundOutput> found, ReadFound(line, bundle));
  std::optional<Attended> attended(std::in_place, console, bundle.kernel);
  options.run.control = options.causes.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const golden::Comparison comparison, golden::Compare(bundle, std::move(found), options));
  attended.reset();
  console.out << (format == "json" ? golden::ToJson(comparison) + "\n"
                                   : reports::PrintableLines(golden::ToText(comparison)));
  return golden::ExitCodeOf(comparison);
}

}  // namespace palladion::command
