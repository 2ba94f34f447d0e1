#include "emu/timing/triton/equal_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "emu/run/launch/run.h"
#include "emu/timing/base/ticks.h"
#include "semantics/base/status.h"
#include "semantics/program/uses.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {
namespace {

using scheduler::Ticks;

// Waves that are timed: some in which blocks come to differ in where they are, which begin together; some like those
// that are left out; and the last ones.
constexpr std::int64_t kBegin = 6, kLike = 6, kEnd = 2;
constexpr std::int64_t kLeast = 6;        // waves that are left out; fewer are not worth a run without a clock
constexpr std::int64_t kParts = 4;        // of the middle, each of which is to be like the waves before it
constexpr double kAlike = 0.02;           // of the sectors that a block asks for
constexpr std::int64_t kFewSectors = 64;  // of a block: differences of less are none

// ---- what decides

// Values that are not the same in every block: forward from those that have no operands, such as the number of the
// block, and from loads.
class Differing {
 public:
  explicit Differing(const Kernel& kernel) : kernel_(kernel), differs_(kernel.values.size()) {}

  bool Decide() {
    do {
      grew_ = false;
      for (const Body& body : kernel_.bodies) Visit(body.region);
    } while (grew_);
    return decides_;
  }

 private:
  bool Differs(const Arg& arg) const {
    bool differs = false;
    VisitUses(arg, [&](ValueId value) { differs |= differs_[value.index()]; });
    return differs;
  }
  void Mark(ValueId value, bool differs) {
    if (!differs || !value.valid() || differs_[value.index()]) return;
    grew_ = differs_[value.index()] = true;
  }

  void Visit(const Region& region) {
    for (const Instr& op : region.body) op.regions.empty() ? VisitPlain(op) : VisitRegions(op);
  }

  void VisitPlain(const Instr& op) {
    bool differs = op.row->access != RefAccess::kNone || op.args.empty();
    for (const Arg& arg : op.args) differs |= Differs(arg);
    for (const ValueId result : op.results) Mark(result, differs);
  }

  void VisitRegions(const Instr& op) {
    for (const Region& region : op.regions) {
      for (std::size_t i = 0; i < region.params.size(); ++i) {
        const bool comes_in = i < op.args.size() && Differs(op.args[i]);
        const std::vector<Arg>& round = op.regions.back().results;
        Mark(region.params[i].value, comes_in || (IsLoop(*op.row) && i < round.size() && Differs(round[i])));
      }
      Visit(region);
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      bool differs = IsLoop(*op.row) && i < op.args.size() && Differs(op.args[i]);
      for (const Region& region : op.regions) differs |= i < region.results.size() && Differs(region.results[i]);
      Mark(op.results[i], differs);
    }
    decides_ |= DecidesBy(op);
  }

  // A scan has a fixed number of turns.
  bool DecidesBy(const Instr& op) const {
    switch (op.row->loops) {
      case Loops::kOnce:
      case Loops::kTurns:
        return false;
      case Loops::kBranch:
        return Differs(op.args[0]);
      case Loops::kWhile:
        return std::any_of(op.regions[0].results.begin(), op.regions[0].results.end(),
                           [this](const Arg& condition) { return Differs(condition); });
      case Loops::kWarps:
      case Loops::kUnsaid:
        return true;
    }
    return true;
  }

  const Kernel& kernel_;
  std::vector<bool> differs_;  // by ValueId
  bool grew_ = false, decides_ = false;
};

// ---- what is asked for

gpu::L2Cache::Sizes SizesOf(const gpu::GpuCosts& costs) {
  return {.line_bytes = static_cast<std::int64_t>(costs.l2_line.value()),
          .sector_bytes = static_cast<std::int64_t>(costs.l2_sector.value()),
          .lines = static_cast<std::int64_t>(costs.l2_size / costs.l2_line),
          .together = {}};
}

struct Mean {
  double read = 0, missed = 0, written = 0;
};

Mean MeanOf(const std::vector<BlockTraffic>& blocks, std::int64_t first, std::int64_t end) {
  Mean mean;
  for (std::int64_t b = first; b < end; ++b) {
    const BlockTraffic& one = blocks[static_cast<std::size_t>(b)];
    mean.read += static_cast<double>(one.read);
    mean.missed += static_cast<double>(one.missed);
    mean.written += static_cast<double>(one.written);
  }
  const auto count = static_cast<double>(end - first);
  return {.read = mean.read / count, .missed = mean.missed / count, .written = mean.written / count};
}

bool Alike(const Mean& a, const Mean& b) {
  const double most = kAlike * std::max(a.read + a.written, static_cast<double>(kFewSectors));
  return std::abs(a.read - b.read) <= most && std::abs(a.missed - b.missed) <= most &&
         std::abs(a.written - b.written) <= most;
}

}  // namespace

