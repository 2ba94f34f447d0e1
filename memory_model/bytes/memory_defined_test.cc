// Definedness of memory against an oracle that keeps one bool for every byte: random accesses of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 6;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::int64_t Below(std::int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }
  bool OneIn(std::int64_t n) { return Below(n) == 0; }

 private:
  std::uint64_t state_;
};

// One buffer, its memory and what the oracle knows of it.
class Tracked {
 public:
  Tracked(Memory& memory, DType dtype, bool is_output)
      : memory_(memory), width_(StorageBytes(dtype)), undefined_(kRows * kColumns * width_, true) {
    const std::vector<std::int64_t> shape = {kRows, kColumns};
    id_ = *memory.Alloc({.name = "b", .dtype = dtype, .shape = shape, .is_output = is_output});
  }

  BufferId id() const { return id_; }
  std::size_t width() const { return width_; }
  bool At(std::int64_t row, std::int64_t column) const {
    const std::size_t first = static_cast<std::size_t>(row * kColumns + column) * width_;
    return std::any_of(undefined_.begin() + static_cast<std::ptrdiff_t>(first),
                       undefined_.begin() + static_cast<std::ptrdiff_t>(first + width_), [](bool u) { return u; });
  }
  void Put(std::int64_t row, std::int64_t column, bool undefined) {
    PutBytes(static_cast<std::size_t>(row * kColumns + column) * width_, width_, undefined);
  }
  void PutBytes(std::size_t first, std::size_t n, bool undefined) {
    std::fill_n(undefined_.begin() + static_cast<std::ptrdiff_t>(first), n, undefined);
  }
  bool Bytes(std::size_t first, std::size_t n) const {
    return std::any_of(undefined_.begin() + static_cast<std::ptrdiff_t>(first),
                       undefined_.begin() + static_cast<std::ptrdiff_t>(first + n), [](bool u) { return u; });
  }
  void PoisonAll() {
    memory_.Poison(id_);
    std::fill(undefined_.begin(), undefined_.end(), true);
  }
  void Compare(const std::string& what) const {
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t c = 0; c < kColumns; ++c) {
        ASSERT_EQ(At(r, c), memory_.MarkOf(id_, ElementCount(r * kColumns + c)) != 0)
            << what << " [" << r << ", " << c << "]";
      }
    }
  }

 private:
  Memory& memory_;
  std::size_t width_;
  std::vector<bool> undefined_;
  BufferId id_;
};

struct RandomBox {
  BoxAccess access;
  std::vector<std::uint8_t> lanes, lanes_undefined, other_undefined, value_undefined;
  std::vector<std::byte> other, value;
  Definedness defined;
  std::size_t elements = 1;
};

// Boxes that reach outside, with steps, transposed, masked.
void Make(Random& random, const Tracked& buffer, RandomBox& box) {
  BoxAccess& access = box.access;
  access.buffer = buffer.id();
  access.rank = access.value_rank = 2;
  access.outside = random.OneIn(2) ? Outside::kPad : Outside::kError;
  const bool whole = random.OneIn(5);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t size = d == 0 ? kRows : kColumns;
    access.start[d] = whole ? 0 : random.Below(size + 2) - 1;
    access.count[d] = whole ? size : 1 + random.Below(size);
    access.step[d] = whole ? 1 : 1 + random.Below(2);
    access.lower[d] = -100;
    access.upper[d] = 100;
    box.elements *= static_cast<std::size_t>(access.count[d]);
  }
  const bool transposed = random.OneIn(3);
  access.order[0] = transposed ? 1 : 0;
  access.order[1] = transposed ? 0 : 1;
  const auto bits = [&](std::vector<std::uint8_t>& to, std::int64_t one_in) {
    to.resize(box.elements);
    for (std::uint8_t& bit : to) bit = random.OneIn(one_in) ? 1 : 0;
  };
  box.value.resize(box.elements * buffer.width());
  box.other.resize(box.value.size());
  bits(box.value_undefined, 4);
  bits(box.lanes, 2);
  bits(box.lanes_undefined, 5);
  bits(box.other_undefined, 4);
  if (random.OneIn(2)) {
    access.mask.lanes = box.lanes.data();
    if (random.OneIn(3)) access.mask.lanes_undefined = box.lanes_undefined.data();
    if (random.OneIn(2)) access.mask.other = box.other.data();
    if (access.mask.other != nullptr && random.OneIn(2)) access.mask.other_undefined = box.other_undefined.data();
  }
  access.defined = &box.defined;
}

