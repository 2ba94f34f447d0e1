#include "semantics/prepare/maps_ahead.h"

#include <algorithm>
#include <vector>

#include "semantics/program/blocks.h"

namespace palladion {
namespace {

bool Names(const Region& region, ValueId ref) {
  const auto is_ref = [&](const Arg& arg) { return arg.kind == Arg::Kind::kValue && arg.value == ref; };
  return std::any_of(region.body.begin(), region.body.end(), [&](const Instr& op) {
    const auto names = [&](const Arg& arg) {
      return is_ref(arg) || std::any_of(arg.select.begin(), arg.select.end(), is_ref);
    };
    return std::any_of(op.args.begin(), op.args.end(), names) ||
           std::any_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return Names(inner, ref); });
  });
}

// Does a map name a prefetched operand that the kernel stores into?
bool MapsShowStores(const Kernel& kernel, const Program& program) {
  if (!program.grid_in_agent) return false;
  std::size_t parameter = kernel.launch.grid.size();
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    if (kernel.operands[i].role != Role::kPrefetch) continue;
    const std::size_t number = parameter++;
    if (!program.operand_infos[i].written) continue;
    const auto reads = [&](const Operand& operand) {
      return operand.block.has_value() && number < operand.block->map.params.size() &&
             Names(operand.block->map, operand.block->map.params[number].value);
    };
    if (std::any_of(kernel.operands.begin(), kernel.operands.end(), reads)) return true;
  }
  return false;
}

}  // namespace

MapsAhead::MapsAhead(Builder& builder, bool wanted)
    : builder_(builder), ahead_(wanted || MapsShowStores(builder.kernel(), builder.program())) {}

MapsAhead::Known& MapsAhead::KnownOf(const Params& params, Frame& frame) {
  return *reinterpret_cast<Known*>(frame.slot(params.known));
}

// What the maps ask for is that program's.
void MapsAhead::PutAt(std::int64_t program, Frame& frame) {
  frame.StandAt(program);
  if (!frame.program().uses_port) frame.RunsAs(AgentOfProgram(program));
  frame.machine().Running({.id = frame.agent(), .index = frame.grid_index()});
}

absl::Status MapsAhead::RunForget(const void* params, const Step&, Frame& frame) {
  KnownOf(*static_cast<const Params*>(params), frame) = Known::kNone;
  return absl::OkStatus();
}

absl::Status MapsAhead::RunUnlessKnown(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const Params*>(params);
  if (KnownOf(p, frame) == Known::kNext) {
    KnownOf(p, frame) = Known::kNone;
    frame.JumpTo(*p.to.programs.target);
  } else if (frame.first_program() && frame.program().uses_port) {  // others may have run
    frame.machine().Running({.id = frame.agent(), .index = frame.grid_index()});
  }
  return absl::OkStatus();
}

absl::Status MapsAhead::RunUnlessComing(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const Params*>(params);
  if (KnownOf(p, frame) == Known::kNone) frame.JumpTo(*p.to.programs.target);
  return absl::OkStatus();
}

absl::Status MapsAhead::RunMapsDone(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const Params*>(params);
  KnownOf(p, frame) = Known::kNext;
  PutAt(frame.program_number(), frame);
  frame.JumpTo(*p.to.body.target);
  return absl::OkStatus();
}

// There is none after the core's last program, and none is looked for where another core may have it.
absl::Status MapsAhead::RunMapsOfNext(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const Params*>(params);
  const std::optional<std::int64_t> next = frame.NextOfTask();
  if (!next.has_value()) return absl::OkStatus();
  KnownOf(p, frame) = Known::kComing;
  PutAt(*next, frame);
  frame.JumpTo(*p.to.maps.target);
  return absl::OkStatus();
}

void MapsAhead::BeginMaps() {
  if (!ahead_) return builder_.Bind(labels_.next);
  known_ = builder_.NewSlot(Type{.dtype = DType::kI64});
  builder_.Emit(RunForget, params());
  builder_.Bind(labels_.next);
  builder_.Emit(RunUnlessKnown, params());
  builder_.Bind(labels_.maps);
}

// What is undefined is forgotten when the next program begins.
void MapsAhead::EndMaps() {
  if (!ahead_) return;
  builder_.Emit(RunUnlessComing, params());
  const std::vector<Operand>& operands = builder_.kernel().operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].block.has_value()) continue;
    builder_.SetPlace(operands[i].loc, operands[i].text_line);
    builder_.Emit(RunUseIndex, OperandParams{i});
  }
  builder_.Emit(RunMapsDone, params());
  builder_.Bind(labels_.programs);
}

void MapsAhead::BeforeBody() {
  if (!ahead_) return;
  builder_.Emit(RunMapsOfNext, params());
  builder_.Bind(labels_.body);
}

}  // namespace palladion
