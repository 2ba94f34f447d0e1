// Boxes that AffineView plans, against the forward model of views: chains at random, and the chains of shipped Hopper
// kernels, which have to be boxes.
#include "semantics/program/view_affine.h"

#include <gtest/gtest.h>

#include <optional>

#include "semantics/program/view_model_test_util.h"

namespace palladion {
namespace {

RefInfo RefOf(const Shape& buffer) {
  RefInfo info{.name = "x", .buffer_shape = buffer, .window = buffer, .kept = {}};
  for (std::size_t d = 0; d < buffer.size(); ++d) info.kept.push_back(static_cast<int>(d));
  return info;
}

// A start that is only known at run time is slot i, where the chain's starts[i] is its value.
std::vector<AffineEntry> EntriesOf(const std::vector<Index>& indices) {
  std::vector<AffineEntry> entries;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    AffineEntry& entry = entries.emplace_back(AffineEntry{.kind = indices[d].kind, .start = {}});
    if (entry.kind == Index::Kind::kFull) continue;
    if (indices[d].start.kind == Arg::Kind::kValue) {
      entry.start.slot = SlotId{indices[d].start.value.value};
    } else {
      std::int32_t value;
      std::memcpy(&value, indices[d].start.literal.bytes.data(), sizeof(value));
      entry.start.constant = value;
    }
    if (entry.kind == Index::Kind::kPoint) continue;
    std::int32_t size;
    std::memcpy(&size, indices[d].size.literal.bytes.data(), sizeof(size));
    entry.size = size;
    entry.stride = indices[d].stride;
  }
  return entries;
}

bool Plan(const RandomChain& chain, bool layouts, ViewPlan& plan) {
  const RefInfo info = RefOf(chain.buffer);
  AffineView view(info, layouts, plan);
  for (const Transform& t : chain.transforms) {
    if (!(t.kind == Transform::Kind::kAt ? view.At(EntriesOf(t.indices)) : view.Layout(t))) return false;
  }
  return view.Finish();
}

// The places of the box's elements, row-major.
std::vector<std::int64_t> PlacesOf(const RandomChain& chain, const ViewPlan& plan) {
  Shape first;
  for (const AxisPlan& axis : plan.axes) {
    first.push_back(axis.base);
    for (const AxisPlan::Term& term : axis.terms) {
      first.back() += term.scale * (chain.starts[term.value.slot.index()] / term.divisor);
    }
  }
  Shape counts;
  for (const std::uint8_t axis : plan.order) counts.push_back(plan.axes[axis].count);
  const ModelView whole = ModelView::Whole(chain.buffer);
  return whole
      .Moved(counts,
             [&](const Shape& c) {
               Shape at = first;
               for (std::size_t j = 0; j < c.size(); ++j) at[plan.order[j]] += c[j] * plan.axes[plan.order[j]].step;
               return at;
             })
      .places;
}

// Whether a slice's start is wrong by the rule for tiles: then the box is of other elements.
bool BreaksTile(const RandomChain& chain, const ViewPlan& plan) {
  return std::any_of(plan.guards.begin(), plan.guards.end(),
                     [&](const ViewGuard& guard) { return chain.starts[guard.value.slot.index()] % guard.tile != 0; });
}

TEST(AffineViewTest, BoxesAreWhatTheChainShows) {
  ChainMaker maker(1);
  int boxes = 0, guarded = 0;
  for (int i = 0; i < 6000; ++i) {
    const RandomChain chain = maker.Make();
    for (const bool layouts : {true, false}) {
      ViewPlan plan;
      if (!Plan(chain, layouts, plan)) continue;
      ASSERT_EQ(chain.view.shape, plan.type.shape) << ToString(chain.buffer) << chain.text;
      if (BreaksTile(chain, plan)) continue;
      ASSERT_EQ(chain.view.places, PlacesOf(chain, plan)) << ToString(chain.buffer) << chain.text;
      ++boxes;
      guarded += plan.guards.empty() ? 0 : 1;
      for (const ViewGuard& guard : plan.guards) {
        const std::int64_t value = chain.starts[guard.value.slot.index()];
        ASSERT_LT(value + guard.reach, guard.size) << ToString(chain.buffer) << chain.text;
      }
    }
  }
  EXPECT_GT(boxes, 3000);
  EXPECT_GT(guarded, 300);
}

Transform Ints(Transform::Kind kind, const Shape& ints) {
  Transform t;
  t.kind = kind;
  t.ints = ints;
  return t;
}

AffineEntry All() { return {}; }
AffineEntry Point(std::int32_t slot) {
  return {.kind = Index::Kind::kPoint, .start = {.slot = SlotId{slot}, .shape = {}}};
}
AffineEntry Slice(std::int32_t slot, std::int64_t size) {
  return {.kind = Index::Kind::kSlice, .start = {.slot = SlotId{slot}, .shape = {}}, .size = size};
}

// %b.unswizzle(128).untile[8,64].at[%slot, *, *].at[*, %n +: 64].transpose[1,0] of f16[2,8,2,8,64]
TEST(AffineViewTest, AnOperandOfWgmmaIsOneBox) {
  const RefInfo info = RefOf({2, 8, 2, 8, 64});
  ViewPlan plan;
  AffineView view(info, true, plan);
  ASSERT_TRUE(view.Layout(Ints(Transform::Kind::kUnswizzle, {128})));
  ASSERT_TRUE(view.Layout(Ints(Transform::Kind::kUntile, {8, 64})));
  ASSERT_TRUE(view.At({Point(0), All(), All()}));
  ASSERT_TRUE(view.At({All(), Slice(1, 64)}));
  ASSERT_TRUE(view.Layout(Ints(Transform::Kind::kTranspose, {1, 0})));
  ASSERT_TRUE(view.Finish());
  EXPECT_EQ((Shape{64, 64}), plan.type.shape);
  EXPECT_EQ((std::vector<std::uint8_t>{4, 1, 3}), plan.order);
  ASSERT_EQ(1u, plan.guards.size());
  EXPECT_EQ(64, plan.guards[0].tile);
  EXPECT_EQ(128, plan.guards[0].size);
  EXPECT_EQ(63, plan.guards[0].reach);
  EXPECT_EQ(2, plan.guards[0].level);
}

AffineEntry Sized(std::int32_t start, std::int32_t size) {
  AffineEntry entry = Slice(start, kDynamicDim);
  entry.extent = {.slot = SlotId{size}, .shape = {}};
  return entry;
}

// %x.reshape[32,128].at[%0 +: %1, *] of f32[4096]: rows whose number is known only at run time.
TEST(AffineViewTest, RowsWhoseNumberIsKnownOnlyAtRunTimeAreOneBox) {
  const RefInfo info = RefOf({4096});
  ViewPlan plan;
  AffineView view(info, true, plan);
  ASSERT_TRUE(view.Layout(Ints(Transform::Kind::kReshape, {32, 128})));
  ASSERT_TRUE(view.At({Sized(0, 1), All()}));
  ASSERT_TRUE(view.Finish());
  EXPECT_EQ((Shape{kDynamicDim, 128}), plan.type.shape);
  ASSERT_EQ(1u, plan.axes.size());
  EXPECT_EQ(128, plan.axes[0].count);
  EXPECT_EQ(1, plan.axes[0].step);
  EXPECT_EQ(SlotId{1}, plan.axes[0].times.slot);
  ASSERT_EQ(1u, plan.guards.size());
  EXPECT_EQ(32, plan.guards[0].size);
  EXPECT_EQ(SlotId{1}, plan.guards[0].extent.slot);
}

// A slice of a slice of unknown size has unknown bounds: its elements are visited one by one.
TEST(AffineViewTest, AnIndexIntoASizeKnownOnlyAtRunTimeIsNoBox) {
  const RefInfo info = RefOf({256, 128});
  ViewPlan plan;
  AffineView view(info, true, plan);
  ASSERT_TRUE(view.At({Sized(0, 1), All()}));
  EXPECT_FALSE(view.At({Point(2), All()}));
}

// %x.at[%0 +: 64, *].at[*, %1 +: 64]: one box on Mosaic; elsewhere each level's bounds are checked for themselves.
TEST(AffineViewTest, ASliceOfASliceIsOneBoxOnMosaicOnly) {
  for (const bool layouts : {true, false}) {
    const RefInfo info = RefOf({256, 128});
    ViewPlan plan;
    AffineView view(info, layouts, plan);
    ASSERT_TRUE(view.At({Slice(0, 64), All()}));
    EXPECT_EQ(layouts, view.At({All(), Slice(1, 64)}));
    EXPECT_EQ(layouts ? 1u : 0u, plan.guards.size());
  }
}

// %x.at[1 +: 3].at[4]: a constant outside is guarded as a computed index is, and so far outside that it is walked.
TEST(AffineViewTest, AConstantOutsideIsGuarded) {
  for (const std::int64_t constant : {std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 50}) {
    const RefInfo info = RefOf({8});
    const AffineEntry slice = {.kind = Index::Kind::kSlice, .start = {.constant = 1}, .size = 3};
    const AffineEntry point = {.kind = Index::Kind::kPoint, .start = {.constant = constant}};
    ViewPlan plan;
    AffineView view(info, true, plan);
    ASSERT_TRUE(view.At({slice}));
    ASSERT_EQ(constant < 5, view.At({point}));
    if (constant >= 5) continue;
    ASSERT_EQ(1u, plan.guards.size());
    EXPECT_EQ(3, plan.guards[0].size);
    EXPECT_EQ(1 + constant, plan.axes[0].base);
  }
}

}  // namespace
}  // namespace palladion
