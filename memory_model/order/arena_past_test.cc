// Bytes that several allocations have had, one after another: what each gets from those before it.
#include "memory_model/order/arena_past.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model {
namespace {

using Codes = std::set<std::string>;
using concurrency_test::Script;

AccessSet Rows(std::int32_t first, std::int32_t count, std::int32_t width) {
  AccessBox box;
  box.rank = 2;
  box.dim[0] = {first, count, 1};
  box.dim[1] = {0, width, 1};
  return AccessSet::Of(box);
}

ArenaPast::Use UseAt(std::int32_t line, AccessSet set) {
  return {AccessEvent{.who = AgentId{0}, .time = 1, .kind = AccessKind::kWrite, .text_line = line}, std::move(set),
          "s"};
}

TEST(ArenaPast, TheSameLayoutGetsTheSameSets) {
  ArenaPast past;
  past.Add({{4, 8}, ElementSize(4), ByteCount(1024)}, {UseAt(1, Rows(1, 2, 8))});
  const auto uses = past.Take({{4, 8}, ElementSize(4), ByteCount(1024)});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_TRUE(uses[0].set.is_box);
  EXPECT_TRUE(Same(uses[0].set.box, Rows(1, 2, 8).box));
  EXPECT_TRUE(past.Take({{4, 8}, ElementSize(4), ByteCount(1024)}).empty());  // it was reported, and is remembered
}

TEST(ArenaPast, TheUserOfAPartLearnsOfThatPart) {
  ArenaPast past;
  past.Add({{4, 8}, ElementSize(4), ByteCount(0)},
           {UseAt(1, Rows(0, 1, 8)), UseAt(2, Rows(1, 3, 8))});  // bytes 0 to 32, 32 to 128
  const auto middle = past.Take({{64}, ElementSize(1), ByteCount(48)});
  ASSERT_EQ(middle.size(), 1u);
  EXPECT_EQ(middle[0].event.text_line, 2);
  EXPECT_TRUE(middle[0].set.is_box);
  EXPECT_EQ(Describe(middle[0].set.box), "[0:64]");
  const auto rest = past.Take({{8, 8}, ElementSize(2), ByteCount(0)});  // 16 bytes a row; rows 3 to 6 have been given
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(Describe(rest[0].set.box), "[0:2, 0:8]");
  EXPECT_EQ(Describe(rest[1].set.box), "[2, 0:8]");
  EXPECT_EQ(rest[2].event.text_line, 2);
  EXPECT_EQ(Describe(rest[2].set.box), "[7, 0:8]");
}

// Columns of a smaller element type: a box of the new elements where they end with one, else the bytes they are.
TEST(ArenaPast, TheUserOfColumnsLearnsOfTheirBytes) {
  for (const std::int32_t columns : {8, 5}) {
    ArenaPast past;
    AccessSet set = Rows(0, 2, columns);
    past.Add({{2, 16}, ElementSize(1), ByteCount(0)}, {UseAt(1, set)});
    const auto uses = past.Take({{2, 4}, ElementSize(4), ByteCount(0)});
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].set.is_box, columns == 8);
    if (uses[0].set.is_box) {
      EXPECT_EQ(Describe(uses[0].set.box), "[0:2, 0:2]");
    } else {
      EXPECT_EQ(uses[0].set.ranges, (std::vector<ByteRange>{{0, 5}, {16, 21}}));
    }
  }
}

// Of each use, every byte of the allocation that it touched: `visit(byte, line)`.
template <class Visit>
void ForEachByte(const std::vector<ArenaPast::Use>& uses, const ArenaLayout& layout, Visit visit) {
  for (const ArenaPast::Use& use : uses) {
    std::vector<ByteRange> ranges = use.set.ranges;
    if (use.set.is_box) {
      ForEachRun(use.set.box, layout.shape, layout.element_size, [&](std::int64_t begin, std::int64_t end) {
        ranges.push_back({begin, end});
      });
    }
    for (const ByteRange& range : ranges) {
      for (std::int64_t at = range.begin; at < range.end; ++at) visit(at, use.event.text_line);
    }
  }
}

