// The rules of definedness against the operations themselves, for every value operation of every conformance kernel and
// some more. An element is undefined when its content may be anything; so the operation runs on different contents:
//  - sound: a result element that comes out different is marked, and no mark depends on what undefined elements hold;
//  - exact: a marked element does come out different for some contents and some values of the defined elements;
//  - a mark is one that went in, and of several the smallest.
// Not caught: a mark that only a very rare value of a type would need.
#include "semantics/registry/shadow.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/sanitized_test_util.h"
#include "semantics/ops/flow/shadow_test_util.h"
#include "semantics/port/machine.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

using namespace shadow_testing;
namespace fs = std::filesystem;

constexpr std::size_t kMaxTestElements = 1024;  // of one array: larger cases show nothing more

std::string FullName(const OpRow& row) { return Cat(row.dialect, row.dialect.empty() ? "" : ".", row.name); }

// ---- The operations that are tested

// What no conformance case has: scalars among arrays, axes in the middle, several results.
const Form kForms[] = {
    {{"f32[3,4]", "f32[]"}, "add", {"f32[3,4]"}},
    {{"f32[]", "f32[3,4]"}, "pow", {"f32[3,4]"}},
    {{"f32[]", "f32[3,4]"}, "nextafter", {"f32[3,4]"}},
    {{"f32[]", "f32[3,4]", "f32[3,4]"}, "clamp", {"f32[3,4]"}},
    {{"bool[8]", "bool[8]"}, "and", {"bool[8]"}},
    {{"bool[8]", "bool[]"}, "or", {"bool[8]"}},
    {{"bool[8]", "bool[8]"}, "xor", {"bool[8]"}},
    {{"bool[3,4]", "f32[3,4]", "f32[]"}, "select_n", {"f32[3,4]"}},
    {{"bool[3,4]", "f32[]", "f32[3,4]"}, "select_n", {"f32[3,4]"}},
    {{"bool[3,4]", "f32[]", "f32[]"}, "select_n", {"f32[3,4]"}},
    {{"bool[]", "f32[3,4]", "f32[3,4]"}, "select_n", {"f32[3,4]"}},
    {{"i32[3,4]", "f32[3,4]", "f32[]", "f32[3,4]"}, "select_n", {"f32[3,4]"}},
    {{"i32[]", "f32[3,4]", "f32[3,4]", "f32[]"}, "select_n", {"f32[3,4]"}},
    {{"i16[2,3,4]"}, "cumsum{axis=1, reverse=true}", {"i16[2,3,4]"}},
    {{"i16[2,3,4]"}, "cumsum{axis=0}", {"i16[2,3,4]"}},
    {{"f32[2,3,4]"}, "cummax{axis=2, reverse=true}", {"f32[2,3,4]"}},
    {{"i16[2,3,4]"}, "reduce_sum{axes=[0,2]}", {"i16[3]"}},
    {{"i16[2,3,4]"}, "reduce_sum{axes=[]}", {"i16[2,3,4]"}},
    {{"i16[2,3,4]"}, "reduce_max{axes=[1]}", {"i16[2,4]"}},
    {{"i16[2,3,4]"}, "reduce_min{axes=[2,1,0]}", {"i16[]"}},
    {{"i16[2,67]"}, "reduce_sum{axes=[1]}", {"i16[2]"}},  // longer than the vectors of marks
    {{"f32[2,0,4]"}, "reduce_sum{axes=[1]}", {"f32[2,4]"}},
    {{"i16[2,3,4]"}, "argmax{axis=1}", {"i8[2,4]"}},
    {{"u8[3,4]", "f32[3,4]", "bool[3,4]"}, "sort{dim=0, num_keys=2}", {"u8[3,4]", "f32[3,4]", "bool[3,4]"}},
    {{"f32[3,4]", "i32[3,4]"}, "sort{dim=1}", {"f32[3,4]", "i32[3,4]"}},
    {{"f32[2,3,2]", "i8[2,3,2]", "f64[2,3,2]"}, "sort{dim=1}", {"f32[2,3,2]", "i8[2,3,2]", "f64[2,3,2]"}},
    {{"f32[3,4]", "f32[3,4]"}, "dot_general{contract=[[1],[1]], batch=[[0],[0]]}", {"f32[3]"}},
    {{"i32[2,3,4]", "i32[3,5,2]"}, "dot_general{contract=[[1],[0]], batch=[[0],[2]]}", {"i32[2,4,5]"}},
    {{"i32[2,3,4]", "i32[4,3,5]"}, "dot_general{contract=[[2,1],[0,1]], batch=[[],[]]}", {"i32[2,5]"}},
    {{"i32[3]", "i32[2]"}, "dot_general{contract=[[],[]], batch=[[],[]]}", {"i32[3,2]"}},
    {{"i32[3,0]", "i32[0,2]"}, "dot_general{contract=[[1],[0]], batch=[[],[]]}", {"i32[3,2]"}},
    {{"f32[3,4]"}, "bitcast_convert_type{to=u8}", {"u8[3,4,4]"}},
    {{"u8[3,4]"}, "bitcast_convert_type{to=i32}", {"i32[3]"}},
    {{"u32[3]"}, "bitcast_convert_type{to=i4}", {"i4[3,8]"}},
    {{"i4[3,4]"}, "bitcast_convert_type{to=u16}", {"u16[3]"}},
    {{"i4[3]"}, "bitcast_convert_type{to=u4}", {"u4[3]"}},
    {{"i16[2,4,3]"}, "tpu.bitcast{to=i32}", {"i32[2,2,3]"}},
    {{"f32[2,2,3]"}, "tpu.bitcast{to=i8}", {"i8[2,8,3]"}},
    {{"i4[2,8,3]"}, "tpu.bitcast{to=i16}", {"i16[2,2,3]"}},
    {{"i32[2,5]", "i32[]"}, "tpu.roll{axis=1, stride=1, stride_axis=0}", {"i32[2,5]"}},
    {{"f32[3,4]", "f32[]"}, "pad{config=[[1,-1,0],[0,2,1]]}", {"f32[3,9]"}},
    {{"f32[4,3]", "f32[2,2]", "i32[]", "i32[]"}, "dynamic_update_slice", {"f32[4,3]"}},
    {{"i32[4,3]", "i32[]", "i32[]"}, "dynamic_slice{sizes=[2,2]}", {"i32[2,2]"}},
    {{"bool[2,5]", "bool[2,3]"}, "concatenate{dim=1}", {"bool[2,8]"}},
    {{"f32[2]", "i32[3]"}, "optimization_barrier", {"f32[2]", "i32[3]"}},
    {{"bool[5,4]", "i32[3,1]"},
     "gather{offset_dims=[0], collapsed_slice_dims=[0], start_index_map=[0], slice_sizes=[1,4], mode=fill, "
     "fill_value=none}",
     {"bool[4,3]"}},
    {{"f32[5,4]", "i8[2,3,2]"},
     "gather{offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0,1], slice_sizes=[1,2], mode=fill, "
     "fill_value=3}",
     {"f32[2,2,3]"}},
    {{"f32[5,4]", "i8[2,3,2]"},
     "gather{offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0,1], slice_sizes=[1,2], mode=clip, "
     "fill_value=none}",
     {"f32[2,2,3]"}},
    {{"key<fry>[2]"}, "random_bits{bits=16, shape=[3]}", {"u16[2,3]"}},
    {{"key<fry>[2]"}, "random_unwrap", {"u32[2,2]"}},
    {{"u32[3,2]"}, "random_wrap{impl=\"fry\"}", {"key<fry>[3]"}},
    {{"key<fry>[]", "u32[3]"}, "random_fold_in", {"key<fry>[3]"}},
    {{"key<fry>[2]", "key<fry>[2]"}, "concatenate{dim=0}", {"key<fry>[4]"}},
    {{"bool[2]", "key<fry>[2]", "key<fry>[]"}, "select_n", {"key<fry>[2]"}},
};

