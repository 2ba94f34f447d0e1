// What the second look names, for every short sequence of accesses to one element: held against what a conflict is, two
// accesses of different tasks of which one writes and not both are atomic. What it does not look at: several elements
// (sweep_random_test.cc has those of the sweep), and blocks that tasks inherit.
#include "memory_model/sweep/witness.h"

#include <gtest/gtest.h>

#include <array>

namespace palladion::memory_model {
namespace {

struct Done {
  std::int64_t program = 0;
  AccessKind kind = AccessKind::kRead;
};

constexpr std::array kKinds = {AccessKind::kRead, AccessKind::kWrite, AccessKind::kAtomic};
const std::vector<TaskDim> kTasks = {{.size = 8, .parallel = true}};

// One i32 that an observer watches; the n-th access is in line n + 1.
class Element {
  static constexpr std::array<std::int64_t, 1> kShape = {1};

 public:
  Memory memory;
  BufferId id = *memory.Alloc({.name = "x", .dtype = DType::kI32, .shape = kShape});

  void Run(const std::vector<Done>& accesses) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const std::vector<std::int64_t> program = {accesses[i].program}, offset = {0};
      if (i == 0 || accesses[i - 1].program != accesses[i].program)
        memory.Running({.id = {}, .index = program, .begins = true});
      Access(accesses[i].kind, {.buffer = id,
                                .offset = offset,
                                .piece_bytes = 4,
                                .pieces_per_element = 1,
                                .site = {.loc = {}, .text_line = static_cast<int>(i) + 1, .program = program}});
    }
  }

 private:
  void Access(AccessKind kind, const PointAccess& place) {
    const AtomicFn keep = [](const std::byte*, const std::byte*, const std::byte*, std::byte*) {};
    std::array<std::byte, 4> value{};
    if (kind == AccessKind::kRead) memory.Load(place, value.data());
    if (kind == AccessKind::kWrite) memory.Store(place, value.data());
    if (kind == AccessKind::kAtomic) memory.Atomic(place, keep, value.data(), nullptr, nullptr);
  }
};

struct Answered {
  SweepConflict conflict;
  std::optional<WitnessAccess> first;
};

std::vector<Answered> LookTwice(const std::vector<Done>& accesses) {
  Sweep sweep(kTasks);
  Element first, again;
  first.memory.Observe(&sweep);
  sweep.Watch(first.memory, first.id, Sweep::Sharing::kShared);
  first.Run(accesses);
  Witness witness(kTasks);
  again.memory.Observe(&witness);
  for (const SweepConflict& conflict : sweep.conflicts()) witness.Ask(conflict);
  again.Run(accesses);
  std::vector<Answered> answers;
  for (std::size_t i = 0; i < sweep.conflicts().size(); ++i)
    answers.push_back({sweep.conflicts()[i], witness.Answer(i)});
  return answers;
}

// The number-th sequence of `length` accesses of three programs that come one after another.
std::vector<Done> Sequence(std::size_t number, std::size_t length) {
  std::vector<Done> accesses;
  std::int64_t program = 0;
  for (std::size_t i = 0; i < length; ++i) {
    accesses.push_back({program, kKinds[number % 3]});
    number /= 3;
    program += static_cast<std::int64_t>(number % 2);
    number /= 2;
  }
  return accesses;
}

std::string Show(const std::vector<Done>& accesses) {
  std::string text;
  for (const Done& access : accesses) text += std::to_string(access.program) + "RWA"[static_cast<int>(access.kind)];
  return text;
}

TEST(Witness, TheOtherAccessIsEarlierAnothersAndInConflict) {
  constexpr std::size_t kLength = 5;
  std::size_t answers = 0;
  for (std::size_t number = 0; number < 6 * 6 * 6 * 6 * 3; ++number) {
    const std::vector<Done> accesses = Sequence(number, kLength);
    for (const Answered& answer : LookTwice(accesses)) {
      if (!answer.first.has_value()) continue;
      ++answers;
      const WitnessAccess& first = *answer.first;
      const bool atomics = first.kind == AccessKind::kAtomic && answer.conflict.kind == AccessKind::kAtomic;
      const bool reads = first.kind == AccessKind::kRead && answer.conflict.kind == AccessKind::kRead;
      EXPECT_FALSE(atomics || reads) << Show(accesses);
      EXPECT_NE(first.program, answer.conflict.program) << Show(accesses);
      EXPECT_LT(first.text_line, answer.conflict.text_line) << Show(accesses);
      EXPECT_EQ(first.kind, accesses[static_cast<std::size_t>(first.text_line) - 1].kind) << Show(accesses);
    }
  }
  EXPECT_GT(answers, 1000u);
}

// Program 0 reads what it wrote itself: the reader that program 2 has no order with is program 1.
TEST(Witness, AReadOfTheTasksOwnWriteIsNoReader) {
  bool called = false;
  for (const Answered& answer :
       LookTwice({{0, AccessKind::kWrite}, {0, AccessKind::kRead}, {1, AccessKind::kRead}, {2, AccessKind::kWrite}})) {
    if (answer.conflict.rule != ConflictRule::kReadWrite || answer.conflict.kind != AccessKind::kWrite) continue;
    called = true;
    ASSERT_TRUE(answer.first.has_value());
    EXPECT_EQ(1, answer.first->program[0]);
  }
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace palladion::memory_model
