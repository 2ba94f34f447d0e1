#include "semantics/prepare/prepare.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/ops/scope/scoped_memory.h"
#include "semantics/ops/tpu/matrix_units.h"
#include "semantics/prepare/block_mode.h"
#include "semantics/prepare/device_mesh.h"
#include "semantics/prepare/maps_ahead.h"
#include "semantics/prepare/other_machine.h"
#include "semantics/prepare/pipelined_blocks.h"
#include "semantics/prepare/semaphore_operand.h"
#include "semantics/program/blocks.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/generator_task.h"
#include "semantics/program/narrow_members.h"
#include "semantics/program/thread_mesh.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// Does any instruction write the ref `value`? Views keep the ref's own value id.
bool Writes(const Region& region, ValueId value) {
  for (const Instr& op : region.body) {
    const bool writes = op.row->effect == Effect::kWrites || op.row->effect == Effect::kReadsWrites;
    for (const Arg& arg : op.args) {
      const auto names = [&](const Arg& one) { return one.kind == Arg::Kind::kValue && one.value == value; };
      const bool refers = std::any_of(arg.select.begin(), arg.select.end(), names) || names(arg);
      // A ref handed to a call may be written there under another name.
      const bool here = writes && (!op.row->named_refs || arg.name == op.row->written);
      if (refers && (here || op.row->effect == Effect::kControl)) return true;
    }
    for (const Region& inner : op.regions) {
      if (Writes(inner, value)) return true;
    }
  }
  return false;
}

class KernelPreparer {
 public:
  // `pipelined`: operands whose blocks are.
  KernelPreparer(const Module& module, const Kernel& kernel, const Target& target, const ProgramOptions& options,
                 std::vector<std::size_t> pipelined = {})
      : module_(module),
        kernel_(kernel),
        builder_(module, kernel, target, options),
        pipeline_(builder_, std::move(pipelined)) {
    program().grid_in_agent = target.backend == TargetBackend::kMosaicTpu && kernel.launch.mesh.empty();
  }

  // Where the first operation of the first body stands: a kernel has no line of its own.
  std::string PlaceOfBody() const {
    for (const Instr& op : kernel_.bodies[0].region.body) {
      if (op.loc.valid()) return Cat(", whose body begins at ", Describe(module_, op.loc));
    }
    return "";
  }

  absl::Status AtBody(const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(status.code(),
                        ToAbsl(Cat("kernel @", kernel_.name, PlaceOfBody(), ": ", ToStd(status.message()))));
  }

  absl::StatusOr<Program> Run() {
    PALLADION_RETURN_IF_ERROR(CheckSupported());
    PALLADION_RETURN_IF_ERROR(DescribeGrid());
    for (const Operand& operand : kernel_.operands) PALLADION_RETURN_IF_ERROR(DescribeOperand(operand));
    pipeline_.Describe();
    EmitForBlocks({StepKind::kAllocBlock, RunAllocBlock}, BlockMode::kResident);
    pipeline_.EmitForSecondSlots(StepKind::kAllocBlock, RunAllocBlock);
    if (EmitForBlocks({StepKind::kFetch, RunFetchIfNew}, BlockMode::kResident, Role::kPrefetch))
      EmitWait();  // index maps read them
    MapsAhead maps(builder_, /*wanted=*/pipeline_.any());
    maps.BeginMaps();
    // A block is flushed once the next index is known, and is the last program's; where none is, what index maps read
    // is the program's own.
    const bool maps_first = HasResidentOutput() || maps.ahead();
    if (!maps_first) builder_.Emit(RunBeginProgram, OperandParams{0});
    PALLADION_RETURN_IF_ERROR(LowerMaps());
    maps.EndMaps();
    EmitForBlocks({StepKind::kFlush, RunFlushIfLeft}, BlockMode::kResident, Role::kOut);
    if (maps_first) builder_.Emit(RunBeginProgram, OperandParams{0});
    EmitForBlocks({StepKind::kBindWindow, RunBindWindow}, BlockMode::kView);
    EmitForBlocks({StepKind::kFetch, RunFetchIfNew}, BlockMode::kResident, Role::kIn);
    EmitForBlocks({StepKind::kFetch, RunFetchIfNew}, BlockMode::kResident, Role::kOut);
    EmitWait();
    pipeline_.BeginBlocks();
    maps.BeforeBody();
    pipeline_.FetchNext();
    PALLADION_RETURN_IF_ERROR(builder_.LowerRegion(kernel_.bodies[0].region, {}));
    pipeline_.Flush();
    if (program().grid_in_agent) builder_.Emit(RunNextProgram, NextParams{maps.next()});
    EmitExpectIdleUnits(builder_);
    EmitForBlocks({StepKind::kFlush, RunFlush}, BlockMode::kResident, Role::kOut);
    EmitWait();
    pipeline_.AwaitFlushes();
    EmitForBlocks({StepKind::kFreeBlock, RunFreeBlock}, BlockMode::kResident);
    pipeline_.EmitForSecondSlots(StepKind::kFreeBlock, RunFreeBlock);
    return std::move(builder_).Finish();
  }

