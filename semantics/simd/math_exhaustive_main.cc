// Every f32 input of the elementary functions. A double result settles the rounding where it is 2^-46 (128 ulps) or
// more away from a boundary; MPFR decides the rest, a few thousand inputs for each function, and only there are the f32
// kernels run. The double result is our f64 kernel's, which math_test.cc holds to 6 ulps on a sample, as it does every
// target's f32. With --libm it is the C library's and every f32 result is compared: slower, but nothing of ours is
// trusted. One target for each arithmetic is enough and the default: scalar equals ssse3, avx2 equals avx512.
// Prints each wrong result as an entry of math_exceptions.h. Exit status 1 if there is one.
// Usage: math_exhaustive [--libm] [function|all [target...]]
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "semantics/simd/math_mpfr.h"

namespace palladion::simd {
namespace {

std::uint32_t Rounded(double y) { return std::bit_cast<std::uint32_t>(static_cast<float>(y)); }

// Whether 2^-46 more or less could round otherwise.
bool IsNearBoundary(double y) { return Rounded(y * (1 - 0x1p-46)) != Rounded(y * (1 + 0x1p-46)); }

std::uint32_t Expected(MathOp op, double y, float x) {
  if (std::isnan(y)) return 0x7FC00000;
  return IsNearBoundary(y) ? Rounded(Reference(op, x, kFormatF32)) : Rounded(y);
}

// Adds to `wrong` and prints the x whose f32 results differ from the expected.
void Compare(MathOp op, const std::vector<Target>& targets, const std::vector<float>& x,
             const std::vector<std::uint32_t>& expected, std::set<std::uint32_t>& wrong) {
  std::vector<std::uint32_t> y(x.size());
  for (Target target : targets) {
    FindMath(op, DType::kF32, target)(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(x[i]);
      if (y[i] == expected[i] || !wrong.insert(bits).second || wrong.size() > 64) continue;
      std::printf("%s %s: {0x%08Xu, 0x%08Xu},  // got 0x%08X\n", std::string(Name(op)).c_str(),
                  std::string(Name(target)).c_str(), bits, expected[i], y[i]);
    }
  }
}

// The inputs that start at the bit pattern `first`.
void SweepBlock(MathOp op, const std::vector<Target>& targets, bool libm, std::uint32_t first,
                std::set<std::uint32_t>& wrong) {
  constexpr std::uint32_t kBlock = 4096;
  std::vector<float> x;
  std::vector<std::uint32_t> expected;
  static double wide[kBlock];
  for (std::uint32_t i = 0; i < kBlock; ++i) wide[i] = static_cast<double>(std::bit_cast<float>(first + i));
  if (libm) {
    for (double& v : wide) v = OracleOf(op).libm(v);
  } else {
    FindMath(op, DType::kF64, HostTargets().back())(wide, wide, kBlock);
  }
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    if (!libm && !IsNearBoundary(wide[i])) continue;
    x.push_back(std::bit_cast<float>(first + i));
    expected.push_back(Expected(op, wide[i], x.back()));
  }
  Compare(op, targets, x, expected, wrong);
}

int Sweep(MathOp op, const std::vector<Target>& targets, bool libm) {
  std::set<std::uint32_t> wrong;
  // The sign is handled apart from the value, and math_test.cc samples it.
  const std::uint32_t blocks = RowOf(op).symmetry == Symmetry::kNone ? 0x100000 : 0x80000;
  for (std::uint32_t block = 0; block < blocks; ++block) SweepBlock(op, targets, libm, block << 12, wrong);
  std::printf("%s: %zu wrong\n", std::string(Name(op)).c_str(), wrong.size());
  std::fflush(stdout);
  return wrong.empty() ? 0 : 1;
}

int Main(std::vector<std::string> arguments) {
  const bool libm = !arguments.empty() && arguments[0] == "--libm";
  if (libm) arguments.erase(arguments.begin());
  const std::string which = arguments.empty() ? "all" : arguments[0];
  std::vector<Target> targets;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (const auto target = TargetFromName(arguments[i])) targets.push_back(*target);
  }
  if (arguments.size() < 2) {  // the widest target of each arithmetic
    for (Target target : HostTargets()) {
      if (target == Target::kSsse3 || target == HostTargets().back()) targets.push_back(target);
    }
  }
  int status = 0;
  bool known = false;
  for (int i = 0; i < kMathOpCount; ++i) {
    const MathOp op = static_cast<MathOp>(i);
    if (which != "all" && which != Name(op)) continue;
    known = true;
    status |= Sweep(op, targets, libm);
  }
  if (!known || targets.empty()) {
    std::fprintf(stderr, "usage: math_exhaustive [--libm] [function|all [target...]]\n");
    return 2;
  }
  return status;
}

}  // namespace
}  // namespace palladion::simd

int main(int argc, char** argv) { return palladion::simd::Main(std::vector<std::string>(argv + 1, argv + argc)); }
