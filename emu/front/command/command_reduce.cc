// `palladion reduce`: a kernel and its inputs made smaller while a finding stays, or a program's exit code.
#include <charconv>
#include <filesystem>
#include <memory>

#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/output_file.h"
#include "emu/tools/reduce/keep_exit.h"
#include "emu/tools/reduce/keep_finding.h"
#include "emu/tools/reduce/reduce.h"
#include "emu/tools/reduce/start.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostListed = 64;  // elements of an input that is written into the command line

// "500": candidates; "60s": seconds.
absl::Status SetBudget(const CommandLine& line, reduce::ReduceOptions& options) {
  if (!line.Has("budget")) return absl::OkStatus();
  const std::string text = line.Flag("budget");
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string_view unit = std::string_view(text).substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || n < 1 || !(unit.empty() || unit == "s")) {
    return absl::InvalidArgumentError(
        Cat("--budget must be a number of candidates, 500, or of seconds, 60s; found '", text, "'"));
  }
  if (unit.empty()) options.most_tried = n;
  if (!unit.empty()) options.most_seconds = static_cast<double>(n);
  return absl::OkStatus();
}

std::string ListText(const Tensor& tensor) {
  std::string list = "[";
  for (std::int64_t i = 0; i < tensor.num_elements(); ++i) Append(&list, i == 0 ? "" : ",", ElementText(tensor, i));
  return list + "]";
}

class ReduceCommand {
 public:
  ReduceCommand(const CommandLine& line, const Console& console) : line_(line), console_(console) {}

