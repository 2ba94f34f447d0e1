// A kernel that computes, beside each float, a bound on the difference between another implementation's value and ours:
// running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.3), written
// into the kernel. Each float value and float ref gets a companion in f64. The rules, by the flow of an operation's
// row:
//   moves         the companion moves along
//   elementwise   f is computed in f64 at the corners x +- e of its operands; the bound is the largest distance from
//                 our result, plus u |r| for the rounding (functions: 4 ulps)
//   reductions    the same at x + e and x - e, plus gamma_(n-1) times the reduction of |x|, but for max and min
//   dots          (|a| + e_a) (|b| + e_b) - |a| |b|, plus gamma_n times the first, plus u |r|
// What it does not bound: branches, indices and loop counts that floats decide; a corner where f is not monotone
// between the corners (a division by something that may be 0). Operations without a rule are Unimplemented.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_ERROR_KERNEL_H_
#define PALLADION_EMU_TOOLS_GOLDEN_ERROR_KERNEL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"

namespace palladion::golden {

struct ErrorKernel {
  std::string text;
  std::vector<std::size_t> companions;  // of each output of the kernel: the output of the text that is its bound
  std::vector<bool> is_float;           // whether an output has one
  std::vector<std::size_t> inputs;      // of each input of the text: the kernel's input; kNoInput: f64 zeros
  std::map<std::string, std::string> companion_refs;  // of a ref's names in the kernel: its companion's
  std::set<std::string> rules;  // what was bounded: "dot_general: k = 32 of bf16, accumulated in f32, gamma_32"
};
inline constexpr std::size_t kNoInput = ~std::size_t{0};

// The file that places of kPlacesOfText name.
inline constexpr const char* kTextFile = "kernel.pkir";

// What the places of the text are: the user's, or the lines of the kernel's text in a file kTextFile.
enum class Places { kOfUser, kOfText };

// Unimplemented: an operation that has no rule, named.
absl::StatusOr<ErrorKernel> MakeErrorKernel(const PreparedKernel& kernel, Places places = Places::kOfUser);

// Half the distance from 1 to the next number of a float type: 2^-24 of f32.
double UnitRoundoff(DType dtype);
// n u / (1 - n u); infinity where n u >= 1.
double Gamma(double n, double u);
// What contractions and reductions are taken to be summed in: f32, or f64 of f64.
DType Accumulator(DType dtype);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_ERROR_KERNEL_H_
