// Small kernels as data, for the hunt after false verdicts (docs/develop/hunting.md): what each agent does, as a list
// of operations on a few rows of memory, barriers and semaphores. The text of a kernel, and the program of the
// reference machine (reference_machine.h), come from the same data, so that a line of the text is known by what it
// does. Limits: indices are constants; every element of a row has one value; what a kernel computes is one number.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_KERNEL_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

namespace palladion::hunt {

enum class Family : std::uint8_t {
  kThreads,   // Pallas threads of GPU blocks; barriers and shared memory are a block's own
  kBlocks,    // the same, with one thread for each block
  kPrograms,  // programs of a grid: Triton, generic
  kTpu,       // cores of TPUs, which reach memory outside of their own by copies: hunt_tpu.h
};

// What the agents of a TPU kernel are.
enum class Cores : std::uint8_t {
  kDevices,  // one core each, with arrays of its own; they signal each other and copy to each other
  kOfChip,   // cores that share the arrays and signal each other
  kTasks,    // indices of a parallel dimension, as if each had a core
};

enum class What : std::uint8_t {
  kLoad,       // sum = 3 * sum + memory
  kStore,      // memory = amount, or the sum where that is 0
  kAtomicAdd,  // memory += amount; the old value is unused
  kAtomicSee,  // sum = 3 * sum + memory; memory += amount
  kExchange,   // sum = 3 * sum + memory; memory = amount
  kArrive,
  kWait,
  kTest,          // sum = 3 * sum + (may go on)
  kFence,         // commit_smem
  kCopyIn,        // row `row` of x to row `to` of shared memory, arriving at barrier `object`
  kCopyOut,       // row `row` of shared memory to row `to` of m
  kAwait,         // at most `amount` copies out in flight; `flag`: their reading alone
  kSignal,        // `amount`
  kSemWait,       // `amount`; `flag`: without taking it
  kSemRead,       // sum = 3 * sum + count
  kTensorLoad,    // sum = 3 * sum + tensor memory
  kTensorStore,   // tensor memory = amount, or the sum where that is 0, some time later
  kTensorAwait,   // until this thread's loads have been read
  kTensorSettle,  // until this thread's stores are there
  kTensorCopy,    // row `row` of shared memory to row `to` of tensor memory
  kProduct,  // row `to` of tensor memory = (`flag`: itself +) a b, of row `row` of the operands; `amount`: a commit
  kTensorCommit,  // an arrival at barrier `object` when all that was issued here to the tensor core is complete
  kNamedArrive,   // at named barrier `object`
  kNamedSync,     // the same, and a wait
  kDma,        // `part` of row `row` of `array` to row `to` of `there`: dma semaphore `object` counts its bytes, and of
               // another device (`peer`) `other` those that were read; `flag`: semaphore `object` counts copies
  kDmaWait,    // dma semaphore `object`, for the bytes of `part`
  kMulticast,  // row `row` of x to row `to` of both blocks' shared memory, a half by each; their barriers `object`
  kSpin,       // of programs: until element 0 of row `row` of m is `amount`; of others: until semaphore `object` has it
  kWarps,      // in the first two warps of a thread: `body`, and `otherwise`
  kIf,         // the sum is odd: `body`, else `otherwise`
  kLoop,       // `body`, twice
  kResult,     // o[agent] = sum: the last thing that every agent does
  kNamedWait,  // of the reference machine only, as the next: the second part of kNamedSync
  kFork,       // of kWarps: the warps begin; all have ended
  kJoin,
  kJump,  // the next two: a thread comes to the second scope, and goes on in it
  kMeet,
  kEnter,
  kFetchStart,  // and these, of a TPU's pipeline: row `place` of m to the slot, or from it
  kFetchWait,
  kNewBlock,
  kFlushStart,
  kFlushWait,
};

enum class Array : std::uint8_t { kX, kM, kShared, kUnion, kPeer, kOperands, kTensor, kBlockIn, kBlockOut };
// kPeer: shared memory of the cluster's next block; kOperands: i8, of products

// What of a row of 128 elements an access has.
enum class Part : std::uint8_t { kFirst, kMiddle, kLow, kHigh, kRow };  // element 0, element 64, a half, all

struct Op {
  What what = What::kFence;
  Array array = Array::kM;
  Part part = Part::kRow;
  int object = 0;  // barrier or semaphore
  int row = 0, to = 0;
  std::int64_t amount = 0;
  bool flag = false;
  bool dynamic = false;  // one row further where the sum is odd, round the end
  int style = 0;       // how an index is written: 0 a literal, 1 computed; of programs: 2 a mask, 3 an array of indices
  bool alias = false;  // m by the name of the input whose memory it has
  Array there = Array::kShared;
  int other = 0;
  bool peer = false;  // the next device's, or core's
  std::vector<Op> body, otherwise;
};

// An operand of a TPU kernel that goes by blocks of a row: which one program `step` has.
struct Blocked {
  bool on = false, single = false;  // one buffer, not two
  int factor = 0, start = 0;
  int Row(int step, int rows) const { return (factor * step + start) % rows; }
};

struct HuntKernel {
  Family family = Family::kThreads;
  std::string target = "mosaic_gpu/h100";
  int rows = 2;                    // of m and of shared memory
  int blocks = 1;                  // of as many threads each: the first ones of `agents` are block 0's
  bool cluster = false;            // the blocks are one
  std::vector<int> arrivals;       // of each barrier; of a cluster's barrier 0: one arrival of each block
  std::vector<bool> tensor_order;  // of each barrier: does it order the tensor core? None: no barrier does
  bool tensor = false;             // is there tensor memory, and operands of products?
  std::vector<int> named;          // of each named barrier: how many threads complete a phase
  // Of programs: m goes by blocks of a row, of which program i has number (window * i + window_start) mod rows.
  int window = -1, window_start = 0;
  int semaphores = 0;
  // Of TPUs: `blocks` agents of `steps` programs each, one after another; agents[i * steps + k] is program k of agent
  // i.
  Cores cores = Cores::kDevices;
  int steps = 1;
  int dmas = 0;                 // dma semaphores
  Blocked in_block, out_block;  // c and m, where there is one agent
  bool pipelined() const { return in_block.on || out_block.on; }
  bool shared = false, unions = false;  // is there shared memory, and a union of refs?
  std::vector<std::vector<Op>> agents;  // what each does
  // What each does then, in a scope of its own whose shared memory has the bytes of that before; empty: there is none.
  std::vector<std::vector<Op>> later;
};

// One operation of the reference machine.
struct Instr {
  const Op* op = nullptr;
  What what = What::kFence;
  int line = 0;        // of the text
  bool later = false;  // in the second scope
  int skip = 0;        // kIf: instructions to leave out where the sum is even; kJump: always
  int place = 0;       // kResult: which one it is; of a pipeline: the row
  int slot = 0;        // of a pipeline
};

struct Written {
  std::string text;
  // By agent; its operations are the kernel's own. Where threads have warps, two for each thread are behind them.
  std::vector<std::vector<Instr>> code;
};

Written Write(const HuntKernel& kernel);

// Named barriers have numbers from here on.
inline constexpr int kFirstNamed = 8;
inline bool OrdersTensorCore(const HuntKernel& kernel, std::size_t barrier) {
  return barrier < kernel.tensor_order.size() && kernel.tensor_order[barrier];
}

inline constexpr std::int64_t kRowElements = 128;
// What is in row `row` of the inputs: x, and m before the kernel.
inline std::int64_t InputOfX(int row) { return 1000 + 7 * row; }
inline std::int64_t InputOfM(int row) { return 50 + row; }
inline std::int64_t BytesOf(Part part) { return part == Part::kRow ? 512 : 256; }  // of a copy: halves or rows

inline constexpr int kWarpsOfThread = 2;  // that do something
bool HasWarps(const HuntKernel& kernel);

int CountOps(const std::vector<Op>& ops);
int CountOps(const HuntKernel& kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_KERNEL_H_
