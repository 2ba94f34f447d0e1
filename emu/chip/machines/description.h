// What a chip is, in numbers: its capacities, what each unit of it does in a cycle, how long memory takes; each with
// its source. The files emu/chip/machines/*.machine hold them, embedded in the library; how they are written is said in
// docs/reference/machines.md. An unpublished number is absent, never zero: Get says so, and what to do. What it does
// not catch: a number that is wrong and contradicts no other.
#ifndef PALLADION_EMU_CHIP_MACHINES_DESCRIPTION_H_
#define PALLADION_EMU_CHIP_MACHINES_DESCRIPTION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/chip/machines/amount.h"
#include "emu/chip/machines/keys.h"

namespace palladion::machines {

// What a number rests on.
enum class Basis {
  kVendor,    // the maker's documents
  kMeasured,  // a published microbenchmark of this chip
  kModel,     // a constant of another simulator, which fitted it
  kDerived,   // by arithmetic from other numbers; the note has it
  kFitted,    // here; the note says to what
  kAssumed,   // measured on another chip; the note says which
  kWhatIf,    // Set gave it, or it follows from what Set gave
};
struct BasisRow {
  Basis basis;
  std::string_view name, meaning;
  bool needs_source, needs_note;
};
absl::Span<const BasisRow> AllBases();
std::string_view Name(Basis basis);

struct Number {
  double written = 0;                // as the file has it, in `unit`
  std::string_view unit;             // "MiB"; "" of a count
  Basis basis = Basis::kVendor;      //
  std::vector<std::string> sources;  // names in emu/chip/machines/sources.txt
  std::string note;
  double value = 0;  // in the base unit of the key's dimension
};

class Machine {
 public:
  // InvalidArgument with `path` and the line: what was expected there, what was found, what to do.
  static absl::StatusOr<Machine> Parse(std::string_view text, std::string_view path);
  std::string Print() const;  // the canonical text: Parse(text).Print() == text where text is canonical

  const std::string& name() const { return name_; }                // as a target has it: "v5e"
  const std::string& device_kind() const { return device_kind_; }  // as JAX has it: "TPU v5 lite"
  Family family() const { return family_; }

  // NotFound with the machine and the number, where it is absent.
  template <class Unit>
  absl::StatusOr<Unit> Get(Key<Unit> key) const {
    if (numbers_[key.row()].has_value()) return Unit(numbers_[key.row()]->value);
    return Absent(key.row());
  }
  template <class Unit>
  std::optional<Unit> Find(Key<Unit> key) const {
    if (!numbers_[key.row()].has_value()) return std::nullopt;
    return Unit(numbers_[key.row()]->value);
  }
  const std::optional<Number>& At(std::size_t row) const { return numbers_[row]; }  // of key_table::kRows

  // What if: `l2.size=25MiB`; without a unit, in the one that the machine has it in, and `l2.mib=25` where only one
  // number of the group is in such a unit. Numbers that follow from it (docs/reference/machines.md) follow.
  // InvalidArgument: there is no such number, or it contradicts one that does not follow. All of them at once, as peaks
  // follow from several.
  absl::Status Set(absl::Span<const std::string> changes);

 private:
  friend class MachineParser;
  absl::Status Absent(std::size_t row) const;

  std::string name_, device_kind_;
  Family family_ = Family::kHopper;
  std::vector<std::optional<Number>> numbers_ = std::vector<std::optional<Number>>(key_table::kCount);
};

// A published document or measurement, as emu/chip/machines/sources.txt has it.
struct Source {
  std::string name, meaning;
};
absl::Span<const Source> AllSources();

absl::Span<const Machine> AllMachines();
// NotFound with the names that there are.
absl::StatusOr<const Machine*> FindMachine(std::string_view name);

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_DESCRIPTION_H_
