// What a launch did, kept so that one element can be followed back: every instruction that ran, with the values it made
// and where its operands came from, and every access to memory. Based on dynamic slicing (Korel and Laski 1988; Agrawal
// and Horgan 1990). Values are kept for as many programs as fit; a launch that makes more is recorded again for the
// program that is asked about. Needs an observable program.
#ifndef PALLADION_EMU_DEBUG_PROVENANCE_H_
#define PALLADION_EMU_DEBUG_PROVENANCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/checks/mark_walk.h"
#include "emu/debug/observed.h"

namespace palladion {

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

struct ProgramRecord {
  std::vector<std::int64_t> index;  // in the grid
  std::vector<ProvenanceNode> nodes;
  std::vector<std::byte> bytes;  // values of results
  bool has_values = false;
};

// A box or a list of places, without what only the access itself needed.
struct AccessBox {
  std::vector<std::int64_t> start, count, step, size;  // per buffer dimension; size: of the buffer
  std::vector<std::uint8_t> order;                     // value dimension -> buffer dimension

  // The element of the value that stands at an index of the buffer; -1: none.
  std::int64_t ValueAt(const std::vector<std::int64_t>& index) const;
  // The index in the buffer of an element of the value. It may lie outside.
  std::vector<std::int64_t> IndexAt(std::int64_t element) const;
};

struct RecordedAccess {
  enum class Kind : std::uint8_t { kRead, kWrite, kAtomic, kCopy, kPoison };
  Kind kind = Kind::kRead;
  std::size_t memory = 0;   // Provenance::memories
  std::size_t program = 0;  // Provenance::programs
  std::int32_t node = -1;   // of the program; -1: an engine's, or the launch's own
  LocId loc;
  AccessBox box;
  std::size_t source = 0;  // kCopy: the memory it reads
  AccessBox source_box;
  std::vector<std::int64_t> offsets;  // where it is a list of places: bytes, row-major over the value; else empty
  bool is_points = false;
  std::size_t piece_bytes = 1, pieces_per_element = 1;
  std::vector<std::uint8_t> lanes;  // where there is a mask
};

// An allocation, or an array of the caller.
struct RecordedMemory {
  std::string name;
  Shape shape;
  DType dtype = DType::kF32;
  std::size_t element_bytes = 4;
  int operand = -1;                  // the array of that operand
  bool is_input = false;             // it held values from the start
  std::vector<std::byte> first;      // an input's
  std::vector<std::int64_t> writes;  // accesses that change it, in order
};

class Provenance final : public RunObserver {
 public:
  // Values are kept while they take at most `value_bytes` together: of `only` alone where it is not negative, else of
  // the first programs.
  Provenance(const PreparedKernelState& kernel, std::size_t value_bytes, std::int64_t only);

  const std::vector<ProgramRecord>& programs() const { return programs_; }
  const std::vector<RecordedAccess>& accesses() const { return accesses_; }
  const std::vector<RecordedMemory>& memories() const { return memories_; }
  std::size_t MemoryOfOperand(std::size_t operand) const { return of_operand_[operand]; }

  void Bound(Memory& memory, absl::Span<const BufferId> arrays) override;
  void After(const Step& step, Frame& frame) override;
  void Poison(BufferId buffer) override;
  void Free(BufferId buffer) override { current_.erase(buffer.value); }
  void Box(AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value) override;
  void Points(AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void StartCopy(const CopyRequest& request) override;

 private:
  // An instruction under way.
  struct Open {
    std::int32_t node = -1;
    std::vector<ValueSource> returned;            // by the region that was left last
    std::vector<std::vector<ValueSource>> turns;  // a loop's: what each iteration returned
  };

  void StartProgram(const Frame& frame);
  void Leave(const Mark& mark);
  void Finish(const Mark& mark, Frame& frame);
  void BindParams(const Mark& mark);
  void FinishControl(const Mark& mark, Frame& frame);
  ValueSource SourceOf(const Arg& arg) const;
  void Define(ValueId value, ValueSource source);
  std::size_t Keep(const std::byte* value, std::size_t bytes);
  std::size_t MemoryOf(BufferId buffer);
  std::int64_t Add(RecordedAccess access);
  RecordedAccess Here(AccessKind kind, BufferId buffer, const Site& site);
  ProgramRecord& program() { return programs_.back(); }

  const PreparedKernelState& state_;
  const Kernel& kernel_;
  std::size_t value_bytes_left_;
  std::int64_t only_;
  Memory* memory_ = nullptr;
  MarkWalk walk_;
  std::vector<Open> open_;
  std::vector<ValueSource> source_of_;  // by ValueId
  std::vector<ProgramRecord> programs_;
  std::vector<RecordedAccess> accesses_;
  std::vector<RecordedMemory> memories_;
  std::map<std::int32_t, std::size_t> current_;  // buffer -> memory
  std::vector<std::size_t> of_operand_;
  int copy_sides_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_EMU_DEBUG_PROVENANCE_H_
