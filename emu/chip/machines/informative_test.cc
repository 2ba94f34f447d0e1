// Every number of a description is read somewhere in the library, or is marked as informational only.
#include "emu/chip/machines/informative.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "emu/chip/machines/keys.h"

namespace palladion::machines {
namespace {

namespace fs = std::filesystem;

// The names in Key<Unit>("name") of every source that is no test, or of those alone that are Triton's, or not.
std::set<std::string> ReadKeys(std::optional<bool> of_triton = std::nullopt) {
  std::set<std::string> keys;
  const std::regex key(R"re(Key<[A-Za-z:]+>\(\s*"([a-z0-9_.]+)"\))re");
  for (const auto& entry : fs::recursive_directory_iterator(PALLADION_SOURCE_DIR "/emu")) {
    const std::string path = entry.path().string();
    const bool source = entry.path().extension() == ".cc" || entry.path().extension() == ".h";
    if (!source || path.find("_test") != std::string::npos) continue;
    if (of_triton.value_or(false) != (of_triton.has_value() && path.find("/timing/triton/") != std::string::npos))
      continue;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), key), end; at != end; ++at) keys.insert((*at)[1]);
  }
  keys.erase("name");
  return keys;
}

TEST(Informative, EveryNumberIsReadOrMarkedAsReportedOnly) {
  const std::set<std::string> read = ReadKeys();
  ASSERT_GT(read.size(), 50u) << "the sources were not found";
  for (const KeyRow& row : key_table::kRows) {
    const std::string name(row.name);
    EXPECT_NE(read.count(name) != 0, IsInformative(name))
        << name << (IsInformative(name) ? " is read now: take it out of" : " is read by nothing: add it to")
        << " emu/chip/machines/informative.cc";
  }
  for (const std::string_view name : InformativeKeys())
    EXPECT_TRUE(std::any_of(std::begin(key_table::kRows), std::end(key_table::kRows),
                            [&](const KeyRow& row) { return row.name == name; }))
        << name << " is no number of a description";
}

TEST(Informative, WhatIsForTritonIsReadByNoOther) {
  const std::set<std::string> triton = ReadKeys(true), others = ReadKeys(false);
  for (const KeyRow& row : key_table::kRows) {
    const std::string name(row.name);
    EXPECT_EQ(IsForTriton(name), triton.count(name) > 0 && others.count(name) == 0) << name;
  }
}

TEST(Informative, WhatIsShownStaysADescription) {
  for (const Machine& machine : AllMachines()) {
    const std::string text = machine.Print() + InformativeText(machine);
    const absl::StatusOr<Machine> again = Machine::Parse(text, "shown");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->Print(), machine.Print());
  }
  EXPECT_NE(InformativeText(**FindMachine("h100")).find("# informative: clock.loaded\n"), std::string::npos);
  EXPECT_EQ(InformativeText(**FindMachine("h100")).find("tmem.lanes"), std::string::npos) << "it has none";
}

}  // namespace
}  // namespace palladion::machines
