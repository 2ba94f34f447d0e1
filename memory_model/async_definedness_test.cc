// Which elements are undefined, through asynchronous operations: each element of what is written is checked against the
// element that it came from, for boxes, place lists and functions, with other loads in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "memory_model/concurrency_test_util.h"
#include "memory_model/engine/async_engine.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Rows;
using concurrency_test::Script;

constexpr float kValue = 5;

// Memory of which only some elements have been written. The bytes know nothing of it.
class Undefined : public testing::Test {
 protected:
  void SetUp() override {
    s.memory.TrackDefinedness();
    s.model.TrackDefinedness();
    core = s.Thread("core");
  }
  BufferId Buffer(const std::string& name, std::int64_t rows, bool defined) {
    const BufferId id = s.Buffer(name, {rows, 2}, ProxySpace::kPlain);
    if (!defined) s.memory.SetUndefined(id);
    return id;
  }
  void Define(BufferId id, const Rows& rows) {
    const AsyncOperand operand = s.Operand(id, rows);
    const std::vector<float> value(operand.bytes.size() / 4, kValue);
    s.memory.Store(std::get<BoxAccess>(operand.where), reinterpret_cast<const std::byte*>(value.data()));
  }
  void Start(const AsyncRequest& request) { ASSERT_TRUE(s.model.Start(core, request).ok()); }
  // The last choice always: writes as soon as they can be, later operations first.
  void PerformAll() {
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending().back(), &s.memory);
  }
  // One letter for each element: 'u' undefined.
  std::string Marks(BufferId id) const {
    std::string text;
    for (std::int64_t e = 0; e < static_cast<std::int64_t>(Elements(id)); ++e) {
      text += s.memory.MarkOf(id, ElementCount(e)) == 0 ? '.' : 'u';
    }
    return text;
  }

  Script s;
  AgentId core;

 private:
  std::size_t Elements(BufferId id) const {
    std::size_t n = 1;
    for (const std::int64_t d : s.memory.ShapeOf(id)) n *= static_cast<std::size_t>(d);
    return n;
  }
};

TEST_F(Undefined, ACopyCarriesItElementByElement) {
  const BufferId from = Buffer("from", 5, false), to = Buffer("to", 7, true);
  Define(from, {1, 2});
  Start(s.Copy(from, {0, 5}, to, {1, 5}));
  PerformAll();
  EXPECT_EQ(Marks(to), "..uu....uuuu..");
}

TEST_F(Undefined, ADefinedCopyDefines) {
  const BufferId from = Buffer("from", 5, true), to = Buffer("to", 5, false);
  AsyncRequest copy = s.Copy(from, {1, 2}, to, {2, 2});
  Start(copy);
  PerformAll();
  EXPECT_EQ(Marks(to), "uuuu....uu");
}

// A load's marks are the machine's until the next request.
TEST_F(Undefined, OtherLoadsInBetweenChangeNothing) {
  const BufferId a = Buffer("a", 3, false), b = Buffer("b", 3, false), to = Buffer("to", 6, true);
  Define(a, {0, 1});
  Define(b, {2, 1});
  Start(s.Copy(a, {0, 3}, to, {0, 3}));
  Start(s.Copy(b, {0, 3}, to, {3, 3}));
  const auto reads = s.model.Pending();
  ASSERT_EQ(reads.size(), 2u);
  for (const PendingHalf& half : reads) s.model.Perform(half, &s.memory);
  Define(a, {0, 3});  // too late: it has been read
  const ConcurrencyModel snapshot = s.model;
  PerformAll();
  EXPECT_EQ(Marks(to), "..uuuuuuuu..");
  Define(to, {0, 6});
  s.model = snapshot;
  PerformAll();
  EXPECT_EQ(Marks(to), "..uuuuuuuu..");
}

TEST_F(Undefined, PlaceListsAndPadding) {
  const BufferId from = Buffer("from", 2, false), to = Buffer("to", 3, true);
  Define(from, {1, 1});
  AsyncRequest gather;
  gather.sources = {{AsyncPoints{from, {12, 0, PointAccess::kPadding, 8}, ByteCount(4), 1}, ByteCount(16)}};
  gather.destinations = {{AsyncPoints{to, {0, 4, 8, 20}, ByteCount(4), 1}, ByteCount(16)}};
  Start(gather);
  PerformAll();
  EXPECT_EQ(Marks(to), ".uu...");
  const BufferId more = Buffer("more", 3, true);
  Start(s.Copy(from, {1, 2}, more, {0, 2}));  // the second row is padding
  PerformAll();
  EXPECT_EQ(Marks(more), "..uu..");
}

TEST_F(Undefined, AFunctionTakesAndGivesMarks) {
  const BufferId a = Buffer("a", 2, false), b = Buffer("b", 2, true), out = Buffer("out", 2, false);
  Define(a, {0, 1});
  AsyncRequest add;
  add.sources = {s.Operand(a, {0, 2}), s.Operand(b, {0, 2})};
  add.destinations = {s.Operand(out, {0, 2})};
  std::vector<std::size_t> marks;
  add.function = [&marks](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* result) {
    for (const AsyncValue& value : in) marks.push_back(value.marks.size());
    EXPECT_EQ((*result)[0].bytes.size(), 16u);
    (*result)[0].marks = in[0].marks;
    std::reverse((*result)[0].marks.begin(), (*result)[0].marks.end());
  };
  Start(add);
  PerformAll();
  EXPECT_EQ(marks, (std::vector<std::size_t>{4, 0}));  // of what is defined there are none
  EXPECT_EQ(Marks(out), "uu..");
}