std::vector<std::string> KernelsOfFile(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> kernels;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("--- ") || line.starts_with("=== ")) {
      inside = line == "--- kernel";
      if (inside) kernels.emplace_back();
    } else if (inside) {
      Append(&kernels.back(), line, "\n");
    }
  }
  return kernels;
}

bool IsSmall(const Subject& subject) {
  const auto small = [](const Type& type) { return Elements(type) <= kMaxTestElements; };
  return std::all_of(subject.types.in.begin(), subject.types.in.end(), small) &&
         std::all_of(subject.types.out.begin(), subject.types.out.end(), small);
}

// By their text, so that each is there once and in the same order everywhere.
const std::map<std::string, Subject>& AllSubjects() {
  static const auto* const kSubjects = [] {
    auto* all = new std::map<std::string, Subject>;
    const auto add = [all](const std::vector<Subject>& subjects) {
      for (const Subject& subject : subjects) {
        if (IsSmall(subject)) all->try_emplace(subject.text, subject);
      }
    };
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(PALLADION_SOURCE_DIR) / "conformance" / "cases")) {
      if (entry.path().extension() != ".case") continue;
      for (const std::string& kernel : KernelsOfFile(entry.path())) {
        const absl::StatusOr<std::vector<Subject>> subjects = SubjectsOf(kernel);
        if (subjects.ok()) add(*subjects);  // cases of errors have texts that do not verify
      }
    }
    for (const Form& form : kForms) {
      const absl::StatusOr<std::vector<Subject>> subjects = SubjectsOf(TextOf(form));
      if (subjects.ok()) {
        add(*subjects);
      } else {
        ADD_FAILURE() << form.op << ": " << subjects.status();
      }
    }
    return all;
  }();
  return *kSubjects;
}

