// The pipeline of blocks in the time of a TPU's core, for random grids: which block is copied when, and what waits for
// it, against what the tables of indices and the rules of the pipeline say (docs/spec/grid.md#residency,
// docs/explanation/time.md#tpus). The copies are complete when they are requested; engines that are late give the same
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/timing/tpu/timing_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {
namespace {

using base::Timed;
using timeline::Span;

constexpr int kBlocks = 4;  // of each array

struct Blocked {
  std::string name;
  bool output = false;
  int rows = 8;  // of a block
  int buffers = 2;
  int functions = 1;       // work on it in each program
  std::vector<int> index;  // of its block, by program
};

struct Grid {
  int programs = 2;
  std::vector<Blocked> operands;
};

Grid RandomGrid(std::mt19937& random) {
  const auto pick = [&](unsigned n) { return static_cast<int>(random() % n); };
  Grid grid{.programs = 2 + pick(7), .operands = {}};
  const int inputs = pick(3), outputs = 1 + pick(2);
  for (int i = 0; i < inputs + outputs; ++i) {
    Blocked operand{.name = Cat(i < inputs ? "x" : "o", i),
                    .output = i >= inputs,
                    .rows = 8 << pick(8),
                    .buffers = pick(4) == 0 ? 1 : 2,
                    .functions = pick(3) * pick(5),
                    .index = {pick(kBlocks)}};
    while (static_cast<int>(operand.index.size()) < grid.programs)
      operand.index.push_back(pick(2) == 0 ? operand.index.back() : pick(kBlocks));
    grid.operands.push_back(std::move(operand));
  }
  return grid;
}

std::string TextOf(const Grid& grid) {
  std::string tables, table_refs, map_refs, arrays, refs, work;
  const std::string i32 = Cat("i32[", grid.programs, "]");
  for (const Blocked& operand : grid.operands) {
    Append(&tables, "  prefetch %t_", operand.name, ": ", i32, " as \"t_", operand.name, "\";\n");
    Append(&table_refs, table_refs.empty() ? "" : ", ", "%r_", operand.name, ": ref<smem,", i32, ">");
  }
  for (std::size_t n = 0; n < grid.operands.size(); ++n) {
    const Blocked& operand = grid.operands[n];
    const std::string block = Cat("f32[", operand.rows, ",128]");
    std::string params;
    for (std::size_t p = 0; p < grid.operands.size(); ++p) Append(&params, ", %m", n, "_", p, ": ref<smem,", i32, ">");
    if (n > 0 && operand.output && !grid.operands[n - 1].output) Append(&arrays, "  grid [", grid.programs, "];\n");
    if (n == 0 && operand.output) Append(&arrays, "  grid [", grid.programs, "];\n");
    Append(&arrays, operand.output ? "  out %" : "  in %", operand.name, ": f32[", kBlocks * operand.rows,
           ",128] as \"", operand.name, "\" block (", operand.rows, ",128) map (%i", n, ": i32[]", params, ") { %v", n,
           " = get(%m", n, "_", n, ".at[%i", n, "]) : i32[]; return %v", n, ", 0:i32; }",
           operand.buffers == 1 ? " buffered {buffer_count=1}" : "", ";\n");
    Append(&refs, ", %b_", operand.name, ": ref<default,", block, ">");
    const std::string value = Cat("%w", n, "_");
    Append(&work, "    ", value, "0 = ",
           operand.output ? Cat("broadcast_in_dim{shape=[", operand.rows, ",128], dims=[]}(0.0:f32)")
                          : Cat("get(%b_", operand.name, ")"),
           " : ", block, ";\n");
    for (int f = 1; f <= operand.functions; ++f)
      Append(&work, "    ", value, f, " = tanh(", value, f - 1, ") : ", block, ";\n");
    if (operand.output)
      Append(&work, "    _ = swap(%b_", operand.name, ", ", value, operand.functions, ") : ", block, ";\n");
  }
  return Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n", tables, arrays, "  body @k (", table_refs, refs, ") {\n",
             work, "    return;\n  }\n}\n");
}

Timed TimeOf(const Grid& grid, BlockWays blocks) {
  const std::string text = TextOf(grid);
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.target = "mosaic_tpu/v5e", .observable = true, .blocks = blocks});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  std::vector<Tensor> inputs;
  for (const Blocked& operand : grid.operands)
    inputs.push_back(*TensorFromText(DType::kI32, {grid.programs}, Cat("[", absl::StrJoin(operand.index, ","), "]")));
  for (const Blocked& operand : grid.operands) {
    if (!operand.output) inputs.push_back(*TensorFromText(DType::kF32, {kBlocks * operand.rows, 128}, "full(1.0)"));
  }
  const absl::StatusOr<Timed> timed =
      TimeKernel({*kernel, inputs, **machines::FindMachine("v5e"), {}, timeline::TimelineOptions{}});
  EXPECT_TRUE(timed.ok()) << timed.status() << "\n" << text;
  return timed.ok() ? *timed : Timed{};
}

