// A recording of a launch from which one element can be traced back: every instruction that ran, with its results and
// the origin of its operands, and every access to memory. Based on dynamic slicing (Korel and Laski 1988; Agrawal and
// Horgan 1990). Values are kept for as many programs as fit; a launch that makes more is recorded again for the program
// that is asked about. Needs an observable program. An engine's accesses are those of the instruction that issued its
// operation, whatever else of the same line is in flight.
#ifndef PALLADION_EMU_TOOLS_DEBUG_PROVENANCE_H_
#define PALLADION_EMU_TOOLS_DEBUG_PROVENANCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emu/run/watch/agent_states.h"
#include "emu/run/watch/observed.h"
#include "semantics/base/ids.h"
#include "semantics/base/units.h"

namespace palladion::debug {

// Where a value came from: a result of a node of the same program, or a constant of the text.
struct ValueSource {
  std::int32_t node = -1;
  std::int32_t result = 0;
  const Arg* constant = nullptr;
};

// One instruction that ran; or how a loop stacks and takes apart arrays.
struct ProvenanceNode {
  enum class Kind : std::uint8_t {
    kInstr,
    kElement,  // element `element` of in[0] along its first dimension: what an iteration sees of xs
    kStack,    // the parts `in`, one for each element along the first dimension: ys
  };
  Kind kind = Kind::kInstr;
  const Instr* instr = nullptr;
  std::string iterations;
  std::vector<ValueSource> in;  // of each operand that is a value
  std::int64_t element = 0;
  std::vector<Type> types;           // of the results
  std::vector<std::size_t> values;   // of each result in ProgramRecord::bytes; kNoValue where it was not kept
  std::vector<std::int64_t> access;  // its accesses, in Provenance::accesses
};
inline constexpr std::size_t kNoValue = ~std::size_t{0};

// Whose record it is, in Provenance::programs: an agent's, with what its warps do and engines do for it.
using RecordId = Id<struct RecordTag>;

struct ProgramRecord {
  std::vector<std::int64_t> index;  // in the grid
  std::vector<ProvenanceNode> nodes;
  std::vector<std::byte> bytes;  // values of results
  bool has_values = false;
};

// A box or a list of places, without what only the access itself needed.
struct ValueBox {
  std::vector<std::int64_t> start, count, step, size;  // per buffer dimension; size: of the buffer
  std::vector<std::uint8_t> order;                     // value dimension -> buffer dimension

  // The element of the value that stands at an index of the buffer; -1: none.
  std::int64_t ValueAt(const std::vector<std::int64_t>& index) const;
  // The index in the buffer of an element of the value. It may lie outside.
  std::vector<std::int64_t> IndexAt(std::int64_t element) const;
};

struct RecordedAccess {
  enum class Kind : std::uint8_t { kRead, kWrite, kAtomic, kCopy, kPoison, kEngine };
  Kind kind = Kind::kRead;
  std::size_t memory = 0;  // Provenance::memories
  RecordId program = {};   // whose it is; invalid: the launch's own
  std::int32_t node = -1;  // of the program; -1: an engine's, or the launch's own
  LocId loc;
  ValueBox box;
  std::size_t source = 0;  // kCopy: the memory it reads
  ValueBox source_box;
  std::int64_t read_at = -1;          // kCopy, whose halves are apart: it reads before that one of Provenance::accesses
  std::vector<std::int64_t> offsets;  // where it is a list of places: in bytes, row-major over the value; else empty
  bool is_points = false;
  ByteCount piece{1};
  std::size_t pieces_per_element = 1;
  std::vector<std::uint8_t> lanes;    // where there is a mask
  bool by_engine = false;             // of a thread's asynchronous operation
  ElementCount elements = {};         // of its value; of an engine's accesses
  std::vector<std::int64_t> sources;  // kEngine: the reads of the operation, in Provenance::accesses

