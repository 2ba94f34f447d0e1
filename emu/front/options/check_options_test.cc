#include "emu/front/options/check_options.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/base/cat.h"

namespace palladion::options {
namespace {

// What the members of CheckOptions are that rows set, as text.
std::string Members(const CheckOptions& options) {
  return Cat(options.seeds, " ", options.exhaustive, " ", options.replay, " ", static_cast<int>(options.fill.kind), " ",
             options.races, " ", options.definedness, " ", options.contracts, " ", options.strict, " ",
             Name(options.proxy), " ", Name(options.links), " ", options.run.padded_bounds, " ", options.all_seeds, " ",
             options.run.loop_budget, " ", options.step_budget, " ", static_cast<int>(options.run.legality), " ",
             options.threads, " ", options.parts.has_value(), " ", static_cast<bool>(options.interrupted));
}

// Values that fit and are not the default.
std::string Another(const CheckOption& option) {
  switch (option.kind) {
    case ValueKind::kSwitch:
      return option.fallback == "1" ? "0" : "1";
    case ValueKind::kNumber:
      return "7";
    case ValueKind::kSeconds:
      return "1.5";
    case ValueKind::kChoice:
      return std::string(option.Choices().back());
    case ValueKind::kText:
      return option.name == "fill" ? "zero" : option.name == "parts" ? "[]" : "s2:random";
  }
  return "";
}

std::string RefusalOf(std::string_view named) {
  const std::string_view list[] = {named};
  return std::string(CheckOptionsOf(list).status().message());
}

TEST(CheckOptionTable, EveryRowSetsOneMemberAndItsFallbackIsTheDefault) {
  std::set<std::string> seen = {Members({})};
  for (const CheckOption& option : CheckOptionTable()) {
    CheckOptions options;
    ASSERT_TRUE(Set(option, Another(option), option.name, options).ok()) << option.name;
    EXPECT_TRUE(seen.insert(Members(options)).second) << option.name << " sets what another row sets, or nothing";
    CheckOptions plain;
    if (option.fallback.empty()) continue;
    ASSERT_TRUE(Set(option, option.fallback, option.name, plain).ok()) << option.name;
    EXPECT_EQ(Members({}), Members(plain)) << option.name;
  }
}

TEST(CheckOptionTable, AFlagIsTheNameWithDashes) {
  for (const CheckOption& option : CheckOptionTable()) {
    std::string flag(option.name);
    for (char& c : flag) c = c == '_' ? '-' : c;
    EXPECT_EQ(flag, option.flag);
    EXPECT_EQ(option.kind == ValueKind::kSwitch, option.values.empty()) << option.name;
  }
}

TEST(CheckOptionTable, ValuesThatAreNoneAreRefusedWithWhatTheyMustBe) {
  EXPECT_EQ("seeds must be 1 or more, below 2^63: a check that runs nothing is no pass; found '0'",
            RefusalOf("seeds=0"));
  EXPECT_EQ("budget must be 1 or more, below 2^63; found '0'", RefusalOf("budget=0"));
  EXPECT_EQ("seeds must be 1 or more, below 2^63; found '4 '", RefusalOf("seeds=4 "));
  EXPECT_EQ("threads must be 4096 or less; found '5000'", RefusalOf("threads=5000"));
  EXPECT_EQ("races must be 0 or 1; found 'yes'", RefusalOf("races=yes"));
  EXPECT_EQ("links must be unordered or ordered; found ''", RefusalOf("links"));
  EXPECT_EQ("legality must be on, off or compiler; found 'On'", RefusalOf("legality=On"));
  for (const char* seconds : {"seconds=-1", "seconds=nan", "seconds=inf", "seconds="})
    EXPECT_NE("", RefusalOf(seconds)) << seconds;
  EXPECT_NE(std::string::npos, RefusalOf("fill=ones").find("fill must be nan, zero, intmax or random:SEED"));
  EXPECT_EQ(0u, RefusalOf("sedes=4").find("a check has no option 'sedes'; it has seeds, exhaustive, "));
}

// The choices that help lists are the names of the values.
template <class Choice>
void ExpectChoices(std::string_view option, const std::vector<Choice>& values) {
  std::vector<std::string_view> names;
  for (const Choice value : values) names.push_back(Name(value));
  EXPECT_EQ(FindCheckOption(option)->Choices(), names);
  EXPECT_EQ(FindCheckOption(option)->fallback, names[0]);
}

TEST(CheckOptionTable, ChoicesAreTheNamesOfWhatTheyStandFor) {
  ExpectChoices<ProxyRule>("proxy", {ProxyRule::kPallas, ProxyRule::kStrict, ProxyRule::kLax});
  ExpectChoices<LinkOrder>("links", {LinkOrder::kUnordered, LinkOrder::kOrdered});
  for (const std::string_view name : FindCheckOption("proxy")->Choices()) {
    const std::string named = Cat("proxy=", name);
    const std::string_view list[] = {named};
    EXPECT_EQ(name, Name(CheckOptionsOf(list)->proxy));
  }
}

TEST(CheckOptionTable, ARunHasFewerAndThoseOfAReplayWithIt) {
  const std::string_view both[] = {"budget=9", "legality=off"}, check[] = {"seeds=2"};
  EXPECT_EQ(9, RunOptionsOf(both)->run.loop_budget);
  EXPECT_EQ(LegalityMode::kOff, RunOptionsOf(both)->run.legality);
  EXPECT_EQ("a run has no option 'seeds'; it has replay, fill, proxy, links, bounds, budget, legality",
            RunOptionsOf(check).status().message());
  const std::string_view alone[] = {"links=ordered"}, with[] = {"links=ordered", "replay=s2"};
  EXPECT_EQ("links says how the check ran whose schedule is replayed: it goes with replay",
            RunOptionsOf(alone).status().message());
  EXPECT_EQ("s2", RunOptionsOf(with)->replay);
  EXPECT_EQ(LinkOrder::kOrdered, CheckOptionsOf(alone)->links);  // of a check it says something by itself
}

}  // namespace
}  // namespace palladion::options