// Whose memory the second value may have.
TEST_F(Undefined, AValueBeginsWithoutMarks) {
  const BufferId a = Buffer("a", 2, false), b = Buffer("b", 2, true), to = Buffer("to", 2, true);
  Start(s.Copy(a, {0, 2}, to, {0, 2}));
  PerformAll();
  EXPECT_EQ(Marks(to), "uuuu");
  AsyncRequest defined = s.Copy(b, {0, 2}, to, {0, 2});
  defined.function = [](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
    EXPECT_TRUE(in[0].marks.empty() && (*out)[0].marks.empty());
    (*out)[0].bytes = in[0].bytes;
  };
  Start(defined);
  PerformAll();
  EXPECT_EQ(Marks(to), "....");
}

TEST_F(Undefined, AReductionIsUndefinedWhereEitherIs) {
  const BufferId from = Buffer("from", 3, false), to = Buffer("to", 3, false);
  Define(from, {1, 2});
  Define(to, {0, 2});
  AsyncRequest add = s.Copy(from, {0, 3}, to, {0, 3});
  add.destinations[0].reduce = [](const std::byte*, const std::byte*, const std::byte*, std::byte*) {};
  Start(add);
  PerformAll();
  EXPECT_EQ(Marks(to), "uu..uu");
}

// Bytes of a union: four of them are an element of what is copied there, and back.
TEST_F(Undefined, SeveralPlacesAreOneElement) {
  const BufferId from = Buffer("from", 3, false), to = Buffer("to", 3, true);
  Define(from, {1, 1});
  const std::int64_t shape[] = {32};
  const BufferId bytes = *s.memory.Alloc({.name = "union", .dtype = DType::kI8, .shape = shape});
  BoxAccess box{.buffer = bytes, .rank = 1, .value_rank = 1};
  box.start[0] = 4, box.count[0] = 24, box.step[0] = 1, box.lower[0] = 0, box.upper[0] = 32, box.order[0] = 0;
  const AsyncOperand member = {.where = box, .bytes = ByteCount(24), .elements = ElementCount(6)};
  AsyncRequest in = s.Copy(from, {0, 3}, to, {0, 3}), out = in;
  in.destinations = {member};
  out.sources = {member};
  Start(in);
  PerformAll();
  EXPECT_NE(s.memory.MarkOf(bytes, ElementCount(11)), 0);
  EXPECT_EQ(s.memory.MarkOf(bytes, ElementCount(12)), 0);
  EXPECT_EQ(s.memory.MarkOf(bytes, ElementCount(19)), 0);
  EXPECT_NE(s.memory.MarkOf(bytes, ElementCount(20)), 0);
  Start(out);
  PerformAll();
  EXPECT_EQ(Marks(to), "uu..uu");
  EXPECT_EQ(reinterpret_cast<const float*>(s.memory.DataOf(to))[2], kValue);
}

// A run that does not ask for it pays for none.
TEST(NotTracked, NoMarks) {
  Script s;
  s.memory.TrackDefinedness();  // and would answer
  const AgentId core = s.Thread("core");
  const auto from = s.Buffer("from", {4}, ProxySpace::kPlain), to = s.Buffer("to", {4}, ProxySpace::kPlain);
  s.memory.SetUndefined(from);
  AsyncRequest copy = s.Copy(from, {2, 4}, to, {0, 4});
  std::size_t marks = 1;
  copy.function = [&marks](const std::vector<AsyncValue>& in, std::vector<AsyncValue>*) { marks = in[0].marks.size(); };
  ASSERT_TRUE(s.model.Start(core, copy).ok());
  while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
  EXPECT_EQ(marks, 0u);
}

// A reduction loads what is there before it stores: one access of the kernel, so one finding where it is outside, of
// the store.
TEST(AsyncMessages, AReductionThatIsOutsideIsOneFinding) {
  Script s;
  const AgentId core = s.Thread("core");
  const auto from = s.Buffer("from", {4}, ProxySpace::kPlain), to = s.Buffer("to", {4}, ProxySpace::kPlain);
  AsyncRequest add = s.Copy(from, {0, 4}, to, {2, 4});
  std::get<BoxAccess>(add.destinations[0].where).outside = Outside::kError;
  add.destinations[0].reduce = [](const std::byte*, const std::byte*, const std::byte*, std::byte*) {};
  ASSERT_TRUE(s.model.Start(core, add).ok());
  while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
  ASSERT_EQ(s.memory.findings().size(), 1u);
  EXPECT_EQ(s.memory.findings()[0].message.find("store to 'to'[2..5]"), 0u) << s.memory.findings()[0].message;
}

TEST(AsyncMessages, AFindingOfMemoryNamesTheIssuersProgramAndLine) {
  for (const bool points : {false, true}) {
    Script s;
    const AgentId core = s.Thread("core");
    const auto from = s.Buffer("from", {4}, ProxySpace::kPlain), to = s.Buffer("to", {4}, ProxySpace::kPlain);
    AsyncRequest copy = s.Copy(from, {2, 4}, to, {0, 4});
    std::get<BoxAccess>(copy.sources[0].where).outside = Outside::kError;
    if (points) copy.sources[0].where = AsyncPoints{from, {8, 12, PointAccess::kOutOfBounds, 0}, ByteCount(4), 1};
    copy.site.text_line = 7;
    copy.program = {3, 1};
    ASSERT_TRUE(s.model.Start(core, copy).ok());
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
    ASSERT_EQ(s.memory.findings().size(), 1u);
    EXPECT_EQ(s.memory.findings()[0].text_line, 7);
    EXPECT_NE(s.memory.findings()[0].message.find("program (3, 1)"), std::string::npos);
  }
}

}  // namespace
}  // namespace palladion::memory_model
