// What a run on TensorCores tells its timeline (tpu_timeline.h), in the words of the kernel.
#include <algorithm>
#include <cmath>
#include <variant>

#include "emu/chip/machines/units.h"
#include "emu/run/watch/access_text.h"
#include "emu/timing/tpu_run.h"
#include "semantics/base/cat.h"

namespace palladion::timing {

using machines::Bytes;
using scheduler::Ticks;

namespace {

std::string BytesText(Bytes bytes) {
  constexpr double kKi = 1024;
  const double size = bytes.value();
  if (size >= kKi * kKi) return Cat(machines::PrintValue(std::round(size / kKi / kKi * 10) / 10), " MiB");
  if (size >= kKi) return Cat(machines::PrintValue(std::round(size / kKi * 10) / 10), " KiB");
  return Cat(machines::PrintValue(size), " B");
}

}  // namespace

void TpuRun::Show(Core& core, std::int64_t cores) {
  core.core.WatchMemory([this, share = 1.0 / static_cast<double>(cores)](const scheduler::Server::Piece& piece) {
    shown_->UsedMemory(piece, share);
  });
  if (static_cast<std::int64_t>(cores_.size()) - 1 != shown_core_) return;
  core.timeline = &*shown_;
}

std::int32_t TpuRun::ShowBlock(const TpuBlockCopy& copy) {
  const Operand& declared = kernel_.operands[copy.operand];
  return shown_->CopiedBlock(
      copy,
      {.loc = declared.loc, .text_line = declared.text_line, .op = state_.program().operand_infos[copy.operand].name});
}

void TpuRun::ShowWait(const TpuBlockCopy& copy, Ticks begin) {
  const Operand& declared = kernel_.operands[copy.operand];
  const std::string& name = state_.program().operand_infos[copy.operand].name;
  const TimelineLine line{.loc = declared.loc,
                          .text_line = declared.text_line,
                          .op = Cat("wait for ", name, copy.goes_back ? " to go back" : "")};
  shown_->Waited(begin, copy.landed, line, copy.span);
}

// From the end of the body before it on.
void TpuRun::ShowStep(const Frame& frame) {
  std::string index;
  for (const std::int64_t i : frame.grid_index()) Append(&index, index.empty() ? "" : ", ", i);
  shown_->EndedProgram(now_->ended, now_->core.now(), {.text_line = body_->text_line, .op = Cat("step (", index, ")")});
}

std::optional<Timeline> TpuRun::TakeTimeline() {
  if (!shown_.has_value() || shown_core_ >= static_cast<std::int64_t>(cores_.size())) return std::nullopt;
  Ticks end;
  for (const std::unique_ptr<Core>& core : cores_) end = std::max(end, core->core.now());
  return shown_->Take(end);
}

void TpuRun::SayBlock(const Instr& instr, TpuPart* part) const {
  for (const Arg& arg : instr.args) {
    const auto block = block_of_.find(arg.value.value);
    if (arg.kind != Arg::Kind::kValue || block == block_of_.end()) continue;
    const OperandInfo& info = state_.program().operand_infos[block->second];
    part->slot = shown_->SlotOf(block->second, BuffersOf(block->second), info.role == Role::kOut);
    part->block = info.name;
    return;
  }
}

std::string TpuRun::BlockText(std::size_t operand, const AsyncOperand* box, Bytes bytes) const {
  if (now_->timeline == nullptr) return "";
  const auto* places = box == nullptr ? nullptr : std::get_if<BoxAccess>(&box->where);
  return Cat(state_.program().operand_infos[operand].name, places == nullptr ? "" : watch::BoxText(*places), ", ",
             BytesText(bytes));
}

std::string TpuRun::SideText(const AsyncOperand& side, bool written) const {
  const std::size_t* operand = OperandAt(side, written);
  const std::string name =
      operand != nullptr ? state_.program().operand_infos[*operand].name : std::string(memory_->NameOf(side.buffer()));
  const auto* places = std::get_if<BoxAccess>(&side.where);
  return places == nullptr ? name : name + watch::BoxText(*places);
}

std::int32_t TpuRun::ShowCopy(const AsyncRequest& request, Bytes bytes, Ticks landed) {
  const AsyncOperand &source = request.sources[0], &destination = request.destinations[0];
  const bool goes_out = OperandAt(source, /*written=*/false) == nullptr;
  TpuTimeline::Copy copy{
      .kind = goes_out ? SpanKind::kCopyOut : SpanKind::kCopyIn,
      .what = Cat(SideText(source, false), " -> ", SideText(destination, true), ", ", BytesText(bytes))};
  const AsyncOperand& inside = goes_out ? source : destination;
  const auto* places = std::get_if<BoxAccess>(&inside.where);
  if (places != nullptr && places->rank > 0 && OperandAt(inside, !goes_out) == nullptr) {
    copy.buffer = inside.buffer().value;
    copy.place = places->start[0];
  }
  return now_->timeline->Copied(copy, now_->core.now(), landed,
                                {.loc = request.site.loc, .text_line = request.site.text_line, .op = ""});
}

}  // namespace palladion::timing
