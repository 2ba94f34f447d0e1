// Random programs that move the bytes of an output about, compute with them and store them back. For every element the
// run must know whether it is defined, holds its own bytes, or holds something else; a list of where the bytes of each
// element are is the oracle. There are so few elements that no two places look the same.
//
// Random programs whose scratch is not written first: an output element is undefined exactly where a naive evaluation,
// which carries one bit along with every number, says so; and another fill of unwritten memory changes only such
// elements. Not covered: floats, blocks at an edge, and masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "emu/check/definedness_test_util.h"
#include "emu/run/launch/run.h"
#include "emu/testing/random_evaluator_test_util.h"
#include "emu/testing/random_program_test_util.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion::check {
namespace {

using namespace random_program;  // its Body and Op are not the ones of kernel text

struct Marked {
  std::int32_t number = 0;
  bool undefined = false;
};
std::int32_t NumberOf(Marked element) { return element.number; }
Marked Apply(const std::string& name, Marked a, Marked b) {
  return {random_program::Apply(name, a.number, b.number), a.undefined || b.undefined};
}

std::vector<Marked> RandomElements(std::size_t n, Random& random) {
  std::vector<Marked> elements(n);
  for (Marked& element : elements) element.number = random.Below(7) - 3;
  return elements;
}

Tensor TensorOf(const std::vector<Marked>& value, std::vector<std::int64_t> shape) {
  Tensor tensor(DType::kI32, std::move(shape));
  for (std::size_t i = 0; i < value.size(); ++i) tensor.data<std::int32_t>()[i] = value[i].number;
  return tensor;
}

struct Outcome {
  std::vector<std::int32_t> output;
  std::vector<bool> undefined;
  bool decided = false;  // undefined data chose a branch or a place
};

Outcome RunFilled(const PreparedKernel& kernel, const Tensor& x, const Tensor& y, Fill fill) {
  Outcome outcome;
  Tensor out(DType::kI32, x.shape());
  const ConstArray inputs[] = {{x.dtype(), x.shape(), x.bytes()}, {y.dtype(), y.shape(), y.bytes()}};
  const MutableArray outputs[] = {{out.dtype(), out.shape(), out.bytes()}};
  agents::LaunchOptions options;
  options.definedness = true;
  options.fill = fill;
  run::BoundAndFinished marks({}, [&](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    for (std::int64_t e = 0; e < out.num_elements(); ++e)
      outcome.undefined.push_back(memory.MarkOf(arrays[2], ElementCount(e)) != 0);
  });
  options.observers = {&marks};
  const absl::StatusOr<agents::Ran> result = launch::Run({kernel.state(), inputs, outputs}, options);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return outcome;
  for (const Finding& finding : result->findings)
    outcome.decided |= finding.second.has_value() && finding.second->kind == AccessKind::kRead;
  outcome.output.assign(out.data<std::int32_t>(), out.data<std::int32_t>() + out.num_elements());
  return outcome;
}

struct Tally {
  int some = 0, none = 0, changed = 0;
};

void Check(std::uint64_t seed, int width, Tally& tally) {
  Generator generator(seed, width, true);
  generator.Make();
  Random random(~seed);
  const auto n = static_cast<std::size_t>(width);
  const std::vector<Marked> x = RandomElements(2 * n, random), y = RandomElements(n, random);
  const Tensor x_tensor = TensorOf(x, {2, width}), y_tensor = TensorOf(y, {width});
  std::vector<std::string> printed;
  for (const char* target : {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"}) {
    const std::string what = Cat("seed ", seed, " on ", target, "\n", generator.text);
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(generator.text, {.kernel = "", .target = target, .path = ""});
    ASSERT_TRUE(kernel.ok()) << kernel.status() << " " << what;
    const Outcome zero = RunFilled(*kernel, x_tensor, y_tensor, {.kind = Fill::Kind::kZero});
    const std::string_view name = target;
    const bool one_core = name == "generic" || name.starts_with("mosaic_tpu");
    const std::vector<Marked> expected = Evaluate<Marked>(generator.body, x, y, {Marked{0, true}, one_core}, printed);
    for (std::size_t e = 0; e < expected.size(); ++e) {
      ASSERT_EQ(expected[e].number, zero.output[e]) << "element " << e << " of " << what;
      ASSERT_EQ(expected[e].undefined, zero.undefined[e]) << "element " << e << " of " << what;
      (expected[e].undefined ? tally.some : tally.none) += 1;
    }
    const Outcome filled = RunFilled(*kernel, x_tensor, y_tensor, {.kind = Fill::Kind::kRandom, .seed = seed});
    if (zero.decided || filled.decided) continue;
    for (std::size_t e = 0; e < expected.size(); ++e) {
      ASSERT_TRUE(filled.output[e] == zero.output[e] || zero.undefined[e]) << "element " << e << " of " << what;
      tally.changed += filled.output[e] != zero.output[e];
    }
  }
}

TEST(RandomDefinedness, IsWhatANaiveEvaluationCarriesAlong) {
  Tally tally;
  for (int seed = 0; seed < Rounds(600) && !HasFatalFailure(); ++seed) Check(seed, 4, tally);
  EXPECT_GT(tally.some, Rounds(100));
  EXPECT_GT(tally.none, Rounds(100));
  EXPECT_GT(tally.changed, Rounds(100));
}

// So wide that elementwise operations go strip by strip.
TEST(RandomDefinedness, OfWideValues) {
  Tally tally;
  for (int seed = 0; seed < Rounds(30) && !HasFatalFailure(); ++seed) Check(seed, 5000, tally);
  EXPECT_GT(tally.some, Rounds(100));
  EXPECT_GT(tally.none, Rounds(100));
}

// ---- the bytes of an output

constexpr int kPlaces = 8;
constexpr int kKnown = -1, kMade = -2;  // else the place of an output's bytes, which were never written
using Places = std::vector<int>;

class OutputProgram {
 public:
  explicit OutputProgram(std::uint64_t seed) : random_(seed), output_(kPlaces) {
    for (int e = 0; e < kPlaces; ++e) output_[static_cast<std::size_t>(e)] = e;
    Add("get(%xr)", Places(kPlaces, kKnown));
    for (int i = 0; i < 12; ++i) Act();
  }

  std::string text() const {
    return "pkir 1;\nkernel @k { grid []; in %x: i32[8]; out %o: i32[8]; scratch %s: ref<vmem,i32[8]>;\n"
           " body @b (%xr: ref<default,i32[8]>, %or: ref<default,i32[8]>, %sr: ref<vmem,i32[8]>) {\n"
           "  %n = iota{dim=0}() : i32[8];\n" +
           text_ + "  return; } }\n";
  }
  const Places& output() const { return output_; }

 private:
  std::string Name(std::size_t value) const { return Cat("%v", value); }
  std::string Add(const std::string& operation, Places places) {
    text_ += Cat("  ", Name(values_.size()), " = ", operation, " : i32[8];\n");
    values_.push_back(std::move(places));
    return Name(values_.size() - 1);
  }
  static int Computed(int place) { return place == kKnown ? kKnown : kMade; }
  static int Stored(int place, int at) { return place == at ? at : Computed(place); }

  void Rotate(std::size_t a, int by) {
    const std::string left = Cat("%l", values_.size()), right = Cat("%r", values_.size());
    text_ += Cat("  ", left, " = slice{start=[", by, "], limit=[8]}(", Name(a), ") : i32[", 8 - by, "]; ", right,
                 " = slice{start=[0], limit=[", by, "]}(", Name(a), ") : i32[", by, "];\n");
    Places rotated = values_[a];
    std::rotate(rotated.begin(), rotated.begin() + by, rotated.end());
    Add(Cat("concatenate{dim=0}(", left, ", ", right, ")"), std::move(rotated));
  }

  void Select(std::size_t a, std::size_t b, int first) {
    const std::string mask = Cat("%m", values_.size());
    text_ += Cat("  ", mask, " = lt(%n, ", first, ":i32) : bool[8];\n");
    Places chosen = values_[a];
    std::copy_n(values_[b].begin(), first, chosen.begin());
    Add(Cat("select_n(", mask, ", ", Name(a), ", ", Name(b), ")"), std::move(chosen));
  }

  void Store(std::size_t a, int first, int count) {
    const std::string part = Cat("%p", values_.size(), "_", text_.size());
    text_ += Cat("  ", part, " = slice{start=[", first, "], limit=[", first + count, "]}(", Name(a), ") : i32[", count,
                 "]; _ = swap(%or.at[", first, " +: ", count, "], ", part, ") : i32[", count, "];\n");
    for (int e = first; e < first + count; ++e) {
      const auto at = static_cast<std::size_t>(e);
      output_[at] = Stored(values_[a][at], e);
    }
  }

  void Act() {
    const std::size_t a = random_.Index(values_.size()), b = random_.Index(values_.size());
    const int k = 1 + random_.Below(kPlaces - 1);
    switch (random_.Below(8)) {
      case 0:
        Add("get(%or)", output_);
        return;
      case 1:
        return Select(a, b, k);
      case 2:
        return Rotate(a, k);
      case 3: {
        Places made = values_[a];
        for (std::size_t e = 0; e < made.size(); ++e)
          made[e] = made[e] == kKnown && values_[b][e] == kKnown ? kKnown : kMade;
        Add(Cat("add(", Name(a), ", ", Name(b), ")"), std::move(made));
        return;
      }
      case 4: {
        text_ += Cat("  _ = swap(%sr, ", Name(a), ") : i32[8];\n");
        Add("get(%sr)", values_[a]);
        return;
      }
      case 5: {
        const std::string wide = Cat("%w", values_.size());
        text_ += Cat("  ", wide, " = convert_element_type{to=i64}(", Name(a), ") : i64[8];\n");
        Add(Cat("convert_element_type{to=i32}(", wide, ")"), values_[a]);
        return;
      }
      default:
        return Store(a, k - 1, 1 + random_.Below(kPlaces - k + 1));
    }
  }

  class Draw {
   public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    int Below(int n) { return static_cast<int>(random_.Below(n)); }
    std::size_t Index(std::size_t n) { return static_cast<std::size_t>(Below(static_cast<int>(n))); }

   private:
    Random random_;
  };

  Draw random_;
  std::string text_;
  std::vector<Places> values_;
  Places output_;
};

TEST(RandomDefinedness, TheBytesOfAnOutput) {
  int own = 0, made = 0, moved_back = 0;
  for (int seed = 0; seed < Rounds(400); ++seed) {
    const OutputProgram program(seed);
    for (const char* target : {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"}) {
      const TrackedRun run = RunTracked(program.text(), target);
      ASSERT_EQ(static_cast<std::size_t>(kPlaces), run.marks.size());
      bool any_own = false, any_made = false, any_untouched = false;
      for (std::size_t e = 0; e < run.marks.size(); ++e) {
        const int expected = program.output()[e], mark = run.marks[e];
        ASSERT_EQ(expected == kKnown, mark == 0) << "element " << e << ", seed " << seed << "\n" << program.text();
        ASSERT_EQ(expected == kMade, mark != 0 && mark < kMovedMark) << "element " << e << ", seed " << seed << "\n"
                                                                     << program.text();
        any_own |= expected >= 0;
        any_untouched |= mark == memory_model::kUntouched;
        any_made |= expected == kMade;
        moved_back += expected >= 0 && mark != memory_model::kUntouched;
      }
      // Bytes that went back to their place are not reported beside UNINIT of the same bytes.
      const bool missing = any_untouched || (any_own && !any_made);
      ASSERT_EQ(missing, run.codes().find("OUT_MISSING") != std::string::npos) << program.text();
      ASSERT_EQ(any_made, run.codes().find("UNINIT") != std::string::npos) << program.text();
      own += any_own;
      made += any_made;
    }
  }
  EXPECT_GT(own, Rounds(100));
  EXPECT_GT(made, Rounds(50));
  EXPECT_GT(moved_back, Rounds(100));
}

}  // namespace
}  // namespace palladion::check
