#include "emu/chip/machines/description.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "emu/chip/machines/embedded.h"
#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"

namespace palladion::machines {
namespace {

constexpr BasisRow kBases[] = {
    {Basis::kVendor, "vendor", "the maker's documents have it", true, false},
    {Basis::kMeasured, "measured", "a published microbenchmark of this chip found it", true, false},
    {Basis::kModel, "model", "a constant of another simulator, which was fitted there", true, false},
    {Basis::kDerived, "derived", "by arithmetic, which the note has", false, true},
    {Basis::kFitted, "fitted", "here, to what the note says", false, true},
    {Basis::kAssumed, "assumed", "found on another chip, which the note names", false, true},
    {Basis::kWhatIf, "whatif", "a change, or what follows from one", false, true},
};

// The tree's own tests read these files, so a broken one is a broken build.
template <class T>
T OrDie(absl::StatusOr<T> parsed) {
  if (parsed.ok()) return *std::move(parsed);
  std::fprintf(stderr, "palladion: %s\n", std::string(ToStd(parsed.status().message())).c_str());
  std::abort();
}

std::vector<Source> ReadSources() {
  std::vector<Source> sources;
  for (std::string_view text = EmbeddedSources(); !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = line.find(" = ");
    if (line.empty() || line[0] == '#' || equals == std::string_view::npos) continue;
    sources.push_back({.name = std::string(line.substr(0, equals)), .meaning = std::string(line.substr(equals + 3))});
  }
  return sources;
}

std::vector<Machine> ReadMachines() {
  std::vector<Machine> machines;
  for (const EmbeddedMachine& file : EmbeddedMachines())
    machines.push_back(OrDie(Machine::Parse(file.text, file.path)));
  return machines;
}

}  // namespace

absl::Span<const BasisRow> AllBases() { return kBases; }

std::string_view Name(Basis basis) {
  return std::find_if(std::begin(kBases), std::end(kBases), [&](const BasisRow& row) { return row.basis == basis; })
      ->name;
}

absl::Span<const Source> AllSources() {
  static const std::vector<Source>* const sources = new std::vector<Source>(ReadSources());
  return *sources;
}

absl::Span<const Machine> AllMachines() {
  static const std::vector<Machine>* const machines = new std::vector<Machine>(ReadMachines());
  return *machines;
}

absl::StatusOr<const Machine*> FindMachine(std::string_view name) {
  std::string names;
  for (const Machine& machine : AllMachines()) {
    if (machine.name() == name) return &machine;
    Append(&names, names.empty() ? "" : ", ", machine.name());
  }
  return absl::NotFoundError(Cat("no machine is called '", name, "'; there are ", names));
}

absl::Status Machine::Absent(std::size_t row) const {
  const KeyRow& key = key_table::kRows[row];
  if (!key.IsOf(family_))
    return absl::NotFoundError(Cat(name_, " is no machine with a number ", key.name, " (", key.meaning, ")"));
  const std::string_view unit = BaseUnit(key.dimension);
  return absl::NotFoundError(Cat(name_, " has no number ", key.name, " (", key.meaning,
                                 "): it is not published; give one by --set ", key.name, "=N", unit));
}

}  // namespace palladion::machines
