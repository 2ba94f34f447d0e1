// A kernel after `prepare`: a flat list of steps over numbered slots. Immutable, holds no values, shared by parallel
// runs. What does not depend on values is decided here: memory layout, kernels by type, view plans, jump targets.
#ifndef PALLADION_SEMANTICS_PROGRAM_PROGRAM_H_
#define PALLADION_SEMANTICS_PROGRAM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "semantics/base/block_ways.h"
#include "semantics/base/ids.h"
#include "semantics/base/run_control.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"
#include "semantics/port/machine.h"
#include "semantics/program/grid_walk.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

using SlotId = Id<struct SlotTag>;  // one value's memory: Frame::slots
using RefId = Id<struct RefTag>;    // one ref: Program::refs

class Frame;
class FrameShadow;    // frame_shadow.h: which elements of the frame's values are undefined
class MatrixUnits;    // semantics/ops/tpu/matrix_units.h: those of a TPU's core, as a kernel drives them
class Inspections;    // inspections.h: what values break
struct Inspected;     // semantics/registry/inspect.h
struct ShadowKernel;  // semantics/registry/shadow.h
struct Step;

using StepFn = absl::Status (*)(const void* params, const Step& step, Frame& frame);
using WaitsFn = WaitTarget (*)(const void* params, const Step& step, Frame& frame);

// What an atomic step's effect depends on.
enum class AtomicStep : std::uint8_t {
  kNone,    // no atomic
  kUpdate,  // an update that commutes with others (up to rounding), and whose old value is unused
  kSees,    // uses what it finds: compare-and-swap, exchange, or a result that is used
};

// What a step is, for observers.
enum class StepKind : std::uint8_t {
  kOperation,   // of an instruction of the text
  kMark,        // mark.h
  kStrips,      // several instructions, strip by strip (strips.h)
  kAllocBlock,  // of resident blocks (blocks.h), as are those after it; its parameters are OperandParams
  kFreeBlock,
  kBindWindow,
  kFetch,
  kFlush,
  kAwaitBlocks,
  kSkip,  // does nothing: its effect is not wanted in this run (emu/run/launch/elided_program.h)
};

struct Step {
  // A value operation when `value` is set, else anything that needs the frame.
  void (*value)(const void* params, const ValueOperands& operands) = nullptr;
  StepFn fn = nullptr;
  const void* params = nullptr;
  std::uint32_t first_operand = 0;    // in Program::operands: n_in slots, then n_out slots
  std::uint32_t n_in = 0, n_out = 0;  // a text may have 2^22 operands in one instruction
  std::int32_t text_line = 0;
  LocId loc;
  StepKind kind = StepKind::kOperation;
  bool visible = false;  // others can see its effect: memory, copies, prints
  // Value operations: how undefined elements flow through. By the rule of `op`, in the module that was prepared; else
  // by `shadow`; with neither, element for element.
  const Instr* op = nullptr;
  const ShadowKernel* shadow = nullptr;
  const Inspected* inspected = nullptr;  // value operations: what their operands may break
  // Of a visible step: the one ref whose memory it touches (invalid: several, or not known), whether it only reads, and
  // whether the memory is the agent's own in any case.
  RefId ref;
  bool only_reads = false, own_memory = false;
  AtomicStep atomic = AtomicStep::kNone;
  WaitsFn waits = nullptr;    // of a step that may have to wait: for what
  WaitsFn polls = nullptr;    // of a step that looks at a barrier or semaphore and goes on in any case: at which
  WaitsFn signals = nullptr;  // of a step that signals one barrier or semaphore and does nothing else: which
  // It leaves something behind that no access to memory shows: a print, an allocation, an arrival.
  bool lasting = false;
  std::int32_t loop = -1;  // of the step that goes on with a loop or leaves it: in Program::loops
  // How long it takes: elements, or so many multiply-adds that take as long as one; 0 where it is no more than any
  // step.
  std::uint32_t work = 0;
};