std::string Shown(const Timed& timed) {
  std::string text = Cat(timed.timing.cycles.value(), " cycles\n");
  for (const report::LineTime& line : timed.timing.lines)
    Append(&text, line.text_line, " ", line.op, " ", line.busy.value(), " ", line.waited.value(), "\n");
  for (const Span& span : timed.timeline->spans)
    Append(&text, span.what, " ", span.begin.value(), " ", span.end.value(), " ", span.ended_by, "\n");
  return text;
}

struct Copied {
  std::string block;
  double begin = 0, end = 0;
};

// What a timeline shows of the pipeline.
struct Seen {
  std::vector<double> steps, begins, ends;  // steps: they begin; the others: of bodies
  double length = 0;
  std::vector<Copied> Of(const std::string& operand) const {
    std::vector<Copied> copies;
    std::copy_if(all.begin(), all.end(), std::back_inserter(copies),
                 [&](const Copied& copy) { return copy.block.starts_with(operand + "["); });
    return copies;
  }
  std::vector<Copied> all;
};

Seen Look(const timeline::Timeline& timeline) {
  Seen seen{.length = timeline.length.value()};
  for (const Span& span : timeline.spans) {
    const std::string& lane = timeline.lanes[static_cast<std::size_t>(span.lane)].name;
    if (lane.starts_with("blocks ")) seen.all.push_back({span.what, span.begin.value(), span.end.value()});
    if (lane == "program" && span.what == "step of the grid") {
      seen.steps.push_back(span.begin.value());
      seen.begins.push_back(span.end.value());
    }
    if (lane == "steps of the grid") seen.ends.push_back(span.end.value());
  }
  return seen;
}

// A block is that of the programs [first, last).
void ExpectPipeline(const Blocked& operand, const Seen& seen) {
  const std::vector<Copied> copies = seen.Of(operand.name);
  const std::size_t programs = operand.index.size();
  std::size_t at = 0;
  for (std::size_t first = 0, last = 0; first < programs; first = last, ++at) {
    for (last = first + 1; last < programs && operand.index[last] == operand.index[first];) ++last;
    ASSERT_LT(at, copies.size()) << operand.name;
    const Copied& copy = copies[at];
    const int row = operand.index[first] * operand.rows;
    EXPECT_TRUE(copy.block.starts_with(Cat(operand.name, "[", row, ":", row + operand.rows, ", ")))
        << copy.block << " and not row " << row;
    if (!operand.output) {
      EXPECT_LE(copy.end, seen.begins[first]) << copy.block;
      if (first > 0 && operand.buffers == 2) {
        EXPECT_EQ(copy.begin, seen.steps[first - 1]) << copy.block;
      } else if (first > 0) {
        EXPECT_GE(copy.begin, seen.ends[first - 1]) << copy.block;
      }
    } else {
      EXPECT_EQ(copy.begin, seen.ends[last - 1]) << copy.block;
      const std::size_t before = last - 1 + static_cast<std::size_t>(operand.buffers);  // this body
      EXPECT_LE(copy.end, before < programs ? seen.begins[before] : seen.length) << copy.block;
    }
  }
  EXPECT_EQ(at, copies.size()) << operand.name;
}

TEST(TpuPipeline, RandomGrids) {
  std::mt19937 random(29);
  for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
    const Grid grid = RandomGrid(random);
    const Timed timed = TimeOf(grid, BlockWays::kAsItShows);
    ASSERT_TRUE(timed.timeline.has_value());
    const Seen seen = Look(*timed.timeline);
    ASSERT_EQ(seen.begins.size(), static_cast<std::size_t>(grid.programs));
    ASSERT_EQ(seen.ends.size(), static_cast<std::size_t>(grid.programs));
    for (const Blocked& operand : grid.operands) ExpectPipeline(operand, seen);
    EXPECT_EQ(Shown(timed), Shown(TimeOf(grid, BlockWays::kBesideBodies)));
    if (testing::Test::HasFailure()) ADD_FAILURE() << TextOf(grid);
  }
}

}  // namespace
}  // namespace palladion::timing::tpu
