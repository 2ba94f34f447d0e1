// `palladion mutate`: the mutants of a kernel as files, and a list of them.
#include "emu/front/command/command_common.h"
#include "emu/front/command/output_directory.h"
#include "emu/tools/mutation/mutants.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {
absl::StatusOr<ExitCode> CommandMutate(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string path, OneFile(line));
  mutation::MutantOptions options{.kernel = line.Flag("kernel")};
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t per_kind, PositiveFlag(line, "per-kind", 1));
  if (line.Has("per-kind")) options.per_kind = static_cast<std::size_t>(per_kind);
  if (line.Flag("out").empty()) return absl::InvalidArgumentError("--out DIR says where the mutants go; found none");
  PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<mutation::Mutant> mutants, mutation::Mutants(text, path, options));
  PALLADION_ASSIGN_OR_RETURN(OutputDirectory folder, OutputDirectory::Open(line));
  for (const mutation::Mutant& mutant : mutants)
    PALLADION_RETURN_IF_ERROR(folder.Write(mutant.name + ".pkir", mutant.text));
  PALLADION_RETURN_IF_ERROR(folder.Write("mutants.json", mutation::MutantsJson(mutants, false) + "\n"));
  PALLADION_RETURN_IF_ERROR(folder.Commit());
  console.out << "wrote " << mutants.size() << " mutants and " << folder.PathOf("mutants.json") << "\n";
  return ExitCode::kClean;
}

}  // namespace palladion::command
