// The contents of unwritten memory: --fill. The default is poison; the others show whether a result depends on it, like
// the fill options of compilers and allocators.
#ifndef PALLADION_SEMANTICS_TENSOR_FILL_H_
#define PALLADION_SEMANTICS_TENSOR_FILL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "semantics/base/dtype.h"

namespace palladion {

struct Fill {
  enum class Kind : std::uint8_t {
    kPoison,  // "nan": poison.h
    kZero,    // "zero"
    kRandom,  // "random:SEED": any bits that are a value of the type
    kIntMax,  // "intmax": the largest integer; floats as poison, bools true
  };
  Kind kind = Kind::kPoison;
  std::uint64_t seed = 0;
};

// InvalidArgument: no such fill, or a seed that is no number below 2^64.
absl::StatusOr<Fill> ParseFill(std::string_view text);

// Fills memory, each time with the next numbers of its generator (splitmix64), so a run repeats and no two fills are
// alike.
class Filler {
 public:
  explicit Filler(Fill fill = {}) : fill_(fill), state_(fill.seed) {}

  // n elements at dst, which is aligned for the type.
  void operator()(DType dtype, void* dst, std::size_t n);

  // Bytes of a type that is not known: poison is all ones, every float's NaN.
  void Bytes(void* dst, std::size_t n);

 private:
  void Random(std::byte* dst, std::size_t n);

  Fill fill_;
  std::uint64_t state_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_FILL_H_