// ---- The properties; each gives "" or what is wrong

// Not `op.row`: a test may have put another rule there.
const OpRow& TrueRow(const Subject& subject) { return *FindOp(subject.op.dialect, subject.op.name); }

bool Places(const OpRow& row) { return row.flow == Flow::kPlace || row.flow == Flow::kCombine; }

// Operands whose defined elements decide which elements of the others count: predicate, indices, keys.
std::size_t FirstSteering(const Subject& subject) {
  const OpRow& row = TrueRow(subject);
  if (row.flow == Flow::kMove && row.moved != 0) return row.moved;
  if (Places(row)) return 1;
  return row.flow == Flow::kSelect || row.flow == Flow::kSort ? 0 : subject.types.in.size();
}
std::size_t EndSteering(const Subject& subject) {
  switch (TrueRow(subject).flow) {
    case Flow::kSelect:
      return 1;
    case Flow::kPlace:
    case Flow::kCombine:
      return 2;
    case Flow::kSort:
      return static_cast<std::size_t>(IntAttrOr(subject.op, "num_keys", 1));
    default:
      return subject.types.in.size();
  }
}

void Revalue(const Subject& subject, bool steering_too, Random& random, Operands& operands) {
  operands.values.resize(subject.types.in.size());
  for (std::size_t i = 0; i < operands.values.size(); ++i) {
    const bool steers = i >= FirstSteering(subject) && i < EndSteering(subject);
    if (steering_too || !steers) operands.values[i] = RandomValue(subject.types.in[i], random);
  }
}

// Per element of every result in turn: does it differ?
std::vector<bool> Differences(const Subject& subject, const std::vector<std::vector<std::byte>>& a,
                              const std::vector<std::vector<std::byte>>& b) {
  std::vector<bool> differs;
  for (std::size_t r = 0; r < a.size(); ++r) {
    const std::size_t size = StoredSize(subject.types.out[r]);
    for (std::size_t e = 0; e < Elements(subject.types.out[r]); ++e) {
      differs.push_back(std::memcmp(a[r].data() + e * size, b[r].data() + e * size, size) != 0);
    }
  }
  return differs;
}

Marks Joined(const std::vector<Marks>& results) {
  Marks all;
  for (const Marks& marks : results) all.insert(all.end(), marks.begin(), marks.end());
  return all;
}

// The operands with one of their marks only.
Operands WithOnly(std::uint8_t mark, const Operands& operands) {
  Operands one = operands;
  for (Marks& marks : one.marks) {
    std::replace_if(
        marks.begin(), marks.end(), [mark](std::uint8_t m) { return m != mark; }, std::uint8_t{0});
    if (std::all_of(marks.begin(), marks.end(), [](std::uint8_t m) { return m == 0; })) marks.clear();
  }
  return one;
}

