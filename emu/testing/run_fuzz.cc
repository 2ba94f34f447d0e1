// Any bytes as kernel text, prepared and run on zeros: no crash, no hang, no memory past the limit, and the same
// outputs from two runs. Seeds are kernel texts and conformance cases, whose kernel is cut out. Finds nothing about
// whether the outputs are right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "emu/run/agents/host_memory.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// Small, so that one input takes milliseconds: loops and grids multiply.
constexpr std::int64_t kBudget = 64;
constexpr std::size_t kMemory = std::size_t{1} << 17;

std::string_view KernelOf(std::string_view file) {
  constexpr std::string_view kStart = "--- kernel\n";
  const std::size_t start = file.find(kStart);
  if (start == std::string_view::npos) return file;
  file.remove_prefix(start + kStart.size());
  return file.substr(0, file.find("\n--- "));
}

bool Same(const RunResult& a, const RunResult& b) {
  bool same = ToJson(a.report) == ToJson(b.report);
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    const std::size_t bytes = a.outputs[i].num_bytes();
    same &= bytes == 0 || std::memcmp(a.outputs[i].bytes(), b.outputs[i].bytes(), bytes) == 0;
  }
  return same;
}

void CheckRun(std::string_view text, const std::string& name, const std::string& target) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = name, .target = target, .path = "", .memory_limit = kMemory});
  if (!kernel.ok() || !agents::CheckMemory(kernel->state(), kMemory).ok()) return;
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs()) inputs.emplace_back(input.dtype, input.shape);
  const RunOptions options{.loop_budget = kBudget, .memory_limit = kMemory};
  const absl::StatusOr<RunResult> first = Run(*kernel, inputs, options), second = Run(*kernel, inputs, options);
  if (first.status() == second.status() && (!first.ok() || Same(*first, *second))) return;
  std::fprintf(stderr, "two runs differ: %s, %s\n", first.status().ToString().c_str(),
               second.status().ToString().c_str());
  std::abort();
}

using Engine = std::minstd_rand;

// The pieces of a text that are spelled with `letters`.
std::vector<std::pair<std::size_t, std::size_t>> Words(const std::string& text, std::string_view letters) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = text.find_first_of(letters); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(letters, at), text.size());
    words.emplace_back(at, end - at);
    at = text.find_first_of(letters, end);
  }
  return words;
}

// Changes that a text often survives: another number, another operation, another element type everywhere, another size
// everywhere.
void MutateText(std::string& text, Engine& engine) {
  static constexpr std::string_view kDigits = "0123456789", kName = "abcdefghijklmnopqrstuvwxyz_0123456789";
  static constexpr std::string_view kNumbers[] = {
      "0",  "1",          "2",    "3",     "4",          "7",          "8",
      "16", "33",         "1000", "65536", "2147483647", "4294967296", "9223372036854775807",
      "-1", "-2147483648"};
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : engine() % n; };
  const auto numbers = Words(text, kDigits);
  if (numbers.empty()) return;
  const auto [at, length] = numbers[below(numbers.size())];
  const std::string old = text.substr(at, length), fresh(kNumbers[below(std::size(kNumbers))]);
  switch (below(4)) {
    case 0:
      text.replace(at, length, fresh);
      return;
    case 1:
      for (auto word = numbers.rbegin(); word != numbers.rend(); ++word) {
        if (text.substr(word->first, word->second) == old) text.replace(word->first, word->second, fresh);
      }
      return;
    default:
      break;
  }
  const bool types = below(2) == 0;
  const auto words = Words(text, kName);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const auto& word : words) {
    const std::string name = text.substr(word.first, word.second);
    if (types ? DTypeFromName(name).has_value() : FindOp("", name) != nullptr) found.push_back(word);
  }
  if (found.empty()) return;
  const auto target = found[below(found.size())];
  const std::string before = text.substr(target.first, target.second);
  if (!types) {
    text.replace(target.first, target.second, AllOps()[below(AllOps().size())].name);
    return;
  }
  const std::string after(Name(static_cast<DType>(below(static_cast<std::size_t>(kDTypeCount)))));
  for (auto word = found.rbegin(); word != found.rend(); ++word) {
    if (text.substr(word->first, word->second) == before) text.replace(word->first, word->second, after);
  }
}

}  // namespace
}  // namespace palladion

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  palladion::Engine engine(seed);
  if (engine() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(palladion::KernelOf({reinterpret_cast<const char*>(data), size}));
  for (unsigned i = 0; i < 1 + engine() % 3; ++i) palladion::MutateText(text, engine);
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = palladion::KernelOf({reinterpret_cast<const char*>(data), size});
  const auto names = palladion::KernelNames(text);
  if (!names.ok() || names->empty()) return 0;
  constexpr const char* kTargets[] = {"", "generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"};
  palladion::CheckRun(text, names->front(), kTargets[size % 5]);
  return 0;
}
