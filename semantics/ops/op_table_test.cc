// The registry as a whole: every row is complete, its paragraph exists in docs/spec, and a conformance case shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PALLADION_SOURCE_DIR;

std::string FullName(const OpRow& row) {
  return row.dialect.empty() ? std::string(row.name) : Cat(row.dialect, ".", row.name);
}

// "elementwise.md#add" for every heading "## add" of every page.
std::set<std::string> Paragraphs() {
  std::set<std::string> anchors;
  for (const auto& page : fs::directory_iterator(kRoot / "docs" / "spec")) {
    std::ifstream in(page.path());
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("## ")) anchors.insert(Cat(page.path().filename().string(), "#", line.substr(3)));
    }
  }
  return anchors;
}

std::set<std::string> AnchorsOfCases() {
  const std::string kSpec = "# spec: ";
  std::set<std::string> anchors;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "conformance" / "cases")) {
    if (entry.path().extension() != ".case") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(kSpec)) anchors.insert(line.substr(kSpec.size()));
    }
  }
  return anchors;
}

std::vector<std::string> KernelsOfCases() {
  const std::string kBegin = "\n--- kernel\n";
  std::vector<std::string> kernels;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "conformance" / "cases")) {
    if (entry.path().extension() != ".case") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
      at += kBegin.size();
      kernels.push_back(text.substr(at, std::min(text.find("\n--- ", at), text.find("\n=== ", at)) - at));
    }
  }
  return kernels;
}

// Verdicts rest on these: an operation without the statement is not taken for harmless.
TEST(OpTable, OperationsThatSynchroniseSayHow) {
  for (const OpRow& row : AllOps()) {
    SCOPED_TRACE(FullName(row));
    const bool later = row.status == OpStatus::kUnsupported;
    EXPECT_TRUE(later || !MeetsOthers(row) || row.waits != Waits::kUnsaid);
    if (row.effect != Effect::kSynchronises && row.asks_port != AsksPort::kAlways && !later) continue;
    EXPECT_NE(row.signals, Signals::kUnsaid);
    EXPECT_NE(row.decides, Decides::kUnsaid);
    if (later && row.effect == Effect::kSynchronises) {
      EXPECT_EQ(row.signals, Signals::kMay) << "until it is done";
      EXPECT_EQ(row.decides, Decides::kAlways) << "until it is done";
    }
  }
}

TEST(OpTable, WhatIsUnsaidOfASynchronisingOperationIsTheWorst) {
  OpRow row{.effect = Effect::kSynchronises};
  EXPECT_TRUE(MayWaitFor(row, Waits::kLaunch));
  EXPECT_TRUE(MayWaitFor(row, Waits::kSignal));
  row.waits = Waits::kSignal;
  EXPECT_FALSE(MayWaitFor(row, Waits::kLaunch));
  EXPECT_TRUE(MayWaitFor(row, Waits::kSignal));
  EXPECT_FALSE(MayWaitFor({}, Waits::kSignal)) << "an operation on values";
}

TEST(OpTable, OperationsOnValuesConcernNoOtherAgent) {
  for (const OpRow& row : AllOps()) {
    SCOPED_TRACE(FullName(row));
    if (row.prepare == nullptr) {
      EXPECT_EQ(row.in_ring, InRing::kByFlow) << "said of operations on values only";
      continue;
    }
    EXPECT_EQ(row.effect, Effect::kPure);
    EXPECT_EQ(row.asks_port, AsksPort::kNever);
    EXPECT_EQ(row.access, RefAccess::kNone);
    EXPECT_EQ(row.allocates, Allocates::kNothing);
    EXPECT_EQ(row.loops, Loops::kUnsaid);
  }
}

TEST(OpTable, ControlSaysHowItRunsItsRegions) {
  for (const OpRow& row : AllOps()) {
    SCOPED_TRACE(FullName(row));
    if (row.status != OpStatus::kImplemented) continue;
    EXPECT_EQ(row.loops == Loops::kUnsaid, row.effect != Effect::kControl);
  }
}

