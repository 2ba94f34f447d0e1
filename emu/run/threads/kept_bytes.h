// Which bytes the flush of a block leaves unchanged: an access that reads them sees the same in any order. Based on:
// docs/spec/races.md#alias. Limits: for these operands only (other_operands.h tries others).
#ifndef PALLADION_EMU_RUN_THREADS_KEPT_BYTES_H_
#define PALLADION_EMU_RUN_THREADS_KEPT_BYTES_H_

#include "memory_model/bytes/memory.h"
#include "semantics/port/async.h"

namespace palladion::threads {

// Of a flush that has not begun: AsyncRequest::keeps and changes.
void SayKeptBytes(const memory_model::Memory& memory, AsyncRequest& flush);

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_KEPT_BYTES_H_