// Random allocations and uses of a small arena, against a note of each byte.
TEST(ArenaPast, AgreesWithANoteOfEachByte) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 300; ++trial) {
    ArenaPast past;
    std::map<std::int64_t, std::set<std::int32_t>> lines;  // by byte of the arena
    for (std::int32_t line = 1; line < 12; ++line) {
      const ArenaLayout layout{{1 + below(4), 1 + below(6)}, ElementSize(1 + below(4)), ByteCount(below(40))};
      std::map<std::int64_t, std::set<std::int32_t>> reported;
      std::vector<ArenaPast::Use> uses = past.Take(layout);
      ForEachByte(uses, layout,
                  [&](std::int64_t at, int line_of_use) { reported[layout.offset.value() + at].insert(line_of_use); });
      decltype(reported) expected;
      for (const auto& [at, by] : lines) {
        if (at >= layout.offset.value() && at < layout.end().value() && !by.empty()) expected[at] = by;
      }
      EXPECT_EQ(reported, expected) << "trial " << trial << ", line " << line;
      const std::int32_t rows = static_cast<std::int32_t>(layout.shape[0]), first = below(rows);
      const std::int32_t count = 1 + below(rows - first), width = static_cast<std::int32_t>(layout.shape[1]);
      uses.push_back(UseAt(line, Rows(first, count, width)));
      const std::int64_t row = (ElementCount(layout.shape[1]) * layout.element_size).value();
      const std::int64_t offset = layout.offset.value();
      for (std::int64_t at = first * row; at < (first + count) * row; ++at) lines[offset + at].insert(line);
      past.Add(layout, std::move(uses));
    }
  }
}

// Lane r of each column has row r of a column; `packing` elements share a cell; of `copies`, row r lies in lane r mod
// 128/copies of another column, and in as many others.
TensorCells CellsOf(std::int64_t columns, std::int64_t packing, std::int64_t copies) {
  TensorCells cells{.columns = columns, .copies = static_cast<std::size_t>(copies), .of_element = {}};
  const std::int64_t lanes = TensorCells::kLanes / copies, each = columns / copies;
  for (std::int64_t r = 0; r < TensorCells::kLanes; ++r) {
    for (std::int64_t c = 0; c < each * packing; ++c) {
      for (std::int64_t copy = 0; copy < copies; ++copy) {
        const std::int64_t column = r / lanes * each + c / packing;
        cells.of_element.push_back(static_cast<std::int32_t>(r % lanes + copy * lanes + TensorCells::kLanes * column));
      }
    }
  }
  return cells;
}

// Random allocations of columns, in three layouts, and uses of some of their rows, against a note of each cell.
TEST(ArenaPast, TensorMemoryAgreesWithANoteOfEachCell) {
  constexpr std::int64_t kColumnBytes = TensorCells::kLanes * TensorCells::kCellBytes;
  const TensorCells layouts[] = {CellsOf(1, 1, 1), CellsOf(2, 1, 1), CellsOf(2, 2, 1), CellsOf(4, 4, 4)};
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 60; ++trial) {
    ArenaPast past;
    std::map<std::int64_t, std::set<std::int32_t>> lines;  // by cell of the arena
    for (std::int32_t line = 1; line < 8; ++line) {
      const TensorCells& cells = layouts[below(4)];
      const std::int64_t offset = below(4),
                         elements = static_cast<std::int64_t>(cells.of_element.size() / cells.copies);
      const std::int64_t width = elements / TensorCells::kLanes;
      const ArenaLayout layout{
          {TensorCells::kLanes, width}, ElementSize(below(2) == 0 ? 1 : 4), ByteCount(offset * kColumnBytes), &cells};
      const auto cell_of = [&](std::int64_t element, std::size_t copy) {
        const std::size_t at = static_cast<std::size_t>(element) * cells.copies + copy;
        return offset * TensorCells::kLanes + cells.of_element[at];
      };
      std::map<std::int64_t, std::set<std::int32_t>> reported, expected;  // by element
      std::vector<ArenaPast::Use> uses = past.Take(layout);
      const std::int64_t size = layout.element_size.value();
      ForEachByte(uses, layout, [&](std::int64_t at, int line_of_use) { reported[at / size].insert(line_of_use); });
      for (std::int64_t e = 0; e < elements; ++e) {
        for (std::size_t copy = 0; copy < cells.copies; ++copy) {
          const std::set<std::int32_t>& of = lines[cell_of(e, copy)];
          if (!of.empty()) expected[e].insert(of.begin(), of.end());
        }
      }
      ASSERT_EQ(reported, expected) << "trial " << trial << ", line " << line;
      const std::int32_t first = below(TensorCells::kLanes), count = 1 + below(TensorCells::kLanes - first);
      uses.push_back(UseAt(line, Rows(first, count, static_cast<std::int32_t>(width))));
      for (auto& [e, by] : reported) {  // the owner of a part of an element's cells has all of it from there on
        for (std::size_t copy = 0; copy < cells.copies; ++copy) lines[cell_of(e, copy)].insert(by.begin(), by.end());
      }
      for (std::int64_t e = first * width; e < (first + count) * width; ++e) {
        for (std::size_t copy = 0; copy < cells.copies; ++copy) lines[cell_of(e, copy)].insert(line);
      }
      past.Add(layout, std::move(uses));
    }
  }
}