// Calls f(lane, row, column) for every element of the box's value.
template <class F>
void ForEachLane(const BoxAccess& access, const F& f) {
  std::size_t lane = 0;
  for (std::int64_t i = 0; i < access.count[access.order[0]]; ++i) {
    for (std::int64_t j = 0; j < access.count[access.order[1]]; ++j) {
      std::int64_t at[2];
      at[access.order[0]] = access.start[access.order[0]] + i * access.step[access.order[0]];
      at[access.order[1]] = access.start[access.order[1]] + j * access.step[access.order[1]];
      f(lane++, at[0], at[1]);
    }
  }
}

bool Inside(std::int64_t row, std::int64_t column) {
  return row >= 0 && row < kRows && column >= 0 && column < kColumns;
}

void LoadBox(Memory& memory, Random& random, const Tracked& buffer) {
  RandomBox box;
  Make(random, buffer, box);
  memory.Load(box.access, box.value.data());
  bool any = false;
  ForEachLane(box.access, [&](std::size_t lane, std::int64_t row, std::int64_t column) {
    const Mask& mask = box.access.mask;
    bool expected = !Inside(row, column) || buffer.At(row, column);
    if (mask.lanes != nullptr && mask.lanes[lane] == 0)
      expected = mask.other == nullptr || (mask.other_undefined != nullptr && mask.other_undefined[lane] != 0);
    if (mask.lanes_undefined != nullptr) expected |= mask.lanes_undefined[lane] != 0;
    any |= expected;
    ASSERT_EQ(expected, box.defined.any && box.defined.undefined[lane] != 0) << "lane " << lane;
  });
  EXPECT_EQ(any, box.defined.any);
}

void StoreBox(Memory& memory, Random& random, Tracked& buffer) {
  RandomBox box;
  Make(random, buffer, box);
  box.defined.any = random.OneIn(2) && std::count(box.value_undefined.begin(), box.value_undefined.end(), 1) > 0;
  box.defined.undefined = box.value_undefined.data();
  memory.Store(box.access, box.value.data());
  ForEachLane(box.access, [&](std::size_t lane, std::int64_t row, std::int64_t column) {
    const Mask& mask = box.access.mask;
    if (!Inside(row, column)) return;
    const bool unsure = mask.lanes_undefined != nullptr && mask.lanes_undefined[lane] != 0;
    if (mask.lanes != nullptr && mask.lanes[lane] == 0 && !unsure) return;
    buffer.Put(row, column, unsure || (box.defined.any && box.value_undefined[lane] != 0));
  });
}

// Pieces of 1, 2 or 4 bytes, two to an element now and then; some lie nowhere. Distinct, so that stores have one order.
struct RandomPoints {
  PointAccess access;
  std::vector<std::int64_t> offset;
  std::vector<std::uint8_t> lanes, value_undefined;
  std::vector<std::byte> value;
  Definedness defined;
  std::size_t elements = 0;
};

void Make(Random& random, const Tracked& buffer, RandomPoints& points) {
  PointAccess& access = points.access;
  std::size_t piece = buffer.width();
  while (piece > 1 && random.OneIn(4)) piece /= 2;
  access.buffer = buffer.id();
  access.piece_bytes = piece;
  access.pieces_per_element = piece <= 4 && random.OneIn(3) ? 2 : 1;
  const auto pieces = static_cast<std::int64_t>(kRows * kColumns * static_cast<std::int64_t>(buffer.width() / piece));
  std::vector<std::int64_t> places;
  for (std::int64_t p = 0; p < pieces; ++p) places.push_back(p * static_cast<std::int64_t>(piece));
  for (std::size_t i = places.size(); i-- > 1;)
    std::swap(places[i], places[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i) + 1))]);
  points.elements = 1 + static_cast<std::size_t>(random.Below(8));
  for (std::size_t p = 0; p < points.elements * access.pieces_per_element; ++p)
    points.offset.push_back(random.OneIn(9) ? -1 - random.Below(2) : places[p]);
  access.offset = points.offset;
  for (std::size_t e = 0; e < points.elements; ++e) {
    points.lanes.push_back(random.OneIn(4) ? 0 : 1);
    points.value_undefined.push_back(random.OneIn(3) ? 1 : 0);
  }
  points.value.resize(points.offset.size() * piece);
  if (random.OneIn(2)) access.mask.lanes = points.lanes.data();
  access.defined = &points.defined;
}

