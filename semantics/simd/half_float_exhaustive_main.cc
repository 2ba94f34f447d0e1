// Every pair of bf16 or f16 operands, add, sub, mul, div, max and min, on every target of the host against the scalar
// reference, which goes through double: shows that rounding through f32 once more changes nothing, subnormals included.
// Arguments: how many of the 65536 left operands to take (evenly spread; all when absent). Exits 1 when a pair differs.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "semantics/simd/elementwise.h"

namespace palladion::simd {
namespace {

// Pairs that differ.
std::uint64_t Sweep(BinaryOp op, DType dtype, std::size_t step) {
  std::vector<std::uint16_t> right(65536), want(65536), got(65536);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<std::uint16_t>(i);
  const BinaryFn reference = FindBinary(op, dtype, Form::kSV, Target::kScalar);
  std::uint64_t wrong = 0;
  for (std::size_t left = 0; left < 65536; left += step) {
    const auto scalar = static_cast<std::uint16_t>(left);
    reference(&scalar, right.data(), want.data(), right.size());
    for (Target target : HostTargets()) {
      if (target == Target::kScalar) continue;
      FindBinary(op, dtype, Form::kSV, target)(&scalar, right.data(), got.data(), right.size());
      if (want == got) continue;
      for (std::size_t i = 0; i < right.size(); ++i) {
        if (want[i] == got[i]) continue;
        if (++wrong <= 5) {
          std::printf("%s: %04x op %04zx is %04x, on %s %04x\n", std::string(Name(dtype)).c_str(), scalar, i, want[i],
                      std::string(Name(target)).c_str(), got[i]);
        }
      }
    }
  }
  return wrong;
}

int Main(int argc, char** argv) {
  const long wanted = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 65536;
  const std::size_t step = wanted > 0 && wanted < 65536 ? static_cast<std::size_t>(65536 / wanted) | 1 : 1;
  std::uint64_t wrong = 0;
  for (DType dtype : {DType::kBF16, DType::kF16}) {
    for (BinaryOp op :
         {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv, BinaryOp::kMax, BinaryOp::kMin}) {
      const std::uint64_t found = Sweep(op, dtype, step);
      std::printf("%s operation %d: %llu of %zu pairs wrong\n", std::string(Name(dtype)).c_str(), static_cast<int>(op),
                  static_cast<unsigned long long>(found), (65535 / step + 1) * 65536);
      std::fflush(stdout);
      wrong += found;
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace palladion::simd

int main(int argc, char** argv) { return palladion::simd::Main(argc, argv); }
