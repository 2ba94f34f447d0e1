#include "emu/chip/machines/relations.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"

namespace palladion::machines {
namespace {

consteval std::size_t Row(std::string_view name) {
  for (std::size_t i = 0; i < key_table::kCount; ++i) {
    if (key_table::kRows[i].name == name) return i;
  }
  throw "no row of key_table has this name";
}

consteval Term Of(std::string_view name, int power = 1) { return {.row = Row(name), .power = power}; }
constexpr auto kIs = Relation::Kind::kIs, kAtMost = Relation::Kind::kAtMost;

// Vendors round peaks, and clocks are given with three digits.
constexpr double kRounded = 0.01;
// 0.505 cycles a column are 97 to 99 % of the rate that wgmma could have.
constexpr double kNearly = 0.03;

// FLOPs of one column of a matrix product whose A has so many rows, K=16 in bf16.
constexpr double Column(int rows) { return 2.0 * rows * 16; }
constexpr double kColumnBytes = 16 * 2;

// In an order in which a number is what it shall be before another follows it.
constexpr Relation kRelations[] = {
    {Row("peak.bf16"), kIs, 1, {Of("chip.cores"), Of("tensor.bf16"), Of("clock.peak")}, kRounded},
    {Row("peak.tf32"), kIs, 1, {Of("chip.cores"), Of("tensor.tf32"), Of("clock.peak")}, kRounded},
    {Row("peak.fp8"), kIs, 1, {Of("chip.cores"), Of("tensor.fp8"), Of("clock.peak")}, kRounded},
    {Row("peak.int8"), kIs, 1, {Of("chip.cores"), Of("tensor.int8"), Of("clock.peak")}, kRounded},
    {Row("peak.fp4"), kIs, 1, {Of("chip.cores"), Of("tensor.fp4"), Of("clock.peak")}, kRounded},
    {Row("peak.bf16"),
     kIs,
     2 * 8,
     {Of("chip.cores"), Of("mxu.count"), Of("mxu.size", 2), Of("mxu.interval", -1), Of("clock.peak")},
     kRounded},
    {Row("tensor.mma_sync"), kAtMost, 1, {Of("tensor.bf16")}, 0},
    {Row("fp32.interval"), kIs, 32, {Of("issue.slots"), Of("fp32.lanes", -1)}, kRounded},
    {Row("mufu.interval"), kIs, 32, {Of("issue.slots"), Of("mufu.lanes", -1)}, kRounded},
    {Row("wgmma.per_n"), kIs, Column(64), {Of("tensor.bf16", -1)}, kNearly},
    {Row("wgmma.smem_per_n"), kIs, kColumnBytes, {Of("smem.port", -1)}, kRounded},
    {Row("tcgen05.ss128_per_n"), kIs, Column(128), {Of("tensor.bf16", -1)}, kNearly},
    {Row("tcgen05.ts128_per_n"), kIs, Column(128), {Of("tensor.bf16", -1)}, kNearly},
    // M=64 takes as long as M=128.
    {Row("tcgen05.ss64_per_n"), kIs, Column(128), {Of("tensor.bf16", -1)}, kNearly},
    // Two SMs: each has half of the rows, and reads half of B.
    {Row("tcgen05.pair_ss128_per_n"), kIs, Column(64), {Of("tensor.bf16", -1)}, kNearly},
    {Row("tcgen05.pair_ss256_per_n"), kIs, Column(128), {Of("tensor.bf16", -1)}, kNearly},
    {Row("tcgen05.pair_ts256_per_n"), kIs, Column(128), {Of("tensor.bf16", -1)}, kNearly},
    {Row("tcgen05.ss128_smem_per_n"), kIs, kColumnBytes, {Of("smem.port", -1)}, kRounded},
    {Row("tcgen05.pair_ss128_smem_per_n"), kIs, kColumnBytes / 2, {Of("smem.port", -1)}, kRounded},
    {Row("tcgen05.pair_ss256_smem_per_n"), kIs, kColumnBytes / 2, {Of("smem.port", -1)}, kRounded},
    {Row("tmem.bytes"), kIs, 4, {Of("tmem.lanes"), Of("tmem.columns")}, 0},
    {Row("smem.banks"), kIs, 1.0 / 4, {Of("smem.port")}, 0},
    {Row("tma.row_rate"), kAtMost, 1, {Of("smem.port"), Of("tma.row_bytes", -1)}, 0},
    {Row("tma.l2_latency"), kAtMost, 1, {Of("tma.dram_latency")}, 0, false},
    {Row("cluster.of_2"), kAtMost, 1.0 / 2, {Of("chip.cores")}, 0},
    {Row("cluster.of_4"), kAtMost, 1.0 / 4, {Of("chip.cores")}, 0},
    {Row("cluster.of_8"), kAtMost, 1.0 / 8, {Of("chip.cores")}, 0},
    {Row("l2.effective"), kAtMost, 1, {Of("l2.size")}, 0},
    {Row("l2.bandwidth"), kAtMost, 1, {Of("l2.slices"), Of("l2.slice_rate"), Of("clock.max")}, 0},
    {Row("l2.near_latency"), kAtMost, 1, {Of("l2.far_latency")}, 0, false},
    {Row("dram.achieved"), kAtMost, 1, {Of("dram.peak")}, 0},
    {Row("link.read"), kAtMost, 1, {Of("link.peak")}, 0},
    {Row("link.write"), kAtMost, 1, {Of("link.peak")}, 0},
    {Row("clock.peak"), kAtMost, 1, {Of("clock.max")}, 0, false},
    {Row("clock.short"), kAtMost, 1, {Of("clock.max")}, 0, false},
    {Row("clock.loaded"), kAtMost, 1, {Of("clock.short")}, 0, false},
};

// For doubles that are equal but for how they were computed.
constexpr double kAccuracy = 1e-9;

std::string InUnitOf(double value, const Number& like) {
  const double digits = std::pow(10, 5 - std::ceil(std::log10(value * like.written / like.value)));
  const double rounded = std::round(value * like.written / like.value * digits) / digits;
  return Cat(PrintValue(rounded), like.unit.empty() ? "" : " ", like.unit);
}

std::string Spelled(const Relation& relation) {
  std::string text = relation.constant == 1 ? "" : InUnitOf(relation.constant, {.written = 1, .value = 1});
  for (const Term& term : relation.terms) {
    if (term.row == key_table::kCount) continue;
    const std::string name(key_table::kRows[term.row].name);
    Append(&text, text.empty() ? (term.power < 0 ? "1 / " : "") : term.power < 0 ? " / " : " * ", name);
    if (std::abs(term.power) == 2) Append(&text, "^2");
  }
  return text;
}

}  // namespace

absl::Span<const Relation> AllRelations() { return kRelations; }

std::optional<double> Product(const Relation& relation, const Machine& machine) {
  if (!machine.At(relation.target).has_value()) return std::nullopt;
  double product = relation.constant;
  for (const Term& term : relation.terms) {
    if (term.row == key_table::kCount) continue;
    const std::optional<Number>& number = machine.At(term.row);
    if (!number.has_value()) return std::nullopt;
    product *= std::pow(number->value, term.power);
  }
  return product;
}

bool Holds(const Relation& relation, const Machine& machine) {
  const std::optional<double> product = Product(relation, machine);
  if (!product.has_value()) return true;
  const double target = machine.At(relation.target)->value;
  const double allowed = (relation.slack + kAccuracy) * *product;
  return target - *product <= allowed && (relation.kind == kAtMost || *product - target <= allowed);
}

std::string Contradiction(const Relation& relation, const Machine& machine) {
  const Number& target = *machine.At(relation.target);
  const double product = Product(relation, machine).value_or(0);
  const std::string off = relation.slack == 0 ? "" : Cat(", and may be ", PrintValue(100 * relation.slack), " % off");
  return Cat(key_table::kRows[relation.target].name, " is ", InUnitOf(target.value, target), ", but ",
             Spelled(relation), " is ", InUnitOf(product, target),
             relation.kind == kAtMost ? ", and it cannot be more" : off, "; one of them is wrong");
}

}  // namespace palladion::machines
