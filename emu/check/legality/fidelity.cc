#include "emu/check/legality/fidelity.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "emu/check/legality/legality.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

bool HoldsFloats(const Type& type) { return type.kind != TypeKind::kToken && !type.is_key() && IsFloat(type.dtype); }

bool IsOfFloats(const Kernel& kernel, const Instr& op) {
  if (std::any_of(op.types.begin(), op.types.end(), HoldsFloats)) return true;
  return std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
    const bool is_ref = arg.kind == Arg::Kind::kValue && kernel.values[arg.value.index()].type.is_ref();
    return is_ref && HoldsFloats(kernel.values[arg.value.index()].type);
  });
}

// Where an approximate value comes from: the operation that made it first.
class Flows {
 public:
  explicit Flows(const Kernel& kernel) : kernel_(kernel), of_(kernel.values.size(), nullptr) {
    // Loops feed back. A value is set once, so there is an end.
    while (changed_) {
      changed_ = false;
      for (const Body& body : kernel.bodies) Walk(body.region);
    }
  }

  struct Reach {
    std::string_view what;
    const Instr* decides;
    const Instr* from;
  };
  // Each deciding operation once.
  std::vector<Reach> Reached() const {
    std::vector<Reach> reached;
    for (const Body& body : kernel_.bodies)
      ForEachInstr(body.region, [&](const Instr& op) {
        if (std::optional<Reach> one = ReachOf(op)) reached.push_back(*one);
      });
    return reached;
  }

 private:
  const Instr* Of(const Arg& arg) const {
    return arg.kind == Arg::Kind::kValue && arg.value.valid() ? of_[arg.value.index()] : nullptr;
  }

  void Set(ValueId id, const Instr* from) {
    if (!id.valid() || from == nullptr || of_[id.index()] != nullptr) return;
    of_[id.index()] = from;
    changed_ = true;
  }

  void Walk(const Region& region) {
    for (const Instr& op : region.body) {
      if (op.regions.empty()) {
        Plain(op);
        continue;
      }
      Enter(op);
      for (const Region& inner : op.regions) Walk(inner);
      for (const Region& inner : op.regions) {
        for (std::size_t i = 0; i < op.results.size() && i < inner.results.size(); ++i)
          Set(op.results[i], Of(inner.results[i]));
      }
    }
  }

  // Carries begin as they are given, and go on as the body returns them; a call's operands are its parameters.
  void Enter(const Instr& op) {
    if (!IsLoop(RowOf(op))) {
      if (HasScope(RowOf(op)) || op.regions.size() != 1) return;
      const std::vector<Param>& params = op.regions[0].params;
      for (std::size_t i = 0; i < params.size() && i < op.args.size(); ++i) Set(params[i].value, Of(op.args[i]));
      return;
    }
    std::size_t at = 0;
    for (const Arg& arg : op.args) {
      if (arg.name != "init" && arg.name != "xs") continue;
      for (const Region& region : op.regions) {
        if (at >= region.params.size()) continue;
        Set(region.params[at].value, Of(arg));
        const std::vector<Arg>& next = op.regions.back().results;
        if (arg.name == "init" && at < next.size()) Set(region.params[at].value, Of(next[at]));
      }
      if (arg.name == "init" && at < op.results.size()) Set(op.results[at], Of(arg));
      ++at;
    }
  }

  // What a plain operation makes and writes: its own, or of what it takes.
  void Plain(const Instr& op) {
    const Instr* from = WhyApproximate(kernel_, op).empty() ? nullptr : &op;
    for (const Arg& arg : op.args) {
      if (from == nullptr) from = Of(arg);
    }
    for (const ValueId result : op.results) Set(result, from);
    const OpRow& row = RowOf(op);
    const bool writes = row.access == RefAccess::kStore || row.access == RefAccess::kAdd ||
                        row.access == RefAccess::kAtomic || row.access == RefAccess::kAccumulator;
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      const bool named = !row.written.empty() && op.args[i].name == row.written;
      if ((named || (writes && i == 0 && !row.named_refs)) && op.args[i].kind == Arg::Kind::kValue)
        Set(op.args[i].value, from);
    }
  }

  // Through a view's indices and sizes.
  const Instr* OfIndices(const Arg& arg) const {
    for (const Transform& transform : arg.transforms) {
      for (const Index& index : transform.indices) {
        if (const Instr* from = Of(index.start)) return from;
        if (const Instr* from = Of(index.size)) return from;
      }
    }
    return nullptr;
  }

  std::optional<Reach> ReachOf(const Instr& op) const {
    const OpRow& row = RowOf(op);
    const Instr* from = nullptr;
    if (row.loops == Loops::kBranch && !op.args.empty()) from = Of(op.args[0]);
    if (row.loops == Loops::kWhile && !op.regions[0].results.empty()) from = Of(op.regions[0].results[0]);
    if (from != nullptr) return Reach{"control flow", &op, from};
    for (const Arg& arg : op.args) {
      if (from == nullptr) from = OfIndices(arg);
    }
    // The operands behind those that are moved say where.
    const bool places = row.flow == Flow::kMove && row.moved > 0;
    for (std::size_t i = row.moved; places && from == nullptr && i < op.args.size(); ++i) from = Of(op.args[i]);
    if (from != nullptr) return Reach{"an address", &op, from};
    if (row.effect != Effect::kSynchronises || row.access != RefAccess::kNone) return std::nullopt;
    for (const Arg& arg : op.args) {
      const bool is_value = arg.kind == Arg::Kind::kValue && kernel_.values[arg.value.index()].type.is_array();
      if (is_value && from == nullptr) from = Of(arg);
    }
    return from == nullptr ? std::nullopt : std::optional(Reach{"a synchronisation", &op, from});
  }

  const Kernel& kernel_;
  std::vector<const Instr*> of_;  // by value; of a ref, what was stored there
  bool changed_ = true;
};

