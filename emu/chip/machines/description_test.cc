// Machine descriptions: the shipped files, what the parser refuses, what a what-if changes. What the numbers of TPUs
// are held against is JAX's table (python/tests/test_machines.py).
#include "emu/chip/machines/description.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "emu/chip/machines/chip.h"
#include "emu/chip/machines/embedded.h"
#include "emu/chip/machines/relations.h"
#include "emu/chip/machines/units.h"
#include "semantics/base/cat.h"

namespace palladion::machines {
namespace {

constexpr std::string_view kHead = "machine = toy\nkind = A Toy\nfamily = hopper\n";

std::string ErrorOf(const std::string& lines) {
  const absl::StatusOr<Machine> machine = Machine::Parse(Cat(kHead, lines), "toy.machine");
  return machine.ok() ? "" : std::string(ToStd(machine.status().message()));
}

void ExpectIn(const std::string& part, const std::string& text) {
  EXPECT_NE(std::string::npos, text.find(part)) << "'" << part << "' is not in '" << text << "'";
}

Machine The(std::string_view name) { return **FindMachine(name); }

std::string SetError(std::string_view name, const std::vector<std::string>& changes) {
  Machine machine = The(name);
  const std::string before = machine.Print();
  const absl::Status status = machine.Set(changes);
  if (!status.ok()) {
    EXPECT_EQ(before, machine.Print()) << "a change that was refused was made";
  }
  return std::string(ToStd(status.message()));
}

TEST(Machines, TheirTextsAreCanonical) {
  ASSERT_EQ(8u, AllMachines().size());
  for (const EmbeddedMachine& file : EmbeddedMachines()) {
    const absl::StatusOr<Machine> machine = Machine::Parse(file.text, file.path);
    ASSERT_TRUE(machine.ok()) << machine.status();
    EXPECT_EQ(file.text, machine->Print());
    EXPECT_EQ(file.path, Cat("emu/chip/machines/", machine->name(), ".machine"));
  }
}

TEST(Machines, EveryNumberHasASourceAndEverySourceANumber) {
  std::set<std::string> used;
  std::set<std::size_t> rows;
  for (const Machine& machine : AllMachines()) {
    for (std::size_t row = 0; row < key_table::kCount; ++row) {
      if (!machine.At(row).has_value()) continue;
      rows.insert(row);
      const Number& number = *machine.At(row);
      EXPECT_NE(Basis::kWhatIf, number.basis) << machine.name() << " " << key_table::kRows[row].name;
      EXPECT_TRUE(!number.sources.empty() || !number.note.empty()) << key_table::kRows[row].name;
      EXPECT_LT(0, number.value);
      used.insert(number.sources.begin(), number.sources.end());
    }
  }
  used.insert("calibrate");  // of files that it writes
  for (const Source& source : AllSources()) EXPECT_EQ(1u, used.count(source.name)) << source.name << " is used nowhere";
  for (std::size_t row = 0; row < key_table::kCount; ++row)
    EXPECT_EQ(1u, rows.count(row)) << "no machine has " << key_table::kRows[row].name;
}

TEST(Machines, NumbersComeInTheUnitThatIsRequested) {
  const Machine h100 = The("h100");
  EXPECT_EQ(16.9, h100.Get(Key<Cycles>("wgmma.floor"))->value());
  EXPECT_EQ(50 * 1024 * 1024, h100.Get(Key<Bytes>("l2.size"))->value());
  EXPECT_EQ(1240, h100.Get(Key<Nanoseconds>("launch.empty"))->value());
  EXPECT_EQ(3.35e12, h100.Get(Key<BytesPerSecond>("dram.peak"))->value());
  EXPECT_EQ(2, (Bytes(256) / *h100.Get(Key<BytesPerCycle>("smem.port"))).value());
  EXPECT_EQ(Nanoseconds(1000), Cycles(1500) / Hertz(1.5e9));
  EXPECT_EQ(Cycles(1500), Nanoseconds(1000) * Hertz(1.5e9));
}

TEST(Machines, WhatIsAbsentIsAnErrorThatSaysSo) {
  const absl::Status unknown = The("h100").Get(Key<Cycles>("cluster.barrier")).status();
  EXPECT_EQ(absl::StatusCode::kNotFound, unknown.code());
  ExpectIn("h100 has no number cluster.barrier (arrive and wait of a cluster): it is not published",
           std::string(ToStd(unknown.message())));
  ExpectIn("v5e is no machine with a number wgmma.floor",
           std::string(ToStd(The("v5e").Get(Key<Cycles>("wgmma.floor")).status().message())));
  EXPECT_FALSE(The("b200").Find(Key<Hertz>("clock.loaded")).has_value());
  ExpectIn("no machine is called 'h101'; there are b200, h100, h200, v4",
           std::string(ToStd(FindMachine("h101").status().message())));
}

TEST(Machines, ChipsAreReadFromThem) {
  // The CUDA C++ Programming Guide and JAX's tpu_info.py.
  const Chip* h100 = FindChip("h100");
  ASSERT_NE(nullptr, h100);
  EXPECT_EQ(132, h100->cores);
  EXPECT_EQ(9, h100->generation);
  EXPECT_EQ(227 * 1024, h100->smem_bytes);
  EXPECT_EQ(std::int64_t{81559} * 1024 * 1024, h100->hbm_bytes);
  EXPECT_FALSE(h100->is_tpu);
  const Chip* v7x = FindChip("v7x");
  ASSERT_NE(nullptr, v7x);
  EXPECT_EQ("TPU7x", v7x->device_kind);
  EXPECT_EQ(128, v7x->accumulators);
  EXPECT_EQ(64 * 1024 * 1024, v7x->vmem_bytes);
  EXPECT_EQ(1024 * 1024, v7x->smem_bytes);
  EXPECT_EQ(103'000'000'000, v7x->hbm_bytes);
  EXPECT_EQ(0, FindChip("v5e")->accumulators);
  EXPECT_EQ(34'400'000'000, FindChip("v4")->hbm_bytes);
  EXPECT_EQ(17'200'000'000, FindChip("v5e")->hbm_bytes);
}

TEST(Machines, TheLawsAreThePublishedIntervals) {
  // flash-vla's cycles of one m64nNk16, and semianalysis' of one tcgen05.mma, M=128 of one SM.
  const Machine h100 = The("h100"), b200 = The("b200");
  const auto cycles = [](const Machine& machine, Key<Cycles> key) { return machine.Get(key)->value(); };
  const std::vector<std::pair<int, double>> wgmma = {{8, 18.9},  {16, 20.7}, {32, 24.7},  {64, 32.8},
                                                     {96, 48.7}, {128, 65},  {192, 97.1}, {256, 129.3}};
  for (const auto& [n, measured] : wgmma) {
    const double law =
        std::max(cycles(h100, Key<Cycles>("wgmma.floor")) + n * cycles(h100, Key<Cycles>("wgmma.smem_per_n")),
                 n * cycles(h100, Key<Cycles>("wgmma.per_n")));
    EXPECT_NEAR(measured, law, 0.01 * measured) << "N=" << n;
  }
  for (const auto& [n, measured] : std::vector<std::pair<int, double>>{{64, 48}, {96, 56}, {128, 64}, {256, 128}}) {
    const double law = std::max(
        cycles(b200, Key<Cycles>("tcgen05.ss128_floor")) + n * cycles(b200, Key<Cycles>("tcgen05.ss128_smem_per_n")),
        n * cycles(b200, Key<Cycles>("tcgen05.ss128_per_n")));
    EXPECT_EQ(measured, law) << "N=" << n;
  }
}

TEST(MachineParser, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ("", ErrorOf("\n# a comment\nl2.size = 50 MiB  # vendor [nvidia]\n"));
  ExpectIn("toy.machine:4: there is no number 'l2.sise'; the nearest are l2.size",
           ErrorOf("l2.sise = 1 MiB # vendor [nvidia]"));
  ExpectIn("toy.machine:4: 'l2.size' is in B, KiB, MiB, GiB, MB or GB; found 'ns'",
           ErrorOf("l2.size = 1 ns # vendor [nvidia]"));
  ExpectIn("found no unit", ErrorOf("l2.size = 1 # vendor [nvidia]"));
  ExpectIn("unknown unit 'mib'", ErrorOf("l2.size = 1 mib # vendor [nvidia]"));
  ExpectIn("toy.machine:5: 'l2.size' is there twice, the first time in line 4",
           ErrorOf("l2.size = 1 MiB # vendor [nvidia]\nl2.size = 1 MiB # vendor [nvidia]"));
  ExpectIn("expected a number above zero", ErrorOf("l2.size = 0 MiB # vendor [nvidia]"));
  for (const std::string number : {"-1", "nan", "inf", "1e999", "x", "", "0x10"})
    EXPECT_NE("", ErrorOf(Cat("l2.size = ", number, " MiB # vendor [nvidia]"))) << number;
  ExpectIn("'l2.size' has no source", ErrorOf("l2.size = 1 MiB"));
  ExpectIn("'vendor' needs a source", ErrorOf("l2.size = 1 MiB # vendor: by heart"));
  ExpectIn("'fitted' (here, to what the note says) needs a note", ErrorOf("l2.size = 1 MiB # fitted [nvidia]"));
  ExpectIn("one of vendor, measured", ErrorOf("l2.size = 1 MiB # guessed"));
  ExpectIn("unknown source 'mine'", ErrorOf("l2.size = 1 MiB # vendor [mine]"));
  ExpectIn("expected ] after", ErrorOf("l2.size = 1 MiB # vendor [nvidia"));
  ExpectIn("expected ':' and a note", ErrorOf("l2.size = 1 MiB # vendor [nvidia] a note"));
  ExpectIn("no number of a machine of this family", ErrorOf("mxu.count = 1 # vendor [nvidia]"));
  ExpectIn("expected NAME = VALUE UNIT", ErrorOf("l2.size"));
  ExpectIn("control character", ErrorOf("l2.size = 1 MiB # vendor [nvidia]\r"));
  ExpectIn("expected hopper, blackwell or tpu; found 'ampere'",
           std::string(ToStd(Machine::Parse("machine = a\nfamily = ampere\n", "a").status().message())));
  ExpectIn("expected a line 'kind = ...'",
           std::string(ToStd(Machine::Parse("machine = a\nfamily = tpu\n", "a").status().message())));
  ExpectIn("expected the line 'family = ...' before",
           std::string(ToStd(Machine::Parse("l2.size = 1 MiB # vendor [nvidia]", "a").status().message())));
}

TEST(MachineParser, FindsNumbersThatContradictEachOther) {
  const std::string rates =
      "chip.cores = 100 # vendor [nvidia]\nclock.peak = 1 GHz # vendor [nvidia]\n"
      "tensor.bf16 = 1000 FLOP/cycle # vendor [nvidia]\n";
  EXPECT_EQ("", ErrorOf(rates + "peak.bf16 = 100.9 TFLOP/s # vendor [nvidia]\n"));
  EXPECT_EQ(
      "toy.machine:7: peak.bf16 is 102 TFLOP/s, but chip.cores * tensor.bf16 * clock.peak is 100 TFLOP/s, and may "
      "be 1 % off; one of them is wrong",
      ErrorOf(rates + "peak.bf16 = 102 TFLOP/s # vendor [nvidia]\n"));
  EXPECT_NE("", ErrorOf(rates + "peak.bf16 = 98 TFLOP/s # vendor [nvidia]\n"));
  ExpectIn("l2.effective is 60 MB, but l2.size is 50 MB, and it cannot be more",
           ErrorOf("l2.size = 50 MB # vendor [nvidia]\nl2.effective = 60 MB # vendor [nvidia]"));
}

TEST(MachineParser, EveryRelationIsThatOfSomeMachine) {
  for (const Relation& relation : AllRelations()) {
    bool seen = false;
    for (const Machine& machine : AllMachines()) seen = seen || Product(relation, machine).has_value();
    EXPECT_TRUE(seen) << key_table::kRows[relation.target].name;
  }
}

// A file with one byte changed, left out or doubled is an error with its line, or reads back as what it prints.
TEST(MachineParser, ABrokenFileIsAnErrorOrAnotherMachine) {
  std::mt19937 random(1);
  int errors = 0, machines = 0;
  for (const EmbeddedMachine& file : EmbeddedMachines()) {
    for (int i = 0; i < 90; ++i) {
      std::string text(file.text);
      const std::size_t at = random() % text.size();
      if (i % 3 == 0) text[at] = static_cast<char>(random() % 256);
      if (i % 3 == 1) text.erase(at, 1 + random() % 40);
      if (i % 3 == 2) text.insert(at, text.substr(random() % text.size(), 60));
      const absl::StatusOr<Machine> machine = Machine::Parse(text, "broken");
      if (!machine.ok()) {
        ++errors;
        ExpectIn("broken:", std::string(ToStd(machine.status().message())));
        continue;
      }
      ++machines;
      const absl::StatusOr<Machine> again = Machine::Parse(machine->Print(), "again");
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(machine->Print(), again->Print());
    }
  }
  EXPECT_LT(50, errors);
  EXPECT_LT(50, machines);
}

TEST(WhatIf, WhatFollowsFollowsInProportion) {
  Machine h100 = The("h100");
  ASSERT_TRUE(h100.Set({"chip.cores=66", "dram.peak=1.675 TB/s", "l2.mib=25"}).ok());
  EXPECT_DOUBLE_EQ(989.4e12 / 2, h100.Get(Key<FlopsPerSecond>("peak.bf16"))->value());
  EXPECT_DOUBLE_EQ(3.17e12 / 2, h100.Get(Key<BytesPerSecond>("dram.achieved"))->value());
  EXPECT_EQ(33, h100.Get(Key<Count>("cluster.of_2"))->value());
  EXPECT_EQ(25 * 1024 * 1024, h100.Get(Key<Bytes>("l2.size"))->value());
  EXPECT_EQ(16.9, h100.Get(Key<Cycles>("wgmma.floor"))->value());
  ExpectIn("# whatif: set; it is 132", h100.Print());
  const absl::StatusOr<Machine> again = Machine::Parse(h100.Print(), "what-if");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(h100.Print(), again->Print());
}

TEST(WhatIf, OfWhatIsNotThereIsAnErrorWithTheNearest) {
  EXPECT_EQ("h100 has no number 'l2.sise'; the nearest are l2.size, l2.line, l2.slices",
            SetError("h100", {"l2.sise=1MiB"}));
  ExpectIn("v5e has no number 'l2.size'; the nearest are", SetError("v5e", {"l2.size=1MiB"}));
  ExpectIn("h100 has no number 'l2.us'", SetError("h100", {"l2.us=3"}));
  ExpectIn("expected NAME=VALUE, as l2.size=25MiB; found 'l2.size'", SetError("h100", {"l2.size"}));
  ExpectIn("l2.size: expected a number above zero", SetError("h100", {"l2.size=many"}));
  ExpectIn("found 'ns'", SetError("h100", {"l2.size=3ns"}));
  ExpectIn("l2.size is set twice", SetError("h100", {"l2.size=3MiB", "l2.mib=3"}));
  ExpectIn("peak.bf16 is 3 TFLOP/s, but", SetError("h100", {"peak.bf16=3"}));
  ExpectIn("clock.loaded is 3 GHz, but clock.short is 1.755 GHz", SetError("h100", {"clock.loaded=3GHz"}));
}

TEST(WhatIf, AnUnpublishedNumberCanBeGiven) {
  Machine h100 = The("h100");
  ASSERT_TRUE(h100.Set({"cluster.barrier=370"}).ok());
  EXPECT_EQ(370, h100.Get(Key<Cycles>("cluster.barrier"))->value());
  ExpectIn("# whatif: set; it is not published", h100.Print());
}

}  // namespace
}  // namespace palladion::machines
