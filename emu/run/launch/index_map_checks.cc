#include "emu/run/launch/index_map_checks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory_model/sets/region.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element_index.h"

namespace palladion::launch {
namespace {

// The lines of the text at which a region, and those inside it, touch memory.
void LinesOf(const Region& region, std::set<int>* lines) {
  for (const Instr& op : region.body) {
    const Effect effect = op.row->effect;
    if (effect == Effect::kReads || effect == Effect::kReadsWrites) lines->insert(op.text_line);
    for (const Region& inner : op.regions) LinesOf(inner, lines);
  }
}

}  // namespace

IndexMapChecks::IndexMapChecks(CoresOfLaunch cores, const Kernel& kernel)
    : take_turns_(cores.take_turns), cores_(std::move(cores)) {
  for (const Operand& operand : kernel.operands) {
    if (operand.block.has_value()) LinesOf(operand.block->map, &lines_);
  }
}

void IndexMapChecks::WatchCopies(const memory_model::Memory& memory, std::string name) {
  memory_ = &memory;
  names_.insert(std::move(name));
}

void IndexMapChecks::Alloc(const Who&, BufferId buffer) {
  if (memory_ != nullptr && names_.contains(std::string(memory_->NameOf(buffer)))) Watch(*memory_, buffer);
}

void IndexMapChecks::Free(const Who&, BufferId buffer) {
  watched_.erase(std::remove_if(watched_.begin(), watched_.end(), [&](const Watched& one) { return one.id == buffer; }),
                 watched_.end());
}

void IndexMapChecks::Watch(const memory_model::Memory& memory, BufferId operand) {
  Watched watched{.id = operand,
                  .name = std::string(memory.NameOf(operand)),
                  .shape = {memory.ShapeOf(operand).begin(), memory.ShapeOf(operand).end()},
                  .element_bytes = memory.ElementSizeOf(operand).value(),
                  .data = memory.DataOf(operand)};
  for (const std::int64_t size : watched.shape) watched.elements *= size;
  watched_.push_back(std::move(watched));
}

const IndexMapChecks::Watched* IndexMapChecks::Find(BufferId id) const {
  for (const Watched& watched : watched_) {
    if (watched.id == id) return &watched;
  }
  return nullptr;
}

void IndexMapChecks::Running(const RunningAgent& now) {
  cores_.Running(now);
  running_ = now.id;
  if (!now.begins) return;
  const auto others = [&](const MapRead& read) { return take_turns_ && read.agent != now.id; };
  const auto first = std::stable_partition(reads_.begin(), reads_.end(), others);
  const std::vector<MapRead> its(first, reads_.end());
  reads_.erase(first, reads_.end());
  for (const MapRead& read : its) Read(read);
}

void IndexMapChecks::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte* value) {
  const Watched* const watched = Find(access.buffer);
  if (watched == nullptr) return;
  memory_model::VisitElements(access, reach, watched->shape, [&](std::int64_t element, std::int64_t lane) {
    Touch(*watched, kind, element, value == nullptr ? nullptr : value + lane * watched->element_bytes, access.site);
  });
}

void IndexMapChecks::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte* value) {
  const Watched* const watched = Find(access.buffer);
  if (watched == nullptr) return;
  const auto bytes = static_cast<std::int64_t>(access.piece_bytes);
  for (std::size_t i = 0; i < access.offset.size(); ++i) {
    if (access.offset[i] < 0) continue;
    const std::byte* const stored =
        value == nullptr || kind == AccessKind::kAtomic ? nullptr : value + static_cast<std::int64_t>(i) * bytes;
    Touch(*watched, kind, access.offset[i] / watched->element_bytes, stored, access.site);
  }
}

void IndexMapChecks::Touch(const Watched& watched, AccessKind kind, std::int64_t element, const std::byte* value,
                           const Site& site) {
  if (IsOfMap(site)) {
    if (kind == AccessKind::kRead) reads_.push_back({watched.id, element, CodeSite::Of(site), running_});
    return;
  }
  if (kind == AccessKind::kRead || !cores_.any()) return;
  // An engine that fills a whole buffer says so when its bytes are there already.
  const std::byte* const old = watched.data + element * watched.element_bytes;
  const bool same =
      value != nullptr && value != old && std::memcmp(old, value, static_cast<std::size_t>(watched.element_bytes)) == 0;
  Stored(watched, element, site, !same);
}

void IndexMapChecks::Read(const MapRead& read) {
  const Watched* const watched = Find(read.buffer);
  if (watched == nullptr) return;
  Uses& uses = cores_.here()[{read.buffer.value, read.element}];
  uses.read = {cores_.step(), cores_.program(), read.site};
  if (uses.stored.step > 0 && uses.stored.step + 1 == cores_.step()) Add(*watched, read.element, uses, true);
}

// Of one program's stores to an element, one that changed it says more.
void IndexMapChecks::Stored(const Watched& watched, std::int64_t element, const Site& site, bool changes) {
  Uses& uses = cores_.here()[{watched.id.value, element}];
  if (!changes && uses.stored.changes && uses.stored.step == cores_.step()) return;
  uses.stored = {cores_.step(), cores_.program(), CodeSite::Of(site), changes};
  if (uses.read.step > 0 && uses.read.step + 1 >= cores_.step()) Add(watched, element, uses, false);
}

void IndexMapChecks::Add(const Watched& watched, std::int64_t element, const Uses& uses, bool before) {
  for (LateIndex& known : found_) {
    const bool same = known.name == watched.name && known.before == before && known.changes == uses.stored.changes &&
                      known.store.text_line == uses.stored.site.text_line &&
                      known.map.text_line == uses.read.site.text_line;
    if (!same) continue;
    ++known.count;
    return;
  }
  const auto access = [](AccessKind kind, const Touched& touched) {
    return memory_model::WitnessAccess{.kind = kind,
                                       .program = touched.program,
                                       .box = "",
                                       .loc = touched.site.loc,
                                       .text_line = touched.site.text_line};
  };
  found_.push_back({.buffer = watched.id,
                    .name = watched.name,
                    .index = IndexText(watched.shape, element),
                    .store = access(AccessKind::kWrite, uses.stored),
                    .map = access(AccessKind::kRead, uses.read),
                    .before = before,
                    .changes = uses.stored.changes});
}

}  // namespace palladion::launch
