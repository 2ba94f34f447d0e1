#include "emu/run/agents/launch_state.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/chip/machines/chip.h"
#include "emu/run/agents/core_copies.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/agents/rounded_copies.h"
#include "emu/session.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/view.h"
#include "semantics/tensor/normalise.h"

namespace palladion::agents {
namespace {

constexpr std::int64_t kMaxPrograms = std::int64_t{1} << 48;  // far more than a day's work

// Scratch operands are counted among what the operands need, and allocated from what is left: both sides are given
// them.
std::size_t MemoryLeft(const kernel::PreparedKernelState& kernel, const RunOptions& options) {
  const std::size_t limit = options.memory_limit == 0 ? HostMemoryLimit() : options.memory_limit;
  std::size_t scratch = 0;
  for (const OperandInfo& info : kernel.program().operand_infos)
    scratch +=
        info.role == Role::kScratch ? ByteSize(info.type) * static_cast<std::size_t>(kernel.program().devices) : 0;
  return limit - MemoryNeeded(kernel) + scratch;
}

memory_model::PaddedBounds TilesOf(const kernel::PreparedKernelState& kernel, const machines::Chip& chip) {
  memory_model::PaddedBounds bounds{.generation = chip.generation};
  for (const Kernel& one : kernel.module().kernels) {
    if (one.name != kernel.program().kernel_name) continue;
    for (const ValueInfo& value : one.values) {
      if (value.type.space != Space::kSmem) continue;
      bounds.scalar_memory.insert(value.name);
      bounds.scalar_memory.insert(value.label);
    }
  }
  return bounds;
}

}  // namespace

LaunchState::LaunchState(const kernel::PreparedKernelState& kernel, const LaunchOptions& options)
    : kernel_(kernel),
      options_(options),
      watchers_(options.observers),
      memory_(MemoryLeft(kernel, options.run)),
      frame_(kernel.program(), memory_),
      arrays_(kernel.program().operand_infos.size() * static_cast<std::size_t>(kernel.program().devices)),
      own_of_core_(OperandsOfEachCore(kernel)) {
  for (run::Watcher* observer : options.observers) memory_.Observe(observer);
  memory_.SetFill(options.fill);
  if (options.moves_nothing) memory_.MoveNothing();
  memory_.NameAgents(NamingOf(kernel.program()));
}

void LaunchState::Equip(Frame& frame) {
  if (shadow_rules_ != nullptr) shadows_.push_back(std::make_unique<FrameShadow>(program(), *shadow_rules_));
  frame.Equip({.loop_budget = options_.run.loop_budget,
               .control = options_.run.control,
               .parallel = kernel_.threads(),
               .hooks = watchers(),
               .ran = options_.ran.empty() ? nullptr : options_.ran.data(),
               .shadow = shadow_rules_ == nullptr ? nullptr : shadows_.back().get(),
               .inspections = program().inspectors == 0 ? nullptr : options_.contracts,
               .tasks_apart = options_.tasks_apart});
}

absl::Status LaunchState::Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs) {
  const machines::Chip* chip = machines::FindChip(program().target.chip);
  if (options_.run.padded_bounds) {
    if (chip == nullptr || !chip->is_tpu) {
      return absl::InvalidArgumentError(
          Cat("bounds must be logical on ", ToString(program().target),
              "; found padded, which is of TPUs: their memory has tiles (a target like mosaic_tpu/v5e)"));
    }
    memory_.SetPaddedBounds(TilesOf(kernel_, *chip));
  } else if (chip != nullptr && chip->is_tpu) {
    if (std::set<int> rounded = RoundedCopies(kernel_.module(), program().kernel_name); !rounded.empty()) {
      memory_model::PaddedBounds tiles = TilesOf(kernel_, *chip);
      tiles.only_at = std::move(rounded);
      memory_.SetPaddedBounds(std::move(tiles));
    }
  }
  // What values break leaves results undefined, which are followed too.
  if (options_.definedness || (options_.contracts != nullptr && program().inspectors != 0)) {
    PALLADION_ASSIGN_OR_RETURN(shadow_rules_, kernel_.shadow_rules());
    memory_.TrackDefinedness(/*values_only=*/!options_.definedness);
  }
  Equip(frame_);
  if (options_.run.session != nullptr) {
    PALLADION_ASSIGN_OR_RETURN(arrivals_, options_.run.session->state().ArrivalsOf(kernel_, inputs));
  }
  for (binding_ = 0; binding_ < program().devices; ++binding_) {
    PALLADION_RETURN_IF_ERROR(BindOperands(inputs, outputs));
  }
  PALLADION_RETURN_IF_ERROR(ResolveGrid());
  CopyForSecondCore();
  KeepScratchApart();
  WatchInFlight();
  for (std::int64_t device = 0; device < program().devices; ++device) {
    for (run::Watcher* observer : options_.observers) observer->Bound(memory_, ArraysOf(device));
  }
  return absl::OkStatus();
}