bool OldOf(const RandomPoints& points, const Tracked& buffer, std::size_t e) {
  const PointAccess& access = points.access;
  bool undefined = false;
  for (std::size_t p = e * access.pieces_per_element; p < (e + 1) * access.pieces_per_element; ++p)
    undefined |= access.offset[p] < 0 || buffer.Bytes(static_cast<std::size_t>(access.offset[p]), access.piece_bytes);
  return undefined || (access.mask.lanes != nullptr && access.mask.lanes[e] == 0);
}

void LoadPoints(Memory& memory, Random& random, const Tracked& buffer) {
  RandomPoints points;
  Make(random, buffer, points);
  memory.Load(points.access, points.value.data());
  for (std::size_t e = 0; e < points.elements; ++e)
    ASSERT_EQ(OldOf(points, buffer, e), points.defined.any && points.defined.undefined[e] != 0) << "element " << e;
}

void StorePoints(Memory& memory, Random& random, Tracked& buffer) {
  RandomPoints points;
  Make(random, buffer, points);
  points.defined = {random.OneIn(2), points.value_undefined.data()};
  const bool any = points.defined.any;
  memory.Store(points.access, points.value.data());
  for (std::size_t e = 0; e < points.elements; ++e) {
    const PointAccess& access = points.access;
    if (access.mask.lanes != nullptr && access.mask.lanes[e] == 0) continue;
    for (std::size_t p = e * access.pieces_per_element; p < (e + 1) * access.pieces_per_element; ++p) {
      if (access.offset[p] < 0) continue;
      buffer.PutBytes(static_cast<std::size_t>(access.offset[p]), access.piece_bytes,
                      any && points.value_undefined[e] != 0);
    }
  }
}

void Keep(const std::byte*, const std::byte*, const std::byte*, std::byte*) {}

void AtomicPoints(Memory& memory, Random& random, Tracked& buffer) {
  RandomPoints points;
  Make(random, buffer, points);
  points.defined = {random.OneIn(2), points.value_undefined.data()};
  const bool any = points.defined.any;
  std::vector<std::byte> old(points.value.size());
  memory.Atomic(points.access, Keep, points.value.data(), nullptr, old.data());
  for (std::size_t e = 0; e < points.elements; ++e) {
    const PointAccess& access = points.access;
    const bool before = OldOf(points, buffer, e);
    ASSERT_EQ(before, points.defined.any && points.defined.undefined[e] != 0) << "element " << e;
    if (access.mask.lanes != nullptr && access.mask.lanes[e] == 0) continue;
    const auto first = access.offset.begin() + static_cast<std::ptrdiff_t>(e * access.pieces_per_element);
    if (*std::min_element(first, first + static_cast<std::ptrdiff_t>(access.pieces_per_element)) < 0) continue;
    const bool after = before || (any && points.value_undefined[e] != 0);
    for (std::size_t p = 0; p < access.pieces_per_element; ++p)
      buffer.PutBytes(static_cast<std::size_t>(first[static_cast<std::ptrdiff_t>(p)]), access.piece_bytes, after);
  }
}

