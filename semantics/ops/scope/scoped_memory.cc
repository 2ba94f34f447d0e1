#include "semantics/ops/scope/scoped_memory.h"

#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/tmem_cells.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/program/scratch_scope.h"

namespace palladion {
namespace {

std::string LabelOf(ValueId value, const Builder& builder) {
  const ValueInfo& info = builder.kernel().values[value.index()];
  return info.label.empty() ? info.name : info.label;
}

// The grid dimension along which a cluster of two blocks lies; none: nothing says which blocks of it are a pair.
std::optional<std::size_t> PairDimension(const Frame& frame) {
  const Program& program = frame.program();
  std::optional<std::size_t> pair;
  for (std::size_t d = program.first_cluster_dim(); d < program.block_dims(); ++d) {
    if (frame.grid_size()[d] == 1) continue;
    if (frame.grid_size()[d] > 2 || pair.has_value()) return std::nullopt;
    pair = d;
  }
  return pair;
}

absl::Status AllocateTogether(const ScopedAlloc& params, const Step& step, Frame& frame) {
  const std::optional<std::size_t> pair = PairDimension(frame);
  if (!pair.has_value()) return absl::OkStatus();
  const std::string& name = frame.program().refs[params.ref.index()].name;
  return frame.machine().Collective(
      {.kinds = "collective allocations of tensor memory",
       .grid_dims = {&*pair, 1},
       .what = Cat("the allocation of '", name, "', ", params.tensor.columns, " columns")},
      frame.site(step));
}

absl::Status RunAlloc(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const ScopedAlloc*>(params);
  const RefInfo& info = frame.program().refs[p.ref.index()];
  RefState& state = frame.ref(p.ref);
  const std::int64_t number = &step - frame.program().steps.data();
  const AllocRequest request{
      .name = info.name,
      .dtype = info.dtype,
      .words_per_element = info.words_per_element,
      .shape = info.buffer_shape,
      .loc = step.loc,
      .text_line = step.text_line,
      .place =
          AllocationPlace{.step = number, .owner = p.owner, .memory = p.memory, .tensor_columns = p.tensor.columns}};
  if (p.of_pair) PALLADION_RETURN_IF_ERROR(AllocateTogether(p, step, frame));
  // A new_ref of an earlier iteration, which nothing names any more. An engine may still have a thread's in hand.
  const bool of_thread = frame.program().uses_port || frame.program().mesh.has_value();
  if (state.buffer.valid() && !of_thread) frame.machine().Free(state.buffer);
  PALLADION_ASSIGN_OR_RETURN(state.buffer, frame.machine().Alloc(request));
  state.ended = nullptr;
  for (std::size_t d = 0; d < info.buffer_shape.size(); ++d) state.origin[d] = 0;
  return absl::OkStatus();
}

struct FreeParams {
  RefId ref;
};

absl::Status RunFree(const void* params, const Step& step, Frame& frame) {
  RefState& state = frame.ref(static_cast<const FreeParams*>(params)->ref);
  frame.machine().Leave(state.buffer, frame.site(step));
  state.buffer = {};
  return absl::OkStatus();
}

// Where the bytes of a ref lie.
PlaceLevel MemoryOf(Space space) {
  switch (space) {
    case Space::kSmem:
    case Space::kTmem:
    case Space::kVmem:
      return PlaceLevel::kBlock;
    case Space::kGmem:
    case Space::kHbm:
    case Space::kAny:
      return PlaceLevel::kDevice;
    default:
      return PlaceLevel::kThread;
  }
}

// What of tensor memory two blocks hold together is given back by both: JAX's kernel ends with a meeting of the
// cluster.
absl::Status NoteTensorMemory(const Type& type, Program& program, ScopedAlloc* params) {
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, TmemLayoutOf(type));
  PALLADION_ASSIGN_OR_RETURN(params->tensor, TmemCells(type));
  params->of_pair = layout.collective && program.mesh.has_value();
  if (params->of_pair) program.mesh->ends_together = true;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RefId> DefineScoped(ValueId value, PlaceLevel owner, Builder& builder) {
  const Type& type = builder.TypeOf(value);
  if (type.element != ElementKind::kData) return DefineSync(value, owner, builder);
  RefInfo info = builder.WholeRef(type, LabelOf(value, builder));
  info.places_of_byte = builder.PlacesOfByte(value);
  if (info.places_of_byte > 1) info.window[0] = info.buffer_shape[0] *= info.places_of_byte;
  const RefId ref = builder.NewRef(std::move(info));
  builder.DefineRef(value, ref);
  ScopedAlloc params{ref, MemoryOf(type.space), owner};
  if (type.space == Space::kTmem) PALLADION_RETURN_IF_ERROR(NoteTensorMemory(type, builder.program(), &params));
  builder.EmitVisible(RunAlloc, std::move(params));
  builder.program().steps.back().own_memory = true;
  return ref;
}

void EmitFree(RefId ref, Builder& builder) {
  builder.EmitVisible(RunFree, FreeParams{ref});
  builder.program().steps.back().own_memory = true;
}

}  // namespace palladion
