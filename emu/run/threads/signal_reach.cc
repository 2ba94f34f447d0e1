#include "emu/run/threads/signal_reach.h"

#include <algorithm>
#include <set>

#include "semantics/registry/op_row.h"

namespace palladion::threads {
namespace {

class Walk {
 public:
  Walk(const Kernel& kernel, const SyncObject& object, std::map<int, bool>* at)
      : kernel_(kernel), object_(object), at_(*at) {
    FindObject(kernel.bodies[0].region);
    FindScratch();
  }

  // `after`: may a signal come after the region? The answer for its start.
  bool Region(const palladion::Region& region, bool after) {
    bool reach = after;
    for (std::size_t i = region.body.size(); i-- > 0;) {
      const Instr& op = region.body[i];
      const bool contains = Contains(op);
      const Loops loops = op.row->loops;
      const bool again = loops != Loops::kOnce && loops != Loops::kBranch && loops != Loops::kWarps;
      // A warp ends where its region does; in a call the object has another name.
      const bool inside = Names(op) || (loops != Loops::kWarps && (reach || (again && contains)));
      for (const palladion::Region& inner : op.regions) Region(inner, inside);
      reach = reach || contains;
      bool& here = at_[op.text_line];
      here = here || reach;
    }
    return reach;
  }

 private:
  std::string NameOf(ValueId value) const {
    const ValueInfo& info = kernel_.values[value.index()];
    return info.label.empty() ? info.name : info.label;
  }

  void FindObject(const palladion::Region& region) {
    for (const Instr& op : region.body) {
      for (const palladion::Region& inner : op.regions) {
        for (const Param& param : inner.params) Take(op, param.value);
        FindObject(inner);
      }
      for (const ValueId result : op.results) Take(op, result);
    }
  }

  // A semaphore that is a scratch operand of the kernel.
  void FindScratch() {
    std::size_t param = 0;
    for (const Operand& operand : kernel_.operands) {
      if (operand.role != Role::kBound) Take(operand.text_line, kernel_.bodies[0].region.params[param++].value);
    }
  }

  void Take(const Instr& op, ValueId value) { Take(op.text_line, value); }
  void Take(int line, ValueId value) {
    if (!value.valid() || line != object_.first || NameOf(value) != object_.second) return;
    const Type& type = kernel_.values[value.index()].type;
    if (type.is_ref() && type.element != ElementKind::kData) values_.insert(value.value);
  }

  bool Names(const Instr& op) const {
    return std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
      return arg.kind == Arg::Kind::kValue && values_.contains(arg.value.value);
    });
  }

  bool Contains(const Instr& op) const {
    if (op.row->signals != Signals::kNever && Names(op)) return true;
    return std::any_of(op.regions.begin(), op.regions.end(), [&](const palladion::Region& inner) {
      return std::any_of(inner.body.begin(), inner.body.end(), [&](const Instr& part) { return Contains(part); });
    });
  }

  const Kernel& kernel_;
  const SyncObject& object_;
  std::map<int, bool>& at_;
  std::set<std::int32_t> values_;
};

}  // namespace

const SignalReach::Reach& SignalReach::Of(const SyncObject& object) {
  const auto [found, added] = reach_.try_emplace(object);
  Reach& reach = found->second;
  if (added) reach.from_start = Walk(kernel_, object, &reach.at).Region(kernel_.bodies[0].region, false);
  return reach;
}

bool SignalReach::MayCome(int line, const SyncObject& object) {
  const Reach& reach = Of(object);
  const auto found = reach.at.find(line);
  return found == reach.at.end() ? reach.from_start : found->second;
}

bool SignalReach::MayComeFromStart(const SyncObject& object) { return Of(object).from_start; }

}  // namespace palladion::threads