// A loop whose end depends on a condition (`while`). Each time round, it may be as it was before: then it waits.
struct Loop {
  // What of the loop's own values an iteration may depend on, or the code after the loop: where they are when the step
  // with its number is next.
  std::vector<SlotId> carries;
};

// Observers of a program: schedules, logs, traces. A frame without hooks does not pay for them.
class StepHooks {
 public:
  virtual ~StepHooks() = default;
  // Before a visible step. False: another agent goes first; Frame::Run returns, and the step has not begun.
  virtual bool MayGo(const Step&, Frame&) { return true; }
  virtual void Before(const Step&, Frame&) {}
  virtual void After(const Step&, Frame&) {}
};

// How a ref maps to its buffer. Buffer dimension d has window[d] elements from the frame's origin of the ref.
struct RefInfo {
  std::string name;  // the user's name, for messages
  DType dtype = DType::kF32;
  std::size_t words_per_element = 1;  // 2 and more: PRNG keys
  Shape buffer_shape;
  Shape window;           // per buffer dimension
  std::vector<int> kept;  // the ref's own dimensions, as buffer dimensions
  Outside outside = Outside::kError;
  bool bounded_by_window = true;  // false: a pointer into the whole array (Triton)
  // A union of refs with members narrower than a byte: elements of the buffer for each byte of the union, one for each
  // element of the narrowest. A wider element has its bytes at the first place of each.
  std::int64_t places_of_byte = 1;
};

struct SlotInfo {
  std::size_t offset = 0;  // in the frame's arena; unused for constants
  std::size_t bytes = 0;
  const std::byte* constant = nullptr;  // constants live in the program
  std::size_t elements = 0;             // of a constant: not counted
};

// May the programs along a grid dimension run in any order, and at the same time?
enum class DimOrder : std::uint8_t {
  kSequential,  // one after another, each seeing what the last one left: TPU's "arbitrary", its default
  kParallel,    // in any order: TPU's "parallel", and every dimension of a GPU grid
};

enum class BlockMode : std::uint8_t {
  kWhole,     // the ref is the whole array
  kView,      // the ref is a window of the array
  kResident,  // the ref is a buffer of its own, filled and flushed by block copies
  kScoped,    // scratch that the agent itself makes when it starts
};

// One operand of the kernel call, in the order of Kernel::operands.
struct OperandInfo {
  Role role = Role::kIn;
  std::string name;
  Type type;  // of the whole array, or of the scratch ref
  BlockMode mode = BlockMode::kWhole;
  std::vector<BlockDim> block;  // per array dimension; kWhole, and the whole array as a resident block: empty
  std::vector<SlotId> index;  // kView, kResident: the map's results, scalars of `index_dtype`; one for each of `block`
  std::vector<DType> index_dtype;
  SlotId current;         // kResident: i64[rank], the index of the block that is resident
  RefId ref;              // what the body sees; invalid for bounds
  RefId array;            // kResident: the window of the array that the block is copied from or to
  int alias = -1;         // kOut: the operand whose memory it shares
  bool written = false;   // a kIn or kPrefetch whose ref the kernel writes
  bool restored = false;  // a resident kOut that is fetched like an input when its index changes
  // Its copies go on beside the bodies (block_pipeline.h); else each is complete before a body begins.
  bool pipelined = false;
  std::int64_t buffers = 1;    // of a resident one
  std::array<RefId, 2> slots;  // pipelined: its buffers, of which `ref` is one at a time
  SlotId turn;                 // pipelined: i64, the buffer of the newest block
};

// How to prepare one.
struct ProgramOptions {
  // Marks around every instruction of the text (mark.h). They end each group of strips, so after an instruction its
  // result is in memory. The results have the same bits; a run is slower.
  bool observable = false;
  BlockWays blocks = BlockWays::kAsItShows;
};