 private:
  struct NextParams {
    Label head;
  };
  struct BlockStep {
    StepKind kind;
    StepFn fn;
  };

  // The next program of the walk; falls through after the last.
  static absl::Status RunNextProgram(const void* params, const Step&, Frame& frame) {
    frame.EndProgram();
    if (frame.control() != nullptr) frame.control()->EndPrograms(1);
    if (Interrupted(frame.control())) return InterruptedStatus();
    if (frame.NextProgram()) frame.JumpTo(*static_cast<const NextParams*>(params)->head.target);
    return absl::OkStatus();
  }

  Program& program() { return builder_.program(); }

  absl::Status CheckSupported() const {
    const bool tpu = kernel_.launch.mesh == "tensorcore";
    const TargetBackend machine = tpu ? TargetBackend::kMosaicTpu : TargetBackend::kMosaicGpu;
    if (!kernel_.launch.mesh.empty() && builder_.target().backend != machine) {
      return absl::UnimplementedError(
          Cat("kernel @", kernel_.name, PlaceOfBody(), ": ", OfAnotherMachine(kernel_.launch, builder_.target())));
    }
    if (kernel_.bodies.size() != 1)
      return absl::UnimplementedError(Cat("kernel @", kernel_.name, ": several bodies (MPMD) are not modelled yet"));
    PALLADION_RETURN_IF_ERROR(ExpectArrays(kernel_));
    return CheckNarrowMembers(kernel_);
  }