  absl::StatusOr<ExitCode> Run() {
    PALLADION_ASSIGN_OR_RETURN(path_, OneFile(line_));
    if (line_.Has("keep") == line_.Has("keep-exit")) {
      return absl::InvalidArgumentError(
          Cat("say what stays, by --keep CODE or by --keep-exit CMD; found ", line_.Has("keep") ? "both" : "neither"));
    }
    if (!line_.Has("out"))
      line_.flags.emplace_back("out",
                               (fs::path(path_).parent_path() / fs::path(path_).stem()).string() + ".reduced.pkir");
    PALLADION_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Open(line_, "out"));
    PALLADION_ASSIGN_OR_RETURN(reduce::State start, Start());
    Attended attended(console_, start.kernel().name);
    reduce::ReduceOptions options{.control = attended.control()};
    PALLADION_RETURN_IF_ERROR(SetBudget(line_, options));
    if (line_.Has("keep-exit")) return ByExit(start, options, out);
    return ByFinding(start, options, out);
  }

 private:
  absl::StatusOr<reduce::State> Start() {
    PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
    const reduce::Source source{text, path_, line_.Flag("kernel"), line_.Flag("target")};
    if (line_.Has("keep")) {
      PALLADION_ASSIGN_OR_RETURN(choice_, reduce::FindingChoiceFromText(line_.Flag("keep")));
    }
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, reduce::PrepareForInputs(source));
    std::vector<std::string> words;
    std::vector<Tensor> tensors;
    const bool zeros = line_.Has("keep-exit") && !line_.Has("in");
    if (!zeros) {
      PALLADION_ASSIGN_OR_RETURN(tensors, ReadInputs(line_, kernel, &words));
    }
    std::vector<reduce::Input> inputs;
    for (std::size_t i = 0; i < kernel.inputs().size(); ++i) {
      const OperandDescription& input = kernel.inputs()[i];
      if (zeros) {
        words.emplace_back("zeros");
        PALLADION_ASSIGN_OR_RETURN(Tensor made, TensorFromText(input.dtype, input.shape, words.back()));
        tensors.push_back(std::move(made));
      }
      inputs.push_back({input.name, words[i], std::make_shared<const Tensor>(std::move(tensors[i]))});
    }
    return reduce::StateOf(source, std::move(inputs), choice_.line);
  }

  absl::StatusOr<ExitCode> ByFinding(const reduce::State& start, const reduce::ReduceOptions& options,
                                     OutputFile& out) {
    reduce::KeepFindingOptions how{.target = line_.Flag("target")};
    PALLADION_ASSIGN_OR_RETURN(how.check.seeds, PositiveFlag(line_, "seeds", how.check.seeds));
    PALLADION_RETURN_IF_ERROR(SetOptions(line_, kReadings, how.check));
    how.check.run.control = options.control;
    PALLADION_ASSIGN_OR_RETURN(const reduce::ReducedFinding found, reduce::ReduceFinding(start, choice_, how, options));
    std::string command;
    PALLADION_RETURN_IF_ERROR(Write(found.reduced.state, out, command));
    Report(start, found.reduced, line_.Flag("keep"));
    console_.out << "the finding again: palladion check " << command;
    if (!found.replay.empty()) {
      console_.out << " --replay " << Quoted(found.replay);
    } else if (line_.Has("seeds")) {
      console_.out << " --seeds " << how.check.seeds;
    }
    console_.out << "\n";
    return found.reduced.ended == reduce::Ended::kSmallest ? ExitCode::kClean : ExitCode::kBudget;
  }

  absl::StatusOr<ExitCode> ByExit(const reduce::State& start, const reduce::ReduceOptions& options, OutputFile& out) {
    reduce::KeepExitOptions how{.command = line_.Flag("keep-exit"), .control = options.control};
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t seconds, PositiveFlag(line_, "timeout", 60));
    how.seconds = static_cast<double>(seconds);
    PALLADION_ASSIGN_OR_RETURN(const reduce::KeepExit keep, reduce::KeepExit::Create(how));
    PALLADION_ASSIGN_OR_RETURN(const reduce::ExitOf first, keep.Run(start));
    if (Interrupted(options.control)) return InterruptedStatus();
    if (first.code != 0) {
      const std::string how_it_ended = first.timed_out     ? Cat("did not end within ", seconds, " s (--timeout)")
                                       : first.code == 127 ? std::string("is not found by the shell (exit code 127)")
                                                           : Cat("exits with ", first.code);
      return absl::InvalidArgumentError(Cat("--keep-exit ", how.command, ": on ", path_,
                                            " itself it must exit with 0; it ", how_it_ended, "; nothing was reduced"));
    }
    const auto holds = [&](const reduce::State& state) -> absl::StatusOr<bool> {
      PALLADION_ASSIGN_OR_RETURN(const reduce::ExitOf exit, keep.Run(state));
      return exit.code == 0 && !exit.timed_out;
    };
    PALLADION_ASSIGN_OR_RETURN(const reduce::Reduced reduced, reduce::Reduce(start, holds, options));
    std::string command;
    PALLADION_RETURN_IF_ERROR(Write(reduced.state, out, command));
    Report(start, reduced, "exit code 0");
    console_.out << "its inputs: palladion run " << command << " --out DIR\n";
    return reduced.ended == reduce::Ended::kSmallest ? ExitCode::kClean : ExitCode::kBudget;
  }

  // `command`: the file and its inputs as words of a command line.
  absl::Status Write(const reduce::State& state, OutputFile& out, std::string& command) const {
    const std::string path = line_.Flag("out");
    PALLADION_RETURN_IF_ERROR(out.Write(state.text));
    command = Quoted(path);
    for (const reduce::Input& input : state.inputs) {
      std::string value = input.words;
      if (value.empty() && input.value->num_elements() <= kMostListed) value = ListText(*input.value);
      if (value.empty()) {
        value = Cat(path, ".", input.name, ".npy");
        PALLADION_RETURN_IF_ERROR(WriteNpy(value, *input.value));
      }
      Append(&command, " --in ", Quoted(Cat(input.name, "=", value)));
    }
    if (line_.Has("target")) Append(&command, " --target ", Quoted(line_.Flag("target")));
    for (const std::string_view flag : kReadings) {
      if (line_.Has("keep") && line_.Has(flag)) Append(&command, " --", flag, " ", Quoted(line_.Flag(flag)));
    }
    return absl::OkStatus();
  }

  void Report(const reduce::State& start, const reduce::Reduced& reduced, const std::string& kept) const {
    const reduce::Extent before = reduce::ExtentOf(start), after = reduce::ExtentOf(reduced.state);
    const char* const ended = reduced.ended == reduce::Ended::kSmallest ? "no pass makes it smaller"
                              : reduced.ended == reduce::Ended::kBudget ? "the budget is spent"
                                                                        : "interrupted";
    console_.out << "kernel @" << start.kernel().name << " reduced, " << kept << " kept: instructions "
                 << before.instructions << " to " << after.instructions << ", programs " << before.programs << " to "
                 << after.programs << ", input elements " << before.elements << " to " << after.elements << "\n"
                 << reduced.tried << " candidates; " << ended << "\n"
                 << "wrote " << line_.Flag("out") << "\n";
  }

  CommandLine line_;
  const Console& console_;
  std::string path_;
  reduce::FindingChoice choice_;
};

}  // namespace

absl::StatusOr<ExitCode> CommandReduce(const CommandLine& line, const Console& console) {
  return ReduceCommand(line, console).Run();
}

}  // namespace palladion::command
