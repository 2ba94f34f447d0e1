#include "emu/check/legality/tpu/spills.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "emu/chip/layouts/tiles.h"
#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kRegisterBytes = 4096;  // 8 x 128 elements of 32 bits
constexpr std::int64_t kInternalScratch = 72 * 512;
// Fitted: 1.69 MiB for 4096 rows that are added up, 5.02 and 5.11 MiB for the two statistics of 2048 rows that come
// back, 1.30 MiB for a transpose beside blocks of 8 MiB. With one statistic of 512 rows the fp8 product of
// tpu-inference has 0.76 MiB to spare, and compiles.
constexpr double kOfFlatSum = 0.85, kOfRowStatistic = 2.5, kOfTranspose = 0.18;
constexpr std::int64_t kMostStatistics = 2;

std::int64_t RegistersOfRows(const Shape& shape, std::int64_t sublanes, bool leading) {
  std::int64_t count = (shape[shape.size() - 2] + sublanes - 1) / sublanes;
  for (std::size_t d = 0; leading && d + 2 < shape.size(); ++d) count *= shape[d];
  return count;
}

// The instructions that the target compiles, in order, and the users of their results.
class Uses {
 public:
  explicit Uses(const Legality& legality) : kernel_(legality.kernel()) {
    ForEachCompiled(legality, kernel_.bodies[0].region, [&](const Instr& op) {
      ops_.push_back(&op);
      for (const Arg& arg : op.args) {
        if (arg.kind == Arg::Kind::kValue) users_[arg.value.value].push_back(&op);
      }
    });
  }

  const std::vector<const Instr*>& ops() const { return ops_; }
  const std::vector<const Instr*>& Of(ValueId value) const {
    static const std::vector<const Instr*> kNone;
    const auto found = users_.find(value.value);
    return found == users_.end() ? kNone : found->second;
  }
  const Type* In(const Instr& op, std::size_t i) const {
    if (op.args.size() <= i || op.args[i].kind != Arg::Kind::kValue) return nullptr;
    const Type& type = kernel_.values[op.args[i].value.index()].type;
    return type.is_array() && type.dynamic.empty() ? &type : nullptr;
  }

  // Calls `use(value's type, user)` with every use of `value`, and of values of the same number of elements that are
  // made of it.
  template <class F>
  void Follow(ValueId value, const F& use) const {
    std::vector<ValueId> left = {value};
    std::set<std::int32_t> seen;
    while (!left.empty()) {
      const ValueId now = left.back();
      left.pop_back();
      if (!now.valid() || !seen.insert(now.value).second) continue;
      const Type& type = kernel_.values[now.index()].type;
      for (const Instr* user : Of(now)) {
        use(type, *user);
        const bool makes = RowOf(*user).effect == Effect::kPure && user->results.size() == 1 && !user->types.empty();
        if (makes && NumElements(user->types[0].shape) == NumElements(type.shape)) left.push_back(user->results[0]);
      }
    }
  }

 private:
  const Kernel& kernel_;
  std::vector<const Instr*> ops_;
  std::map<std::int32_t, std::vector<const Instr*>> users_;
};

bool Reduces(const Instr& op) { return RowOf(op).flow == Flow::kReduce && HasAttr(op, "axes"); }

// Along lanes, of rows that stay.
bool ReducesLanes(const Instr& op, const Type& from) {
  const auto axes = IntsAttr(op, "axes");
  if (!axes.ok() || from.rank() < 2 || static_cast<int>(axes->size()) >= from.rank()) return false;
  return std::find(axes->begin(), axes->end(), from.rank() - 1) != axes->end() &&
         std::find(axes->begin(), axes->end(), from.rank() - 2) == axes->end();
}

// What the compiler's sources have internal scratch for: arrays that get other tiles, and rotations. Products,
// reductions and transposes go through units of their own, broadcasts through registers.
bool MovesVectors(const Instr& op, const Uses& uses) {
  static const RuleRows kInRegisters("transpose", "broadcast_in_dim", "iota");
  const OpRow& row = RowOf(op);
  if (kInRegisters.Has(op)) return false;
  if (row.effect != Effect::kPure || row.unit == Unit::kNone || !op.regions.empty()) return false;
  switch (row.flow) {
    case Flow::kElementwise:
    case Flow::kConvert:
    case Flow::kMask:
    case Flow::kSelect:
    case Flow::kReduce:
    case Flow::kDot:
    case Flow::kAll:
      return false;
    default:
      break;
  }
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const Type* type = uses.In(op, i);
    if (type != nullptr && type->rank() > 0) return true;
  }
  return false;
}