absl::Span<const BufferId> LaunchState::ArraysOf(std::int64_t device) const {
  const std::size_t operands = program().operand_infos.size();
  return absl::MakeConstSpan(arrays_).subspan(static_cast<std::size_t>(device) * operands, operands);
}

// Those of the device whose turn it is.
absl::Status LaunchState::BindOperands(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs) {
  const std::vector<OperandInfo>& infos = program().operand_infos;
  std::size_t next_in = 0, next_out = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const OperandInfo& info = infos[i];
    switch (info.role) {
      case Role::kBound:
        PALLADION_RETURN_IF_ERROR(BindBound(i, inputs[next_in++]));
        break;
      case Role::kPrefetch:
      case Role::kIn:
        BindInput(i, inputs[next_in++]);
        break;
      case Role::kOut:
        BindOutput(i, outputs[next_out++], inputs);
        break;
      case Role::kScratch: {
        if (info.mode == BlockMode::kScoped) break;
        PALLADION_ASSIGN_OR_RETURN(const BufferId scratch, AllocScratch(i));
        Attach(i, scratch);
        break;
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Frame>> LaunchState::NewFrame() {
  auto frame = std::make_unique<Frame>(program(), memory_);
  Equip(*frame);
  frame->SetGrid(frame_.grid_size(), walk_);
  core_ = frame.get();
  for (std::size_t i = 0; i < program().operand_infos.size(); ++i) {
    const OperandInfo& info = program().operand_infos[i];
    if (info.role == Role::kBound || info.mode == BlockMode::kScoped) continue;
    const RefId ref = info.mode == BlockMode::kResident ? info.array : info.ref;
    frame->ref(ref) = frame_.ref(ref);
  }
  PALLADION_RETURN_IF_ERROR(NewScratch(*frame));
  return frame;
}

absl::Status LaunchState::NewScratch(Frame& frame) {
  for (std::size_t i = 0; i < program().operand_infos.size(); ++i) {
    const OperandInfo& info = program().operand_infos[i];
    if (info.role != Role::kScratch || info.mode == BlockMode::kScoped) continue;
    PALLADION_ASSIGN_OR_RETURN(frame.ref(info.ref).buffer, AllocScratch(i));
  }
  return absl::OkStatus();
}

void LaunchState::PutOn(std::int64_t device, Frame& frame) const {
  const absl::Span<const BufferId> arrays = ArraysOf(device);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const OperandInfo& info = program().operand_infos[i];
    if (info.role == Role::kBound || info.role == Role::kScratch) continue;
    frame.ref(info.mode == BlockMode::kResident ? info.array : info.ref).buffer = arrays[i];
  }
}

absl::Status LaunchState::AtStep(const absl::Status& status, const Frame& frame) const {
  if (IsInterrupted(status)) return status;
  const Program& program = kernel_.program();
  std::string where = Cat("kernel @", program.kernel_name);
  if (frame.pc() > 0) {
    const Step& step = program.steps[frame.pc() - 1];
    Append(&where, ", at ",
           step.loc.valid() ? Describe(kernel_.module(), step.loc) : PlaceText(kernel_.module(), {}, step.text_line));
  }
  const std::string at = AtAgent(NamingOf(program), frame.grid_index());
  const std::string advice =
      IsBudget(status) ? Cat("; raise ", options_.run.budget_name, " if the kernel does end") : std::string();
  Append(&where, at.empty() ? "" : ",", at);
  return absl::Status(status.code(), ToAbsl(Cat(where, ": ", ToStd(status.message()), advice)));
}

absl::Status LaunchState::BindBound(std::size_t i, const ConstArray& array) {
  const std::int64_t bound = ReadIndex(array.data, array.dtype, binding_);
  if (binding_ > 0) {
    if (bound == ReadIndex(array.data, array.dtype, 0)) return absl::OkStatus();
    return absl::InvalidArgumentError(Cat("grid bound '", program().operand_infos[i].name,
                                          "' must be the same on every device, which run one kernel; found ",
                                          ReadIndex(array.data, array.dtype, 0), " and ", bound));
  }
  if (bound < 0)
    return absl::InvalidArgumentError(
        Cat("grid bound '", kernel_.program().operand_infos[i].name, "' must not be negative; found ", bound));
  for (std::size_t d = 0; d < kernel_.program().grid.size(); ++d) {
    if (kernel_.program().grid_bound[d] == static_cast<int>(i)) bounds_.push_back({d, bound});
  }
  return absl::OkStatus();
}

// Windows and whole refs of the operand start at the buffer; index maps move them.
void LaunchState::Attach(std::size_t i, BufferId buffer) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  RefState& state = frame_.ref(info.mode == BlockMode::kResident ? info.array : info.ref);
  state.buffer = ArrayOf(i) = buffer;
  for (std::size_t d = 0; d < info.type.shape.size(); ++d) state.origin[d] = 0;
}

AllocRequest LaunchState::RequestFor(std::size_t i) const {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  const RefId ref = info.ref;
  return {.name = kernel_.program().refs[ref.index()].name,
          .dtype = info.type.dtype,
          .words_per_element = WordsPerElement(info.type),
          .shape = info.type.shape,
          .is_output = info.role == Role::kOut,
          .loc = DeclaredAt(i).loc,
          .text_line = DeclaredAt(i).text_line};
}

// "" where the launch has one device.
std::string LaunchState::DeviceNameOf(std::size_t device) const {
  if (program().devices < 2) return "";
  std::vector<std::int64_t> index(program().device_axes.size());
  auto rest = static_cast<std::int64_t>(device);
  for (std::size_t d = index.size(); d-- > 0; rest /= frame_.grid_size()[d]) index[d] = rest % frame_.grid_size()[d];
  return DeviceName(index);
}

std::int64_t LaunchState::Finish() {
  for (std::int64_t device = 0; device < program().devices; ++device) {
    for (run::Watcher* observer : options_.observers) observer->Finished(memory_, ArraysOf(device));
  }
  if (shadow_rules_ == nullptr) return 0;
  std::int64_t checks = 0;
  for (const std::unique_ptr<FrameShadow>& shadow : shadows_) checks += shadow->uses();
  const std::size_t operands = program().operand_infos.size();
  for (std::size_t i = 0; i < operands; ++i) {
    if (program().operand_infos[i].role != Role::kOut) continue;
    for (std::size_t at = i; at < arrays_.size(); at += operands)
      checks += memory_.ReportUndefinedOutput(arrays_[at], DeviceNameOf(at / operands), DeclaredAt(i));
  }
  return options_.definedness ? checks : 0;
}

// For messages.
Site LaunchState::DeclaredAt(std::size_t i) const {
  for (const Kernel& kernel : kernel_.module().kernels) {
    if (kernel.name != program().kernel_name) continue;
    return {kernel.operands[i].loc, kernel.operands[i].text_line, {}};
  }
  return {};
}

// The caller's array is never written: a ref that the kernel writes, or whose memory an output shares, gets a copy,
// and so do elements that do not have memory's form.
void LaunchState::BindInput(std::size_t i, const ConstArray& array) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  const std::byte* data = array.data + PartOf(info);
  const bool needs_form = NeedsNormalising(info.type.dtype);
  const bool lands = arrivals_.Lands({i, binding_});
  if (Moves(i) && (needs_form || lands || (info.written && info.mode != BlockMode::kResident))) {
    std::vector<std::byte>& copy = copies_.emplace_back(data, data + ByteSize(info.type));
    if (needs_form) Normalise(info.type.dtype, copy.data(), copy.size());
    data = copy.data();
  }
  Attach(i, Adopt(i, const_cast<std::byte*>(data)));
}

