// Walks the tree of a random program (random_tree_test_util.h), copying every value, so that it has none of the sharing
// that the prepared program lives by: slots that are used again, loop carries that swap, loads that borrow, results
// computed where they are wanted. Over numbers, or over elements that carry more along.
#ifndef PALLADION_EMU_TESTING_RANDOM_EVALUATOR_TEST_UTIL_H_
#define PALLADION_EMU_TESTING_RANDOM_EVALUATOR_TEST_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/testing/random_tree_test_util.h"

namespace palladion::random_program {

inline std::int32_t Apply(const std::string& name, std::int32_t a, std::int32_t b) {
  const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
  if (name == "add") return static_cast<std::int32_t>(x + y);
  if (name == "sub") return static_cast<std::int32_t>(x - y);
  if (name == "mul") return static_cast<std::int32_t>(x * y);
  if (name == "max") return std::max(a, b);
  if (name == "min") return std::min(a, b);
  if (name == "xor") return a ^ b;
  if (name == "or") return a | b;
  if (name == "lt") return a < b ? 1 : 0;
  return a & b;
}

// An element is a number, or more than one: another kind of element needs Apply, NumberOf and a constructor from a
// number.
inline std::int32_t NumberOf(std::int32_t element) { return element; }

template <class E>
class Evaluator {
 public:
  using Value = std::vector<E>;
  using Memory = std::shared_ptr<Value>;

  // Elements that were never written are `unwritten`.
  Evaluator(std::int32_t program, std::size_t width, E unwritten)
      : program_(program), width_(width), unwritten_(unwritten), size_{1, width, kLength, kLength * width} {}

  std::map<int, Memory> refs;
  std::vector<std::string> printed;

  std::vector<Value> Run(const Body& body, const std::vector<Value>& arguments,
                         const std::vector<Value>& memories = {}) {
    for (std::size_t i = 0; i < arguments.size(); ++i) values_[body.params[i]] = arguments[i];
    for (std::size_t i = 0; i < memories.size(); ++i) refs[body.ref_params[i]] = std::make_shared<Value>(memories[i]);
    for (const Node& node : body.nodes) {
      const std::vector<Value> results = Run(node);
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (node.results[i] >= 0) values_[node.results[i]] = results.at(i);
      }
    }
    std::vector<Value> results;
    for (Use use : body.results) results.push_back(Of(use));
    return results;
  }

 private:
  static Value Sums(const Value& value, std::size_t stride) {
    Value sums(stride, E{0});
    for (std::size_t i = 0; i < value.size(); ++i) sums[i % stride] = Apply("add", sums[i % stride], value[i]);
    return sums;
  }

  Value Of(Use use) const { return use.id < 0 ? Value{E{use.literal}} : values_.at(use.id); }
  std::vector<Value> AllOf(const std::vector<Use>& uses) const {
    std::vector<Value> values;
    for (Use use : uses) values.push_back(Of(use));
    return values;
  }