// Where a steering operand covers what it places, its mark stays, not the smallest.
std::string CheckMarks(const Subject& subject, const Runner& runner, const Operands& operands, const Marks& found) {
  std::set<std::uint8_t> marks;
  for (const Marks& of_operand : operands.marks) marks.insert(of_operand.begin(), of_operand.end());
  marks.erase(0);
  Marks smallest(found.size(), 0);
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    const Marks one = Joined(runner.Undefined(WithOnly(*mark, operands)));
    for (std::size_t e = 0; e < one.size(); ++e) {
      if (one[e] != 0 && one[e] != *mark) return Cat("element ", e, " has the mark ", one[e], " of nobody");
      if (one[e] != 0) smallest[e] = *mark;
    }
  }
  // Of two undefined elements one alone may decide what the other is not asked for.
  const Flow flow = TrueRow(subject).flow;
  for (std::size_t e = 0; e < found.size() && flow == Flow::kMask; ++e) {
    if (found[e] != 0 && marks.count(found[e]) == 0)
      return Cat("element ", e, " has the mark ", found[e], " of nobody");
  }
  if (flow == Flow::kMask) return "";
  const bool steered = FirstSteering(subject) < subject.types.in.size();
  for (std::size_t e = 0; e < found.size(); ++e) {
    const bool right = steered ? (found[e] != 0) == (smallest[e] != 0) && (found[e] == 0 || marks.count(found[e]) != 0)
                               : found[e] == smallest[e];
    if (!right) return Cat("element ", e, " has the mark ", found[e], ", of its parts ", smallest[e]);
  }
  return "";
}

std::string CheckSound(const Subject& subject, const Runner& runner, Random& random) {
  Operands a;
  a.marks = RandomMarks(subject, random);
  Revalue(subject, true, random, a);
  Operands b = a;
  RefillUndefined(subject, random, a);
  RefillUndefined(subject, random, b);
  const Marks marks = Joined(runner.Undefined(a));
  if (marks != Joined(runner.Undefined(b))) return "what undefined elements hold decides what is undefined";
  const std::vector<bool> differs = Differences(subject, runner.Values(a), runner.Values(b));
  for (std::size_t e = 0; e < marks.size(); ++e) {
    if (differs[e] && marks[e] == 0) return Cat("element ", e, " depends on an undefined one and is not marked");
  }
  if (runner.rule.strip != nullptr && marks != Joined(runner.UndefinedInStrips(a))) return "strips have other marks";
  return CheckMarks(subject, runner, a, marks);
}

constexpr int kMostContents = 3000;

// An undefined index or key covers everything it may place, by rule: there is nothing to be exact about. A clipped
// gather has an index vector for each slice, and none of them is ignored.
bool CoversAll(const Subject& subject) {
  const OpRow& row = TrueRow(subject);
  const bool clips = row.name == "gather" && *StringAttr(subject.op, "mode") == "clip";
  return row.flow == Flow::kSort || Places(row) || (row.moved != 0 && !clips);
}

std::string CheckExact(const Subject& subject, const Runner& runner, Random& random) {
  Operands a;
  a.marks = RandomMarks(subject, random);
  for (std::size_t i = FirstSteering(subject); CoversAll(subject) && i < EndSteering(subject); ++i) a.marks[i].clear();
  Revalue(subject, true, random, a);
  Marks unexplained = Joined(runner.Undefined(a));
  const auto is_marked = [](std::uint8_t mark) { return mark != 0; };
  for (int i = 0; i < kMostContents && std::any_of(unexplained.begin(), unexplained.end(), is_marked); ++i) {
    Revalue(subject, false, random, a);
    Operands b = a;
    RefillUndefined(subject, random, a);
    RefillUndefined(subject, random, b);
    const std::vector<bool> differs = Differences(subject, runner.Values(a), runner.Values(b));
    for (std::size_t e = 0; e < differs.size(); ++e) {
      if (differs[e]) unexplained[e] = 0;
    }
  }
  const auto left = std::find_if(unexplained.begin(), unexplained.end(), is_marked);
  if (left == unexplained.end()) return "";
  return Cat("element ", left - unexplained.begin(), " is marked and depends on no undefined one");
}

using Property = std::string (*)(const Subject&, const Runner&, Random&);

std::string CheckTimes(Property property, const Subject& subject, int times) {
  const absl::StatusOr<Runner> runner = Runner::Make(subject);
  if (!runner.ok()) {
    // A case of an operation that does not run this type yet.
    const bool runs = subject.op.row->prepare(subject.op, subject.types).ok();
    return runs ? Cat("has no rule: ", runner.status().message()) : "";
  }
  if (runner->value.strip != nullptr && runner->rule.strip == nullptr) return "runs in strips, its rule does not";
  for (int i = 0; i < times; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const std::string wrong = property(subject, *runner, random);
    if (!wrong.empty()) return Cat(wrong, " (seed ", i, ")");
  }
  return "";
}

constexpr int kSoundTimes = Rounds(400), kExactTimes = Rounds(30);