class Estimates {
 public:
  explicit Estimates(const Legality& legality) : legality_(legality), chip_(*legality.chip()), uses_(legality) {}

  std::vector<SpillEstimate> Take() {
    const Instr* moves = nullptr;
    for (const Instr* op : uses_.ops()) {
      Reduction(*op);
      Product(*op);
      Transpose(*op);
      if (moves == nullptr && MovesVectors(*op, uses_)) moves = op;
    }
    for (const auto& [registers, of] : statistics_) {
      const auto count = static_cast<double>(std::min(of.count, kMostStatistics));
      Offer(kRows, *of.first, "row statistics that come back",
            count * kOfRowStatistic * static_cast<double>(registers * kRegisterBytes));
    }
    std::vector<SpillEstimate> all;
    for (SpillEstimate& one : most_) {
      if (one.bytes > 0) all.push_back(std::move(one));
    }
    const Attr* requested = Find(legality_.kernel().params, "internal_scratch_in_bytes");
    const bool is_counted = requested != nullptr && std::holds_alternative<std::int64_t>(requested->value);
    if (moves != nullptr && !is_counted)
      all.push_back({"internal scratch, to move rows and lanes", kInternalScratch, {}, 0, false});
    return all;
  }

 private:
  enum Kind { kRows, kProduct, kTranspose, kKinds };

  // What fits the registers is not spilled.
  void Offer(Kind kind, const Instr& op, std::string_view what, double bytes) {
    const std::int64_t whole = (static_cast<std::int64_t>(bytes) + 1023) / 1024 * 1024;
    if (whole <= kRegisterBytes * chip_.vector_registers || whole <= most_[kind].bytes) return;
    most_[kind] = {Cat(what, " (", op.name, ")"), whole, op.loc, op.text_line};
  }

  void Reduction(const Instr& op) {
    const Type* from = uses_.In(op, 0);
    if (!Reduces(op) || from == nullptr || !ReducesLanes(op, *from) || op.results.size() != 1) return;
    bool comes_back = false, is_flat = false;
    uses_.Follow(op.results[0], [&](const Type& type, const Instr& user) {
      const bool grows = !user.types.empty() && NumElements(user.types[0].shape) > NumElements(type.shape);
      comes_back = comes_back || (grows && RowOf(user).effect == Effect::kPure);
      is_flat = is_flat || (type.rank() == 1 && RowOf(user).access == RefAccess::kStore);
    });
    if (comes_back) {
      const std::int64_t registers = RegistersOfRows(from->shape, chip_.sublanes, /*leading=*/true);
      Statistics& of = statistics_[registers];
      if (of.count++ == 0) of.first = &op;
    } else if (is_flat) {
      const std::int64_t registers = RegistersOfRows(from->shape, chip_.sublanes, /*leading=*/false);
      Offer(kRows, op, "rows that become lanes", kOfFlatSum * static_cast<double>(registers * kRegisterBytes));
    }
  }

  void Product(const Instr& op) {
    if (RowOf(op).flow != Flow::kDot || op.results.size() != 1 || op.types[0].rank() < 2) return;
    bool waits = false;
    uses_.Follow(op.results[0], [&](const Type&, const Instr& user) { waits = waits || Reduces(user); });
    if (!waits) return;
    const Type wide = ArrayType(DType::kF32, op.types[0].shape);
    Offer(kProduct, op, "a product that a reduction waits for",
          static_cast<double>(layouts::TiledBytes(wide, wide.shape, chip_)));
  }

  void Transpose(const Instr& op) {
    static const RuleRows kTransposes("transpose");
    const Type* from = uses_.In(op, 0);
    if (!kTransposes.Has(op) || from == nullptr || from->rank() < 2) return;
    const auto order = IntsAttr(op, "perm");
    const auto rank = static_cast<std::size_t>(from->rank());
    if (!order.ok() || order->size() != rank) return;
    const bool moves = (*order)[rank - 1] != from->rank() - 1 || (*order)[rank - 2] != from->rank() - 2;
    if (moves)
      Offer(kTranspose, op, "rows that change places",
            kOfTranspose * static_cast<double>(layouts::TiledBytes(*from, from->shape, chip_)));
  }

  const Legality& legality_;
  const machines::Chip& chip_;
  const Uses uses_;
  struct Statistics {
    std::int64_t count = 0;
    const Instr* first = nullptr;
  };
  std::map<std::int64_t, Statistics> statistics_;  // that come back, by the registers of one
  SpillEstimate most_[kKinds];
};

}  // namespace

std::vector<SpillEstimate> EstimatedSpills(const Legality& legality) { return Estimates(legality).Take(); }

}  // namespace palladion::legality
