#include "emu/timing/gpu/registers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "emu/chip/layouts/layout_walk.h"
#include "emu/chip/layouts/register_facts.h"
#include "emu/chip/layouts/register_layouts.h"
#include "emu/chip/layouts/triton_memory.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::gpu {
namespace {

constexpr std::int64_t kUnit = 8;  // registers are given to a thread by eights

// Of a value in a region: the last instruction that names it, and how often it is named.
struct Use {
  std::size_t last = 0;
  int times = 0;

  void Add(std::size_t at) {
    last = at;
    ++times;
  }
};
using Uses = std::map<std::int32_t, Use>;

class Scan {
 public:
  Scan(const Kernel& kernel, std::int64_t limit) : kernel_(kernel), layouts_(layouts::LayoutsOf(kernel).values) {
    need_.limit = limit;
    Walk(kernel.bodies[0].region, 0, limit);
  }

  // Of Triton: values are spread evenly over so many lanes, those that `elsewhere` names are not in registers.
  Scan(const Kernel& kernel, std::int64_t limit, std::int64_t lanes, std::set<std::int32_t> elsewhere)
      : kernel_(kernel), even_lanes_(lanes), elsewhere_(std::move(elsewhere)) {
    need_.limit = limit;
    Walk(kernel.bodies[0].region, 0, limit);
  }

  const RegisterNeed& need() const { return need_; }

 private:
  std::int64_t Of(ValueId value) const {
    constexpr std::int64_t kBits = 32;
    const Type& type = kernel_.values[value.index()].type;
    const std::int64_t bits = Info(type.dtype).bits;
    if (type.is_ref() ? type.space != Space::kRegs : !type.is_array() || IsBool(type.dtype)) return 0;
    if (even_lanes_ > 0) {
      if (elsewhere_.count(value.value) != 0) return 0;
      const std::int64_t elements = (NumElements(type.shape) + even_lanes_ - 1) / even_lanes_;
      return (elements * bits + kBits - 1) / kBits;
    }
    const layouts::RegisterLayout layout =
        type.is_ref() ? layouts::RegisterLayout(layouts::LayoutName::kWgmma) : layouts_[value.index()];
    const std::int64_t even = (NumElements(type.shape) + layouts::kLanesOfGroup - 1) / layouts::kLanesOfGroup;
    return (layouts::ElementsOfLane(layout, type).value_or(even) * bits + kBits - 1) / kBits;
  }

  // The last instruction of the region that names each value, those inside of it included.
  void FindLast(const Region& region, std::size_t at, Uses* last) const {
    for (const Instr& op : region.body) FindLastOf(op, at, last);
    for (const Arg& arg : region.results) Name(arg, at, last);
  }
  void FindLastOf(const Instr& op, std::size_t at, Uses* last) const {
    for (const Arg& arg : op.args) Name(arg, at, last);
    for (const Region& inner : op.regions) FindLast(inner, at, last);
  }
  static void Name(const Arg& arg, std::size_t at, Uses* last) {
    if (arg.kind == Arg::Kind::kValue) (*last)[arg.value.value].Add(at);
    for (const Arg& one : arg.select) Name(one, at, last);
    for (const Transform& transform : arg.transforms) {
      for (const Index& index : transform.indices) {
        Name(index.start, at, last);
        Name(index.size, at, last);
      }
      Name(transform.peer, at, last);
    }
  }

  static bool ByElement(const Instr& op) {
    const OpRow& row = RowOf(op);
    if (row.access == RefAccess::kAccumulator) return true;
    if (row.prepare == nullptr) return false;
    return row.flow == Flow::kElementwise || row.flow == Flow::kConvert || row.flow == Flow::kMask ||
           row.flow == Flow::kSelect;
  }

  void Here(std::int64_t registers, std::int64_t limit, const Instr& op) {
    if (registers > need_.most) {
      need_.most = registers;
      need_.line = op.text_line;
    }
    if (registers - limit <= need_.spilled) return;
    need_.spilled = registers - limit;
    need_.limit = limit;
    need_.spill_line = op.text_line;
  }

