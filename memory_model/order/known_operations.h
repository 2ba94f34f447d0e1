// Which asynchronous operations somebody knows of, and of how many halves of each: the part of a clock that grows with
// how long a kernel runs. A persistent trie over the operations' numbers: a copy is one pointer and shares all nodes, a
// change copies one path, and a subtree of which everything is known is a constant. So what each of a million
// operations knew when it began takes a few nodes each, and joining two clocks that have shared most looks at what
// differs. Based on: the path copying of Driscoll, Sarnak, Sleator and Tarjan (Making Data Structures Persistent, 1989)
// and radix trees with shared leaves (Bagwell, Ideal Hash Trees, 2001). Limits: halves are 1 and 2; what is forgotten
// goes leaf by leaf, so a little of it may still be known.
#ifndef PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_
#define PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace palladion::memory_model {

class KnownOperations {
 public:
  using Number = std::uint32_t;  // from 0

  bool empty() const { return root_.get() == nullptr; }
  std::uint32_t HalvesOf(Number operation) const;
  bool Covers(const KnownOperations& other) const;

  void Raise(Number operation, std::uint32_t halves);  // to at least so many
  void Join(const KnownOperations& other);
  void Clear() { root_ = {}; }
  friend void swap(KnownOperations& a, KnownOperations& b) { swap(a.root_, b.root_); }

  // Is it one and the same trie? Then all that they know is equal.
  bool IsSame(const KnownOperations& other) const { return root_.get() == other.root_.get(); }

  // f(first, last, halves) for runs of operations, in order; together they are all that is known.
  template <class F>
  void ForEachRun(const F& f) const {
    if (!empty()) Visit(root_.get(), 0, f);
  }

  // Without parts of which any(first, last), is one of these to be kept, does not hold.
  template <class Any>
  void Forget(const Any& any) {
    if (!empty()) root_ = Kept(root_, 0, any);
  }

  std::size_t nodes() const;  // that it has, each counted where it stands: of what is constant one

 private:
  struct Node;
  struct Leaf;
  struct Inner;

  // Counts who shares a node; a constant one is not counted.
  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* made) : node_(made) {}  // takes it over
    Ref(const Ref& other) : node_(other.node_) { Hold(); }
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref() {
      if (node_ != nullptr) Drop();
    }
    friend void swap(Ref& a, Ref& b) { std::swap(a.node_, b.node_); }
    const Node* get() const { return node_; }

   private:
    friend class KnownOperations;
    void Hold() const;
    void Drop() const;
    Node* node_ = nullptr;
  };

  struct Node {
    std::atomic<std::uint32_t> count{1};
    std::uint8_t height = 0;
    bool full = false;  // both halves of every operation below are known: a constant
  };

  static constexpr std::uint32_t kWords = 4, kFan = 8;
  static constexpr Number kOfWord = 64 / 2, kOfLeaf = kWords * kOfWord;
  static constexpr int kMaxHeight = 8;  // more than numbers have bits

  struct Leaf : Node {
    std::uint64_t word[kWords] = {};  // two bits of each operation, one for each half
  };
  struct Inner : Node {
    Ref child[kFan];
  };

  static std::uint64_t RoomOf(int height) { return std::uint64_t{kOfLeaf} << (3 * height); }
  static const Leaf& AsLeaf(const Node* node) { return *static_cast<const Leaf*>(node); }
  static const Inner& AsInner(const Node* node) { return *static_cast<const Inner*>(node); }
  static Ref Full(int height);
  static bool RaiseIn(Ref& node, int height, Number operation, std::uint64_t halves);
  static void JoinIn(Ref& mine, const Ref& theirs);
  static void JoinLeaf(Ref& mine, const Ref& theirs);
  static bool CoversIn(const Node* mine, const Node* theirs);
  static std::size_t NodesIn(const Node* node);
  static bool AllFull(const Inner& inner);
  void GrowTo(int height);

  template <class F>
  static void Visit(const Node* node, Number first, const F& f) {
    if (node->full) {
      f(first, first + static_cast<Number>(RoomOf(node->height) - 1), 2u);
    } else if (node->height > 0) {
      const auto each = static_cast<Number>(RoomOf(node->height - 1));
      for (std::uint32_t i = 0; i < kFan; ++i) {
        if (const Node* child = AsInner(node).child[i].get(); child != nullptr) Visit(child, first + i * each, f);
      }
    } else {
      for (Number i = 0; i < kOfLeaf; ++i) {
        const std::uint64_t halves = (AsLeaf(node).word[i / kOfWord] >> (2 * (i % kOfWord))) & 3;
        if (halves != 0) f(first + i, first + i, halves == 1 ? 1u : 2u);
      }
    }
  }

  template <class Any>
  static Ref Kept(const Ref& node, Number first, const Any& any) {
    if (!any(first, first + static_cast<Number>(RoomOf(node.get()->height) - 1))) return {};
    if (node.get()->full || node.get()->height == 0) return node;
    const auto each = static_cast<Number>(RoomOf(node.get()->height - 1));
    const Inner& inner = AsInner(node.get());
    auto* const less = new Inner;
    Ref made(less);
    less->height = inner.height;
    bool changed = false, some = false;
    for (std::uint32_t i = 0; i < kFan; ++i) {
      if (inner.child[i].get() != nullptr) less->child[i] = Kept(inner.child[i], first + i * each, any);
      changed |= less->child[i].get() != inner.child[i].get();
      some |= less->child[i].get() != nullptr;
    }
    return !some ? Ref() : changed ? made : node;
  }

  Ref root_;  // its height is the trie's
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_KNOWN_OPERATIONS_H_