// Of what the target's code has.
std::vector<const Instr*> Compiled(const Legality& legality) {
  std::vector<const Instr*> all;
  ForEachCompiled(legality, legality.kernel().bodies[0].region, [&](const Instr& op) { all.push_back(&op); });
  return all;
}

void Count(ReportedFidelity& fidelity, const Legality& legality, const std::vector<Finding>& findings) {
  std::set<int> refused;  // lines of the text
  for (const Finding& finding : findings) {
    if (finding.code == FindingCode::kIllegal) refused.insert(finding.text_line);
  }
  std::map<std::tuple<FidelityKind, std::string, std::string_view>, std::int64_t> rows;
  for (const Instr* op : Compiled(legality)) {
    const std::string_view why = WhyApproximate(legality.kernel(), *op);
    const bool is_refused = refused.count(op->text_line) != 0;
    const FidelityKind kind = is_refused    ? FidelityKind::kRefused
                              : why.empty() ? FidelityKind::kExact
                                            : FidelityKind::kApproximate;
    ++(is_refused ? fidelity.refused : why.empty() ? fidelity.exact : fidelity.approximate);
    ++rows[{kind, op->name, kind == FidelityKind::kApproximate ? why : ""}];
  }
  for (const auto& [key, count] : rows)
    fidelity.rows.push_back({std::get<1>(key), std::get<0>(key), count, std::string(std::get<2>(key))});
}

}  // namespace

std::string_view WhyApproximate(const Kernel& kernel, const Instr& op) {
  static const RuleRows kSums("reduce_sum", "reduce_prod", "cumsum", "cumprod", "cumlogsumexp");
  static const RuleRows kRandom("prng_random_bits");
  const OpRow& row = RowOf(op);
  if (kRandom.Has(op)) return "the chip's generator gives other numbers";
  if (!op.regions.empty() || !IsOfFloats(kernel, op)) return "";
  if (row.unit == Unit::kTranscendental) return "correctly rounded here, and by a function of its own on the chip";
  if (row.unit == Unit::kDivision) return "correctly rounded here, and of a reciprocal on the chip";
  if (row.unit == Unit::kMatrix) return "exact products and one rounding here, the matrix unit's own on the chip";
  if (kSums.Has(op)) return "the chip adds up in an order of its own";
  if (row.access == RefAccess::kAtomic || row.access == RefAccess::kAdd)
    return row.effect == Effect::kReadsWrites ? "the order of updates is the chip's" : "";
  return "";
}

std::optional<ReportedFidelity> FidelityOf(const Module& module, const Kernel& kernel, const Target& target,
                                           const std::vector<Finding>& findings) {
  if (target.backend == TargetBackend::kGeneric || kernel.bodies.empty()) return std::nullopt;
  ReportedFidelity fidelity;
  Count(fidelity, Legality(kernel, target, nullptr), findings);
  for (const Flows::Reach& reach : Flows(kernel).Reached())
    fidelity.reached.push_back(
        {.what = std::string(reach.what),
         .words = Cat(reach.decides->name, " at ", PlaceText(module, reach.decides->loc, reach.decides->text_line),
                      ", from ", reach.from->name, " at ", PlaceText(module, reach.from->loc, reach.from->text_line)),
         .source = Describe(module, reach.decides->loc),
         .text_line = reach.decides->text_line,
         .frames = {}});
  return fidelity;
}

}  // namespace palladion::legality
