#include "semantics/ops/control/loop_carries.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>

#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// From what is looked at back to what that is computed from.
class Carries {
 public:
  Carries(const Instr& op, const Builder& builder) : op_(op), matters_(op.types.size()) {
    for (std::size_t i = 0; i < matters_.size(); ++i) matters_[i] = builder.IsUsed(op.results[i]);
    for (const Region& region : op.regions) {
      for (const Instr& part : region.body) {
        if (!IsPure(part)) VisitUses(part, need_);
      }
    }
    for (const Arg& result : op.regions[0].results) VisitUses(result, need_);
    for (int round = 0; Spread(); ++round) {
      if (round < kMaxRounds) continue;
      matters_.assign(matters_.size(), true);  // a long chain of carries: all of them, to be safe
      break;
    }
  }

  const std::vector<bool>& matter() const { return matters_; }

 private:
  static constexpr int kMaxRounds = 64;
  static bool IsPure(const Instr& op) { return op.row->effect == Effect::kPure && op.regions.empty(); }

  // From what is needed to what that is computed from. False: nothing new.
  bool Spread() {
    const std::size_t before = needed_.size();
    for (std::size_t i = 0; i < matters_.size(); ++i) {
      for (const Region& region : op_.regions) matters_[i] = matters_[i] || Needed(region.params[i].value);
      if (matters_[i]) VisitUses(op_.regions[1].results[i], need_);
    }
    for (const Region& region : op_.regions) {
      for (auto part = region.body.rbegin(); part != region.body.rend(); ++part) {
        const bool wanted =
            std::any_of(part->results.begin(), part->results.end(), [&](ValueId value) { return Needed(value); });
        if (wanted) VisitUses(*part, need_);
      }
    }
    return needed_.size() > before;
  }
  bool Needed(ValueId value) const { return value.valid() && needed_.contains(value.value); }

  const Instr& op_;
  std::vector<bool> matters_;
  std::set<std::int32_t> needed_;
  const std::function<void(ValueId)> need_ = [this](ValueId value) { needed_.insert(value.value); };
};

}  // namespace

std::vector<bool> CarriesThatMatter(const Instr& op, const Builder& builder) { return Carries(op, builder).matter(); }

}  // namespace palladion
