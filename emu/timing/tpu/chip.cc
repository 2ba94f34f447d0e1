#include "emu/timing/tpu/chip.h"

#include <algorithm>
#include <iterator>

namespace palladion::timing::tpu {

using base::TicksOf;
using machines::Bytes;
using machines::Count;
using machines::Cycles;
using scheduler::Ticks;

void TpuCore::Compute(const TpuWork& work, const TpuChain& chain) {
  now_ = now_ + TicksOf(TimeOf(costs_, work, chain));
  use_.work += work;
}

Ticks TpuCore::Copy(Ticks at, Bytes bytes, CopyKind way) {
  const Ticks issued = at + TicksOf(Count(1) / costs_.dma_issue);
  const Ticks startup = way == CopyKind::kWaitedFor ? TicksOf(costs_.dma_startup) : Ticks();
  const Ticks time = TicksOf(HbmTime(costs_, bytes, cores_));
  use_.memory = use_.memory + time;
  use_.bytes += bytes;
  if (!watch_) return memory_.Serve(issued, time) + startup;
  std::vector<scheduler::Server::Piece> pieces;
  const Ticks served = memory_.Serve(issued, time, &pieces);
  for (const scheduler::Server::Piece& piece : pieces) watch_(piece);
  return served + startup;
}

std::vector<TpuBlockCopy> TpuCopyQueue::TakeAllBut(std::size_t remain) {
  std::vector<TpuBlockCopy> taken;
  for (; groups_.size() > remain; groups_.pop_front())
    std::move(groups_.front().begin(), groups_.front().end(), std::back_inserter(taken));
  return taken;
}

}  // namespace palladion::timing::tpu
