#include "emu/front/cpp/function_machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "emu/run/agents/host_memory.h"
#include "semantics/base/cat.h"

namespace palladion {

// ---- accesses

// Only atomics come here, one element each.
void FunctionAccesses::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (access.offset[0] < 0 || !Judges(who, access.buffer)) return;
  memory_model::AgentTable& agents = machine().model().agents();
  const ElementSize element = memory().ElementSizeOf(access.buffer);
  memory_model::AtomicOrder& order = atomics_.try_emplace(access.buffer, element).first->second;
  order.Acquire(who.agent, access, agents);
  ThreadAccesses::Points(who, kind, access, value);
  order.Update(who.agent, access, agents);
}

void FunctionAccesses::Free(const Who&, BufferId buffer) { atomics_.erase(buffer); }

// ---- the machine

namespace {

template <class Array>
std::vector<std::int64_t> ShapeFrom(const Array& array) {
  return {array.shape.begin(), array.shape.end()};
}

std::uint64_t NextRun() {
  static std::atomic<std::uint64_t> runs{0};
  return ++runs;
}

}  // namespace

std::vector<std::int64_t> FunctionMachine::GridOf(const FunctionKernel& kernel) {
  std::vector<std::int64_t> grid = kernel.grid;
  grid.push_back(static_cast<std::int64_t>(kernel.threads.size()));
  return grid;
}

Program FunctionMachine::ShapeOf(const FunctionKernel& kernel) {
  Program program;
  program.kernel_name = kernel.name;
  for (const std::int64_t size : GridOf(kernel)) program.grid.push_back({.size = size});
  program.mesh = ThreadMesh{.thread_dim = true, .names = std::vector<std::string>(kernel.grid.size() + 1)};
  for (const std::string& input : kernel.inputs) program.operand_infos.push_back({.role = Role::kIn, .name = input});
  for (const KernelOutput& output : kernel.outputs)
    program.operand_infos.push_back({.role = Role::kOut, .name = output.name});
  return program;
}

FunctionMachine::FunctionMachine(const FunctionKernel& kernel, const agents::LaunchOptions& options, CodePlaces& places)
    : kernel_(kernel),
      options_(options),
      places_(places),
      program_(ShapeOf(kernel)),
      memory_(options.run.memory_limit == 0 ? agents::HostMemoryLimit() : options.run.memory_limit),
      gpu_(
          program_, memory_, GridOf(kernel),
          threads::ThreadMachineOptions{.policy = options.fences,
                                        .races = options.races,
                                        .definedness = options.definedness,
                                        .places = [&places](const CodeSite& site) { return places.TextOf(site.loc); }}),
      accesses_(memory_, gpu_),
      run_(NextRun()) {
  for (run::Watcher* observer : options.observers) memory_.Observe(observer);
  memory_.NameAgents(NamingOf(kernel));
  memory_.SetFill(options.fill);
  memory_.NeverBorrow();
  for (run::Watcher* observer : options.observers) observer->Begun(gpu_);
  if (definedness()) memory_.TrackDefinedness();
  if (options.races) memory_.Observe(&accesses_);
}

std::int64_t FunctionMachine::threads_in_all() const {
  std::int64_t all = threads();
  for (const std::int64_t size : kernel_.grid) all *= size;
  return all;
}

// Read-only memory has no races: the model is given outputs only.
void FunctionMachine::Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = kernel_.inputs[i];
    const BufferId buffer = memory_.Adopt({.name = name, .dtype = inputs[i].dtype, .shape = ShapeFrom(inputs[i])},
                                          const_cast<std::byte*>(inputs[i].data));
    operands_.push_back(buffer);
    arrays_[name] = HandleOf({.buffer = buffer, .name = name, .is_input = true}).number();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) BindOutput(kernel_.outputs[i], outputs[i], inputs);
  for (run::Watcher* observer : options_.observers) observer->Bound(memory_, operands_);
}

void FunctionMachine::BindOutput(const KernelOutput& declared, const MutableArray& array,
                                 absl::Span<const ConstArray> inputs) {
  const BufferId buffer = memory_.Adopt(
      {.name = declared.name, .dtype = array.dtype, .shape = ShapeFrom(array), .is_output = true}, array.data);
  std::size_t elements = 1;
  for (const std::int64_t size : array.shape) elements *= static_cast<std::size_t>(size);
  const auto input = std::find(kernel_.inputs.begin(), kernel_.inputs.end(), declared.starts_as);
  if (input != kernel_.inputs.end()) {
    const ConstArray& from = inputs[static_cast<std::size_t>(input - kernel_.inputs.begin())];
    if (elements > 0) std::memcpy(array.data, from.data, elements * StorageBytes(array.dtype));
  } else {
    memory_.filler()(declared.dtype, array.data, elements);
    if (definedness()) memory_.SetUndefined(buffer);
  }
  gpu_.operands().Adopt(buffer, /*holds_nothing=*/input == kernel_.inputs.end());
  operands_.push_back(buffer);
  arrays_[declared.name] = HandleOf({.buffer = buffer, .name = declared.name}).number();
}

void FunctionMachine::Finish() {
  for (run::Watcher* observer : options_.observers) observer->Finished(memory_, operands_);
  for (run::Watcher* observer : options_.observers) observer->Ended(gpu_);
  gpu_.End({});
  if (!definedness()) return;
  for (std::size_t i = kernel_.inputs.size(); i < operands_.size(); ++i)
    checks_ += memory_.ReportUndefinedOutput(operands_[i], "", {});
}

KernelMemory FunctionMachine::HandleOf(Object object) {
  std::vector<KernelMemory::Dim> dims;
  for (const std::int64_t size : memory_.ShapeOf(object.buffer))
    dims.push_back({.start = 0, .count = size, .lower = 0, .upper = size});
  const DType dtype = memory_.DTypeOf(object.buffer);
  objects_.push_back(std::move(object));
  return {run_, static_cast<std::int32_t>(objects_.size()) - 1, dtype, std::move(dims)};
}

std::optional<KernelMemory> FunctionMachine::ArrayOf(std::string_view name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) return std::nullopt;
  const BufferId buffer = objects_[static_cast<std::size_t>(found->second)].buffer;
  std::vector<KernelMemory::Dim> dims;
  for (const std::int64_t size : memory_.ShapeOf(buffer))
    dims.push_back({.start = 0, .count = size, .lower = 0, .upper = size});
  return KernelMemory(run_, found->second, memory_.DTypeOf(buffer), std::move(dims));
}

FunctionMachine::Named FunctionMachine::NameOf(const std::string& name, const std::string& type, KernelScope scope) {
  const auto [at, added] = names_.try_emplace(name, static_cast<std::int64_t>(names_.size()), type);
  const auto& [number, known] = at->second;
  return {.place = {.step = number,
                    .owner = scope == KernelScope::kGrid ? PlaceLevel::kDevice : PlaceLevel::kBlock,
                    .memory = scope == KernelScope::kGrid ? PlaceLevel::kDevice : PlaceLevel::kBlock},
          .differs = known == type ? "" : known};
}

std::vector<Finding> FunctionMachine::Findings() const {
  std::vector<Finding> findings = memory_.findings();
  const std::vector<Finding>& model = gpu_.model().findings();
  findings.insert(findings.end(), model.begin(), model.end());
  for (Finding& finding : findings) SayInCpp(finding);
  return findings;
}

}  // namespace palladion