// The operations that need no rule of their own, and why.
const std::map<std::string, std::string> kNoRule = {
    {"iota", "it has no operands"},
    {"iota_2x32_shape", "it has no operands"},
    {"platform_index", "it has no operands"},
    {"ring.hash", "it runs where two schedules' bits are compared, after definedness was asked"},
};

TEST(Shadow, EveryOperationHasARuleAndIsTested) {
  std::set<std::string> seen;
  for (const auto& [text, subject] : AllSubjects()) {
    if (HasElements(subject)) seen.insert(FullName(*subject.op.row));
  }
  for (const OpRow& row : AllOps()) {
    if (row.prepare == nullptr) continue;
    const bool has_rule = kNoRule.count(FullName(row)) == 0;
    EXPECT_EQ(row.flow != Flow::kAll, has_rule) << FullName(row) << ": give its row a flow (docs/spec/definedness.md)";
    EXPECT_TRUE(seen.count(FullName(row)) != 0 || !has_rule) << FullName(row) << " is in no conformance case";
    EXPECT_TRUE(row.moved == 0 || row.flow == Flow::kMove) << FullName(row);
  }
}

TEST(Shadow, EveryFlowHasAName) {
  std::size_t next = 0;
  for (const FlowInfo& info : AllFlows()) EXPECT_EQ(static_cast<std::size_t>(info.flow), next++) << info.name;
  EXPECT_EQ(next, static_cast<std::size_t>(Flow::kAll) + 1);
}

TEST(Shadow, IsSound) {
  for (const auto& [text, subject] : AllSubjects()) {
    if (!HasElements(subject)) continue;
    EXPECT_EQ(CheckTimes(CheckSound, subject, kSoundTimes), "") << text;
  }
}

TEST(Shadow, IsExact) {
  for (const auto& [text, subject] : AllSubjects()) {
    if (!HasElements(subject) || subject.op.row->flow == Flow::kAll) continue;
    EXPECT_EQ(CheckTimes(CheckExact, subject, kExactTimes), "") << text;
  }
}

// An output's own bytes stay that in moves alone.
TEST(Shadow, OnlyMovesKeepAnOutputsOwnBytes) {
  constexpr std::uint8_t kOwn = 0x93;
  Random random(1);
  for (const auto& [text, subject] : AllSubjects()) {
    const Flow flow = subject.op.row->flow;
    const absl::StatusOr<Runner> runner = Runner::Make(subject);
    if (!HasElements(subject) || flow == Flow::kAll || !runner.ok()) continue;
    Operands operands;
    Revalue(subject, true, random, operands);
    for (const Type& type : subject.types.in) operands.marks.emplace_back(Elements(type), kOwn);
    const bool moves = flow == Flow::kMove || flow == Flow::kConvert || flow == Flow::kParts || Places(*subject.op.row);
    for (const std::uint8_t mark : Joined(runner->Undefined(operands)))
      EXPECT_TRUE(mark == 0 || mark == ComputedMark(kOwn) || (moves && mark == kOwn)) << text;
  }
}

// The properties themselves: an operation with another one's rule is found out.
TEST(Shadow, AWrongRuleIsFoundOut) {
  const auto wrong = [](std::string_view name, Flow flow, Property property) {
    for (const auto& [text, subject] : AllSubjects()) {
      if (subject.op.name != name || !HasElements(subject) || Elements(subject.types.in[0]) < 4) continue;
      Subject changed = subject;
      OpRow row = *subject.op.row;
      row.flow = flow;
      row.moved = 0;
      changed.op.row = &row;
      if (!CheckTimes(property, changed, 20).empty()) return true;
    }
    return false;
  };
  EXPECT_TRUE(wrong("cumsum", Flow::kElementwise, CheckSound));
  EXPECT_TRUE(wrong("select_n", Flow::kElementwise, CheckExact));
  EXPECT_TRUE(wrong("xor", Flow::kMask, CheckSound));
  EXPECT_TRUE(wrong("add", Flow::kAll, CheckExact));
  EXPECT_TRUE(wrong("dot_general", Flow::kAll, CheckExact));
  EXPECT_TRUE(wrong("reduce_sum", Flow::kAll, CheckExact));
  EXPECT_TRUE(wrong("transpose", Flow::kElementwise, CheckSound));
  EXPECT_TRUE(wrong("scatter_add", Flow::kPlace, CheckSound));
  EXPECT_TRUE(wrong("scatter", Flow::kCombine, CheckExact));
}
}  // namespace
}  // namespace palladion
