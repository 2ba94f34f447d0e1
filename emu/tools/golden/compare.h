// A backend's outputs against a bundle's, element by element. An element that nothing defines is never an error. NaN
// must meet NaN, of any bits, and an infinity the same one. The sign of a zero is counted, and is an error only where
// that is asked for. What has no tolerance (integers, bools) must be the same bits.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_COMPARE_H_
#define PALLADION_EMU_TOOLS_GOLDEN_COMPARE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/tools/golden/bundle.h"

namespace palladion::golden {

struct CompareOptions {
  bool signed_zero = false;  // -0 must meet -0
};

inline constexpr std::size_t kWorstFew = 5;

enum class Held : std::uint8_t { kSame, kWithin, kOver, kUndefined };

// Ulps of 0, 1, 2, 3 to 4, 5 to 8 and so on; the last has all above, and pairs with no distance (NaN and a number).
inline constexpr std::size_t kUlpBins = 20;

struct OutputComparison {
  std::string name;
  absl::Status error;  // not OK: there is nothing to compare, and the numbers below mean nothing
  std::int64_t elements = 0, undefined = 0, differing = 0, over = 0;
  std::int64_t nan_differs = 0, infinity_differs = 0, zero_sign_differs = 0;
  std::int64_t unbounded = 0;                         // elements without a known bound, which any number passes
  double largest_absolute = 0, largest_relative = 0;  // of pairs of finite numbers
  std::uint64_t largest_ulps = 0;
  std::array<std::int64_t, kUlpBins> ulps{};
  std::int64_t first = -1, worst = -1;  // over tolerance, in row-major order; -1: none
  double worst_ratio = 0;               // error by tolerance; infinity where one is no number
  std::vector<Held> held;               // of each element
  std::vector<float> errors;            // of each element; infinity: a number on one side only
  std::vector<std::int64_t> worst_few;  // over tolerance, the worst first; kWorstFew of them at the most
};

// What element i is as a number; 64-bit integers beyond 2^53 are rounded.
double NumberAt(const Tensor& tensor, std::int64_t i);

// Is `found` so near to the golden element that it passes?
Held Hold(const GoldenOutput& golden, const Tensor& found, std::int64_t i, const CompareOptions& options);

// `found` has the golden output's type and shape.
OutputComparison CompareOutput(const GoldenOutput& golden, const Tensor& found, const CompareOptions& options);

// Does the array fit the output? InvalidArgument: what was expected, and what was found.
absl::Status CheckFits(const GoldenOutput& golden, const Tensor& found);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_COMPARE_H_