  // Of an engine's access: how many elements of its value it touched.
  std::int64_t places() const {
    return is_points ? static_cast<std::int64_t>(offsets.size() / pieces_per_element) : elements.value();
  }
};

// An allocation, or an array of the caller.
struct RecordedMemory {
  std::string name;
  Shape shape;
  DType dtype = DType::kF32;
  ElementSize element_size{4};
  int operand = -1;                  // the array of that operand
  bool is_input = false;             // it held values from the start
  std::vector<std::byte> first;      // an input's
  std::vector<std::int64_t> writes;  // accesses that change it, in order
};

class Provenance final : public run::Watcher {
 public:
  // Values are kept while they take at most `value_bytes` together: of `only` alone where it is valid, else of
  // the first programs.
  Provenance(const kernel::PreparedKernelState& kernel, std::size_t value_bytes, RecordId only);

  const std::vector<ProgramRecord>& programs() const { return programs_; }
  const std::vector<RecordedAccess>& accesses() const { return accesses_; }
  const std::vector<RecordedMemory>& memories() const { return memories_; }
  // The element of the access's value that it put at an index of the memory; -1: none.
  std::int64_t ValueAt(const RecordedAccess& access, const std::vector<std::int64_t>& index) const;
  // The elements of its memory that an element of a list of places is made of; -1: outside.
  std::set<std::int64_t> ElementsOf(const RecordedAccess& access, std::int64_t element) const;
  std::size_t MemoryOfOperand(std::size_t operand, std::int64_t device) const {
    return of_operand_[static_cast<std::size_t>(device) * state_.program().operand_infos.size() + operand];
  }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc,
            memory_model::EventKind::kIssue, memory_model::EventKind::kHalf};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step&, Frame& frame) override { agents_.Before(frame); }
  void After(const Step& step, Frame& frame) override;
  void Poison(const Who& who, BufferId buffer) override;
  void Free(const Who&, BufferId buffer) override { current_.erase(buffer.value); }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void HalfDone(const Who& who) override;

 private:
  // A current instruction.
  struct Open {
    std::int32_t node = -1;
    std::vector<ValueSource> returned;            // by the region that was left last
    std::vector<std::vector<ValueSource>> turns;  // a loop's: what each iteration returned
  };

  // A program, or a thread; its warps write to the same record.
  struct Agent {
    watch::MarkWalk walk;
    RecordId program;
    std::vector<Open> open;
    std::vector<ValueSource> source_of;  // by ValueId

    ValueSource SourceOf(const Arg& arg) const;
    void Define(ValueId value, ValueSource source);
  };

  RecordId ProgramOf(const Frame& frame);
  ProgramRecord& At(RecordId id) { return programs_[id.index()]; }
  static void Leave(const Mark& mark, Agent& agent);
  void Finish(const Mark& mark, Agent& agent, Frame& frame);
  void BindParams(const Mark& mark, Agent& agent);
  void FinishControl(const Mark& mark, Agent& agent);
  static std::int32_t AddNode(ProgramRecord& record, ProvenanceNode node);
  std::size_t Keep(ProgramRecord& record, const std::byte* value, std::size_t bytes);
  std::size_t MemoryOf(BufferId buffer);
  std::int64_t Add(RecordedAccess access);
  void AddEngine(AgentId operation, RecordedAccess access);
  RecordedAccess CopyOf(const AsyncRequest& block);
  RecordedAccess Here(AccessKind kind, BufferId buffer, const Site& site);

  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  std::size_t value_bytes_left_;
  RecordId only_;
  memory_model::Memory* memory_ = nullptr;
  watch::AgentStates<Agent> agents_;
  std::vector<ProgramRecord> programs_;
  std::map<std::vector<std::int64_t>, RecordId> program_at_;  // by index in the grid
  // Its agent, and what it has read so far.
  struct Started {
    RecordId program;
    std::int32_t node = -1;
    std::vector<std::int64_t> reads;
    std::optional<RecordedAccess> block;  // it copies one
  };
  std::map<AgentId, Started> started_;  // by operation in flight
  std::vector<RecordedAccess> accesses_;
  std::vector<RecordedMemory> memories_;
  std::map<std::int32_t, std::size_t> current_;  // buffer -> memory
  std::vector<std::size_t> of_operand_;          // of one device after another
  std::size_t bound_ = 0;                        // devices whose operands are there
};

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_PROVENANCE_H_
