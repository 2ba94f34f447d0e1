// Output blocks of pltpu.emit_pipeline that are left and visited again (OUT_REVISIT). Its pipeline consists of the
// kernel's own copies, and no window says which block a buffer holds; it is inferred from the copy that writes a block
// back. After that copy the buffer's contents belong to no other block: a body that reads there before writing, and
// whose block is written back to a place that one of the same buffers was written to before, has read another block's
// data as its own. Based on: BufferedRef.copy_out of JAX's pallas/mosaic/pipeline.py, by the place of the copy. Limits:
// a second visit that reads nothing is not reported; its writes are taken as intended.
#ifndef PALLADION_EMU_RUN_LAUNCH_EMITTED_REVISITS_H_
#define PALLADION_EMU_RUN_LAUNCH_EMITTED_REVISITS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/witness.h"
#include "semantics/ir/module.h"

namespace palladion::launch {

// What a body read of a block that is visited again, and how the block went back.
struct EmittedRevisit {
  std::string buffer, array;
  memory_model::WitnessAccess read, flush;
  std::int64_t count = 1;
};

class EmittedRevisits final : public memory_model::MemoryWatcher {
 public:
  explicit EmittedRevisits(const Module& module);

  bool any() const { return !copies_out_.empty(); }  // has the kernel such a pipeline?
  void Watch(const memory_model::Memory& memory) { memory_ = &memory; }
  const std::vector<EmittedRevisit>& found() const { return found_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc,
            memory_model::EventKind::kIssue};
  }
  std::int64_t most_values() const override { return 0; }
  void Running(const RunningAgent& now) override { program_.assign(now.index.begin(), now.index.end()); }
  void Free(const Who&, BufferId buffer) override { buffers_.erase(buffer.value); }
  void Issued(const Who& who, const AsyncRequest& request) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;

 private:
  struct StaleRead {
    std::int64_t element = 0;
    memory_model::WitnessAccess access;
  };
  // Memory that blocks were sent back from.
  struct Buffer {
    std::vector<bool> stale;                            // elements not written since
    std::vector<StaleRead> reads;                       // of such, since the last copy: some
    std::map<std::int32_t, std::vector<bool>> flushed;  // elements of arrays
  };

  memory_model::WitnessAccess AccessOf(AccessKind kind, const BoxAccess& access, const CodeSite& site) const;
  void Add(EmittedRevisit revisit);

  absl::flat_hash_set<std::int32_t> copies_out_;  // places
  const memory_model::Memory* memory_ = nullptr;
  absl::flat_hash_map<std::int32_t, Buffer> buffers_;
  std::vector<std::int64_t> program_;
  std::vector<EmittedRevisit> found_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_EMITTED_REVISITS_H_