// A launch over clusters of blocks of threads: the last dimensions of Program::grid, thread minor. The TensorCores of a
// TPU are the blocks of one cluster.
struct ThreadMesh {
  bool cores = false;
  std::size_t cluster_dims = 0;    // of the grid, before the thread dimension
  bool thread_dim = false;         // the last one is the thread
  bool ends_together = false;      // no block ends before the others of its cluster
  std::vector<std::string> names;  // of every dimension; "" for an unnamed one
};

struct Program {
  std::string kernel_name;
  Target target;
  bool grid_in_agent = false;  // one agent walks the whole grid (a TPU core); else one agent per program
  // Of a kernel that several devices run together, the names of the first dimensions of `grid`, which count them: a
  // device is a place of the launch like any other. Each has operands of its own.
  std::vector<std::string> device_axes;
  std::int64_t devices = 1;
  bool several_devices() const { return !device_axes.empty(); }  // of a mesh, which may be of one
  std::vector<GridDim> grid;                                     // bounds are values of Kernel::values
  std::vector<DimOrder> dim_order;                               // per grid dimension
  std::vector<int> grid_bound;  // per grid dimension: the operand that holds its size, or -1
  std::vector<OperandInfo> operand_infos;
  std::vector<Step> steps;
  std::vector<SlotId> operands;
  std::vector<SlotInfo> slots;
  std::vector<RefInfo> refs;
  std::size_t arena_bytes = 0;
  std::size_t scratch_bytes = 0;
  std::size_t inspectors = 0;      // in all steps together
  std::optional<ThreadMesh> mesh;  // a launch over threads of blocks; none: one agent is a program
  // Dimensions of `grid`: those before the thread, devices' first; and the first of these along which a cluster lies.
  std::size_t block_dims() const { return grid.size() - (mesh.has_value() && mesh->thread_dim ? 1 : 0); }
  std::size_t first_cluster_dim() const { return block_dims() - (mesh.has_value() ? mesh->cluster_dims : 0); }
  bool matrix_units = false;  // some step drives a TPU's matrix units itself
  bool uses_port = false;     // some step asks its machine for more than memory and copies of blocks
  std::vector<Loop> loops;
  bool wants_threads = false;                      // some operation is large enough to be shared by host threads
  std::vector<std::shared_ptr<const void>> owned;  // parameters of steps, constants
};

// Where a ref is at run time.
struct RefState {
  BufferId buffer;
  std::array<std::int64_t, kMaxBoxRank> origin;  // per buffer dimension
  const Step* ended = nullptr;                   // the step after which the ref must not be used: a freeze
  SyncId sync;                                   // instead of a buffer: barriers or semaphores
};

// The random generator of a TPU's core: what it was seeded with, and how much has been drawn since (docs/spec/tpu.md).
struct CoreGenerator {
  std::pair<std::uint32_t, std::uint32_t> key = {0, 0};
  std::uint64_t drawn = 0;
};

// Which program of the grid a frame is at, seen from the one before it.
enum class ProgramTurn : std::uint8_t {
  kFirst,    // of this agent
  kNewTask,  // where tasks are apart: its index along a parallel dimension is another than that of the one before
  kNext,
};

// What a launch gives the frames of its agents. All outlive them.
struct FrameEquipment {
  std::int64_t loop_budget = 0;        // 0: none
  RunControl* control = nullptr;       // nullptr: no interruption and no progress
  simd::Parallel* parallel = nullptr;  // host threads for large operations
  StepHooks* hooks = nullptr;
  std::uint8_t* ran = nullptr;         // one for each step, set to 1 when it runs; nullptr: not requested
  FrameShadow* shadow = nullptr;       // nullptr: definedness is not tracked
  Inspections* inspections = nullptr;  // nullptr: what values break is not looked for
  bool tasks_apart = false;            // a check: programs that have no order find none of each other's blocks
};

// One agent's values, over one arena, and where it stands: everything that changes while a program runs.
class Frame {
 public:
  Frame(const Program& program, Machine& machine);
  void Equip(const FrameEquipment& equipment) { equipment_ = equipment; }
  void Watch(StepHooks* hooks) { equipment_.hooks = hooks; }  // from here on these alone