// An engine fills a whole buffer from a window that may reach outside, or flushes it to one.
void CopyBetween(Memory& memory, Random& random, Tracked& from, Tracked& to) {
  BoxAccess source, destination;
  for (BoxAccess* box : {&source, &destination}) {
    box->rank = box->value_rank = 2;
    for (std::size_t d = 0; d < 2; ++d) {
      box->start[d] = box->lower[d] = 0;
      box->count[d] = box->upper[d] = d == 0 ? kRows : kColumns;
      box->step[d] = 1;
      box->order[d] = static_cast<std::uint8_t>(d);
    }
  }
  source.buffer = from.id();
  destination.buffer = to.id();
  BoxAccess& window = random.OneIn(2) ? source : destination;
  for (std::size_t d = 0; d < 2; ++d) {
    window.start[d] = window.lower[d] = random.Below(5) - 2;
    window.upper[d] = window.lower[d] + window.count[d];
  }
  std::vector<bool> value;
  ForEachLane(source, [&](std::size_t, std::int64_t row, std::int64_t column) {
    value.push_back(!Inside(row, column) || from.At(row, column));
  });
  AsyncRequest copy;
  copy.sources.push_back({.where = source});
  copy.destinations.push_back({.where = destination});
  ASSERT_TRUE(memory.Start(std::move(copy)).ok());
  ForEachLane(destination, [&](std::size_t lane, std::int64_t row, std::int64_t column) {
    if (Inside(row, column)) to.Put(row, column, value[lane]);
  });
}

void Borrow(Memory& memory, Random& random, const Tracked& buffer) {
  RandomBox box;
  Make(random, buffer, box);
  box.access.mask = {};
  if (memory.Borrow(box.access) == nullptr) return;
  ForEachLane(box.access, [&](std::size_t lane, std::int64_t row, std::int64_t column) {
    ASSERT_EQ(buffer.At(row, column), box.defined.any && box.defined.undefined[lane] != 0);
  });
}

void Act(Memory& memory, Random& random, Tracked& a, Tracked& b) {
  Tracked& buffer = random.OneIn(2) ? a : b;
  switch (random.Below(16)) {
    case 0:
      if (random.OneIn(6)) buffer.PoisonAll();
      return;
    case 1:
      return CopyBetween(memory, random, a, b);
    case 2:
      return Borrow(memory, random, buffer);
    case 3:
    case 4:
      return AtomicPoints(memory, random, buffer);
    case 5:
    case 6:
      return StorePoints(memory, random, buffer);
    case 7:
    case 8:
      return LoadPoints(memory, random, buffer);
    case 9:
    case 10:
    case 11:
      return LoadBox(memory, random, buffer);
    default:
      return StoreBox(memory, random, buffer);
  }
}

TEST(MemoryDefined, IsWhatAnOracleOfBytesKnows) {
  for (const DType dtype : {DType::kF32, DType::kI16, DType::kU8, DType::kF64}) {
    for (std::uint64_t seed = 0; seed < 150 && !testing::Test::HasFatalFailure(); ++seed) {
      Random random(seed);
      Memory memory;
      memory.TrackDefinedness();
      Tracked a(memory, dtype, false), b(memory, dtype, true);
      for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
        SCOPED_TRACE(testing::Message() << Name(dtype) << ", seed " << seed << ", step " << step);
        Act(memory, random, a, b);
        a.Compare("a");
        b.Compare("b");
      }
    }
  }
}

TEST(MemoryDefined, ALoadSaysNothingOfTheOneBefore) {
  Memory memory;
  memory.TrackDefinedness();
  const std::int64_t shape[] = {2}, offset[] = {0, 4};
  std::vector<std::byte> value(8);
  Definedness defined;
  const PointAccess store{.buffer = *memory.Alloc({.name = "b", .dtype = DType::kF32, .shape = shape}),
                          .offset = offset,
                          .piece_bytes = 4,
                          .pieces_per_element = 1};
  PointAccess load = store;
  load.defined = &defined;
  memory.Load(load, value.data());
  EXPECT_TRUE(defined.any);
  memory.Store(store, value.data());
  memory.Load(load, value.data());
  EXPECT_FALSE(defined.any);
}

TEST(MemoryDefined, MarksGoWhereAllIsDefinedAgain) {
  const ElementSize four(4);
  const ByteCount half(2);
  BufferDefinedness defined(ElementCount(4), four);
  defined.SetAll(3);
  for (ElementCount e(0); e < ElementCount(4); e += ElementCount(1)) {
    EXPECT_FALSE(defined.all_defined());
    defined.StorePiece(e * four, half, 0);
    EXPECT_EQ(3, defined.At(e));
    EXPECT_EQ(0, defined.LoadPiece(e * four, half));
    defined.StorePiece(e * four + half, half, 0);
    EXPECT_EQ(0, defined.At(e));
  }
  EXPECT_TRUE(defined.all_defined());
}

}  // namespace
}  // namespace palladion::memory_model
