#include "emu/tools/debug/step_recorder.h"

#include <algorithm>
#include <utility>

#include "emu/run/watch/access_text.h"
#include "emu/run/watch/observed.h"
#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/program/blocks.h"

namespace palladion::debug {
namespace {

constexpr std::int64_t kShownSide = 8;

std::vector<std::int64_t> IndexOf(const Frame& frame) { return {frame.grid_index().begin(), frame.grid_index().end()}; }

}  // namespace

StepRecorder::StepRecorder(const kernel::PreparedKernelState& kernel, const StepLimits& limits)
    : kernel_(kernel), limits_(limits) {
  for (const Operand& operand : kernel.text().operands) {
    if (operand.block.has_value()) maps_.insert(&operand.block->map);
  }
}

const std::vector<RecordedStep>* StepRecorder::StepsOf(const std::vector<std::int64_t>& program) const {
  const auto found = programs_.find(program);
  return found == programs_.end() ? nullptr : &found->second;
}

StepRecorder::Place StepRecorder::Add(const std::vector<std::int64_t>& program, RecordedStep step) {
  if (steps_ >= limits_.steps) {
    ++dropped_;
    return {};
  }
  ++steps_;
  step.at = begun_steps_++;
  std::vector<RecordedStep>& steps = programs_[program];
  steps.push_back(std::move(step));
  return {&steps, steps.size() - 1};
}

void StepRecorder::Before(const Step& step, Frame& frame) {
  agents_.Before(frame);
  // What comes before a program begins, such as the flush of a block that is left, belongs to the one before it.
  if (begun_.count(IndexOf(frame)) != 0 || begun_.empty()) program_ = IndexOf(frame);
  index_[frame.agent()] = program_;
  if (step.kind != StepKind::kFetch && step.kind != StepKind::kFlush) return;
  const auto* params = static_cast<const OperandParams*>(step.params);
  const OperandInfo& info = kernel_.program().operand_infos[params->operand];
  const std::string& operand = info.ref.valid() ? kernel_.program().refs[info.ref.index()].name : info.name;
  block_ = Add(program_, {.name = Cat(step.kind == StepKind::kFetch ? "fetch " : "flush ", operand),
                          .loc = step.loc,
                          .text_line = step.text_line});
}

void StepRecorder::After(const Step& step, Frame& frame) {
  // A block that is still there is not fetched again, and one that is not left is not flushed.
  if (const RecordedStep* copy = block_.get();
      copy != nullptr && copy->accesses.empty() && block_.step + 1 == block_.program->size()) {
    block_.program->pop_back();
    --steps_;
  }
  block_ = {};
  agents_.After(step, frame, [&](const Mark& mark, Agent& agent) { OnMark(mark, agent, frame); });
}

void StepRecorder::OnMark(const Mark& mark, Agent& agent, Frame& frame) {
  if (mark.instr == nullptr) {
    agent.in_body = mark.kind == Mark::Kind::kEnter && maps_.count(mark.region) == 0;
    return;
  }
  if (!agent.in_body) return;
  if (mark.kind == Mark::Kind::kBegin) {
    agent.current.push_back(Add(IndexOf(frame), {.instr = mark.instr,
                                                 .depth = static_cast<int>(agent.current.size()),
                                                 .loc = mark.instr->loc,
                                                 .text_line = mark.instr->text_line}));
  } else if (mark.kind == Mark::Kind::kFinish && !agent.current.empty()) {
    if (RecordedStep* step = agent.current.back().get(); step != nullptr) Finish(mark, *step, frame);
    agent.current.pop_back();
  }
}

// What it made; of what makes nothing, such as a store, what it was given.
void StepRecorder::Finish(const Mark& mark, RecordedStep& step, Frame& frame) {
  if (limits_.elements == 0) return;
  const Kernel& kernel = kernel_.text();
  const auto name = [&](ValueId id) { return id.valid() ? Cat("%", kernel.values[id.index()].name) : std::string(); };
  bool made = false;
  for (const MarkedValue& result : mark.out) {
    if (result.slot.valid())
      made |= AddValue(name(result.value), kernel.values[result.value.index()].type, frame.slot(result.slot), step);
  }
  if (made) return;
  for (std::size_t i = 0; i < std::min(mark.in.size(), mark.instr->args.size()); ++i) {
    if (mark.in[i].slot.valid())
      AddValue(name(mark.in[i].value), watch::OperandType(kernel, mark, i), frame.slot(mark.in[i].slot), step);
  }
}

bool StepRecorder::AddValue(const std::string& name, const Type& type, const std::byte* value, RecordedStep& step) {
  if (value == nullptr) return false;
  const std::size_t rank = type.shape.size();
  const std::int64_t columns = rank == 0 ? 1 : type.shape[rank - 1], rows = rank < 2 ? 1 : type.shape[rank - 2];
  ShownValue shown{.name = name,
                   .type = TypeString(type.dtype, type.shape),
                   .rows = std::min(rows, kShownSide),
                   .columns = std::min(columns, kShownSide)};
  const bool empty = std::any_of(type.shape.begin(), type.shape.end(), [](std::int64_t size) { return size == 0; });
  const std::int64_t count = shown.rows * shown.columns;
  if (empty || elements_ + static_cast<std::size_t>(count) > limits_.elements) return false;
  elements_ += static_cast<std::size_t>(count);
  for (std::int64_t i = 0; i < count; ++i)
    shown.elements.push_back(watch::ElementValueText(type, value, i / shown.columns * columns + i % shown.columns));
  step.values.push_back(std::move(shown));
  return true;
}

void StepRecorder::Issued(const Who& who, const AsyncRequest& request) {
  if (!who.of_operation() || memory_ == nullptr) return;
  std::string& name = issued_[who.operation];
  if (request.block == nullptr || request.sources.empty() || request.destinations.empty()) {
    name = request.name;
    return;
  }
  const auto& destination = std::get<BoxAccess>(request.destinations[0].where);
  name =
      Cat("copy block of ", memory_->NameOf(request.sources[0].buffer()), " to ", memory_->NameOf(destination.buffer));
}

// An engine's access is a step of its own, of the program that issued it; any other belongs to the instruction that is
// under way.
void StepRecorder::Record(const Who& who, AccessKind kind, BufferId buffer, std::string box, const CodeSite& site) {
  RecordedStep* step = block_.get();
  if (step == nullptr && who.of_operation()) {
    const auto program = index_.find(who.agent);
    if (program == index_.end()) return;
    const auto [place, is_new] = operations_.try_emplace(who.operation);
    if (is_new)
      place->second =
          Add(program->second,
              {.name = issued_[who.operation], .by_engine = true, .loc = site.loc, .text_line = site.text_line});
    step = place->second.get();
  } else if (step == nullptr) {
    Agent* const agent = agents_.current();
    if (agent != nullptr && !agent->current.empty()) step = agent->current.back().get();
  }
  if (step != nullptr) step->accesses.push_back({kind, std::string(memory_->NameOf(buffer)), std::move(box)});
}

void StepRecorder::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                       const std::byte*) {
  if (!reach.empty && memory_ != nullptr)
    Record(who, kind, access.buffer, watch::BoxText(access) + (access.mask.lanes == nullptr ? "" : " in part"),
           CodeSite::Of(access.site));
}

void StepRecorder::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (memory_ == nullptr) return;
  std::size_t lanes = 0;
  for (std::size_t p = 0; p < access.offset.size(); ++p) lanes += memory_model::Touches(access, p) ? 1 : 0;
  const std::size_t elements = lanes / std::max<std::size_t>(access.pieces_per_element, 1);
  if (lanes > 0)
    Record(who, kind, access.buffer, Cat(": ", elements, elements == 1 ? " element" : " elements"),
           CodeSite::Of(access.site));
}

}  // namespace palladion::debug
