// What one run under one schedule did, as a picture of it needs it: agents, their visible operations in the order in
// which they ran, and the synchronisation between them. Plain data; schedule_recorder.h fills it.
#ifndef PALLADION_EMU_TOOLS_SCHEDULE_RECORDING_H_
#define PALLADION_EMU_TOOLS_SCHEDULE_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "semantics/base/finding.h"
#include "semantics/base/ids.h"

namespace palladion::schedule {

// What an operation is at first sight: its sign in the picture.
enum class OpKind : std::uint8_t {
  kAccess,   // reads, writes or updates memory
  kIssue,    // starts an asynchronous operation
  kPhase,    // an asynchronous operation's own: its reads or its writes
  kArrive,   // an arrival or a signal
  kWait,     // a wait that is over
  kWaiting,  // a wait that is never over
  kMemory,   // leaves the scope of memory
  kBegin,    // an agent's first operation comes next
};
std::string_view Name(OpKind kind);      // "access", "issue", ...
std::string_view Does(AccessKind kind);  // "reads", "writes", ...
// The program of which a finding names a lane; of any other agent, itself.
std::string_view WithoutLane(std::string_view agent);

enum class EdgeKind : std::uint8_t {
  kSync,   // an arrival, a signal or a completion, and the wait that it let go on
  kIssue,  // an issue, and the operation's own phases
  kSpawn,  // a thread and the warps that it forks, and back
};
std::string_view Name(EdgeKind kind);  // "sync", "issue", "spawn"

struct Actor {
  AgentId id;
  std::string name;  // as findings have it
  AgentId issuer;    // of an asynchronous operation; invalid: it is an agent
  std::int64_t operations = 0;
  bool is_operation() const { return issuer.valid(); }
};

// What an operation did to memory, as FindingAccess has it.
struct OpAccess {
  AccessKind kind = AccessKind::kRead;
  std::string object, box;  // "[0:8]"; "[...]": a list of places
};

struct Op {
  std::size_t actor = 0;  // of Recording::actors
  OpKind kind = OpKind::kAccess;
  std::string text;     // "waits for barrier full[1], phase 3"
  std::string objects;  // the refs, barriers and semaphores that it is about, with spaces between
  LocId loc;
  int text_line = 0;
  bool blocked = false;                 // a wait for something that came after the agent's operation before
  std::vector<OpAccess> accesses = {};  // a finding's side is found by these; the text is for readers
};

struct Edge {
  std::int64_t from = 0, to = 0;  // numbers of operations
  EdgeKind kind = EdgeKind::kSync;
};

// Operations are numbered from the first of the run; the oldest are forgotten where there are too many.
struct Recording {
  std::vector<Actor> actors;
  std::vector<Op> ops;
  std::int64_t forgotten = 0;  // the number of the first of `ops`
  std::vector<Edge> edges;     // by `to`
  // The operation that was the last one when a finding came, by the finding's place in the run's list.
  struct Found {
    Finding finding;
    std::int64_t op = -1;
  };
  std::vector<Found> found;
  // Of programs without a model of threads, those that the finding is not about: only counted.
  std::int64_t other_actors = 0, other_operations = 0;

  // The operation becomes the first of all.
  void PutFirst(Op op);

  std::int64_t end() const { return forgotten + static_cast<std::int64_t>(ops.size()); }
  bool Has(std::int64_t number) const { return number >= forgotten && number < end(); }
  const Op& operator[](std::int64_t number) const { return ops[static_cast<std::size_t>(number - forgotten)]; }
};

}  // namespace palladion::schedule

#endif  // PALLADION_EMU_TOOLS_SCHEDULE_RECORDING_H_
