#include "emu/tools/golden/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element.h"

namespace palladion::golden {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool SameBits(const Tensor& a, const Tensor& b, std::int64_t i) {
  const std::size_t bytes = StorageBytes(a.dtype());
  return std::memcmp(a.bytes() + static_cast<std::size_t>(i) * bytes, b.bytes() + static_cast<std::size_t>(i) * bytes,
                     bytes) == 0;
}

std::size_t BinOf(std::optional<std::uint64_t> ulps) {
  if (!ulps.has_value()) return kUlpBins - 1;
  if (*ulps <= 1) return static_cast<std::size_t>(*ulps);
  const auto bin = static_cast<std::size_t>(std::bit_width(*ulps - 1)) + 1;  // 2; 3, 4; 5 to 8; ...
  return std::min(bin, kUlpBins - 1);
}

// Infinity: a pair that no tolerance covers, such as a NaN and a number.
double ErrorAt(const Tensor& golden, const Tensor& found, std::int64_t i) {
  const double a = NumberAt(golden, i), b = NumberAt(found, i);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : kInfinity;
  if (std::isinf(a) || std::isinf(b)) return a == b ? 0 : kInfinity;
  return std::abs(a - b);
}

void Count(const GoldenOutput& golden, const Tensor& found, std::int64_t i, OutputComparison& out) {
  const double a = NumberAt(golden.values, i), b = NumberAt(found, i);
  const std::optional<std::uint64_t> ulps = UlpDistance(golden.values, found, i);
  ++out.ulps[BinOf(ulps)];
  if (golden.tolerance.has_value() && std::isinf(golden.tolerance->data<double>()[i])) ++out.unbounded;
  if (SameBits(golden.values, found, i)) return;
  if (ulps.has_value()) out.largest_ulps = std::max(out.largest_ulps, *ulps);
  if (std::isnan(a) != std::isnan(b)) {
    ++out.nan_differs;
  } else if ((std::isinf(a) || std::isinf(b)) && a != b) {
    ++out.infinity_differs;
  } else if (a == 0 && b == 0) {
    ++out.zero_sign_differs;
  } else if (!std::isnan(a)) {
    const double error = std::abs(a - b);
    out.largest_absolute = std::max(out.largest_absolute, error);
    if (a != 0) out.largest_relative = std::max(out.largest_relative, error / std::abs(a));
  }
}

double RatioAt(const GoldenOutput& golden, const Tensor& found, std::int64_t i) {
  const double error = ErrorAt(golden.values, found, i);
  const double tolerance = golden.tolerance.has_value() ? golden.tolerance->data<double>()[i] : 0;
  return error == 0 ? 0 : error / tolerance;
}

}  // namespace

double NumberAt(const Tensor& tensor, std::int64_t i) {
  return VisitDType(tensor.dtype(), [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    return E::ToDouble(tensor.data<typename E::Storage>()[i]);
  });
}

Held Hold(const GoldenOutput& golden, const Tensor& found, std::int64_t i, const CompareOptions& options) {
  if (golden.undefined.has_value() && golden.undefined->data<std::uint8_t>()[i] != 0) return Held::kUndefined;
  if (SameBits(golden.values, found, i)) return Held::kSame;
  if (!IsFloat(golden.values.dtype())) return Held::kOver;
  const double a = NumberAt(golden.values, i), b = NumberAt(found, i);
  if (a == 0 && b == 0) return options.signed_zero ? Held::kOver : Held::kWithin;
  if (std::isnan(a) && std::isnan(b)) return Held::kWithin;
  const double error = ErrorAt(golden.values, found, i);
  if (std::isinf(error)) return Held::kOver;
  const double tolerance = golden.tolerance.has_value() ? golden.tolerance->data<double>()[i] : 0;
  return error <= tolerance ? Held::kWithin : Held::kOver;
}

OutputComparison CompareOutput(const GoldenOutput& golden, const Tensor& found, const CompareOptions& options) {
  OutputComparison out{.name = golden.operand.name, .error = absl::OkStatus(), .elements = found.num_elements()};
  out.held.resize(static_cast<std::size_t>(out.elements));
  out.errors.resize(static_cast<std::size_t>(out.elements));
  std::vector<std::pair<double, std::int64_t>> worst;  // ratio and element, the worst first
  for (std::int64_t i = 0; i < out.elements; ++i) {
    const Held held = Hold(golden, found, i, options);
    out.held[static_cast<std::size_t>(i)] = held;
    if (held == Held::kUndefined) {
      ++out.undefined;
      continue;
    }
    out.errors[static_cast<std::size_t>(i)] = static_cast<float>(ErrorAt(golden.values, found, i));
    Count(golden, found, i, out);
    if (held != Held::kSame) ++out.differing;
    if (held != Held::kOver) continue;
    ++out.over;
    const double ratio = RatioAt(golden, found, i);
    if (out.first < 0) out.first = i;
    if (out.worst < 0 || ratio > out.worst_ratio) out.worst = i, out.worst_ratio = ratio;
    if (worst.size() == kWorstFew && ratio <= worst.back().first) continue;
    if (worst.size() == kWorstFew) worst.pop_back();
    const auto less = [](double r, const auto& one) { return r > one.first; };
    worst.insert(std::upper_bound(worst.begin(), worst.end(), ratio, less), {ratio, i});
  }
  for (const auto& [ratio, i] : worst) out.worst_few.push_back(i);
  return out;
}

absl::Status CheckFits(const GoldenOutput& golden, const Tensor& found) {
  if (found.dtype() == golden.operand.dtype && found.shape() == golden.operand.shape) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("output '", golden.operand.name, "': expected ",
                                        TypeString(golden.operand.dtype, golden.operand.shape), "; found ",
                                        TypeString(found.dtype(), found.shape())));
}

}  // namespace palladion::golden