// A row that is said to read or write says how: groups of operations (loads, stores, atomics) are asked of the rows.
TEST(OpTable, OperationsThatReadOrWriteSayHow) {
  for (const OpRow& row : AllOps()) {
    SCOPED_TRACE(FullName(row));
    if (row.status != OpStatus::kImplemented) continue;
    const bool touches =
        row.effect == Effect::kReads || row.effect == Effect::kWrites || row.effect == Effect::kReadsWrites;
    EXPECT_EQ(row.access != RefAccess::kNone || row.allocates == Allocates::kEnds, touches);
    EXPECT_TRUE(row.effect != Effect::kAllocates || row.allocates != Allocates::kNothing);
    EXPECT_TRUE(row.access != RefAccess::kAtomic || row.decides == Decides::kAlways);
  }
}

// What an operation names, in any of its instances: memory, and barriers or semaphores.
struct Named {
  bool memory = false, signalled = false;
};

void LookAt(const Kernel& kernel, const Region& region, std::map<const OpRow*, Named>* named) {
  for (const Instr& op : region.body) {
    Named& of = (*named)[FindOp(op.dialect, op.name)];
    for (const Arg& arg : op.args) {
      const Type type = TypeOfArg(kernel, arg);
      if (!type.is_ref()) continue;
      (type.element == ElementKind::kData ? of.memory : of.signalled) = true;
    }
    for (const Region& inner : op.regions) LookAt(kernel, inner, named);
  }
}

std::map<const OpRow*, Named> NamedInCases() {
  std::map<const OpRow*, Named> named;
  for (const std::string& text : KernelsOfCases()) {
    const absl::StatusOr<Module> module = Parse(text);
    if (!module.ok()) continue;  // the case is of that
    for (const Kernel& kernel : module->kernels) LookAt(kernel, kernel.bodies[0].region, &named);
  }
  return named;
}

// Which operations may end a wait is a fact of the rows: a wrong one would hide which agent is stuck, and why.
TEST(OpTable, OperationsThatSignalNameWhatTheySignal) {
  const std::map<const OpRow*, Named> named = NamedInCases();
  int signalling = 0;
  for (const OpRow& row : AllOps()) {
    const auto found = named.find(&row);
    if (found == named.end() || row.signals != Signals::kMay || !found->second.memory) continue;
    EXPECT_TRUE(found->second.signalled) << FullName(row) << " names memory, and no barrier or semaphore in any case";
    ++signalling;
  }
  EXPECT_GT(signalling, 3);
}

TEST(OpTable, EveryRowIsCompleteAndFound) {
  ASSERT_GT(AllOps().size(), 150u);
  for (const OpRow& row : AllOps()) {
    SCOPED_TRACE(FullName(row));
    EXPECT_EQ(FindOp(row.dialect, row.name), &row) << "two rows have this name";
    if (row.status == OpStatus::kUnsupported) {
      EXPECT_FALSE(row.reason.empty());
      EXPECT_NE(row.backends.bits, 0) << "what no backend accepts needs no row";
      continue;
    }
    EXPECT_TRUE(row.reason.empty());
    EXPECT_NE(row.verify, nullptr);
    EXPECT_NE(row.prepare == nullptr, row.lower == nullptr) << "exactly one of prepare and lower";
  }
}

TEST(OpTable, UnknownNamesAreNotFound) {
  EXPECT_EQ(FindOp("", "ad"), nullptr);
  EXPECT_EQ(FindOp("", "addd"), nullptr);
  EXPECT_EQ(FindOp("tpu", "add"), nullptr);
  EXPECT_EQ(FindOp("", "reciprocal"), nullptr);
  EXPECT_NE(FindOp("tpu", "reciprocal"), nullptr);
}

TEST(OpTable, EveryRowHasItsParagraph) {
  const std::set<std::string> paragraphs = Paragraphs();
  for (const OpRow& row : AllOps()) {
    EXPECT_TRUE(paragraphs.count(std::string(row.spec)) != 0) << "docs/spec/" << row.spec << " has no such heading";
    EXPECT_TRUE(row.spec.ends_with(Cat("#", FullName(row)))) << row.spec << " is not about " << FullName(row);
  }
}

TEST(OpTable, EveryImplementedRowHasACase) {
  const std::set<std::string> cases = AnchorsOfCases();
  for (const OpRow& row : AllOps()) {
    if (row.status != OpStatus::kImplemented) continue;
    EXPECT_TRUE(cases.count(std::string(row.spec)) != 0)
        << "no case in conformance/cases has '# spec: " << row.spec << "'";
  }
}

}  // namespace
}  // namespace palladion
