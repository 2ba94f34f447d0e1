// Every kind of number in the cases' kernels, one at a time, made as large or as small as 64 bits hold, or as 32 do:
// the kernel is prepared, judged and run, or refused. The oracle is the undefined-behaviour sanitizer; without one this
// finds crashes alone. A text may give any number, so what is computed with it must not overflow. Two numbers at a time
// are the fuzzer's, which met the first overflow by chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/case_file.h"
#include "conformance/case_selection.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kExtremes[] = {"9223372036854775807", "-9223372036854775808", "4611686018427387905",
                                          "2147483648", "-1"};

struct Place {
  std::size_t at = 0, size = 0;
  std::string kind;  // what stands before it in its line, without names of values and without numbers
};

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%'; }

std::string KindOf(std::string_view before) {
  constexpr std::size_t kEnough = 40;
  std::string kind;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool name = before[i] == '%';
    while (name && i + 1 < before.size() && IsOfName(before[i + 1])) ++i;
    if (!name && !IsDigit(before[i])) kind += before[i];
  }
  return kind.size() < kEnough ? kind : kind.substr(kind.size() - kEnough);
}

std::vector<Place> NumbersOf(std::string_view text) {
  std::vector<Place> places;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!IsDigit(text[at])) continue;
    std::size_t end = at;
    while (end < text.size() && IsOfName(text[end])) ++end;
    const std::size_t first = at - (at > 0 && text[at - 1] == '-');
    const std::string_view word = text.substr(at, end - at), line = text.substr(0, first);
    const bool number = std::all_of(word.begin(), word.end(), IsDigit) && (first == 0 || !IsOfName(text[first - 1]));
    if (number) places.push_back({first, end - first, KindOf(line.substr(line.rfind('\n') + 1))});
    at = end;
  }
  return places;
}

std::string With(const std::string& text, const Place& place, std::string_view number) {
  std::string changed = text;
  changed.replace(place.at, place.size, number);
  return changed;
}

bool AreSmall(const std::vector<OperandDescription>& operands) {
  return std::all_of(operands.begin(), operands.end(), [](const OperandDescription& operand) {
    constexpr std::int64_t kMostElements = std::int64_t{1} << 16;
    const absl::StatusOr<std::int64_t> elements = CountElements(operand.dtype, operand.shape);
    return elements.ok() && *elements <= kMostElements;
  });
}

// Did it run?
bool PrepareAndRun(const std::string& text, const std::string& target) {
  constexpr std::size_t kMemory = std::size_t{1} << 20;
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = target, .memory_limit = kMemory});
  if (!kernel.ok() || !AreSmall(kernel->inputs()) || !AreSmall(kernel->outputs())) return false;
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs()) inputs.emplace_back(input.dtype, input.shape);
  const absl::StatusOr<RunResult> result = Run(*kernel, inputs, {.loop_budget = 64, .memory_limit = kMemory});
  return result.ok();
}

TEST(ExtremeNumbers, AreRefusedOrRun) {
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::set<std::string> met;
  int texts = 0, ran = 0;
  for (const SelectedCase& selected : *cases) {
    const absl::StatusOr<Case>& test = selected.test;
    ASSERT_TRUE(test.ok()) << test.status();
    for (const Place& place : NumbersOf(test->kernel)) {
      if (!met.insert(place.kind).second) continue;
      for (const std::string_view number : kExtremes) {
        SCOPED_TRACE(Cat(selected.name, ": ", place.kind, "=", number));
        ran += PrepareAndRun(With(test->kernel, place, number), test->target);
        ++texts;
      }
    }
  }
  std::cout << texts << " texts, of which " << ran << " ran\n";
  EXPECT_GT(ran, 1000);
}

}  // namespace
}  // namespace palladion::conformance
