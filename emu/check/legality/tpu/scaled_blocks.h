// A TPU kernel with blocks of other sizes: which dimensions of its grid have blocks that can be smaller or larger, by
// how much, and the resulting kernel. A dimension is scaled if each index map that depends on it returns it unchanged.
// A block shrinks by halving, in whole tiles, and grows by doubling, up to its whole array; if it divides its array it
// still does afterwards. Scratch and scopes of a block's shape are resized with it, an output's before an input's; in
// scratch of another shape, each dimension that, counted from the end, has a block's size.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_SCALED_BLOCKS_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_SCALED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/check/legality/legality.h"

namespace palladion::legality {

struct BlockScale {
  std::int64_t times = 1, part = 1;
  std::int64_t Of(std::int64_t size) const { return size * times / part; }
  double factor() const { return static_cast<double>(times) / static_cast<double>(part); }
};

// A dimension of a block that follows a dimension of the grid.
struct BlockPlace {
  std::size_t operand = 0, dim = 0;
};

struct ScaledDim {
  std::size_t dimension = 0;  // of the grid
  std::vector<BlockPlace> places;
  std::vector<BlockScale> scales;  // the smallest first
  std::size_t now = 0;             // scales[now] changes nothing
  bool whole = false;              // the last of them are all of their arrays
};

class ScaledBlocks {
 public:
  explicit ScaledBlocks(const Legality& legality);
  ScaledBlocks(const ScaledBlocks&) = delete;
  ScaledBlocks& operator=(const ScaledBlocks&) = delete;

  const std::vector<ScaledDim>& dims() const { return dims_; }
  const std::vector<std::string>& not_scaled() const {
    return not_scaled_;
  }                                      // "grid dimension 1: no block depends ..."
  std::vector<std::size_t> Now() const;  // the choice that changes nothing
  // Leaves out scales, those that are farthest from now first, until there are at most so many choices.
  void LimitChoices(std::size_t most);

  // The kernel of a choice of scales, one for each of dims(), until the next call.
  const Legality& At(const std::vector<std::size_t>& choice);
  const Kernel& was() const { return legality_.kernel(); }
  std::int64_t ProgramsAt(std::size_t dim, std::size_t scale) const;

 private:
  // A dimension of an array that the kernel allocates, and those of dims() that it follows.
  struct Buffer {
    std::size_t value = 0, dim = 0;
    std::vector<std::size_t> follows;
  };

  void Add(std::size_t dimension);
  void AddScales(ScaledDim* dim) const;
  bool Shrinks(const ScaledDim& dim, std::int64_t part) const;
  bool Grows(const ScaledDim& dim, std::int64_t times) const;
  std::optional<std::size_t> DirectDim(const BlockSpec& block, std::size_t dimension) const;
  bool IsWhole(const Operand& operand) const;
  std::int64_t StepOf(const BlockPlace& place) const;
  const Type& TypeOf(std::size_t operand) const;
  std::int64_t SizeAt(const BlockPlace& place) const;
  void AddBuffers();
  std::optional<std::size_t> OperandOfShape(const Shape& shape) const;
  std::vector<std::size_t> Followed(std::optional<std::size_t> operand, const Shape& shape, std::size_t dim) const;
  bool IsOperandsRef(std::size_t value) const;

  const Legality& legality_;
  std::vector<ScaledDim> dims_;
  std::vector<std::string> not_scaled_;
  std::vector<Buffer> buffers_;
  Kernel scaled_;
  const Legality scaled_legality_;
};

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_SCALED_BLOCKS_H_
