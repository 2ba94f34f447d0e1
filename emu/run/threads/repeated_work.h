// Work that one thread does twice: it reads the answer of a request for work at two lines, and writes elements of an
// output after the second reading that it wrote after the first. Which index an answer gives may be asked for here and
// its success there, so a second reading alone says nothing. Made only for kernels that have two such lines (May).
// Based on docs/spec/gpu-cluster-cancel.md. Does not catch: work whose outputs are scratch, an answer that is read
// again after kRemembered others, a second reading by another thread of the block, which has work of its own.
#ifndef PALLADION_EMU_RUN_THREADS_REPEATED_WORK_H_
#define PALLADION_EMU_RUN_THREADS_REPEATED_WORK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/run/threads/launch_control.h"
#include "emu/run/threads/thread_machine.h"
#include "memory_model/bytes/events.h"
#include "memory_model/sets/access_set.h"
#include "semantics/ir/module.h"

namespace palladion::threads {

class RepeatedWork final : public memory_model::MemoryWatcher {
 public:
  static bool May(const Kernel& kernel);  // be of the kernel's

  // Memory and machine outlive it. `is_output`: is the buffer an output of the kernel?
  RepeatedWork(const memory_model::Memory& memory, ThreadMachine& machine, std::function<bool(BufferId)> is_output);

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kAccess, memory_model::EventKind::kIssue};
  }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  static constexpr std::size_t kRemembered = 8;  // answers of a thread

  class Bytes {  // of one array
   public:
    void Add(memory_model::ByteRange range);
    bool Has(memory_model::ByteRange range) const;  // a byte of it

   private:
    std::map<std::int64_t, std::int64_t> end_of_;  // by where they begin; apart from each other
  };
  struct Answer {
    AnswerReading first;
    std::optional<AnswerReading> again;
    std::map<std::int32_t, Bytes> written;  // before `again`, by array
  };

  void Read(const AnswerReading& reading);
  void Write(AgentId writer, BufferId array, const memory_model::AccessSet& set);
  void WriteBy(AgentId reader, BufferId array, absl::Span<const memory_model::ByteRange> ranges);
  std::vector<memory_model::ByteRange> RangesOf(BufferId array, const memory_model::AccessSet& set) const;

  const memory_model::Memory& memory_;
  ThreadMachine& machine_;
  const std::function<bool(BufferId)> is_output_;
  absl::flat_hash_map<decltype(AgentId::value), std::deque<Answer>> answers_;  // by thread, the latest last
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_REPEATED_WORK_H_