// An aliased output starts with the input's contents, and the input's ref sees what is written to it.
void LaunchState::BindOutput(std::size_t i, const MutableArray& array, absl::Span<const ConstArray> inputs) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  std::byte* const data = array.data + PartOf(info);
  const BufferId buffer = Adopt(i, data);
  Attach(i, buffer);
  if (info.alias >= 0) Attach(static_cast<std::size_t>(info.alias), buffer);
  if (!Moves(i)) return;
  if (info.alias < 0) {
    if (IsSemaphore(info.type)) {
      std::memset(data, 0, ByteSize(info.type));  // none of a session yet
      return;
    }
    memory_.filler()(info.type.dtype, data, ByteSize(info.type) / StorageBytes(info.type.dtype));
    if (shadow_rules_ != nullptr) memory_.SetUndefined(buffer);
    return;
  }
  std::size_t input = 0;
  for (int k = 0; k < info.alias; ++k) {
    const Role role = kernel_.program().operand_infos[static_cast<std::size_t>(k)].role;
    input += role == Role::kBound || role == Role::kPrefetch || role == Role::kIn;
  }
  std::memmove(data, inputs[input].data + PartOf(info), ByteSize(info.type));
  Normalise(info.type.dtype, data, ByteSize(info.type) / StorageBytes(info.type.dtype));
}

