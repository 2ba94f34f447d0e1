// `--set`: what if a number were different. Dependent numbers change in proportion, so that a rounded peak, or a law
// that reaches 98 % of its unit, stays so.
#include <set>
#include <tuple>
#include <utility>

#include "emu/chip/machines/description.h"
#include "emu/chip/machines/nearest_keys.h"
#include "emu/chip/machines/relations.h"
#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::machines {
namespace {

// `l2.mib`: the one number of the group l2 that the machine has in such a unit. kCount: none, or several.
std::pair<std::size_t, const UnitRow*> ByUnit(std::string_view name, const Machine& machine) {
  const std::size_t dot = name.find('.');
  const UnitRow* unit = dot == std::string_view::npos ? nullptr : UnitInWord(name.substr(dot + 1));
  std::size_t found = key_table::kCount;
  for (std::size_t row = 0; unit != nullptr && row < key_table::kCount; ++row) {
    const KeyRow& key = key_table::kRows[row];
    if (key.group() != name.substr(0, dot) || !machine.At(row).has_value() || machine.At(row)->unit != unit->spelled)
      continue;
    if (found != key_table::kCount) return {key_table::kCount, nullptr};
    found = row;
  }
  return {found, unit};
}

struct Change {
  std::size_t row;
  Number number;
};

absl::StatusOr<Change> ParseChange(std::string_view text, const Machine& machine) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return absl::InvalidArgumentError(Cat("expected NAME=VALUE, as l2.size=25MiB; found '", text, "'"));
  const std::string_view name = text.substr(0, equals);
  std::size_t row = RowOf(name);
  const UnitRow* unit = nullptr;
  if (row == key_table::kCount) std::tie(row, unit) = ByUnit(name, machine);
  if (row == key_table::kCount || !key_table::kRows[row].IsOf(machine.family()))
    return absl::InvalidArgumentError(ToAbsl(UnknownKey(name, &machine)));
  const KeyRow& key = key_table::kRows[row];
  const absl::StatusOr<Written> written = ParseWritten(text.substr(equals + 1));
  if (!written.ok()) return absl::InvalidArgumentError(Cat(name, ": ", ToStd(written.status().message())));
  if (written->unit != nullptr && unit != nullptr && written->unit != unit)
    return absl::InvalidArgumentError(Cat(name, " is in ", unit->spelled, "; found '", written->unit->spelled, "'"));
  if (written->unit != nullptr) unit = written->unit;
  if (unit == nullptr) unit = FindUnit(machine.At(row).has_value() ? machine.At(row)->unit : BaseUnit(key.dimension));
  if (unit->dimension != key.dimension)
    return absl::InvalidArgumentError(
        Cat(key.name, " is in ", UnitsOf(key.dimension), "; found '", unit->spelled, "'"));
  const std::string before = machine.At(row).has_value()
                                 ? Cat("it is ", PrintValue(machine.At(row)->written),
                                       machine.At(row)->unit.empty() ? "" : " ", machine.At(row)->unit)
                                 : std::string("it is not published");
  return Change{row, Number{.written = written->value,
                            .unit = unit->spelled,
                            .basis = Basis::kWhatIf,
                            .note = Cat("set; ", before),
                            .value = written->value * unit->factor}};
}

}  // namespace

absl::Status Machine::Set(absl::Span<const std::string> changes) {
  Machine changed = *this;
  std::set<std::size_t> set, moved;
  for (const std::string& text : changes) {
    PALLADION_ASSIGN_OR_RETURN(Change change, ParseChange(text, *this));
    if (!set.insert(change.row).second)
      return absl::InvalidArgumentError(Cat(key_table::kRows[change.row].name, " is set twice; give it once"));
    moved.insert(change.row);
    changed.numbers_[change.row] = std::move(change.number);
  }
  for (const Relation& relation : AllRelations()) {
    std::string cause;
    for (const Term& term : relation.terms) {
      if (term.row != key_table::kCount && moved.count(term.row) != 0)
        Append(&cause, cause.empty() ? "" : ", ", key_table::kRows[term.row].name);
    }
    const std::optional<double> before = Product(relation, *this), after = Product(relation, changed);
    if (cause.empty() || !relation.follows || set.count(relation.target) != 0 || !before || !after) continue;
    Number& number = *changed.numbers_[relation.target];
    const double factor = *after / *before;
    number.note = Cat("follows from ", cause, "; it is ", PrintValue(number.written), number.unit.empty() ? "" : " ",
                      number.unit);
    number.written *= factor, number.value *= factor;
    number.basis = Basis::kWhatIf, number.sources.clear();
    moved.insert(relation.target);
  }
  for (const Relation& relation : AllRelations()) {
    if (!Holds(relation, changed))
      return absl::InvalidArgumentError(Cat(Contradiction(relation, changed), ": set the other too"));
  }
  *this = std::move(changed);
  return absl::OkStatus();
}

}  // namespace palladion::machines
