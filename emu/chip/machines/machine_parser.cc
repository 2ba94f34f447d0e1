// The text of a machine description, read and written. One line is one fact, so that a change of a number is a change
// of one line; what it says is in docs/reference/machines.md.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/chip/machines/description.h"
#include "emu/chip/machines/nearest_keys.h"
#include "emu/chip/machines/relations.h"
#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::machines {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::array<std::pair<std::string_view, Family>, 3> kFamilies = {
    {{"hopper", Family::kHopper}, {"blackwell", Family::kBlackwell}, {"tpu", Family::kTpu}}};

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(ToAbsl(what)); }

// "measured [flash-vla]: with 4 accumulators"
absl::Status ParseSource(std::string_view text, Number& number) {
  const std::size_t end = std::min(text.find_first_of(" :["), text.size());
  const std::string_view word = text.substr(0, end);
  const auto bases = AllBases();
  const auto* row = std::find_if(bases.begin(), bases.end(), [&](const BasisRow& one) { return one.name == word; });
  if (row == bases.end()) {
    std::string all;
    for (const BasisRow& one : bases) Append(&all, all.empty() ? "" : ", ", one.name);
    return Wrong(Cat("expected what the number rests on, one of ", all, "; found '", word, "'"));
  }
  number.basis = row->basis;
  std::string_view rest = Trim(text.substr(end));
  if (!rest.empty() && rest[0] == '[') {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos)
      return Wrong("expected ] after the names of sources; found the end of the line");
    for (std::string_view names = rest.substr(1, close - 1); !names.empty();) {
      const std::size_t comma = std::min(names.find(','), names.size());
      const std::string name(Trim(names.substr(0, comma)));
      const auto known = [&](const Source& source) { return source.name == name; };
      if (std::none_of(AllSources().begin(), AllSources().end(), known))
        return Wrong(Cat("unknown source '", name, "'; emu/chip/machines/sources.txt lists them: add it there"));
      number.sources.push_back(name);
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    rest = Trim(rest.substr(close + 1));
  }
  if (!rest.empty() && rest[0] != ':')
    return Wrong(Cat("expected ':' and a note, or nothing more; found '", rest, "'"));
  if (!rest.empty()) number.note = std::string(Trim(rest.substr(1)));
  if (row->needs_source && number.sources.empty())
    return Wrong(Cat("a number that is '", row->name, "' needs a source: # ", row->name, " [NAME]"));
  if (row->needs_note && number.note.empty())
    return Wrong(Cat("a number that is '", row->name, "' (", row->meaning, ") needs a note: # ", row->name, ": ..."));
  return absl::OkStatus();
}

}  // namespace

class MachineParser {
 public:
  absl::StatusOr<Machine> Parse(std::string_view text, std::string_view path) {
    if (text.size() > kMostBytes)
      return Wrong(Cat(path, ": expected at most ", kMostBytes, " bytes; found ", text.size()));
    for (int line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (const absl::Status status = ParseLine(text.substr(0, end), line); !status.ok())
        return Wrong(Cat(path, ":", line, ": ", ToStd(status.message())));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const std::string_view word : {"machine", "kind", "family"}) {
      if (lines_.count(word) == 0)
        return Wrong(Cat(path, ": expected a line '", word, " = ...' at the start; found none"));
    }
    for (const Relation& relation : AllRelations()) {
      if (!Holds(relation, machine_))
        return Wrong(
            Cat(path, ":", lines_[key_table::kRows[relation.target].name], ": ", Contradiction(relation, machine_)));
    }
    return std::move(machine_);
  }