std::optional<OperandPlace> LaunchState::OutputOf(BufferId buffer) const {
  const std::vector<OperandInfo>& infos = program().operand_infos;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const OperandPlace place{i % infos.size(), static_cast<std::int64_t>(i / infos.size())};
    if (arrays_[i] == buffer && infos[place.operand].role == Role::kOut) return place;
  }
  return std::nullopt;
}

// An output in the operand's memory is the same buffer.
void LaunchState::WatchInFlight() {
  for (const ArrivingCopy& copy : arrivals_.elsewhere) {
    const BufferId array = ArraysOf(copy.into->device)[copy.into->operand];
    in_flight_.push_back(std::make_unique<InFlightWatch>(memory_, array, *copy.credit.copy));
    memory_.Observe(in_flight_.back().get());
  }
}

absl::StatusOr<BufferId> LaunchState::AllocScratch(std::size_t i) {
  memory_.MoveNothing(!Moves(i));
  absl::StatusOr<BufferId> scratch = memory_.Alloc(RequestFor(i));
  memory_.MoveNothing(options_.moves_nothing);
  return scratch;
}

BufferId LaunchState::Adopt(std::size_t i, std::byte* data) {
  memory_.MoveNothing(!Moves(i));
  const BufferId array = memory_.Adopt(RequestFor(i), data);
  memory_.MoveNothing(options_.moves_nothing);
  return array;
}

absl::Status LaunchState::ResolveGrid() {
  std::vector<std::int64_t> size;
  for (const GridDim& dim : kernel_.program().grid) size.push_back(dim.size);
  for (const auto& [axis, bound] : bounds_) size[axis] = bound;
  frame_.SetGrid(std::move(size), walk_);
  PALLADION_RETURN_IF_ERROR(CheckGrid());
  walk_ = GridWalk(frame_.grid_size(), kernel_.program().dim_order, options_.order);
  return absl::OkStatus();
}

// Indices in the grid are i32 in a kernel, and every program takes time.
absl::Status LaunchState::CheckGrid() const {
  constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  __int128 programs = 1;
  for (std::int64_t size : frame_.grid_size()) programs = std::min<__int128>(programs * size, std::int64_t{1} << 62);
  if (programs == 0) return absl::OkStatus();
  const std::string grid =
      Cat("kernel @", kernel_.program().kernel_name, ": the grid [", absl::StrJoin(frame_.grid_size(), ", "), "]");
  if (programs > kMaxPrograms) return absl::ResourceExhaustedError(Cat(grid, " has more than 2^48 programs"));
  for (std::int64_t size : frame_.grid_size()) {
    if (size > kMaxSize)
      return absl::InvalidArgumentError(
          Cat(grid, " has a dimension larger than ", kMaxSize, ", the largest that program_id can count"));
  }
  const std::int64_t budget = frame_.loop_budget();
  if (budget == 0 || programs <= budget) return absl::OkStatus();
  return absl::ResourceExhaustedError(Cat(grid, " has more programs than the budget of ", budget, "; raise ",
                                          options_.run.budget_name, " if it is meant"));
}

}  // namespace palladion::agents