  const Program& program() const { return *program_; }
  Machine& machine() { return *machine_; }
  // From here on this one, over the same memory; it outlives the frame.
  void Ask(Machine& machine) { machine_ = &machine; }
  RunControl* control() const { return equipment_.control; }
  simd::Parallel* parallel() const { return equipment_.parallel; }
  FrameShadow* shadow() const { return equipment_.shadow; }
  Inspections* inspections() const { return equipment_.inspections; }

  // ---- agents

  struct Warp {
    AgentId thread;           // that forked it
    std::int64_t number = 0;  // in that thread
  };
  AgentId agent() const { return state_.agent; }
  const std::optional<Warp>& warp() const { return warp_; }  // none: the agent is a whole thread, or a program
  void RunsAs(AgentId agent) { state_.agent = agent; }
  void RunsAs(AgentId agent, const Warp& warp) {
    state_.agent = agent;
    warp_ = warp;
  }

  // ---- where it stands in the program

  std::size_t pc() const { return state_.pc; }
  void JumpTo(std::size_t step) { state_.pc = step; }
  void JumpToEnd() { state_.pc = program_->steps.size(); }
  bool done() const { return state_.pc == program_->steps.size(); }
  // Runs from there to the end of the steps, to the first error, or to a step that the hooks hold back.
  absl::Status Run();

  // A loop goes round; an iteration may count several times. An error where the budget is spent.
  absl::Status GoRound(std::int64_t weight) {
    ++state_.back_edges;
    return (state_.spent += weight) >= look_at_ ? Look() : absl::OkStatus();
  }
  bool pauses() const { return state_.back_edges == pause_at_; }
  std::int64_t back_edges() const { return state_.back_edges; }      // of this program so far
  void PauseAt(std::int64_t back_edges) { pause_at_ = back_edges; }  // Run returns PauseStatus() there; 0: never
  std::int64_t loop_budget() const { return equipment_.loop_budget; }
  // What loops have spent since the last time.
  std::int64_t TakeSpent() { return state_.spent - std::exchange(charged_, state_.spent); }

  // ---- where it stands in the grid

  // Before anything else: the grid's sizes, and the order in which its programs are visited, which outlives the frame.
  void SetGrid(std::vector<std::int64_t> size, const GridWalk& walk);
  const std::vector<std::int64_t>& grid_size() const { return grid_size_; }
  const std::vector<std::int64_t>& grid_index() const { return state_.grid_index; }
  std::int64_t program_number() const { return state_.program_number; }  // of the walk
  std::int64_t end_program() const { return state_.end_program; }  // one that walks the grid itself stops before it
  bool has_next_program() const { return state_.program_number + 1 < state_.end_program; }
  bool first_program() const { return state_.turn == ProgramTurn::kFirst; }  // of this agent
  bool begins_task() const { return state_.turn != ProgramTurn::kNext; }     // finds no block of the one before
  // The next program of the walk, where it is this agent's for certain.
  std::optional<std::int64_t> NextOfTask() const;
  // At the first step, as the agent of the first of these programs: `first` up to `end` of the walk.
  void BeginPrograms(std::int64_t first, std::int64_t end);
  void EndProgram();
  bool NextProgram();  // false: that was the last
  // Index maps of another program run: the index is that one's, the program's own number stays.
  void StandAt(std::int64_t program) { walk_->At(program, absl::MakeSpan(state_.grid_index)); }

  // ---- values