  // What is read when it is read, and not later.
  bool ReadsMemory(const Instr& op) const {
    return std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
      return arg.kind == Arg::Kind::kValue && kernel_.values[arg.value.index()].type.is_ref();
    });
  }

  // The instruction that decides when an element of this one's result is computed: where one elementwise operation
  // alone reads what another one gives, the reader.
  std::vector<std::size_t> ReadersOf(const Region& region, const Uses& last) const {
    std::vector<std::size_t> readers(region.body.size());
    for (std::size_t i = region.body.size(); i-- > 0;) {
      const Instr& op = region.body[i];
      readers[i] = i;
      if (!ByElement(op) || ReadsMemory(op) || op.results.size() != 1) continue;
      const auto use = last.find(op.results[0].value);
      if (use == last.end() || use->second.times != 1 || use->second.last >= region.body.size()) continue;
      if (ByElement(region.body[use->second.last])) readers[i] = readers[use->second.last];
    }
    return readers;
  }

  // Values that take no registers, as each element is computed when it is read: results before a last reader where no
  // more than one array has to stay longer for that. That one does.
  std::set<std::int32_t> TakeLate(const Region& region, Uses* last) const {
    const std::vector<std::size_t> readers = ReadersOf(region, *last);
    std::map<std::size_t, std::set<std::int32_t>> made, read;
    std::set<std::int32_t> own;  // another region's values stay anyway
    for (const Param& param : region.params) own.insert(param.value.value);
    for (const Instr& op : region.body) {
      for (const ValueId result : op.results) own.insert(result.value);
    }
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (!ByElement(region.body[i])) continue;
      if (readers[i] != i) made[readers[i]].insert(region.body[i].results[0].value);
      for (const Arg& arg : region.body[i].args) {
        if (arg.kind == Arg::Kind::kValue && own.count(arg.value.value) != 0 && Of(arg.value) > 0)
          read[readers[i]].insert(arg.value.value);
      }
    }
    std::set<std::int32_t> late;
    for (const auto& [reader, results] : made) {
      std::vector<std::int32_t> longer;
      for (const std::int32_t value : read[reader]) {
        if (results.count(value) == 0 && last->at(value).last < reader) longer.push_back(value);
      }
      if (longer.size() > 1) continue;
      for (const std::int32_t value : longer) (*last)[value].last = reader;
      late.insert(results.begin(), results.end());
    }
    return late;
  }

  // Of values of `own` that end as arguments of this operation, and that its regions do not name: a loop's carries have
  // the registers that they began in.
  std::int64_t HandedOver(const Instr& op, std::size_t at, const Uses& last, const std::set<std::int32_t>& own) const {
    Uses inside;
    for (const Region& inner : op.regions) FindLast(inner, 0, &inside);
    std::set<std::int32_t> handed;
    for (const Arg& arg : op.args) {
      if (arg.kind != Arg::Kind::kValue || inside.count(arg.value.value) != 0 || own.count(arg.value.value) == 0)
        continue;
      if (last.at(arg.value.value).last == at) handed.insert(arg.value.value);
    }
    std::int64_t registers = 0;
    for (const std::int32_t value : handed) registers += Of(ValueId{value});
    return registers;
  }

  // `around`: what is alive outside of the region as long as it runs.
  void Walk(const Region& region, std::int64_t around, std::int64_t limit) {
    Uses last;
    for (std::size_t i = 0; i < region.body.size(); ++i) FindLastOf(region.body[i], i, &last);
    for (const Arg& arg : region.results) Name(arg, region.body.size(), &last);
    std::vector<std::int64_t> dies(region.body.size() + 1);  // registers of this region's own values, by last use
    std::int64_t alive = 0;
    const std::set<std::int32_t> late = TakeLate(region, &last);
    std::set<std::int32_t> own;
    const auto born = [&](ValueId value) {
      const auto found = value.valid() ? last.find(value.value) : last.end();
      if (found == last.end() || late.count(value.value) != 0) return std::int64_t{0};
      dies[found->second.last] += Of(value);
      own.insert(value.value);
      return Of(value);
    };
    for (const Param& param : region.params) alive += born(param.value);
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      const Instr& op = region.body[i];
      limit = layouts::RegistersSet(op).value_or(limit);
      if (!op.regions.empty()) {
        const std::int64_t outside = around + alive - HandedOver(op, i, last, own);
        for (const Region& inner : op.regions) Walk(inner, outside, limit);
      }
      std::int64_t made = 0;
      for (const ValueId result : op.results) made += born(result);
      const std::int64_t together =
          ByElement(op) || !op.regions.empty() ? std::max(alive, alive - dies[i] + made) : alive + made;
      Here(around + together, limit, op);
      alive += made - dies[i];
    }
  }

  const Kernel& kernel_;
  const std::vector<layouts::RegisterLayout> layouts_;
  const std::int64_t even_lanes_ = 0;
  const std::set<std::int32_t> elsewhere_;
  RegisterNeed need_;
};

std::int64_t LimitOf(const RegisterRoom& room, std::int64_t lanes) {
  return std::min(room.of_thread, room.of_sm / lanes / kUnit * kUnit);
}

RegisterNeed WithBlocks(RegisterNeed need, const RegisterRoom& room, std::int64_t lanes) {
  const std::int64_t limit = std::max(kUnit, LimitOf(room, lanes));
  const std::int64_t given = std::clamp((need.most + kUnit - 1) / kUnit * kUnit, kUnit, limit);
  need.blocks = room.of_sm / (given * lanes);
  return need;
}

}  // namespace

RegisterNeed RegistersOf(const Kernel& kernel, std::int64_t threads, const RegisterRoom& room) {
  const std::int64_t lanes = std::max<std::int64_t>(1, threads) * layouts::kLanesOfGroup;
  return WithBlocks(Scan(kernel, LimitOf(room, lanes)).need(), room, lanes);
}

RegisterNeed RegistersOfTriton(const Kernel& kernel, const RegisterRoom& room) {
  const std::int64_t lanes = layouts::LanesOfTriton(kernel);
  return WithBlocks(Scan(kernel, LimitOf(room, lanes), lanes, layouts::NotInRegisters(kernel)).need(), room, lanes);
}

}  // namespace palladion::timing::gpu
