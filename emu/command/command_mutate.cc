// `palladion mutate`: the mutants of a kernel as files, and a list of them.
#include <filesystem>
#include <system_error>

#include "emu/checks/mutants.h"
#include "emu/command/command_common.h"
#include "emu/reports/report_file.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

absl::Status WriteFile(const fs::path& path, std::string_view text) {
  PALLADION_ASSIGN_OR_RETURN(ReportFile file, ReportFile::Open(path.string()));
  return file.Write(text);
}

}  // namespace

absl::StatusOr<ExitCode> CommandMutate(absl::Span<const std::string> arguments, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(arguments, {"out", "kernel", "per-kind"}));
  PALLADION_ASSIGN_OR_RETURN(const std::string path, OneFile(line));
  MutantOptions options{.kernel = line.Flag("kernel")};
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t per_kind, PositiveFlag(line, "per-kind", 1));
  if (line.Has("per-kind")) options.per_kind = static_cast<std::size_t>(per_kind);
  const fs::path folder = line.Flag("out");
  if (folder.empty()) return absl::InvalidArgumentError("--out DIR says where the mutants go; found none");
  PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Mutant> mutants, Mutants(text, path, options));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(Cat("the folder ", folder.string(), " cannot be made: ", error.message()));
  for (const Mutant& mutant : mutants)
    PALLADION_RETURN_IF_ERROR(WriteFile(folder / (mutant.name + ".pkir"), mutant.text));
  PALLADION_RETURN_IF_ERROR(WriteFile(folder / "mutants.json", MutantsJson(mutants, false) + "\n"));
  console.out << "wrote " << mutants.size() << " mutants and " << (folder / "mutants.json").string() << "\n";
  return ExitCode::kClean;
}

}  // namespace palladion
