// Requests for asynchronous operations: DMA, TMA, multicast, matrix units, remote copies. One request type serves every
// machine: lists of sources and destinations, a pure function between them, a queue whose documented order its phases
// obey, and completions. An operation has a read phase and a write phase; the schedule chooses when they happen. Based
// on: the copies and matrix operations of Pallas for GPUs and TPUs. What it does not know: where bytes lie, clocks and
// races (memory_model), time.
#ifndef PALLADION_SEMANTICS_PORT_ASYNC_H_
#define PALLADION_SEMANTICS_PORT_ASYNC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/base/units.h"
#include "semantics/port/access.h"
#include "semantics/port/value_view.h"

namespace palladion {

using BarrierId = Id<struct BarrierTag>;
using SemaphoreId = Id<struct SemaphoreTag>;
using QueueId = Id<struct QueueTag>;

// Which of an agent's queues an operation is of.
enum class AsyncQueue : std::uint8_t {
  kNone,        // by barriers
  kStores,      // groups of the thread's copies to global memory
  kMma,         // groups of the warpgroup's wgmma, one after another
  kBlocks,      // the agent's copies of blocks, to and from their arrays
  kTmemLoads,   // groups of the thread's reads of tensor memory
  kTmemStores,  // groups of the thread's writes of tensor memory
  kTensorCore,  // what the thread's lane has issued to the tensor core (tcgen05); no groups, a commit covers all
  kFetches,     // groups of a TPU core's pipeline: of each program the blocks that come for it, and for the next one
  kFlushes,     // the same: blocks that go back, first those with one buffer
};

enum class Half : std::uint8_t { kRead = 1, kWrite = 2 };  // numbers: the times of an operation's clock

// How an access goes to memory. TMEM has a way of its own.
enum class Proxy : std::uint8_t { kGeneric, kAsync, kTensorCore };

// A place list of a gather or scatter, as in PointAccess.
struct AsyncPoints {
  BufferId buffer;
  std::vector<std::int64_t> offset;
  ByteCount piece_bytes{1};
  std::size_t pieces_per_element = 1;
};

// A source or a destination.
struct AsyncOperand {
  std::variant<BoxAccess, AsyncPoints> where;  // no mask; the site's program is not kept
  ByteCount bytes;                             // of its value
  Proxy proxy = Proxy::kAsync;                 // kGeneric: registers, between which and their thread no proxy lies
  AtomicFn reduce = nullptr;  // of a destination: each element becomes reduce(what it was, the value's)
  ElementCount elements;      // of its value, where several places of `where`, bytes of a union, are one; 0: one is one

  BufferId buffer() const {
    return std::visit([](const auto& places) { return places.buffer; }, where);
  }
};

using CowReadId = Id<struct CowReadTag>;  // Machine::BeginCowRead

// A value of an operation in flight: row-major, with the marks of Definedness; no marks: every element is defined.
// Where it has a view, its elements lie there, and `bytes` is not used.
struct AsyncValue {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> marks;
  CowReadId cow_read = {};  // of a source that has been read, until the function wants it
  ValueView view = {};
};

// The values of all sources to the values of all destinations, whose bytes have their size already and whose marks are
// to be set: none for a value that is defined throughout. Values have views only where the request takes them
// (FunctionViews).
using AsyncFunction = std::function<void(const std::vector<AsyncValue>&, std::vector<AsyncValue>*)>;

// What a completion's amount is of. At a barrier it is one arrival, or bytes that a copy of its own block expects; a
// semaphore of DMAs counts bytes, any other one just counts.
enum class CompletionUnit : std::uint8_t { kArrivals, kCount, kBytes };

// After one half: an arrival or bytes at a barrier, or a signal to a semaphore, which may be another place's.
struct Completion {
  Half after = Half::kWrite;
  std::variant<BarrierId, SemaphoreId> object;
  std::int64_t amount = 1;
  CompletionUnit unit = CompletionUnit::kArrivals;
  std::int64_t sender = 0;             // of bytes: their sender, as the copy that expects them counts the senders
  std::optional<std::size_t> of = {};  // it completes this destination alone; none: all
};

// What a copy that several blocks make together expects in its own block, from when it is issued: all bytes, and a
// landing of each sender's.
struct ExpectedBytes {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> senders = {};
};

// Operations of a tensor core that follow others without a wait, as PTX documents ("pipelined instructions", tcgen05):
// a product those of its shape and kind into its accumulator, and copies to tensor memory. It follows those of whose
// issue its own issuer knows.
struct Pipelined {
  enum class Stage : std::uint8_t { kCopy, kProduct };
  Stage stage = Stage::kCopy;
  std::string kind = {};  // of a product: types and shape; its accumulator is the first destination
};

// Does a function read sources and write destinations where they lie?
enum class FunctionViews : std::uint8_t {
  kNone,      // values have bytes
  kApart,     // yes; no source lies where it writes
  kReplaces,  // yes; the first source that is a destination's very elements stays there while it writes them
};

// A copy of a block that a TPU core's pipeline makes beside the bodies.
struct BlockCopy {
  std::string ref;  // the block's, in the kernel
  bool flush = false;
  std::int64_t buffers = 2;
  std::int64_t number = 0;            // of the program whose block it is, in the walk
  std::vector<std::int64_t> program;  // and its index
};

struct AsyncRequest {
  std::string name = "copy";
  std::string await = {};  // the user's words for a wait for it: "plgpu.barrier_wait(b)"
  std::vector<AsyncOperand> sources = {}, destinations = {};
  AsyncFunction function = {};  // none: destination i becomes source i
  FunctionViews views = FunctionViews::kNone;
  QueueId queue = {};          // invalid: of no queue
  bool after_earlier = false;  // waits for all earlier operations of its queue, and completes them (a commit)
  std::optional<Pipelined> pipelined = {};
  std::vector<Completion> completions = {};
  // At this barrier its issue is an arrival, which expects bytes; invalid: it is not.
  BarrierId expects_at = {};
  ExpectedBytes expects = {};
  bool each_destination = false;                // completions are of single destinations
  std::shared_ptr<const BlockCopy> block = {};  // nullptr: it is none
  // Of the array to which a block goes back: bytes that stay what they are, and all others that it writes.
  std::vector<std::pair<std::int64_t, std::int64_t>> keeps = {}, changes = {};
  // What a kernel has to wait for before it ends: of a store, the read half; of what only completes others, nothing.
  std::optional<Half> must_await = Half::kWrite;
  CodeSite site = {};
  std::vector<std::int64_t> program = {};  // the issuer's index in the grid, for messages

  // Operations as clocks count them: one for each destination, where each completes by itself.
  std::size_t parts() const { return each_destination && !destinations.empty() ? destinations.size() : 1; }

  void At(const Site& where) {
    site = CodeSite::Of(where);
    program.assign(where.program.begin(), where.program.end());
  }
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_ASYNC_H_
