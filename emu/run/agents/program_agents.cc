#include "emu/run/agents/program_agents.h"

#include <algorithm>
#include <utility>

#include "emu/run/agents/footprints.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/blocks.h"

namespace palladion::agents {

// ---- what others can see

SharedMemory::SharedMemory(LaunchState& state, bool all) {
  for (const OperandInfo& info : state.program().operand_infos) {
    if (info.role == Role::kScratch || (!all && info.role != Role::kOut && !info.written)) continue;
    const BufferId array = state.frame().ref(info.mode == BlockMode::kResident ? info.array : info.ref).buffer;
    if (!array.valid()) continue;
    if (array.index() >= shared_.size()) shared_.resize(array.index() + 1);
    shared_[array.index()] = true;
  }
}

scheduler::Footprint SharedMemory::FootprintOf(const Step& step, Frame& frame) const {
  if (step.ref.valid() && !Has(frame.ref(step.ref).buffer)) return {};
  return agents::FootprintOf(step, frame);
}

// ---- scratch that is handed on

std::vector<std::size_t> HandedScratch::OperandsOf(const Program& program) {
  std::vector<std::size_t> operands;
  if (program.target.backend != TargetBackend::kGeneric) return operands;
  const std::vector<OperandInfo>& infos = program.operand_infos;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role == Role::kScratch && infos[i].mode != BlockMode::kScoped) operands.push_back(i);
  }
  return operands;
}

HandedScratch::HandedScratch(LaunchState& state) : state_(state), operands_(OperandsOf(state.program())) {
  left_.push_back(PiecesOf(state.frame()));  // no program has left it: it holds poison
}

HandedScratch::Pieces HandedScratch::PiecesOf(Frame& frame) const {
  Pieces pieces;
  for (const std::size_t i : operands_) pieces.push_back(frame.ref(state_.program().operand_infos[i].ref).buffer);
  return pieces;
}

void HandedScratch::Put(const Pieces& pieces, Frame& frame) const {
  for (std::size_t k = 0; k < operands_.size(); ++k)
    frame.ref(state_.program().operand_infos[operands_[k]].ref).buffer = pieces[k];
}

scheduler::Footprint HandedScratch::footprint() const {
  return scheduler::Footprint::Reads(state_.ArraysOf(/*device=*/0)[operands_.front()].value);
}

absl::Status HandedScratch::Begin(Frame& frame) {
  const Pieces own = PiecesOf(frame);
  const bool has_own = own.front().valid();
  std::vector<Pieces>& from = left_.empty() ? unused_ : left_;
  if (from.empty()) return has_own ? absl::OkStatus() : state_.NewScratch(frame);
  if (left_.empty() && has_own) return absl::OkStatus();
  Put(from.back(), frame);
  from.pop_back();
  if (has_own) unused_.push_back(own);
  return absl::OkStatus();
}

void HandedScratch::End(Frame& frame) {
  left_.push_back(PiecesOf(frame));
  Put(Pieces(operands_.size()), frame);
}

// ---- one task

ProgramAgent::ProgramAgent(LaunchState& state, std::unique_ptr<Frame> frame, const SharedMemory& shared,
                           const Watching& watching, std::function<std::string(scheduler::AgentOrdinal)> name_of)
    : state_(state),
      frame_(std::move(frame)),
      shared_(shared),
      watching_(watching),
      spin_(watching.spins, &frame_->program()),
      spinning_(spin_, std::move(name_of)) {
  frame_->Watch(this);
}

void ProgramAgent::Start(AgentPrograms programs, scheduler::AgentOrdinal ordinal) {
  state_.PutOnCore(/*device=*/0, programs.first, *frame_);
  programs_ = programs;
  next_ = programs.first;
  StartNext();
  spin_.Start(ordinal);
  begun_ = {};
}

// A core walks its programs itself.
void ProgramAgent::StartNext() {
  const std::int64_t first = next_;
  next_ = state_.program().grid_in_agent ? programs_.last : first + 1;
  frame_->BeginPrograms(first, next_);
}

bool ProgramAgent::MayBegin() {
  if (watching_.scratch == nullptr || has_scratch_ || gate_->TakeGrant()) return true;
  const Step& first = frame_->program().steps.front();
  return gate_->MayGo({.footprint = watching_.scratch->footprint(), .loc = first.loc, .text_line = first.text_line});
}

absl::Status ProgramAgent::RunAll() {
  while (true) {
    PALLADION_RETURN_IF_ERROR(frame_->Run());
    if (!frame_->done() || next_ == programs_.last) return absl::OkStatus();
    StartNext();
    spin_.Start(spin_.agent());
  }
}

