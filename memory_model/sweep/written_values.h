// Whether everybody who wrote an element wrote the same bytes there: such writes may come in any order. Every write of
// the run counts, also one that its own writer overwrites later: in another order it could be the last one seen. What
// is undefined is equal to nothing, so the run must track definedness: without that, what never was written looks
// alike.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_
#define PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory_model/bytes/access_observer.h"
#include "memory_model/bytes/memory.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

class WrittenValues {
 public:
  // Before the first write. Memory: three times the buffer's bytes, at most.
  void Watch(const Memory& memory, BufferId buffer);

  // An access by `writer`, a number that is not 0; arguments as an AccessObserver gets them.
  void Box(std::uint32_t writer, AccessKind kind, const BoxAccess& access, const BoxReach& reach,
           const std::byte* value);
  void Points(std::uint32_t writer, AccessKind kind, const PointAccess& access, const std::byte* value);

  // Did every write to each element that several wrote store the same bytes? False for a buffer that is not watched.
  bool AreEqual(BufferId buffer) const;
  // Did a write store undefined elements, or under an undefined mask? Where definedness is tracked.
  bool AnyUndefined(BufferId buffer) const;

 private:
  struct Buffer {
    BufferId id;
    ElementSize element_size{1};
    std::vector<std::int64_t> shape;
    std::vector<std::byte> first;               // the bytes written first
    std::vector<std::uint8_t> written;          // by byte
    std::vector<std::uint32_t> writer;          // by element: who wrote it first
    std::vector<std::uint8_t> several, varied;  // by element: writers, values
    bool undefined = false;
  };
  static void Compare(Buffer& buffer, std::uint32_t writer, ByteCount byte, absl::Span<const std::byte> value,
                      bool equals_nothing);
  // What one access writes twice has several writers: an engine's have no order among themselves.
  static void CountRepeated(const PointAccess& access, Buffer* buffer);

  std::vector<Buffer> buffers_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_
