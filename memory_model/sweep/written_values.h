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
#include "semantics/base/ids.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

// Who counts as one writer: whoever writes in one order. These are not agents: all programs of one task are one, and
// each write of an engine is one. Given out by whoever feeds the values.
using WriterId = Id<struct WriterTag>;

class WrittenValues {
 public:
  // Before the first write. Memory: three times the buffer's bytes, at most.
  void Watch(const Memory& memory, BufferId buffer);

  // Arguments as an AccessObserver gets them.
  void Box(WriterId writer, AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value);
  void Points(WriterId writer, AccessKind kind, const PointAccess& access, const std::byte* value);

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
    std::vector<WriterId> writer;               // by element: who wrote it first
    std::vector<std::uint8_t> several, varied;  // by element: writers, values
    bool undefined = false;
  };
  static void Compare(Buffer& buffer, WriterId writer, ByteCount byte, absl::Span<const std::byte> value,
                      bool equals_nothing);
  // What one access writes twice has several writers: an engine's have no order among themselves.
  static void CountRepeated(const PointAccess& access, Buffer* buffer);

  std::vector<Buffer> buffers_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_
