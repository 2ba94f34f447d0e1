#include "emu/front/command/command_common.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "emu/front/options/check_options.h"
#include "emu/session.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

// A file where there is one of that name, else an array written as text.
bool IsFile(const std::string& value) {
  std::error_code error;
  return fs::exists(value, error) || !LooksLikeValueText(value);
}

absl::StatusOr<Tensor> ReadInput(const OperandDescription& input, const std::string& value) {
  if (IsFile(value)) return ReadNpy(value, input.dtype);
  absl::StatusOr<Tensor> tensor = TensorFromText(input.dtype, input.shape, value);
  if (tensor.ok()) return tensor;
  return absl::Status(tensor.status().code(), ToAbsl(Cat("--in ", input.name, ": ", ToStd(tensor.status().message()))));
}

// The names of functions without arguments, which are what can be exported; "NAME" where there is none.
std::vector<std::string> EntriesOf(std::string_view python) {
  std::vector<std::string> names;
  constexpr std::string_view kDef = "def ";
  for (std::size_t at = 0; at < python.size();) {
    const std::string_view line = python.substr(at, python.find('\n', at) - at);
    const std::size_t open = line.find("()");
    if (line.substr(0, kDef.size()) == kDef && open != std::string_view::npos)
      names.emplace_back(line.substr(kDef.size(), open - kDef.size()));
    at += line.size() + 1;
  }
  return names;
}

absl::Status IsPython(const std::string& path, std::string_view text) {
  const std::vector<std::string> names = EntriesOf(text);
  std::string message =
      Cat(path, ": expected kernel text; found Python: export the kernel first: python -m palladion export ",
          Quoted(Cat(path, ":", names.empty() ? "NAME" : names[0])), " -o ",
          Quoted(std::filesystem::path(path).stem().string() + ".pkir"), "  (");
  for (std::size_t i = 1; i < names.size(); ++i) Append(&message, i == 1 ? "or " : ", ", names[i]);
  if (names.size() > 1) message += "; ";
  return absl::InvalidArgumentError(
      Cat(message, "a function without arguments that returns (f, args): what f(*args) calls is exported)"));
}

struct Binding {
  std::string name, value, flag;
};

absl::StatusOr<std::vector<Binding>> BindingsOf(const CommandLine& line) {
  std::vector<Binding> bindings;
  for (const auto& [flag, text] : line.flags) {
    if (flag != "in") continue;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return absl::InvalidArgumentError(Cat("--in must be NAME=VALUE; found '", text, "'"));
    }
    bindings.push_back({text.substr(0, equals), text.substr(equals + 1), text});
  }
  return bindings;
}

// "; did you mean x?", or ";".
std::string Meant(std::string_view name, const PreparedKernel& kernel) {
  std::vector<std::string_view> names;
  for (const OperandDescription& input : kernel.inputs()) {
    names.push_back(input.name);
    if (!input.label.empty()) names.push_back(input.label);
  }
  const std::string nearest = Nearest(name, names);
  return nearest.empty() ? ";" : Cat("; did you mean ", nearest, "?");
}