absl::Status ProgramAgent::Resume(scheduler::Gate& gate) {
  gate_ = &gate;
  if (watching_.spins != nullptr) watching_.spins->SetCurrent(&spin_, spin_.agent());
  // What a core still does of the program that it has left is that one's; what comes before its first, that one's.
  const bool begun = begun_.id.valid();
  state_.memory().Running(
      {.id = begun ? begun_.id : frame_->agent(), .index = begun ? begun_.index : frame_->grid_index()});
  if (!MayBegin()) return absl::OkStatus();
  if (watching_.scratch != nullptr && !std::exchange(has_scratch_, true))
    PALLADION_RETURN_IF_ERROR(watching_.scratch->Begin(*frame_));
  const absl::Status status = RunAll();
  if (!status.ok()) return state_.AtStep(status, *frame_);
  if (watching_.scratch != nullptr && done()) {
    watching_.scratch->End(*frame_);
    has_scratch_ = false;
  }
  return absl::OkStatus();
}

struct ProgramAgent::Saved {
  std::shared_ptr<const Frame::Saved> frame;
  Spin spin;
  Begun begun;
  std::int64_t next = 0;
};

absl::StatusOr<std::shared_ptr<const void>> ProgramAgent::Save() const {
  return std::shared_ptr<const void>(std::make_shared<const Saved>(Saved{frame_->Save(), spin_, begun_, next_}));
}

void ProgramAgent::Restore(const void* saved) {
  const auto& state = *static_cast<const Saved*>(saved);
  frame_->Restore(*state.frame);
  spin_ = state.spin;
  begun_ = state.begun;
  next_ = state.next;
}

std::string ProgramAgent::Name() const { return AgentName(frame_->grid_index()); }

bool ProgramAgent::MayGo(const Step& step, Frame& frame) {
  if (gate_->TakeGrant()) {
    if (step.loop >= 0 && watching_.touches != nullptr) watching_.touches->Add(spin_.footprint());
    spin_.Wake();
    return true;
  }
  if (step.loop >= 0) return MayGoRound(step, frame);
  const scheduler::Footprint footprint = shared_.FootprintOf(step, frame);
  if (footprint.empty()) return true;
  return gate_->MayGo(
      {.footprint = footprint, .loc = step.loc, .text_line = step.text_line, .work = WorkOf(step, frame)});
}

bool ProgramAgent::MayGoRound(const Step& step, Frame& frame) {
  if (watching_.spins == nullptr || !spin_.MustWait(step, frame)) return true;
  const bool goes = gate_->MayGo(
      {.footprint = spin_.footprint(), .waits_for = &spinning_, .loc = step.loc, .text_line = step.text_line});
  if (goes) spin_.Wake();
  return goes;
}

std::int64_t WorkOf(const Step& step, Frame& frame) {
  constexpr std::int64_t kIterations = 8, kElements = 1024;  // that take about as long as a visible operation
  return 1 + frame.TakeSpent() / kIterations + step.work / kElements;
}

void ProgramAgent::Before(const Step& step, Frame& frame) {
  if (watching_.watcher != nullptr) watching_.watcher->Before(step, frame);
}

void ProgramAgent::After(const Step& step, Frame& frame) {
  if (watching_.watcher != nullptr) watching_.watcher->After(step, frame);
  if (step.fn == RunBeginProgram) begun_ = {frame.agent(), frame.grid_index()};
  if (watching_.spins != nullptr) watching_.spins->Settle();
  if (step.lasting) spin_.Changed();
}

// ---- all of them

absl::StatusOr<scheduler::Agent*> ProgramAgents::Next() {
  const std::int64_t programs = state_.walk().programs();
  if (next_ == left_out_.first) next_ += left_out_.count;
  if (next_ == programs) return nullptr;
  const AgentPrograms mine = state_.ProgramsOfAgent(next_);
  ProgramAgent* agent = nullptr;
  if (free_.empty()) {
    PALLADION_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, state_.NewFrame());
    agents_.push_back(std::make_unique<ProgramAgent>(state_, std::move(frame), shared_, watching_,
                                                     [this](scheduler::AgentOrdinal id) { return NameOf(id); }));
    agent = agents_.back().get();
  } else {
    agent = free_.back();
    free_.pop_back();
  }
  agent->Start(mine, ordinals_.Add(AgentOfProgram(mine.first)));
  next_ = mine.last;
  return agent;
}

// As ProgramAgent::Name, also of one that is done.
std::string ProgramAgents::NameOf(scheduler::AgentOrdinal agent) const {
  std::vector<std::int64_t> index(state_.frame().grid_size().size());
  state_.walk().At(ordinals_.Of(agent).value, absl::MakeSpan(index));
  return AgentName(index);
}

std::vector<const ProgramAgent*> ProgramAgents::Unfinished() const {
  std::vector<const ProgramAgent*> unfinished;
  for (const std::unique_ptr<ProgramAgent>& agent : agents_) {
    if (!agent->done()) unfinished.push_back(agent.get());
  }
  return unfinished;
}

}  // namespace palladion::agents
