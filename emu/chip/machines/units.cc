#include "emu/chip/machines/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/decimal.h"

namespace palladion::machines {
namespace {

// The first of a dimension is the one that amounts are held in.
constexpr UnitRow kUnits[] = {
    {"", Dimension::kCount, 1},
    {"cycles", Dimension::kCycles, 1},
    {"B", Dimension::kBytes, 1},
    {"KiB", Dimension::kBytes, 1024.0},
    {"MiB", Dimension::kBytes, 1024.0 * 1024},
    {"GiB", Dimension::kBytes, 1024.0 * 1024 * 1024},
    {"MB", Dimension::kBytes, 1e6},
    {"GB", Dimension::kBytes, 1e9},
    {"B/cycle", Dimension::kBytesPerCycle, 1},
    {"Hz", Dimension::kHertz, 1},
    {"MHz", Dimension::kHertz, 1e6},
    {"GHz", Dimension::kHertz, 1e9},
    {"ns", Dimension::kNanoseconds, 1},
    {"us", Dimension::kNanoseconds, 1e3},
    {"B/s", Dimension::kBytesPerSecond, 1},
    {"GB/s", Dimension::kBytesPerSecond, 1e9},
    {"TB/s", Dimension::kBytesPerSecond, 1e12},
    {"FLOP/cycle", Dimension::kFlopsPerCycle, 1},
    {"FLOP/s", Dimension::kFlopsPerSecond, 1},
    {"TFLOP/s", Dimension::kFlopsPerSecond, 1e12},
    {"/cycle", Dimension::kPerCycle, 1},
};

// Numbers beyond have no use here, and would print as long rows of zeros.
constexpr double kSmallest = 1e-6, kLargest = 1e15;

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

const UnitRow* FindUnit(std::string_view spelled) {
  const auto* found =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const UnitRow& unit) { return unit.spelled == spelled; });
  return found == std::end(kUnits) ? nullptr : found;
}

std::string UnitsOf(Dimension dimension) {
  std::vector<std::string_view> names;
  for (const UnitRow& unit : kUnits) {
    if (unit.dimension == dimension && !unit.spelled.empty()) names.push_back(unit.spelled);
  }
  if (names.empty()) return "no unit";
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i)
    Append(&all, i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return all;
}

std::string_view BaseUnit(Dimension dimension) {
  return std::find_if(std::begin(kUnits), std::end(kUnits),
                      [&](const UnitRow& unit) { return unit.dimension == dimension; })
      ->spelled;
}

const UnitRow* UnitInWord(std::string_view lowercase) {
  for (const UnitRow& unit : kUnits) {
    const auto same = [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); };
    if (!lowercase.empty() &&
        std::equal(lowercase.begin(), lowercase.end(), unit.spelled.begin(), unit.spelled.end(), same))
      return &unit;
  }
  return nullptr;
}

absl::StatusOr<Written> ParseWritten(std::string_view text) {
  text = Trim(text);
  Written written;
  const auto [end, error] =
      ReadDecimal(text.data(), text.data() + text.size(), written.value, std::chars_format::fixed);
  const std::size_t digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || text[0] == '-' || !(written.value >= kSmallest && written.value <= kLargest))
    return absl::InvalidArgumentError(
        Cat("expected a number above zero, as 50 or 0.505; found '", text, "'; leave out what is not known"));
  const std::string_view unit = Trim(text.substr(digits));
  if (unit.empty()) return written;
  written.unit = FindUnit(unit);
  if (written.unit == nullptr) {
    std::string all;
    for (const UnitRow& one : kUnits) Append(&all, all.empty() ? "" : ", ", one.spelled);
    return absl::InvalidArgumentError(Cat("unknown unit '", unit, "'; the units are ", all));
  }
  return written;
}

std::string PrintValue(double value) { return ShortestFixedText(value); }

}  // namespace palladion::machines
