#include "emu/run/threads/residency.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "emu/chip/layouts/shared_memory.h"
#include "emu/chip/layouts/tensor_memory.h"
#include "emu/chip/machines/chip.h"
#include "semantics/base/cat.h"
#include "semantics/program/scratch_scope.h"
#include "semantics/registry/cluster_launch_control.h"
#include "semantics/registry/op_row.h"

namespace palladion::threads {
namespace {

constexpr std::int64_t kThreadsOfSm = 2048, kBlocksOfSm = 32, kLanes = 128;
constexpr std::int64_t kReserved = 1024;

std::int64_t SharedMemory(const Program& program, const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const layouts::SharedMemoryPart& part : layouts::SharedMemoryHeld(kernel, &program)) bytes += part.bytes.value();
  return bytes;
}

struct Uses {
  bool read = false, written = false, updated = false;  // `updated`: atomically
};

void AddUse(const Instr& op, const Arg& arg, Uses* use) {
  if (op.row->access == RefAccess::kPrefetch) return;
  const bool stores = op.row->access == RefAccess::kStore;
  const bool named = op.row->named_refs;
  switch (op.row->effect) {
    case Effect::kReads:
      use->read = true;
      break;
    case Effect::kReadsWrites:
      if (op.row->access == RefAccess::kAtomic || op.row->access == RefAccess::kAdd) use->updated = true;
      if (stores || (named && arg.name == op.row->written)) use->written = true;
      if ((stores && !op.results.empty() && op.results[0].valid()) || (named && arg.name != op.row->written)) {
        use->read = true;
      }
      break;
    case Effect::kWrites:
      use->written = true;
      break;
    case Effect::kControl:  // a call may do anything with it
      use->read = use->written = true;
      break;
    default:
      break;
  }
}

void FindUses(const Region& region, const std::map<std::int32_t, std::size_t>& array_of, std::vector<Uses>* uses) {
  for (const Instr& op : region.body) {
    for (const Arg& arg : op.args) {
      const auto found = arg.kind == Arg::Kind::kValue ? array_of.find(arg.value.value) : array_of.end();
      if (found != array_of.end()) AddUse(op, arg, &(*uses)[found->second]);
    }
    for (const Region& inner : op.regions) FindUses(inner, array_of, uses);
  }
}

bool HasGridObject(const Region& region) {
  for (const Instr& op : region.body) {
    if (op.row->allocates == Allocates::kGrid) return true;
    if (std::any_of(op.regions.begin(), op.regions.end(), HasGridObject)) return true;
  }
  return false;
}

// What limits the blocks of an SM, and what is said of it.
struct Resource {
  std::int64_t blocks = 0;
  std::string why;
};

std::vector<Resource> ResourcesOf(const Program& program, const Kernel& kernel, std::int64_t threads,
                                  const SmRoom& room) {
  const std::int64_t shared = SharedMemory(program, kernel);
  const std::int64_t columns = layouts::AllocatedColumns(layouts::TensorMemoryOfScopes(kernel));
  std::vector<Resource> resources = {
      {(room.shared_bytes + kReserved) / (shared + kReserved),
       Cat(shared, " of its ", room.shared_bytes, " bytes of shared memory are one block's")},
      {kThreadsOfSm / std::max<std::int64_t>(1, threads * kLanes), Cat("it has ", kThreadsOfSm, " lanes")},
      {kBlocksOfSm, "it holds no more"}};
  if (columns > 0) {
    resources.push_back({layouts::kTensorMemoryColumns / columns,
                         Cat(columns, " of its ", layouts::kTensorMemoryColumns,
                             " columns of tensor memory are one block's, and another waits until they are free")});
  }
  return resources;
}

}  // namespace

bool BlocksInteract(const Program& program, const Kernel& kernel) {
  const Region& body = kernel.bodies[0].region;
  if (program.several_devices() || HasGridObject(body) || TakesWork(kernel)) return true;
  std::map<std::int32_t, std::size_t> array_of;  // by the ref that the body sees
  std::size_t param = 0;
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (info.role == Role::kBound) continue;
    const ValueId value = body.params[param++].value;
    if (info.role != Role::kScratch) array_of[value.value] = info.alias >= 0 ? static_cast<std::size_t>(info.alias) : i;
  }
  std::size_t arrays = program.operand_infos.size();
  if (const Instr* scratch = ScratchScopeOf(kernel)) {
    for (const Param& ref : scratch->regions[0].params) {
      if (IsGlobalData(kernel.values[ref.value.index()].type)) array_of[ref.value.value] = arrays++;
    }
  }
  std::vector<Uses> uses(arrays);
  FindUses(body, array_of, &uses);
  return std::any_of(uses.begin(), uses.end(),
                     [](const Uses& use) { return use.updated || (use.read && use.written); });
}

Residency ResidencyIn(const SmRoom& room, const Program& program, const Kernel& kernel,
                      absl::Span<const std::int64_t> grid) {
  const bool has_threads = program.mesh.has_value() && program.mesh->thread_dim;
  const std::int64_t threads = has_threads ? grid.back() : 1;
  std::int64_t cluster = 1;
  for (std::size_t d = program.first_cluster_dim(); d < program.block_dims(); ++d) cluster *= grid[d];
  const std::vector<Resource> resources = ResourcesOf(program, kernel, threads, room);
  const Resource& least = *std::min_element(resources.begin(), resources.end(),
                                            [](const Resource& a, const Resource& b) { return a.blocks < b.blocks; });
  const std::int64_t blocks = std::max<std::int64_t>(1, least.blocks);
  return {.clusters = std::max<std::int64_t>(1, room.sms * blocks / std::max<std::int64_t>(1, cluster)),
          .threads = cluster * threads,
          .blocks = blocks,
          .why = Cat(room.sms, " SMs hold ", blocks, blocks == 1 ? " block each (" : " blocks each (", least.why, ")")};
}

Residency ResidencyOf(const Program& program, const Kernel& kernel, absl::Span<const std::int64_t> grid) {
  if (!BlocksInteract(program, kernel)) return {};
  const machines::Chip* chip = machines::FindChip(program.target.chip);
  if (chip == nullptr || chip->smem_bytes == 0) return {.clusters = std::numeric_limits<std::int64_t>::max()};
  return ResidencyIn({.sms = chip->cores, .shared_bytes = chip->smem_bytes}, program, kernel, grid);
}

}  // namespace palladion::threads
