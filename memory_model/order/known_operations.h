// The part of a vector clock for asynchronous operations, with the number of phases of each that are ordered before: it
// grows with the length of a run. Based on SharedTrie; a subtree of operations that are all done is a constant there.
// Limits: phases are 1 and 2.
#ifndef PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_
#define PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "memory_model/order/shared_trie.h"

namespace palladion::memory_model {

// Two bits of each operation, one for each half.
class KnownHalves {
 public:
  static constexpr std::uint32_t kRoom = 128, kFullValue = 2;

  std::uint32_t At(std::uint32_t i) const {
    const std::uint64_t bits = (words_[i / kOfWord] >> (2 * (i % kOfWord))) & 3;
    return bits == 3 ? 2 : static_cast<std::uint32_t>(bits);
  }
  void Raise(std::uint32_t i, std::uint32_t halves) {
    words_[i / kOfWord] |= std::uint64_t{halves == 1 ? 1u : 3u} << (2 * (i % kOfWord));
  }
  void Join(const KnownHalves& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool Covers(const KnownHalves& other) const {
    std::uint64_t missing = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) missing |= other.words_[w] & ~words_[w];
    return missing == 0;
  }
  bool IsFull() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == ~std::uint64_t{0}; });
  }

 private:
  static constexpr std::uint32_t kOfWord = 64 / 2;
  std::array<std::uint64_t, kRoom / kOfWord> words_{};
};

using KnownOperations = SharedTrie<KnownHalves>;

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_
