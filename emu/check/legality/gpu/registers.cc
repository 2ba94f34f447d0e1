// Registers that a GPU kernel requests. Sources: PTX, "setmaxnreg"; the CUDA C++ Programming Guide, "Compute
// Capabilities" (64 K registers of 32 bits for one block). Which thread takes which branch is known where conditions
// depend on the axis of the threads and on constants alone; where a branch is not known, the path with
// fewer registers counts. Does not catch: what ptxas gives a thread that requests none.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kRegisters = 65536, kFewest = 24;

using Known = std::optional<std::int64_t>;

struct OfNumbers {
  const OpRow* row;
  Known (*value)(std::int64_t a, std::int64_t b);
};

// The operations on two scalars that are followed.
absl::Span<const OfNumbers> KnownOfTwo() {
  using Int = std::int64_t;
  static const OfNumbers kKnown[] = {
      {RuleRow("eq"), [](Int a, Int b) -> Known { return a == b; }},
      {RuleRow("ne"), [](Int a, Int b) -> Known { return a != b; }},
      {RuleRow("lt"), [](Int a, Int b) -> Known { return a < b; }},
      {RuleRow("le"), [](Int a, Int b) -> Known { return a <= b; }},
      {RuleRow("gt"), [](Int a, Int b) -> Known { return a > b; }},
      {RuleRow("ge"), [](Int a, Int b) -> Known { return a >= b; }},
      {RuleRow("add"), [](Int a, Int b) -> Known { return a + b; }},
      {RuleRow("sub"), [](Int a, Int b) -> Known { return a - b; }},
      {RuleRow("mul"), [](Int a, Int b) -> Known { return a * b; }},
      {RuleRow("and"), [](Int a, Int b) -> Known { return a & b; }},
      {RuleRow("or"), [](Int a, Int b) -> Known { return a | b; }},
      {RuleRow("div"), [](Int a, Int b) -> Known { return b == 0 ? Known() : a / b; }},
      {RuleRow("rem"), [](Int a, Int b) -> Known { return b == 0 ? Known() : a % b; }},
  };
  return kKnown;
}

// The path of one thread through the body; scalars are known or not.
class ThreadWalk {
 public:
  ThreadWalk(const layouts::GpuFacts& facts, std::int64_t thread)
      : facts_(facts), thread_(thread), values_(facts.kernel->values.size()) {}

  void Walk(const Region& region) {
    for (const Instr& op : region.body) Step(op);
  }
  Known last() const { return last_; }  // what set_max_registers requested last

 private:
  void Step(const Instr& op) {
    if (layouts::SetsRegisters(op) && !op.args.empty()) last_ = layouts::LiteralInt(op.args[0]);
    if (RowOf(op).loops == Loops::kBranch && !op.args.empty()) return Branch(op);
    for (const Region& region : op.regions) Walk(region);
    if (op.results.size() == 1 && op.results[0].valid()) values_[op.results[0].index()] = Value(op);
  }

  void Branch(const Instr& op) {
    const Known index = Of(op.args[0]);
    if (index.has_value() && !op.regions.empty()) {
      const auto last = static_cast<std::int64_t>(op.regions.size()) - 1;
      return Walk(op.regions[static_cast<std::size_t>(std::clamp<std::int64_t>(*index, 0, last))]);
    }
    const Known before = last_;
    Known fewest;
    for (const Region& region : op.regions) {
      last_ = before;
      Walk(region);
      const std::int64_t now = last_.value_or(kFewest);
      fewest = std::min(fewest.value_or(now), now);
    }
    last_ = before.has_value() || fewest.has_value() ? fewest : before;
  }

  Known Of(const Arg& arg) const {
    if (arg.kind == Arg::Kind::kValue) return values_[arg.value.index()];
    if (arg.kind == Arg::Kind::kLiteral && IsBool(arg.literal.dtype)) return arg.literal.bytes[0] != std::byte{0};
    return layouts::LiteralInt(arg);
  }

  Known Value(const Instr& op) const {
    static const RuleRows kAxis("axis_index");
    static const RuleRows kConversion("convert_element_type");
    if (kAxis.Has(op)) return layouts::WordOf(op.attrs, "axis") == facts_.thread_name ? Known(thread_) : std::nullopt;
    if (kConversion.Has(op) && op.args.size() == 1) return Of(op.args[0]);
    if (RowOf(op).flow == Flow::kSelect && op.args.size() == 3) {
      const Known which = Of(op.args[0]);
      return which.has_value() ? Of(op.args[*which != 0 ? 2 : 1]) : std::nullopt;
    }
    if (op.args.size() != 2) return std::nullopt;
    const Known a = Of(op.args[0]), b = Of(op.args[1]);
    return a.has_value() && b.has_value() ? OfTwo(op, *a, *b) : std::nullopt;
  }

  static Known OfTwo(const Instr& op, std::int64_t a, std::int64_t b) {
    constexpr std::int64_t kSmall = std::int64_t{1} << 30;  // no result overflows
    if (std::max(std::abs(a), std::abs(b)) > kSmall) return std::nullopt;
    for (const OfNumbers& known : KnownOfTwo()) {
      if (known.row == &RowOf(op)) return known.value(a, b);
    }
    return std::nullopt;
  }

  const layouts::GpuFacts& facts_;
  std::int64_t thread_;
  std::vector<Known> values_;
  Known last_;
};

std::optional<std::string> Budget(const KernelSite& site) {
  const std::int64_t threads =
      std::clamp<std::int64_t>(site.facts.ThreadCount(), 1, kRegisters / layouts::kLanesOfWarpgroup);
  std::int64_t total = 0;
  bool requested = false;
  std::string each;
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    ThreadWalk walk(site.facts, thread);
    walk.Walk(site.facts.kernel->bodies[0].region);
    requested = requested || walk.last().has_value();
    const std::int64_t registers = walk.last().value_or(kFewest);
    total += registers * layouts::kLanesOfWarpgroup;
    Append(&each, each.empty() ? "" : " + ", registers);
  }
  if (!requested || total <= kRegisters) return std::nullopt;
  return Cat("128 * (", each, ") = ", total);
}

constexpr GpuLimit<KernelSite> kRegisterLimits[] = {
    {{"registers.budget",
      "the threads of a block, with 128 lanes each, have at most 65536 registers together after set_max_registers "
      "(24 per lane are counted for a thread that requests none)",
      "CUDA guide, Compute Capabilities; PTX, setmaxnreg", "let other threads decrease more, or increase less"},
     Budget},
};

}  // namespace

absl::Span<const GpuLimit<KernelSite>> RegisterLimits() { return kRegisterLimits; }

}  // namespace palladion::legality
