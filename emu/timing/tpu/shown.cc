#include "emu/timing/tpu/shown.h"

#include <string>
#include <variant>

#include "semantics/base/cat.h"

namespace palladion::timing::tpu {

using machines::Bytes;
using timeline::SpanKind;

void TpuShown::WatchMemory(TpuCore& core, std::int64_t cores) {
  core.WatchMemory([this, share = 1.0 / static_cast<double>(cores)](const scheduler::Server::Piece& piece) {
    timeline_.UsedMemory(piece, share);
  });
}

std::int32_t TpuShown::Block(const TpuBlockCopy& copy) {
  const Operand& declared = operands_.Declared(copy.operand);
  return timeline_.CopiedBlock(
      copy, {.loc = declared.loc, .text_line = declared.text_line, .op = operands_[copy.operand].name});
}

void TpuShown::Wait(const TpuBlockCopy& copy, Ticks begin) {
  const Operand& declared = operands_.Declared(copy.operand);
  const timeline::TimelineLine line{
      .loc = declared.loc,
      .text_line = declared.text_line,
      .op = Cat("wait for ", operands_[copy.operand].name, copy.goes_back ? " to go back" : "")};
  timeline_.Waited(begin, copy.landed, line, copy.span);
}

void TpuShown::Step(const Frame& frame, Ticks begin, Ticks end, int text_line) {
  std::string index;
  for (const std::int64_t i : frame.grid_index()) Append(&index, index.empty() ? "" : ", ", i);
  timeline_.EndedProgram(begin, end, {.text_line = text_line, .op = Cat("step (", index, ")")});
}

void TpuShown::SayBlock(const Instr& instr, TpuPart* part) const {
  for (const Arg& arg : instr.args) {
    const std::size_t* block = arg.kind == Arg::Kind::kValue ? operands_.OfBlock(arg.value) : nullptr;
    if (block == nullptr) continue;
    const OperandInfo& info = operands_[*block];
    part->slot = timeline_.SlotOf(*block, operands_.BuffersOf(*block), info.role == Role::kOut);
    part->block = info.name;
    return;
  }
}

std::int32_t TpuShown::Copy(const AsyncRequest& request, Bytes bytes, Ticks begin, Ticks landed) {
  const AsyncOperand &source = request.sources[0], &destination = request.destinations[0];
  const bool goes_out = operands_.At(source, /*written=*/false) == nullptr;
  TpuTimeline::Copy copy{.kind = goes_out ? SpanKind::kCopyOut : SpanKind::kCopyIn,
                         .what = Cat(operands_.SideText(source, false), " -> ", operands_.SideText(destination, true),
                                     ", ", BytesText(bytes))};
  const AsyncOperand& inside = goes_out ? source : destination;
  const auto* places = std::get_if<BoxAccess>(&inside.where);
  if (places != nullptr && places->rank > 0 && operands_.At(inside, !goes_out) == nullptr) {
    copy.buffer = inside.buffer().value;
    copy.place = places->start[0];
  }
  return timeline_.Copied(copy, begin, landed,
                          {.loc = request.site.loc, .text_line = request.site.text_line, .op = ""});
}

}  // namespace palladion::timing::tpu