  absl::Status DescribeGrid() {
    if (!kernel_.launch.mesh.empty()) {
      PALLADION_ASSIGN_OR_RETURN(MeshLaunch launch, ReadMesh(kernel_.launch));
      for (const std::int64_t size : launch.sizes) program().grid.push_back({.size = size});
      program().mesh = std::move(launch.mesh);
      program().grid_bound.assign(program().grid.size(), -1);
      program().dim_order.assign(program().grid.size(), DimOrder::kParallel);
      return AddDevices(kernel_, &program());
    }
    program().grid = kernel_.launch.grid;
    program().grid_bound.clear();
    for (const GridDim& dim : kernel_.launch.grid) {
      int operand = -1;
      for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
        if (dim.bound.valid() && kernel_.operands[i].value == dim.bound) operand = static_cast<int>(i);
      }
      program().grid_bound.push_back(operand);
    }
    DescribeOrder();
    return AddDevices(kernel_, &program());
  }

  // TPU dimensions are ordered unless dimension_semantics says "parallel" (or one of its cores' kinds); blocks of a GPU
  // grid never are. On `generic` what the kernel says counts, and no word means any order.
  void DescribeOrder() {
    const bool tpu = builder_.target().backend == TargetBackend::kMosaicTpu;
    program().dim_order.assign(kernel_.launch.grid.size(), tpu ? DimOrder::kSequential : DimOrder::kParallel);
    const Attr* attr = Find(kernel_.params, "dimension_semantics");
    const AttrList* words = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
    if (words == nullptr || (!tpu && builder_.target().backend != TargetBackend::kGeneric)) return;
    // vmap puts its dimensions in front and says nothing of them.
    const std::size_t skip = program().dim_order.size() - std::min(program().dim_order.size(), words->size());
    for (std::size_t d = skip; d < program().dim_order.size(); ++d) {
      const std::string* word = std::get_if<std::string>(&(*words)[d - skip].value);
      const bool parallel = word != nullptr && word->ends_with("parallel");
      program().dim_order[d] = parallel ? DimOrder::kParallel : DimOrder::kSequential;
    }
  }

  std::string NameOf(const Operand& operand) const {
    return operand.label.empty() ? kernel_.values[operand.value.index()].name : operand.label;
  }

  absl::Status DescribeOperand(const Operand& operand) {
    OperandInfo info{.role = operand.role, .name = NameOf(operand), .type = builder_.TypeOf(operand.value)};
    if (operand.role != Role::kBound) {
      const ValueId param = kernel_.bodies[0].region.params[next_param_++].value;
      const ValueInfo& shown = kernel_.values[param.index()];
      const std::string ref_name = shown.label.empty() ? info.name : shown.label;
      if (operand.role == Role::kScratch) info.type = shown.type;
      if (operand.role == Role::kScratch && IsScoped(info.type)) {
        info.mode = BlockMode::kScoped;
        builder_.SetPlace(operand.loc, operand.text_line);
        PALLADION_ASSIGN_OR_RETURN(info.ref, DefineScoped(param, PlaceLevel::kThread, builder_));
        program().operand_infos.push_back(std::move(info));
        return absl::OkStatus();
      }
      if (operand.role == Role::kScratch && shown.type.element != ElementKind::kData) {
        return absl::UnimplementedError(Cat("operand '", info.name, "' is a ", Name(shown.type.element),
                                            ", and a kernel of the target ", ToString(builder_.target()),
                                            " that does nothing with it has none: leave it out"));
      }
      if (shown.type.element != ElementKind::kData) {
        info.type = builder_.TypeOf(operand.value);
        for (std::size_t i = 0; i < kernel_.operands.size() && operand.alias.valid(); ++i) {
          if (kernel_.operands[i].value == operand.alias) info.alias = static_cast<int>(i);
        }
        builder_.SetPlace(operand.loc, operand.text_line);
        return AtBody(DescribeSemaphores(param, std::move(info), builder_));
      }
      info.mode = ModeOf(operand, operand.space.value_or(shown.type.space), kernel_, program());
      info.restored = IsRestored(operand, program());
      info.written =
          Writes(kernel_.bodies[0].region, param) || (operand.role == Role::kPrefetch && MapsWrite(prefetch_.size()));
      PALLADION_RETURN_IF_ERROR(DescribeBlock(operand, shown.type, ref_name, info));
      builder_.DefineRef(param, info.ref);
      if (operand.role == Role::kPrefetch) prefetch_.push_back(info.ref);
    }
    if (operand.alias.valid()) {
      for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
        if (kernel_.operands[i].value == operand.alias) info.alias = static_cast<int>(i);
      }
    }
    program().operand_infos.push_back(std::move(info));
    return absl::OkStatus();
  }

  // Scratch is a block's, or a core's: each makes its own when it starts, whatever else the kernel has. Only `generic`,
  // which knows neither, has one for all programs.
  bool IsScoped(const Type& scratch) const {
    switch (builder_.target().backend) {
      case TargetBackend::kGeneric:
        return false;
      case TargetBackend::kTriton:
        return scratch.element == ElementKind::kData;
      case TargetBackend::kMosaicGpu:
      case TargetBackend::kMosaicTpu:
        return true;
    }
    return false;
  }

  // Does an index map write the prefetch operand of that number?
  bool MapsWrite(std::size_t prefetch) const {
    const std::size_t parameter = kernel_.launch.grid.size() + prefetch;
    return std::any_of(kernel_.operands.begin(), kernel_.operands.end(), [&](const Operand& operand) {
      return operand.block.has_value() && Writes(operand.block->map, operand.block->map.params[parameter].value);
    });
  }

  absl::Status DescribeBlock(const Operand& operand, const Type& ref_type, const std::string& name, OperandInfo& info) {
    RefInfo array = builder_.WholeRef(info.type, name);
    if (info.mode == BlockMode::kWhole) {
      info.ref = builder_.NewRef(std::move(array));
      return absl::OkStatus();
    }
    if (operand.block.has_value()) {
      info.block = operand.block->dims;
      array.kept.clear();
    }
    for (std::size_t d = 0; d < info.block.size(); ++d) {
      const BlockDim& dim = info.block[d];
      if (dim.kind == BlockDim::Kind::kBoundedSlice || dim.kind == BlockDim::Kind::kIndirect) {
        return absl::UnimplementedError(Cat("operand '", info.name,
                                            "': BoundedSlice block dimensions belong to emit_pipeline, Indirect ones "
                                            "to its pipelines on SparseCore, which is not modelled; pallas_call itself "
                                            "refuses both"));
      }
      array.window[d] = dim.size;
      if (dim.kind != BlockDim::Kind::kSqueezed) array.kept.push_back(static_cast<int>(d));
    }
    array.outside = Outside::kPad;
    if (builder_.target().backend == TargetBackend::kTriton) {
      array.outside = Outside::kError;
      array.bounded_by_window = false;
    }
    if (info.mode == BlockMode::kView) {
      info.ref = builder_.NewRef(std::move(array));
      return absl::OkStatus();
    }
    info.array = builder_.NewRef(std::move(array));
    info.ref = builder_.NewRef(builder_.WholeRef(ref_type, name));
    info.current = builder_.NewSlot(Type{.dtype = DType::kI64, .shape = {info.type.rank()}});
    return absl::OkStatus();
  }

  // Every map's parameters are the same grid indices, so they share slots.
  absl::Status LowerMaps() {
    const std::size_t rank = kernel_.launch.grid.size();
    std::vector<SlotId> grid_slots;
    for (std::size_t d = 0; d < rank; ++d) {
      grid_slots.push_back(builder_.NewSlot(Type{.dtype = DType::kI32}));
      builder_.Emit(RunGridIndex, GridIndexParams{program().device_axes.size() + d}, {}, {grid_slots.back()});
    }
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      if (!kernel_.operands[i].block.has_value()) continue;
      const Region& map = kernel_.operands[i].block->map;
      for (std::size_t d = 0; d < rank; ++d) builder_.DefineAs(map.params[d].value, grid_slots[d]);
      for (std::size_t p = 0; p < prefetch_.size() && rank + p < map.params.size(); ++p) {
        builder_.DefineRef(map.params[rank + p].value, prefetch_[p]);
      }
      std::vector<SlotId> index;
      for (const Arg& result : map.results) {
        const Type type = builder_.TypeOf(result);
        index.push_back(builder_.NewSlot(type));
        program().operand_infos[i].index_dtype.push_back(type.dtype);
      }
      program().operand_infos[i].index = index;
      PALLADION_RETURN_IF_ERROR(builder_.LowerRegion(map, index));
    }
    return absl::OkStatus();
  }

  struct GridIndexParams {
    std::size_t axis;
  };

  static absl::Status RunGridIndex(const void* params, const Step& step, Frame& frame) {
    const auto value = static_cast<std::int32_t>(frame.grid_index()[static_cast<const GridIndexParams*>(params)->axis]);
    *reinterpret_cast<std::int32_t*>(frame.slot(frame.out(step, 0))) = value;
    return absl::OkStatus();
  }

  // Only resident blocks are copied, so only they are waited for.
  void EmitWait() {
    for (const OperandInfo& info : program().operand_infos) {
      if (info.mode != BlockMode::kResident || info.pipelined) continue;
      EmitVisibleBlock({StepKind::kAwaitBlocks, RunAwaitBlocks}, {0});
      program().steps.back().waits = WaitsForBlocks;
      return;
    }
  }

  bool HasResidentOutput() {
    const std::vector<OperandInfo>& infos = program().operand_infos;
    return std::any_of(infos.begin(), infos.end(), [](const OperandInfo& info) {
      return info.mode == BlockMode::kResident && info.role == Role::kOut;
    });
  }

  void EmitVisibleBlock(const BlockStep& step, const OperandParams& params) {
    builder_.EmitAs(step.kind, step.fn, OperandParams(params));
    program().steps.back().visible = true;
  }

  // False: there is none.
  bool EmitForBlocks(const BlockStep& step, BlockMode mode, std::optional<Role> role = std::nullopt) {
    bool any = false;
    for (std::size_t i = 0; i < program().operand_infos.size(); ++i) {
      const OperandInfo& info = program().operand_infos[i];
      if (info.mode != mode || (role.has_value() && info.role != *role)) continue;
      if (info.pipelined && step.kind != StepKind::kAllocBlock && step.kind != StepKind::kFreeBlock) continue;
      any = true;
      builder_.SetPlace(kernel_.operands[i].loc, kernel_.operands[i].text_line);
      if (mode == BlockMode::kResident) {
        EmitVisibleBlock(step, {i});
      } else {
        builder_.EmitAs(step.kind, step.fn, OperandParams{i});
      }
    }
    return any;
  }

  const Module& module_;
  const Kernel& kernel_;
  Builder builder_;
  PipelinedBlocks pipeline_;
  std::vector<RefId> prefetch_;
  std::size_t next_param_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> Prepare(const VerifiedModule& module, const Kernel& kernel,
                                                       const Target& target, const ProgramOptions& options) {
  KernelPreparer preparer(module.module(), kernel, target, options);
  PALLADION_ASSIGN_OR_RETURN(Program program, preparer.Run());
  std::vector<std::size_t> pipelined = WhatIsPipelined(kernel, program, options);
  if (!pipelined.empty()) {  // known only now: what the body does says whether there are engines
    const bool engines = PipelineHasEngines(kernel, program, options);
    KernelPreparer again(module.module(), kernel, target, options, std::move(pipelined));
    PALLADION_ASSIGN_OR_RETURN(program, again.Run());
    program.uses_port |= engines;
  }
  const bool over_engines = options.blocks == BlockWays::kOverEngines || options.blocks == BlockWays::kBesideBodies;
  if (over_engines && program.grid_in_agent) program.uses_port = true;
  return std::make_shared<const Program>(std::move(program));
}

}  // namespace palladion