  std::vector<Value> Run(const Node& node) {
    const std::vector<Value> args = AllOf(node.args);
    const Memory memory = node.refs.empty() || node.op == Op::kNewRef ? nullptr : refs.at(node.refs[0]);
    switch (node.op) {
      case Op::kBinary: {
        Value out(size_[node.type]);
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] = Apply(node.name, args[0][args[0].size() == 1 ? 0 : i], args[1][args[1].size() == 1 ? 0 : i]);
        }
        return {out};
      }
      case Op::kRev:
        return {Value(args[0].rbegin(), args[0].rend())};
      case Op::kSum:
        return {Sums(args[0], 1)};
      case Op::kColumnSum:
        return {Sums(args[0], width_)};
      case Op::kId:
        return {Value{E{program_}}};
      case Op::kGet:
      case Op::kFreeze:
        return {*memory};
      case Op::kGetAt:
        return {Value{memory->at(static_cast<std::size_t>(NumberOf(args[0][0])))}};
      case Op::kSwap:
        return {std::exchange(*memory, args[0])};
      case Op::kSwapAt:
        memory->at(static_cast<std::size_t>(NumberOf(args[0][0]))) = args[1][0];
        return {};
      case Op::kAddUpdate:
        for (std::size_t i = 0; i < width_; ++i) (*memory)[i] = Apply("add", (*memory)[i], args[0][i]);
        return {};
      case Op::kPrint:
        printed.push_back(std::to_string(NumberOf(args[0][0])));
        return {};
      case Op::kCond:
        return Run(node.bodies[static_cast<std::size_t>(std::clamp<std::int32_t>(
                       NumberOf(args[0][0]), 0, static_cast<std::int32_t>(node.bodies.size()) - 1))],
                   {});
      case Op::kWhile:
        return While(node, args);
      case Op::kScan:
        return Scan(node, args);
      case Op::kCall:
        return Run(node.bodies[0], args);
      case Op::kScoped:
        return Run(node.bodies[0], {}, {Value(width_, unwritten_)});
      case Op::kState: {
        Run(node.bodies[0], {}, args);
        return {*refs[node.bodies[0].ref_params[0]], *refs[node.bodies[0].ref_params[1]]};
      }
      case Op::kNewRef:
        refs[node.refs[0]] = std::make_shared<Value>(args[0]);
        return {};
    }
    return {};
  }

  std::vector<Value> While(const Node& node, std::vector<Value> carries) {
    while (NumberOf(Run(node.bodies[0], carries)[0][0]) != 0) carries = Run(node.bodies[1], carries);
    return carries;
  }

  std::vector<Value> Scan(const Node& node, const std::vector<Value>& args) {
    std::vector<Value> carries(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(node.carries));
    std::vector<Value> stacks;
    for (int turn = 0; turn < kLength; ++turn) {
      const auto i = static_cast<std::size_t>(node.reverse ? kLength - 1 - turn : turn);
      std::vector<Value> in = carries;
      for (std::size_t x = node.carries; x < args.size(); ++x) {
        const std::size_t n = args[x].size() / kLength;
        in.emplace_back(args[x].begin() + static_cast<std::ptrdiff_t>(i * n),
                        args[x].begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
      }
      const std::vector<Value> out = Run(node.bodies[0], in);
      carries.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(node.carries));
      stacks.resize(out.size() - node.carries);
      for (std::size_t y = 0; y < stacks.size(); ++y) {
        const Value& element = out[node.carries + y];
        stacks[y].resize(element.size() * kLength);
        std::copy(element.begin(), element.end(), stacks[y].begin() + static_cast<std::ptrdiff_t>(i * element.size()));
      }
    }
    carries.insert(carries.end(), stacks.begin(), stacks.end());
    return carries;
  }

  std::int32_t program_;
  std::size_t width_;
  E unwritten_;
  std::size_t size_[kTypes];
  std::map<int, Value> values_;
};

// What unwritten memory holds, and whether programs hand their scratch on, as on one core, or begin with it
// anew.
template <class E>
struct Unwritten {
  E value;
  bool hands_scratch_on = true;
};

// The outputs of both programs of the grid, one after the other; y stays as the first left it.
template <class E>
std::vector<E> Evaluate(const Body& body, const std::vector<E>& x, const std::vector<E>& first_y,
                        Unwritten<E> unwritten_memory, std::vector<std::string>& printed) {
  using Value = std::vector<E>;
  const std::size_t width = first_y.size();
  const auto y = std::make_shared<Value>(first_y);
  const E unwritten = unwritten_memory.value;
  auto scratch = std::make_shared<Value>(width, unwritten);
  Value expected;
  for (std::int32_t program = 0; program < 2; ++program) {
    Evaluator<E> evaluator(program, width, unwritten);
    if (!unwritten_memory.hands_scratch_on) scratch = std::make_shared<Value>(width, unwritten);
    const auto row = x.begin() + program * static_cast<std::ptrdiff_t>(width);
    evaluator.refs = {{0, std::make_shared<Value>(row, row + static_cast<std::ptrdiff_t>(width))},
                      {1, y},
                      {2, std::make_shared<Value>(width, unwritten)},
                      {3, scratch}};
    evaluator.Run(body, {});
    expected.insert(expected.end(), evaluator.refs[2]->begin(), evaluator.refs[2]->end());
    printed.insert(printed.end(), evaluator.printed.begin(), evaluator.printed.end());
  }
  return expected;
}

}  // namespace palladion::random_program

#endif  // PALLADION_EMU_TESTING_RANDOM_EVALUATOR_TEST_UTIL_H_
