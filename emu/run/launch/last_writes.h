// The last write of each element of one buffer, as numbers of writes. Stored as boxes while there are few; then as an
// entry for each element. A read returns a hash that does not depend on the representation: each element has a weight,
// and the weights of a box are a product over its dimensions.
#ifndef PALLADION_EMU_RUN_LAUNCH_LAST_WRITES_H_
#define PALLADION_EMU_RUN_LAUNCH_LAST_WRITES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/sets/box.h"
#include "semantics/base/units.h"
#include "semantics/port/access.h"

namespace palladion::launch {

// A hash of two numbers in this order (the finaliser of SplitMix64).
constexpr std::uint64_t Mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class LastWrites {
 public:
  // All elements were written by this, once Begin says how many there are.
  void Clear(std::uint64_t writer);
  void Begin(absl::Span<const std::int64_t> shape);
  bool cleared() const { return cleared_; }
  bool begun() const { return begun_; }

  void Write(const BoxAccess& access, const memory_model::BoxReach& reach, std::uint64_t writer);
  void Write(const PointAccess& access, ElementSize element_size, std::uint64_t writer);
  std::uint64_t Read(const BoxAccess& access, const memory_model::BoxReach& reach);
  std::uint64_t Read(const PointAccess& access, ElementSize element_size);
  std::uint64_t All() const;

 private:
  static constexpr std::size_t kMostPieces = 512;
  struct Side {
    std::int64_t low, high;
  };
  using Box = absl::Span<const Side>;  // of each dimension

  std::size_t pieces() const { return writer_.size(); }
  Box Piece(std::size_t i) const { return absl::MakeConstSpan(side_).subspan(i * shape_.size(), shape_.size()); }
  bool TakeDense(const BoxAccess& access, const memory_model::BoxReach& reach);
  std::uint64_t Weight(Box box) const;
  std::uint64_t WeightOf(std::int64_t element) const;
  std::uint64_t ReadBox(Box box) const;
  void Append(Box box, std::uint64_t writer);
  void Drop(std::size_t i);
  void CutOut(std::size_t i, Box box);
  void MakeFine();

  bool cleared_ = false, begun_ = false, fine_ = false;
  std::uint64_t first_ = 0;
  std::vector<std::int64_t> shape_;
  std::vector<Side> side_, dense_;     // of the pieces, which are all of the buffer; of the current access
  std::vector<std::uint64_t> writer_;  // of the pieces; where `fine_`, of the elements
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_LAST_WRITES_H_