// Names of none is more than that another one lacks: it was misspelled.
absl::Status ExpectInputs(const std::vector<Binding>& bindings, const PreparedKernel& kernel) {
  for (const Binding& binding : bindings) {
    const auto is = [&](const OperandDescription& input) {
      return binding.name == input.name || binding.name == input.label;
    };
    if (std::none_of(kernel.inputs().begin(), kernel.inputs().end(), is)) {
      return absl::InvalidArgumentError(Cat("--in ", binding.flag, " names no input of kernel @", kernel.name(),
                                            Meant(binding.name, kernel), " `palladion show` lists them"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string Quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=:,@%+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool ColorWanted(std::string_view color, bool is_terminal) {
  if (color != "auto") return color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return is_terminal && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

absl::StatusOr<std::string> ReadFile(const std::string& path, std::string_view what) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return absl::InvalidArgumentError(Cat(path, ": expected a file of ", what, "; found a directory"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::InvalidArgumentError(
        Cat("'", path, "': cannot be read: ", std::strerror(errno), "; check the path and its permissions"));
  std::string text;
  std::string chunk(std::size_t{1} << 16, '\0');
  while (text.size() <= kMaxTextBytes &&
         (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0)) {
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return absl::InvalidArgumentError(Cat(path, ": cannot be read to its end"));
  if (what == kKernelText && path.ends_with(".py")) return IsPython(path, text);
  return text;
}

absl::StatusOr<std::string> OneFile(const CommandLine& line) {
  if (line.words.size() != 1)
    return absl::InvalidArgumentError(Cat("expected one file of kernel text; found ", line.words.size()));
  return line.words[0];
}

absl::Status NoWords(const CommandLine& line) {
  if (line.words.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("this command takes no file; found '", line.words[0], "'"));
}

absl::StatusOr<KernelFile> LoadKernel(const CommandLine& line, bool observable) {
  PALLADION_ASSIGN_OR_RETURN(std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  const PrepareOptions options{
      .kernel = line.Flag("kernel"), .target = line.Flag("target"), .path = path, .observable = observable};
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t launches, PositiveFlag(line, "launches", 1));
  PALLADION_ASSIGN_OR_RETURN(PreparedKernel kernel, PrepareLaunches(text, launches, options));
  return KernelFile{std::move(path), std::move(text), std::move(kernel)};
}

absl::StatusOr<std::vector<Tensor>> ReadInputs(const CommandLine& line, const PreparedKernel& kernel,
                                               std::vector<std::string>* words) {
  PALLADION_ASSIGN_OR_RETURN(std::vector<Binding> bindings, BindingsOf(line));
  std::vector<Tensor> tensors;
  for (const OperandDescription& input : kernel.inputs()) {
    const Binding* found = nullptr;
    for (Binding& binding : bindings) {
      if (binding.name != input.name && binding.name != input.label) continue;
      if (found != nullptr)
        return absl::InvalidArgumentError(
            Cat("input '", input.name, "' is given twice: --in ", found->flag, " and --in ", binding.flag));
      found = &binding;
    }
    if (found == nullptr) {
      PALLADION_RETURN_IF_ERROR(ExpectInputs(bindings, kernel));
      return absl::InvalidArgumentError(Cat("no value for input '", input.name, "' (", input.label,
                                            input.label.empty() ? "" : ", ", TypeString(input.dtype, input.shape),
                                            "); give --in ", input.name, "=FILE.npy"));
    }
    PALLADION_ASSIGN_OR_RETURN(Tensor tensor, ReadInput(input, found->value));
    tensors.push_back(std::move(tensor));
    if (words != nullptr) words->push_back(IsFile(found->value) ? "" : found->value);
  }
  PALLADION_RETURN_IF_ERROR(ExpectInputs(bindings, kernel));
  return tensors;
}

absl::StatusOr<std::int64_t> PositiveFlag(const CommandLine& line, const std::string& flag, std::int64_t fallback) {
  if (!line.Has(flag)) return fallback;
  const std::string text = line.Flag(flag);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  return absl::InvalidArgumentError(Cat("--", flag, " must be 1 or more, below 2^63; found '", text, "'"));
}

absl::StatusOr<std::string> ChoiceFlag(const CommandLine& line, const std::string& flag) {
  const std::vector<std::string_view> choices = line.command->Find(flag)->Choices();
  const std::string value = line.Flag(flag, std::string(choices[0]));
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i)
    Append(&list, i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
  return absl::InvalidArgumentError(Cat("--", flag, " must be ", list, "; found '", value, "'"));
}

absl::StatusOr<std::string> ReplayOf(const std::string& flag) {
  if (flag.empty() || flag[0] != '@') return flag;
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(flag.substr(1), "schedule"));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

absl::Status SetOptions(const CommandLine& line, absl::Span<const std::string_view> names, CheckOptions& options) {
  for (const std::string_view name : names) {
    const options::CheckOption& option = *options::FindCheckOption(name);
    const std::string flag(option.flag);
    if (!line.Has(flag)) continue;
    const std::string value = option.kind == options::ValueKind::kSwitch ? "1" : line.Flag(flag);
    PALLADION_RETURN_IF_ERROR(options::Set(option, value, Cat("--", flag), options));
  }
  return absl::OkStatus();
}

}  // namespace palladion::command
