// Conflicts of unordered programs in a core's memory, which depend on which of them share a core, and on their order
// there. Blocks of inputs are never written back: a core that visits the same block next does not fetch it again, and
// sees what a body has stored. In scratch, other tasks on the same core may have overwritten what a task left for
// itself.
//
// A *segment* is a set of programs that certainly run consecutively: those with one index up to the last parallel
// dimension. It is a conflict if a segment stores in the block that it ends with, and another one, which begins with
// that block, reads the element before it stores there itself, whichever of the two came first in this run; and if a
// task reads from scratch what an earlier segment of its own left, while another task writes there. Limits: elements,
// not their parts; agents that are cores (launches in program order, and over a machine).
#ifndef PALLADION_EMU_RUN_LAUNCH_INPUT_BLOCKS_H_
#define PALLADION_EMU_RUN_LAUNCH_INPUT_BLOCKS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/sweep.h"
#include "memory_model/sweep/witness.h"
#include "semantics/program/program.h"

namespace palladion::launch {

// A block of an input, or scratch.
struct HandedBlock {
  std::size_t operand = 0;  // of Program::operand_infos
  std::string element;      // "[0, 3]"
  memory_model::WitnessAccess stored, read;
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;  // of accesses at these two places
};

class InputBlocks final : public memory_model::MemoryWatcher {
 public:
  // `program` outlives it.
  InputBlocks(const Program& program, absl::Span<const memory_model::TaskDim> dims);

  bool any() const { return any_ || scratch_; }  // is there anything to watch?
  bool watches_scratch() const { return scratch_; }
  // When operands are bound.
  void Watch(memory_model::Memory& memory, absl::Span<const BufferId> arrays);
  // After the launch: blocks that get nothing more leave what they have.
  void Finish();

  // A program has begun: its core has its scratch. Asked for where scratch is watched.
  void ProgramBegan(Frame& frame);

  const std::vector<HandedBlock>& handed() const { return handed_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc,
            memory_model::EventKind::kIssue};
  }
  void Running(const RunningAgent& now) override;
  void Free(const Who& who, BufferId buffer) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  using Index = std::vector<std::int64_t>;
  static constexpr std::int32_t kNone = -1;
  // Accesses of one segment at one place, by number.
  struct Record {
    Index segment;
    memory_model::WitnessAccess access;
  };
  // Of each element, records of two segments: for any third one, one of these is another's.
  struct Records {
    std::int32_t a = kNone, b = kNone;
  };
  struct Block {  // of an array
    std::vector<Records> left, taken;
  };
  struct Core {  // its memory for the block of an operand
    std::size_t operand = 0;
    std::vector<std::int64_t> shape;
    AgentId agent;
    Index program, segment;
    bool scratch = false;
    Block* block = nullptr;    // that is there now
    bool begins = false;       // this program is the segment's first
    bool first_block = false;  // the segment has had no other one; of scratch: it is not the task's first segment
    std::vector<std::int32_t> stored;   // by element: the last store since the block was fetched
    std::vector<std::int64_t> touched;  // elements of these
  };
  struct Access {
    AccessKind kind;
    const Site& site;
    std::string box;
  };

  Index SegmentOf(absl::Span<const std::int64_t> program) const;
  Index TaskOf(const Index& program) const;
  Core MakeCore(std::size_t operand, BufferId buffer) const;
  void Put(Core& core, const Index& at);
  void BeginSegment(Core& core, Index segment);
  void Leave(Core& core);
  void Forget(Core& core);
  std::int32_t RecordOf(const Core& core, const Access& access);
  void Touch(Core& core, std::int32_t record, AccessKind kind, std::int64_t element);
  void Add(Records* records, std::int32_t record) const;
  void Meet(const Core& core, std::int64_t element, std::int32_t stored, std::int32_t read);
  // A copy that fills the block's memory with what lies there in the array.
  struct Filling {
    std::size_t operand = 0;
    BufferId buffer;
    Index at, program;
  };
  void Fill(const Filling& fetch);
  Core* Find(BufferId buffer);

  const Program& program_;
  const memory_model::Memory* memory_ = nullptr;
  std::size_t segment_dims_ = 0;
  std::vector<memory_model::TaskDim> dims_;
  bool any_ = false, scratch_ = false;
  std::map<std::int32_t, std::size_t> operand_of_;         // of a written input, by its array
  std::map<std::int32_t, Core> cores_;                     // by the buffer of the block
  std::map<std::pair<std::size_t, Index>, Block> blocks_;  // by operand, and where they lie
  std::set<std::pair<std::size_t, Index>> tasks_;          // that have begun, of each scratch operand
  std::vector<Record> records_;
  std::vector<HandedBlock> handed_;
  AgentId running_;
  Index now_;
  BufferId filling_;             // the copy in flight fills it
  std::vector<Filling> coming_;  // for programs that have not begun
  std::set<AgentId> copies_;     // fetches beside bodies
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_INPUT_BLOCKS_H_
