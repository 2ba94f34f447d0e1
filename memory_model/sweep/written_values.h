// Whether all writers of an element stored the same bytes: such writes may come in any order. Every write of the run
// counts, also one that its own writer overwrites later: in another order it could be the last one seen. Undefined
// bytes are never equal, so the run must track definedness: without that, unwritten memory would compare equal.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_
#define PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/paged_array.h"
#include "semantics/base/ids.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

// What counts as one writer: writes with one order. These are not agents: all programs of one task are one, and
// each write of an engine is one. Assigned by the caller that feeds the values.
using WriterId = Id<struct WriterTag>;

class WrittenValues {
 public:
  // Before the first write. Memory: of what is written, about ten times its bytes.
  void Watch(const Memory& memory, BufferId buffer);

  // Arguments as an MemoryWatcher gets them.
  void Box(WriterId writer, AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value);
  void Points(WriterId writer, AccessKind kind, const PointAccess& access, const std::byte* value);

  // Did every write to each element that several wrote store the same bytes? Of the elements to which both lines of the
  // kernel's text wrote: what else is wrong in the array is another matter. False for a buffer that is not watched.
  bool AreEqual(BufferId buffer, int text_line, int other_line) const;
  // Reads too: wherever the writing line writes what the reading one reads, has the reader written it before, at
  // `own_line`? Then their conflict is that of the two writes.
  void ReadBox(WriterId reader, const BoxAccess& access, const BoxReach& reach);
  void ReadPoints(WriterId reader, const PointAccess& access);
  bool ReadsOwn(BufferId buffer, int reading_line, int writing_line, int own_line) const;

  // Did a write store undefined elements, or under an undefined mask? Where definedness is tracked.
  bool AnyUndefined(BufferId buffer) const;

 private:
  struct Write {
    WriterId writer;
    int text_line = 0;
  };
  struct Byte {
    std::byte first{};  // written first
    bool written = false;
  };
  struct Element {
    Write initial, last, before;           // the first write, the last, and another writer's before it
    bool several = false, varied = false;  // writers, values
  };
  struct Buffer {
    BufferId id;
    ElementSize element_size{1};
    std::vector<std::int64_t> shape;
    PagedArray<Byte> bytes;
    PagedArray<Element> elements;
    std::map<int, PagedArray<bool>> by_line;                   // of the kernel's text: which elements it wrote
    std::map<int, PagedArray<int>> reads;                      // of the text: how often it read each element
    std::map<std::pair<int, int>, PagedArray<int>> own_reads;  // of these, what the reader wrote at the second line
    bool undefined = false;
  };
  static void Read(Buffer& buffer, WriterId reader, int text_line, std::int64_t element);
  static void Compare(Buffer& buffer, const Write& write, ByteCount byte, absl::Span<const std::byte> value,
                      bool equals_nothing);
  // What one access writes twice has several writers: an engine's have no order among themselves.
  static void CountRepeated(const PointAccess& access, Buffer* buffer);

  std::vector<Buffer> buffers_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_WRITTEN_VALUES_H_
