#include "emu/cpp/function_machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "emu/agents/host_memory.h"
#include "semantics/base/cat.h"

namespace palladion {

// ---- accesses

// Only atomics come this way, one element each.
void FunctionAccesses::Points(AccessKind kind, const PointAccess& access, const std::byte* value) {
  if (access.offset[0] < 0 || !Judges(access.buffer)) return;
  memory_model::AgentTable& agents = machine().model().agents();
  const AgentId who = machine().current();
  const ElementSize element = memory().ElementSizeOf(access.buffer);
  memory_model::AtomicOrder& order = atomics_.try_emplace(access.buffer, element).first->second;
  order.Learn(who, access, agents);
  ThreadAccesses::Points(kind, access, value);
  order.Tell(who, access, agents);
}

void FunctionAccesses::Free(BufferId buffer) { atomics_.erase(buffer); }

// ---- the machine

namespace {

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
  program.mesh = ThreadMesh{.thread_dim = true, .names = std::vector<std::string>(kernel.grid.size() + 1)};
  return program;
}

FunctionMachine::FunctionMachine(const FunctionKernel& kernel, const FunctionOptions& options, CodePlaces& places)
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
  memory_.NameAgents({.blocks = true, .thread_index = true, .many_threads = kernel.threads.size() > 1});
  memory_.SetFill(options.fill);
  memory_.NeverLend();
  if (options.definedness) memory_.TrackDefinedness();
  for (agents::RunObserver* observer : options.observers) {
    observer->Begun(gpu_);
    if (observer->watches_memory()) memory_.Observe(observer);
  }
  if (options.races) memory_.Observe(&accesses_);
}

AllocRequest FunctionMachine::RequestFor(const std::string& name, const Tensor& array, bool is_output) const {
  return {.name = name, .dtype = array.dtype(), .shape = array.shape(), .is_output = is_output, .loc = {}};
}

// What nobody writes has no races: the model is told of outputs alone.
void FunctionMachine::Bind(absl::Span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = kernel_.inputs[i];
    const BufferId buffer =
        memory_.Adopt(RequestFor(name, inputs[i], false), const_cast<std::byte*>(inputs[i].bytes()));
    arrays_[name] = HandleOf({.buffer = buffer, .name = name, .is_input = true}).number();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const KernelOutput& declared = kernel_.outputs[i];
    const BufferId buffer = memory_.Adopt(RequestFor(declared.name, outputs[i], true), outputs[i].bytes());
    const auto input = std::find(kernel_.inputs.begin(), kernel_.inputs.end(), declared.starts_as);
    if (input != kernel_.inputs.end()) {
      const Tensor& from = inputs[static_cast<std::size_t>(input - kernel_.inputs.begin())];
      std::memcpy(outputs[i].bytes(), from.bytes(), from.num_bytes());
    } else {
      memory_.filler()(declared.dtype, outputs[i].bytes(), static_cast<std::size_t>(outputs[i].num_elements()));
      if (options_.definedness) memory_.SetUndefined(buffer);
    }
    gpu_.operands().Adopt(buffer);
    outputs_.push_back(buffer);
    arrays_[declared.name] = HandleOf({.buffer = buffer, .name = declared.name}).number();
  }
  for (agents::RunObserver* observer : options_.observers) observer->Bound(memory_, outputs_);
}

void FunctionMachine::Finish() {
  for (agents::RunObserver* observer : options_.observers) observer->Finished(memory_, outputs_);
  for (agents::RunObserver* observer : options_.observers) observer->Ended(gpu_);
  gpu_.End({});
  if (!options_.definedness) return;
  for (const BufferId output : outputs_) checks_ += memory_.ReportUndefinedOutput(output, {});
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