  std::byte* slot(SlotId id) { return state_.slots[id.index()]; }
  void set_slot(SlotId id, std::byte* memory) { state_.slots[id.index()] = memory; }
  std::byte* home(SlotId id) { return arena_.get() + program_->slots[id.index()].offset; }
  void swap_slots(SlotId a, SlotId b) { std::swap(state_.slots[a.index()], state_.slots[b.index()]); }
  RefState& ref(RefId id) { return state_.refs[id.index()]; }
  SlotId in(const Step& step, std::size_t i) const { return program_->operands[step.first_operand + i]; }
  SlotId out(const Step& step, std::size_t i) const { return program_->operands[step.first_operand + step.n_in + i]; }
  Site site(const Step& step) const { return {step.loc, step.text_line, state_.grid_index}; }
  // Of a TPU's core.
  CoreGenerator& generator() { return state_.generator; }
  std::shared_ptr<const MatrixUnits>& matrix_units() { return state_.matrix_units; }
  // Room that steps use while they run.
  std::byte* scratch() { return scratch_; }
  std::vector<std::int64_t>& points() { return points_; }  // of accesses that are not boxes
  AsyncRequest& block_copy() { return block_copy_; }       // of copies of blocks

  // ---- as a value

  // All that changes while a program runs, and back: for searches that return to a choice. Not the shadow.
  struct Saved;
  std::shared_ptr<const Saved> Save() const;
  void Restore(const Saved& saved);
  // Another frame of the same program becomes what this one is: a warp begins as its warpgroup is.
  void CopyTo(Frame& other) const;

 private:
  // What changes beside the bytes of the arena. A search copies it whole, so a new member cannot be left out.
  struct State {
    std::size_t pc = 0;
    AgentId agent;
    std::vector<std::int64_t> grid_index;
    std::int64_t program_number = 0, end_program = 0;
    ProgramTurn turn = ProgramTurn::kFirst;
    std::int64_t back_edges = 0;  // loop iterations of this program so far
    std::int64_t spent = 0;       // the same, one of much work counting several times: the budget is of these
    CoreGenerator generator;
    std::shared_ptr<const MatrixUnits> matrix_units;  // nullptr: they hold nothing
    std::vector<std::byte*> slots;
    std::vector<RefState> refs;
  };
  struct Free {
    void operator()(std::byte* p) const;
  };

  template <bool kMarksRan>
  absl::Status RunPlain();
  absl::Status RunChecked();  // definedness and inspections, without hooks
  absl::Status RunHooked();
  absl::Status RunCheckedStep(const Step& step);
  absl::Status Look();  // at the head of a loop, now and then: is the budget spent, is the run interrupted?
  void CountAnew() { state_.back_edges = state_.spent = charged_ = look_at_ = 0; }

  const Program* program_;
  Machine* machine_;
  std::unique_ptr<std::byte[], Free> arena_;
  std::byte* scratch_;
  State state_;
  FrameEquipment equipment_;
  std::optional<Warp> warp_;
  std::vector<std::int64_t> grid_size_;
  const GridWalk* walk_ = nullptr;
  std::int64_t look_at_ = 0;  // `spent` at which Look is due
  std::int64_t charged_ = 0;  // of `spent`
  std::int64_t pause_at_ = 0;
  std::vector<std::int64_t> points_;
  AsyncRequest block_copy_;
};

// What Frame::Run returns when it has come to PauseAt: no error, and Run goes on from there.
absl::Status PauseStatus();
bool IsPause(const absl::Status& status);

inline std::size_t WordsPerElement(const Type& type) {
  return type.key_impl.empty() ? 1 : (type.key_impl == "fry" ? 2 : 4);
}
// An array of the caller's has the parts of all devices one after another, in row-major order of the mesh, along a
// dimension that the kernel does not see.
inline Shape CallerShape(const Program& program, const Type& type) {
  Shape shape = type.shape;
  if (program.several_devices()) shape.insert(shape.begin(), program.devices);
  return shape;
}
inline std::size_t BytesPerElement(const Type& type) { return StorageBytes(type.dtype) * WordsPerElement(type); }
inline std::size_t ByteSize(const Type& type) {
  return static_cast<std::size_t>(NumElements(type.shape)) * BytesPerElement(type);
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_PROGRAM_H_
