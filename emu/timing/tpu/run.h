// A run of a kernel on TensorCores, watched for its time: every instruction is work of the core whose it is, every copy
// is a copy of its engines, every wait lasts as long as what is waited for. Blocks are copied and awaited by the
// pipeline's own steps (semantics/program/block_pipeline.h), as the kernel's copies are by its. Nothing that is watched
// depends on the time, so one run in the order of the kernel's text has them all. Based on: chip.h, work.h. Limits: a
// block for the next program starts to come when this one's is there, not when it is requested; cores do not wait for
// each other; a semaphore that a kernel reads, instead of waiting for it, has what it holds in the order of the text;
// index maps are part of what a step of a grid takes.
#ifndef PALLADION_EMU_TIMING_TPU_RUN_H_
#define PALLADION_EMU_TIMING_TPU_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/timing/base/critical_path.h"
#include "emu/timing/report/timing.h"
#include "emu/timing/tpu/chip.h"
#include "emu/timing/tpu/lines.h"
#include "emu/timing/tpu/living.h"
#include "emu/timing/tpu/operands.h"
#include "emu/timing/tpu/shown.h"
#include "emu/timing/tpu/timeline.h"
#include "emu/timing/tpu/work.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/mark.h"

namespace palladion::timing::tpu {

class TpuRun final : public run::Watcher {
 public:
  // All outlive it. The kernel is observable and runs on TensorCores.
  TpuRun(const kernel::PreparedKernelState& kernel, const TpuCosts& costs);

  // What the core of `options` does goes there; both outlive the run.
  void RecordTo(timeline::TimelineRecorder& recorder, const timeline::TimelineOptions& options) {
    shown_.emplace(costs_, operands_, recorder, options);
  }
  // nullopt: the run was not recorded, or has no such core.
  std::optional<timeline::Timeline> TakeTimeline();

  struct Core {
    TpuCore core;
    TpuCopyQueue fetches, flushes;     // of the pipeline of blocks
    std::vector<TpuBlockCopy> others;  // that the next body needs, or the end
    std::int64_t programs = 0;
    std::int64_t last_program = -1;
    std::int64_t end_program = 0;
    // Bundles that are shared since the last branch or wait.
    TpuWork work;
    TpuChain longest;
    std::unordered_map<std::int32_t, TpuChain> chain_of;  // by value: what it depends on
    TpuLiving living;
    std::vector<TpuPart> parts;  // whose work it is
    bool in_body = false;
    TpuTimeline* timeline = nullptr;      // that shows it
    bool has_whole_operands = false;      // those without blocks have come
    scheduler::Ticks ended;               // its last body did; before the first one, its prefetched operands are here
    base::CriticalPath::Held way_to_end;  // of that body
    base::CriticalPath::Agent agent;
    Core(const TpuCosts& costs, std::int64_t cores) : core(costs, cores) {}
  };

  absl::Status status() const { return status_; }  // what has no cost
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }
  const TpuLines& lines() const { return lines_; }
  const std::vector<report::OperandTraffic>& traffic() const { return traffic_; }
  // By the type that is multiplied.
  const std::map<DType, double>& products() const { return products_; }
  double flops() const { return flops_; }
  // Some instruction that ran.
  struct Met {
    bool several = false, prints = false, copies_within = false, polls = false;
  };
  const Met& met() const { return met_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kIssue};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void Finished(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;

 private:
  struct Credit {
    scheduler::Ticks landed;
    std::int64_t amount = 0;
    int text_line = 0;  // of the instruction that started it
    scheduler::Ticks start;
    base::CriticalPath::Held held = {};
    std::int32_t copy = timeline::kNoSpan;
  };
  using Place = TpuLines::Place;
  struct Costed {
    TpuInstruction cost;
    report::LineTime* line = nullptr;
  };

  Core& CoreOf(const Frame& frame);
  report::LineTime& LineOfBlock(std::size_t operand);
  void Pass(const Mark& mark, const Frame& frame);
  void BeginBody(const Frame& frame);
  void EndBody(const Frame& frame);
  void Add(const Instr& instr);
  const Costed* CostOf(const Instr& instr);  // nullptr: it has none, and status() says why
  TpuChain DependsOn(const Instr& instr) const;
  void Live(const Instr& instr, const TpuInstruction& cost, std::int64_t turn);
  void Spill();
  void Close();
  void Wait(const WaitTarget& target, Frame& frame, const Place& at);
  void WaitFor(const Credit& last, const Place& at);
  void AwaitGroups(const WaitTarget& target);
  void AwaitCopies(std::vector<TpuBlockCopy> copies);
  void AwaitLast(absl::Span<const TpuBlockCopy> copies);
  void Start(TpuBlockCopy& copy, scheduler::Ticks at, TpuCore::CopyKind way = TpuCore::CopyKind::kWaitedFor);
  void StartOther(TpuBlockCopy copy);
  void Copy(const AsyncRequest& request);
  std::optional<TpuBlockCopy> BlockCopyOf(const AsyncRequest& request);
  void IssueBlock(const AsyncRequest& request);
  TpuCopyQueue& QueueOf(AsyncQueue queue);
  void CopyAtOnce(const AsyncRequest& request);
  void CopyWholeOperands(bool back, Role role);
  void BringWholeOperands();
  void CopyPrefetched(TpuBlockCopy copy);
  bool Shows(const Core& core) const { return core.timeline != nullptr; }
  // Of a copy of a block; "" where nothing shows it.
  std::string WordsFor(std::size_t operand, const AsyncOperand* box, machines::Bytes bytes) const;

  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  const TpuCosts& costs_;
  TpuOperands operands_;
  absl::Status status_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<const Frame*> frames_;  // of `cores_`, as are these
  std::vector<AgentId> agents_;
  Core* now_ = nullptr;       // whose step runs, or ran last
  std::int64_t program_ = 0;  // that it is of
  Place place_;               // of that step
  bool pipelined_ = false;    // a grid of several programs
  const Region* body_ = nullptr;
  TpuLines lines_;
  std::unordered_map<const Instr*, Costed> costs_of_;
  TpuDistinct distinct_;
  std::vector<report::OperandTraffic> traffic_;
  std::map<std::int32_t, std::vector<Credit>> credits_;  // by semaphore
  std::map<DType, double> products_;
  double flops_ = 0;
  Met met_;
  std::optional<TpuShown> shown_;
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_RUN_H_
