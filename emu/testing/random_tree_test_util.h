// A random program as a tree, which tests make as text (random_program_test_util.h) and walk with a naive evaluator.
#ifndef PALLADION_EMU_TESTING_RANDOM_TREE_TEST_UTIL_H_
#define PALLADION_EMU_TESTING_RANDOM_TREE_TEST_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace palladion::random_program {

inline constexpr int kLength = 3;                    // of every scan
enum TypeOf { kScalar, kVector, kColumn, kMatrix };  // i32[], i32[width], and stacks of kLength of them
inline constexpr int kTypes = 4;

// A value of the program: a literal (of a scalar), or one that an instruction or parameter defines.
struct Use {
  int id = -1;
  std::int32_t literal = 0;
};

struct Node;
struct Body {
  std::vector<int> params;      // value ids
  std::vector<int> ref_params;  // ref ids
  std::vector<Node> nodes;
  std::vector<Use> results;
};

enum class Op {
  kBinary,
  kRev,
  kSum,
  kColumnSum,
  kId,
  kGet,
  kGetAt,
  kSwap,
  kSwapAt,
  kAddUpdate,
  kCond,
  kWhile,
  kScan,
  kCall,
  kScoped,
  kState,
  kNewRef,
  kFreeze,
  kPrint
};

struct Node {
  Op op;
  std::string name;  // of a binary operation
  std::vector<Use> args;
  std::vector<int> refs;
  std::vector<Body> bodies;
  std::vector<int> results;  // -1: it is not read
  TypeOf type = kScalar;     // of the first result
  std::size_t carries = 0;
  bool reverse = false;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  int Below(int n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

}  // namespace palladion::random_program

#endif  // PALLADION_EMU_TESTING_RANDOM_TREE_TEST_UTIL_H_
