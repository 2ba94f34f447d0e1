// The shared memory of one block, or its tensor memory: a stack of bytes, as Mosaic GPU lays scopes out. A later scope
// gets the bytes of an earlier one, so an operation that is still in flight there is found when the bytes are allocated
// again. Based on: JAX's Mosaic GPU backend, which aligns every ref to 1024 bytes, and in tensor memory to 4 columns.
// Limits: what a scope's transforms and swizzles do inside its bytes is not known here.
#ifndef PALLADION_EMU_RUN_THREADS_SHARED_STACK_H_
#define PALLADION_EMU_RUN_THREADS_SHARED_STACK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "emu/run/threads/object_name.h"
#include "semantics/base/ids.h"
#include "semantics/base/tensor_cells.h"
#include "semantics/base/units.h"

namespace palladion::threads {

struct SharedBuffer {
  BufferId buffer;
  ByteCount offset, bytes;
  const TensorCells* cells = nullptr;  // of tensor memory
  std::size_t users = 0;               // threads that have not left its scope
  bool reached = false;                // by a thread of the block itself, not only by a peer
  bool freed = false;                  // another has its bytes, though some may not have left its scope
};

class SharedStack {
 public:
  static constexpr ByteCount kSharedAlignment{1024};
  static constexpr ByteCount kColumn{TensorCells::kLanes * TensorCells::kCellBytes};  // of tensor memory
  static constexpr ByteCount kTensorAlignment = 4 * kColumn;

  explicit SharedStack(ByteCount alignment = kSharedAlignment) : alignment_(alignment) {}

  // Of a scope that is not over; nullptr: there is none of this name.
  SharedBuffer* Find(const ObjectName& name);
  const SharedBuffer* Find(const ObjectName& name) const;
  // Of a scope that is over, while its bytes are not in use again; nullptr: there is none of this name.
  const SharedBuffer* FindLeft(const ObjectName& name) const;
  // Where the next allocation begins. What peers alone have reached comes later, wherever it lies.
  ByteCount Top() const;

  // It is there from here on, and has the bytes of others: these have been freed by that, and of them whose scope was
  // over already nothing is left.
  struct Replaced {
    std::vector<BufferId> freed, gone;
  };
  Replaced Place(const ObjectName& name, const SharedBuffer& shared);

  void Leave(const ObjectName& name);   // of a thread; its scope is over when all have left it
  void Retire(const ObjectName& name);  // its scope is over
  std::vector<SharedBuffer> End();      // all scopes are over: what is left, and nothing after that

 private:
  ByteCount alignment_;
  std::map<ObjectName, SharedBuffer> live_;
  std::vector<std::pair<ObjectName, SharedBuffer>>
      retired_;  // their scope is over; their bytes are not in use again yet
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SHARED_STACK_H_
