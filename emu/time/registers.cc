#include "emu/time/registers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "emu/legality/gpu_registers.h"
#include "emu/time/register_layouts.h"
#include "semantics/registry/op_row.h"

namespace palladion::time {
namespace {

constexpr std::int64_t kUnit = 8;  // registers are given to a thread by eights

class Scan {
 public:
  Scan(const Kernel& kernel, std::int64_t limit) : kernel_(kernel), layouts_(LayoutsOf(kernel)) {
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
    const RegisterLayout layout = type.is_ref() ? RegisterLayout{LayoutName::kWgmma} : layouts_[value.index()];
    const std::int64_t even = (NumElements(type.shape) + kLanesOfGroup - 1) / kLanesOfGroup;
    return (ElementsOfLane(layout, type).value_or(even) * bits + kBits - 1) / kBits;
  }

  // The last instruction of the region that names each value, those inside of it included.
  void FindLast(const Region& region, std::size_t at, std::map<std::int32_t, std::size_t>* last) const {
    for (const Instr& op : region.body) FindLastOf(op, at, last);
    for (const Arg& arg : region.results) Name(arg, at, last);
  }
  void FindLastOf(const Instr& op, std::size_t at, std::map<std::int32_t, std::size_t>* last) const {
    for (const Arg& arg : op.args) Name(arg, at, last);
    for (const Region& inner : op.regions) FindLast(inner, at, last);
  }
  static void Name(const Arg& arg, std::size_t at, std::map<std::int32_t, std::size_t>* last) {
    if (arg.kind == Arg::Kind::kValue) (*last)[arg.value.value] = at;
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

  // `around`: what is alive outside of the region as long as it runs.
  void Walk(const Region& region, std::int64_t around, std::int64_t limit) {
    std::map<std::int32_t, std::size_t> last;
    for (std::size_t i = 0; i < region.body.size(); ++i) FindLastOf(region.body[i], i, &last);
    for (const Arg& arg : region.results) Name(arg, region.body.size(), &last);
    std::vector<std::int64_t> dies(region.body.size() + 1);  // registers of this region's own values, by last use
    std::int64_t alive = 0;
    const auto born = [&](ValueId value) {
      const auto found = value.valid() ? last.find(value.value) : last.end();
      if (found == last.end()) return std::int64_t{0};
      dies[found->second] += Of(value);
      return Of(value);
    };
    for (const Param& param : region.params) alive += born(param.value);
    for (std::size_t i = 0; i < region.body.size(); ++i) {
      const Instr& op = region.body[i];
      limit = legality::RegistersSet(op).value_or(limit);
      for (const Region& inner : op.regions) Walk(inner, around + alive, limit);
      std::int64_t made = 0;
      for (const ValueId result : op.results) made += born(result);
      const std::int64_t together =
          ByElement(op) || !op.regions.empty() ? std::max(alive, alive - dies[i] + made) : alive + made;
      Here(around + together, limit, op);
      alive += made - dies[i];
    }
  }

  const Kernel& kernel_;
  const std::vector<RegisterLayout> layouts_;
  RegisterNeed need_;
};

}  // namespace

RegisterNeed RegistersOf(const Kernel& kernel, std::int64_t threads, const RegisterRoom& room) {
  const std::int64_t lanes = std::max<std::int64_t>(1, threads) * kLanesOfGroup;
  const std::int64_t limit = std::min(room.of_thread, room.of_sm / lanes / kUnit * kUnit);
  RegisterNeed need = Scan(kernel, limit).need();
  const std::int64_t given = std::clamp((need.most + kUnit - 1) / kUnit * kUnit, kUnit, limit);
  need.blocks = room.of_sm / (given * lanes);
  return need;
}

}  // namespace palladion::time
