// What is asked of whatever runs beside its issuer: DMA, TMA, multicast, matrix units, remote copies. One request
// serves every machine: lists of sources and destinations, a pure function between them, a queue whose documented order
// its halves obey, and completions. It takes place in two halves, reading and writing; when, is for the schedule to
// say. Based on: the copies and matrix operations of Pallas for GPUs and TPUs. What it does not know: where bytes lie,
// clocks and races (memory_model), time.
#ifndef PALLADION_SEMANTICS_PORT_ASYNC_H_
#define PALLADION_SEMANTICS_PORT_ASYNC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/port/access.h"

namespace palladion {

using BarrierId = Id<struct BarrierTag>;
using SemaphoreId = Id<struct SemaphoreTag>;
using QueueId = Id<struct QueueTag>;

// Which of an agent's queues an operation is of.
enum class AsyncQueue : std::uint8_t {
  kNone,    // by barriers
  kStores,  // groups of the thread's copies to global memory
  kMma,     // groups of the warpgroup's wgmma, one after another
  kBlocks,  // the agent's copies of blocks, to and from their arrays
};

enum class Half : std::uint8_t { kRead = 1, kWrite = 2 };  // numbers: the times of an operation's clock

// How an access goes to memory. TMEM has a way of its own.
enum class Proxy : std::uint8_t { kGeneric, kAsync, kTensorCore };

// A place list of a gather or scatter, as in PointAccess.
struct AsyncPoints {
  BufferId buffer;
  std::vector<std::int64_t> offset;
  std::size_t piece_bytes = 1;
  std::size_t pieces_per_element = 1;
};

// A source or a destination.
struct AsyncOperand {
  std::variant<BoxAccess, AsyncPoints> where;  // no mask; the site's program is not kept
  std::size_t bytes = 0;                       // of its value
  Proxy proxy = Proxy::kAsync;                 // kGeneric: registers, between which and their thread no proxy lies
  AtomicFn reduce = nullptr;  // of a destination: each element becomes reduce(what it was, the value's)
  std::size_t elements = 0;   // of its value, where several places of `where`, bytes of a union, are one; 0: one is one

  BufferId buffer() const {
    return std::visit([](const auto& places) { return places.buffer; }, where);
  }
};

// A value of an operation under way: row-major, with the marks of Definedness; no marks: every element is defined.
struct AsyncValue {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> marks;
};

// The values of all sources to the values of all destinations, whose bytes have their size already and whose marks are
// to be set: none for a value that is defined throughout.
using AsyncFunction = std::function<void(const std::vector<AsyncValue>&, std::vector<AsyncValue>*)>;

// What a completion's amount is of. A barrier's are arrivals, in its own shares of one; a semaphore of DMAs counts
// bytes, any other one just counts.
enum class CompletionUnit : std::uint8_t { kArrivals, kCount, kBytes };

// After one half: arrivals at a barrier, or a signal to a semaphore, which may be another place's.
struct Completion {
  Half after = Half::kWrite;
  std::variant<BarrierId, SemaphoreId> object;
  std::int64_t amount = 1;
  CompletionUnit unit = CompletionUnit::kArrivals;
};

struct AsyncRequest {
  std::string name = "copy";
  std::string await = {};  // the user's words for a wait for it: "plgpu.barrier_wait(b)"
  std::vector<AsyncOperand> sources = {}, destinations = {};
  AsyncFunction function = {};  // none: destination i becomes source i
  QueueId queue = {};           // invalid: of no queue
  bool after_earlier = false;   // waits for all earlier operations of its queue, and tells of them (a commit)
  std::vector<Completion> completions = {};
  Half must_await = Half::kWrite;  // what a kernel has to wait for before it ends; of a store, the read half
  int chunks = 1;                  // pieces of a half, at most
  CodeSite site = {};
  std::vector<std::int64_t> program = {};  // the issuer's index in the grid, for messages

  void At(const Site& where) {
    site = CodeSite::Of(where);
    program.assign(where.program.begin(), where.program.end());
  }
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_ASYNC_H_