 private:
  absl::Status ParseLine(std::string_view line, int number) {
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }))
      return Wrong("expected plain text with spaces and Unix line ends; found a control character");
    line = Trim(line);
    if (line.empty() || line[0] == '#') return absl::OkStatus();
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return Wrong(Cat("expected NAME = VALUE UNIT  # source; found '", line, "'"));
    const std::string_view name = Trim(line.substr(0, equals)), rest = Trim(line.substr(equals + 1));
    if (name == "machine" || name == "kind" || name == "family") {
      PALLADION_RETURN_IF_ERROR(Once(name, number));
      return ParseHead(name, rest);
    }
    const std::size_t row = RowOf(name);
    if (row == key_table::kCount) return Wrong(UnknownKey(name, nullptr));
    PALLADION_RETURN_IF_ERROR(Once(key_table::kRows[row].name, number));
    return ParseNumber(row, rest);
  }

  absl::Status Once(std::string_view name, int number) {
    const auto [at, is_new] = lines_.emplace(name, number);
    if (is_new) return absl::OkStatus();
    return Wrong(Cat("'", name, "' is there twice, the first time in line ", at->second, "; keep one"));
  }

  absl::Status ParseHead(std::string_view name, std::string_view value) {
    if (value.empty()) return Wrong(Cat("expected a word after '", name, " ='; found none"));
    if (name == "machine") machine_.name_ = std::string(value);
    if (name == "kind") machine_.device_kind_ = std::string(value);
    if (name != "family") return absl::OkStatus();
    for (const auto& [word, family] : kFamilies) {
      if (word == value) {
        machine_.family_ = family;
        return absl::OkStatus();
      }
    }
    return Wrong(Cat("expected hopper, blackwell or tpu; found '", value, "'"));
  }

  absl::Status ParseNumber(std::size_t row, std::string_view rest) {
    const KeyRow& key = key_table::kRows[row];
    if (lines_.count("family") == 0) return Wrong("expected the line 'family = ...' before the first number");
    if (!key.IsOf(machine_.family_))
      return Wrong(Cat("'", key.name, "' is no number of a machine of this family (", key.meaning, "); take it out"));
    const std::size_t hash = rest.find('#');
    PALLADION_ASSIGN_OR_RETURN(const Written written, ParseWritten(rest.substr(0, std::min(hash, rest.size()))));
    const Dimension dimension = written.unit == nullptr ? Dimension::kCount : written.unit->dimension;
    if (dimension != key.dimension)
      return Wrong(Cat("'", key.name, "' is in ", UnitsOf(key.dimension), "; found ",
                       written.unit == nullptr ? "no unit" : Cat("'", written.unit->spelled, "'")));
    Number number{.written = written.value};
    if (written.unit != nullptr) number.unit = written.unit->spelled;
    number.value = written.value * (written.unit == nullptr ? 1 : written.unit->factor);
    if (hash == std::string_view::npos)
      return Wrong(Cat("'", key.name, "' has no source: expected  # vendor [NAME]  or another word after the number"));
    PALLADION_RETURN_IF_ERROR(ParseSource(Trim(rest.substr(hash + 1)), number));
    machine_.numbers_[row] = std::move(number);
    return absl::OkStatus();
  }

  Machine machine_;
  std::map<std::string_view, int> lines_;  // of what has been read
};

absl::StatusOr<Machine> Machine::Parse(std::string_view text, std::string_view path) {
  return MachineParser().Parse(text, path);
}

std::string Machine::Print() const {
  const auto* family =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const auto& f) { return f.second == family_; });
  std::string text = Cat("machine = ", name_, "\nkind = ", device_kind_, "\nfamily = ", family->first, "\n");
  const auto padded = [](std::string column, std::size_t width) {
    return column.size() < width ? column + std::string(width - column.size(), ' ') : column;
  };
  std::string_view group;
  for (std::size_t row = 0; row < key_table::kCount; ++row) {
    if (!numbers_[row].has_value()) continue;
    const Number& number = *numbers_[row];
    const KeyRow& key = key_table::kRows[row];
    if (key.group() != group) text += "\n";
    group = key.group();
    const std::string value = Cat(PrintValue(number.written), number.unit.empty() ? "" : " ", number.unit);
    Append(&text, padded(Cat(padded(std::string(key.name), 29), " = ", value), 50), "  # ", Name(number.basis));
    if (!number.sources.empty()) Append(&text, " [", absl::StrJoin(number.sources, ", "), "]");
    if (!number.note.empty()) Append(&text, ": ", number.note);
    text += "\n";
  }
  return text;
}

}  // namespace palladion::machines
