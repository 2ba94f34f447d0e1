#include "emu/timing/tpu_chip.h"

#include <algorithm>

namespace palladion::timing {

using machines::Bytes;
using machines::Count;
using machines::Cycles;
using scheduler::Ticks;

void TpuCore::Compute(const TpuWork& work, const TpuChain& chain) {
  now_ = now_ + TicksOf(TimeOf(costs_, work, chain));
  use_.work += work;
}

Ticks TpuCore::Copy(Ticks at, Bytes bytes) {
  const Ticks issued = at + TicksOf(Count(1) / costs_.dma_issue);
  const Ticks time = TicksOf(HbmTime(costs_, bytes, cores_));
  use_.memory = use_.memory + time;
  use_.bytes += bytes;
  if (!watch_) return memory_.Serve(issued, time) + TicksOf(costs_.dma_startup);
  std::vector<scheduler::Server::Piece> pieces;
  const Ticks served = memory_.Serve(issued, time, &pieces);
  for (const scheduler::Server::Piece& piece : pieces) watch_(piece);
  return served + TicksOf(costs_.dma_startup);
}

TpuPipeline::Landing TpuPipeline::Copy(const Block& block, bool goes_back, Ticks start) {
  const Ticks landed = core_.Copy(start, block.bytes);
  if (!watch_) return {.time = landed};
  return {.time = landed,
          .copy = watch_({.operand = block.operand,
                          .bytes = block.bytes,
                          .buffers = block.buffers,
                          .what = block.what,
                          .goes_back = goes_back,
                          .start = start,
                          .landed = landed})};
}

// With one buffer a block comes when the one before it is done with; with more, so many programs earlier.
Ticks TpuPipeline::FetchStart(std::int64_t buffers) const {
  if (buffers <= 1) return ended_;
  const auto ahead = static_cast<std::size_t>(buffers - 2);
  return ahead < began_.size() ? began_[ahead] : start_;
}

std::optional<TpuPipeline::Waited> TpuPipeline::WaitFor(std::optional<Waited> last, Ticks until) {
  if (until <= core_.now()) return std::nullopt;
  last->time = until - core_.now();
  core_.WaitUntil(until);
  return last;
}

std::optional<TpuPipeline::Waited> TpuPipeline::Begin(bool overhead) {
  if (began_.empty()) start_ = ended_ = core_.now();
  std::optional<Waited> last;
  Ticks until;
  const auto needs = [&](const Block& block, const Landing& landing, bool goes_back) {
    if (landing.time <= until) return;
    until = landing.time;
    last = Waited{.operand = block.operand, .goes_back = goes_back, .copy = landing.copy};
  };
  for (const Block& block : fetches_) needs(block, Copy(block, false, FetchStart(block.buffers)), false);
  for (const Block& block : flushes_) {
    std::deque<Landing>& back = back_[block.operand];
    back.push_front(Copy(block, true, ended_));
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, block.buffers) - 1);
    if (room < back.size()) needs(block, back[room], true);
    back.resize(std::min(back.size(), room + 1));
  }
  fetches_.clear();
  flushes_.clear();
  const std::optional<Waited> waited = WaitFor(last, until);
  if (overhead) core_.StepOfGrid();
  constexpr std::size_t kRemembered = 64;  // more buffers than that, no kernel has
  began_.push_front(core_.now());
  if (began_.size() > kRemembered) {
    began_.pop_back();
    core_.Forget(began_.back());
  }
  return waited;
}

std::optional<TpuPipeline::Waited> TpuPipeline::Finish() {
  std::optional<Waited> last;
  Ticks until;
  for (const auto& [operand, back] : back_) {
    if (back.empty() || back.front().time <= until) continue;
    until = back.front().time;
    last = Waited{.operand = operand, .goes_back = true, .copy = back.front().copy};
  }
  for (const Block& block : flushes_) {
    const Landing back = Copy(block, true, ended_);
    if (back.time <= until) continue;
    until = back.time;
    last = Waited{.operand = block.operand, .goes_back = true, .copy = back.copy};
  }
  flushes_.clear();
  return WaitFor(last, until);
}

}  // namespace palladion::timing