bool BlocksTakeTheSameSteps(const Kernel& kernel) { return !Differing(kernel).Decide(); }

TrafficOfBlocks::TrafficOfBlocks(const gpu::GpuCosts& costs) : cache_(SizesOf(costs)) {}

void TrafficOfBlocks::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  arrays_.Bound(memory, arrays);
}

void TrafficOfBlocks::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
                          const std::byte*) {
  Touch(who, kind, gpu::TouchedBy(access, arrays_.LayoutOf(access.buffer)));
}

void TrafficOfBlocks::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  Touch(who, kind, gpu::TouchedBy(access, arrays_.LayoutOf(access.buffer)));
}

void TrafficOfBlocks::Touch(const Who& who, AccessKind kind, const gpu::Touched& touched) {
  if (blocks_.empty() || who.agent.value != agent_) blocks_.emplace_back();
  agent_ = who.agent.value;
  BlockTraffic& block = blocks_.back();
  const Ticks at{static_cast<std::int64_t>(blocks_.size())};
  for (const gpu::GlobalBox& box : touched.boxes) {
    if (kind == AccessKind::kRead) {
      const gpu::L2Cache::Found found = cache_.Look(box, at);
      if (found.missed > 0) cache_.Arrived(at);
      block.read += found.merged + found.hit + found.missed;
      block.missed += found.missed;
    } else {
      block.written += cache_.Store(box, at).hit;
    }
  }
}

std::optional<EqualBlocks> FindEqualBlocks(const std::vector<BlockTraffic>& blocks, std::int64_t room) {
  const auto all = static_cast<std::int64_t>(blocks.size());
  EqualBlocks equal{
      .like = kBegin * room, .first = (kBegin + kLike) * room, .count = all - (kBegin + kLike + kEnd) * room};
  if (equal.count < kLeast * room) return std::nullopt;
  const Mean like = MeanOf(blocks, equal.like, equal.first);
  for (std::int64_t part = 0; part < kParts; ++part) {
    const std::int64_t begin = equal.first + equal.count * part / kParts,
                       end = equal.first + equal.count * (part + 1) / kParts;
    const Mean there = MeanOf(blocks, begin, end);
    if (!Alike(like, there)) return std::nullopt;
    equal.missed += there.missed * static_cast<double>(end - begin);
  }
  return equal;
}

absl::StatusOr<std::optional<EqualBlocks>> EqualBlocksOf(const agents::LaunchCall& call,
                                                         const agents::LaunchOptions& options,
                                                         const gpu::GpuCosts& costs, std::int64_t room) {
  std::int64_t blocks = 1;
  for (const auto& dim : call.kernel.program().grid) blocks *= dim.size;
  if (blocks < (kBegin + kLike + kLeast + kEnd) * room || !BlocksTakeTheSameSteps(call.kernel.text()))
    return std::nullopt;
  TrafficOfBlocks traffic(costs);
  agents::LaunchOptions in_order = options;
  in_order.mode = agents::ExecutionMode::kInOrder;
  in_order.loop = {};
  in_order.observers = {&traffic};
  PALLADION_ASSIGN_OR_RETURN(const agents::Ran ran, launch::Run(call, in_order));
  const bool found = !ran.findings.empty() || !ran.printed.empty() || ran.stuck();
  if (found || static_cast<std::int64_t>(traffic.blocks().size()) != blocks) return std::nullopt;
  return FindEqualBlocks(traffic.blocks(), room);
}

}  // namespace palladion::timing::triton
