#include "emu/front/reports/machines_format.h"

#include <algorithm>

#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::reports {
namespace {

using machines::Family;
using machines::key_table::kRows;
namespace keys = machines::key_table;

std::string_view FamilyName(Family family) {
  return family == Family::kTpu ? "tpu" : family == Family::kHopper ? "hopper" : "blackwell";
}

std::string Padded(std::string text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

int CountOf(const machines::Machine& machine, machines::Basis basis) {
  int count = 0;
  for (std::size_t row = 0; row < keys::kCount; ++row)
    count += machine.At(row).has_value() && machine.At(row)->basis == basis ? 1 : 0;
  return count;
}

void AddMachine(const machines::Machine& machine, JsonWriter& json) {
  json.Open('{').Key("name").String(machine.name()).Key("kind").String(machine.device_kind());
  json.Key("family").String(FamilyName(machine.family())).Key("numbers").Open('[');
  for (std::size_t row = 0; row < keys::kCount; ++row) {
    if (!machine.At(row).has_value()) continue;
    const machines::Number& number = *machine.At(row);
    json.Open('{')
        .Key("name")
        .String(kRows[row].name)
        .Key("value")
        .Real(number.written)
        .Key("unit")
        .String(number.unit);
    json.Key("base_value").Real(number.value).Key("base_unit").String(machines::BaseUnit(kRows[row].dimension));
    json.Key("basis").String(machines::Name(number.basis)).Key("sources").Open('[');
    for (const std::string& source : number.sources) json.String(source);
    json.Close(']').Key("note").String(number.note).Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace

std::string MachinesText() {
  std::string text;
  for (const machines::Machine& machine : machines::AllMachines()) {
    int all = 0;
    std::string by_basis;
    for (const machines::BasisRow& basis : machines::AllBases()) {
      const int count = CountOf(machine, basis.basis);
      all += count;
      if (count > 0) Append(&by_basis, by_basis.empty() ? "" : ", ", count, " ", basis.name);
    }
    Append(&text, Padded(machine.name(), 6), Padded(machine.device_kind(), 24), all, " numbers: ", by_basis, "\n");
  }
  return text + "`palladion machines show NAME` has them, with their sources\n";
}

std::string MachinesJson() {
  JsonWriter json;
  json.Open('{').Key("machines").Open('[');
  for (const machines::Machine& machine : machines::AllMachines()) AddMachine(machine, json);
  json.Close(']').Key("numbers").Open('[');
  for (const machines::KeyRow& key : kRows) {
    json.Open('{').Key("name").String(key.name).Key("unit").String(machines::BaseUnit(key.dimension));
    json.Key("families").Open('[');
    for (const Family family : {Family::kHopper, Family::kBlackwell, Family::kTpu}) {
      if (key.IsOf(family)) json.String(FamilyName(family));
    }
    json.Close(']').Key("meaning").String(key.meaning).Close('}');
  }
  json.Close(']').Key("bases").Open('[');
  for (const machines::BasisRow& basis : machines::AllBases())
    json.Open('{').Key("name").String(basis.name).Key("meaning").String(basis.meaning).Close('}');
  json.Close(']').Key("sources").Open('[');
  for (const machines::Source& source : machines::AllSources())
    json.Open('{').Key("name").String(source.name).Key("meaning").String(source.meaning).Close('}');
  return json.Close(']').Close('}').Take();
}

std::string MachineJson(const machines::Machine& machine) {
  JsonWriter json;
  AddMachine(machine, json);
  return json.Take();
}

}  // namespace palladion::reports