// A fence may stand anywhere between the use of the earlier memory and the copy into the later.
TEST(ArenaPast, AFenceIsRequiredAcrossAllocations) {
  for (const bool fence : {false, true}) {
    Script s;
    const auto gmem = s.Buffer("gmem", {4, 8}, ProxySpace::kGlobal);
    const auto a = s.Thread("a");
    const BufferId first{100}, second{101};
    const TrackedBuffer tile{.name = "first", .shape = {4, 8}, .space = ProxySpace::kShared, .arena = 3};
    s.model.Adopt(first, tile);
    s.model.Touch(a, first, AccessKind::kWrite, Rows(1, 1, 8), {LocId{}, 10});
    s.model.Free(a, first, {LocId{}, 11});
    TrackedBuffer half = tile;
    half.name = "second";
    half.shape = {2, 8};
    s.model.Adopt(second, half);
    if (fence) s.model.Commit(a, ClockPart::kAsyncSmem, {LocId{}, 12});
    AsyncRequest copy = s.Copy(gmem, {0, 2}, gmem, {2, 2});
    std::get<BoxAccess>(copy.destinations[0].where).buffer = second;
    std::get<BoxAccess>(copy.destinations[0].where).start[0] = 0;
    copy.site = {LocId{}, 13};
    ASSERT_TRUE(s.model.Start(a, copy).ok());
    EXPECT_EQ(s.Codes(), fence ? Codes{} : Codes{"PROXY"});
    if (fence) continue;
    const Finding& found = *s.Find(FindingCode::kProxy);
    EXPECT_EQ(found.message,
              "copy #0 issued by a writes second[1, 0:8]; a writes 'first' of an earlier scope, which had the same "
              "bytes, before, with no fence between");
    EXPECT_EQ(found.first->object, "first");
    EXPECT_EQ(found.first->text_line, 10);
    s.model.EndArena(3);
  }
}

// The uses that a history gives, boxes and granules alike, are the accesses that were made.
TEST(ArenaPast, AHistoryReportsAllItsUses) {
  std::mt19937 random(9);
  const std::vector<std::int64_t> shape = {100, 16};  // too many rows for slots: granules
  const ElementSize four(4);
  AccessHistory history(shape, four);
  const ClockBundle nothing;
  std::map<std::int32_t, std::set<std::int64_t>> done, reported;  // by line: bytes
  for (std::int32_t line = 1; line <= 200; ++line) {
    const AccessEvent event{.who = AgentId{line}, .time = 1, .kind = AccessKind::kRead, .text_line = line};
    AccessBox box;
    box.rank = 2;
    for (std::size_t d = 0; d < 2; ++d) {
      const auto start = static_cast<std::int32_t>(random() % 16);
      box.dim[d] = {start, 1 + static_cast<std::int32_t>(random() % std::min(3u, static_cast<unsigned>(16 - start))),
                    1};
    }
    std::vector<AccessConflict> conflicts;
    history.Apply(event, AccessSet::Of(box), {nothing, ClockPart::kGeneric, {}}, &conflicts);
    ForEachRun(box, shape, four, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) done[line].insert(begin);
    });
  }
  EXPECT_GT(history.granules(), 0u);
  const auto report = [&reported](const AccessEvent& event, std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) reported[event.text_line].insert(begin);
  };
  history.ForEachUse([&](const AccessEvent& event, const AccessSet& set) {
    for (const ByteRange& range : set.ranges) report(event, range.begin, range.end);
    if (set.is_box) {
      ForEachRun(set.box, shape, four, [&](std::int64_t begin, std::int64_t end) { report(event, begin, end); });
    }
  });
  EXPECT_EQ(reported, done);
}

// Operations that only the past of some bytes holds are not forgotten: the next owner of those bytes asks about them.
TEST(ArenaPast, OperationsOfThePastAreRemembered) {
  Script s;
  const auto gmem = s.Buffer("gmem", {4, 8}, ProxySpace::kGlobal);
  const auto one = s.Buffer("one", {4, 8}, ProxySpace::kShared), two = s.Buffer("two", {2, 8}, ProxySpace::kShared);
  const auto three = s.Buffer("three", {4, 8}, ProxySpace::kShared);
  const auto a = s.Thread("a");
  const auto full = s.model.MakeBarrier({"full"});
  const auto begin = [&](BufferId id, std::int64_t rows) {
    s.model.Adopt(id, {
                          .name = "s",
                          .shape = {rows, 8},
                          .space = ProxySpace::kShared,
                          .arena = 0,
                      });
  };
  const auto load = [&](BufferId id, std::int64_t rows) {
    AsyncRequest copy = s.Copy(gmem, {0, rows}, id, {0, rows});
    copy.completions.push_back({Half::kWrite, full, 1});
    ASSERT_TRUE(s.model.Start(a, copy).ok());
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
    s.model.Wait(a, full, {});
  };
  begin(one, 4);
  load(one, 4);
  s.model.Free(a, one, {});
  begin(two, 2);
  for (int i = 0; i < 300; ++i) load(two, 2);
  s.model.Free(a, two, {});
  begin(three, 4);
  load(three, 4);
  EXPECT_EQ(s.Codes(), Codes{});
}

}  // namespace
}  // namespace palladion::memory_model
