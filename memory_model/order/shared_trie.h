// A persistent map from numbers to values that only grow, 0 by default, for the parts of vector clocks. A copy is one
// pointer and shares all nodes, a change copies one path, and a saturated subtree is a constant. So a million clocks
// that each extend an earlier one take a few nodes each, and a join of two that share most nodes visits only the
// differences. Based on: the path copying of Driscoll, Sarnak, Sleator and Tarjan (Making Data Structures Persistent,
// 1989) and radix trees with shared leaves (Bagwell, Ideal Hash Trees, 2001). Limits: entries are dropped leaf by leaf,
// so a few may be kept longer.
#ifndef PALLADION_MEMORY_MODEL_ORDER_SHARED_TRIE_H_
#define PALLADION_MEMORY_MODEL_ORDER_SHARED_TRIE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace palladion::memory_model {

// A Leaf holds the values of Leaf::kRoom numbers, a power of two, from 0: At(i); Raise(i, value); Join(other), the
// larger of each; Covers(other), no value is less; IsFull(), each is kFullValue, the largest that there is.
template <class Leaf>
class SharedTrie {
 public:
  using Number = std::uint32_t;  // from 0

  bool empty() const { return root_.get() == nullptr; }
  std::uint32_t At(Number number) const;
  bool Covers(const SharedTrie& other) const;

  void Raise(Number number, std::uint32_t value);  // to at least this
  void Join(const SharedTrie& other);
  void Clear() { root_ = {}; }
  friend void swap(SharedTrie& a, SharedTrie& b) { swap(a.root_, b.root_); }

  // Is it one and the same trie? Then all that they know is equal.
  bool IsSame(const SharedTrie& other) const { return root_.get() == other.root_.get(); }

  // f(first, last, value) for runs of numbers, in order; together they are all that is known.
  template <class F>
  void ForEachRun(const F& f) const {
    if (!empty()) Visit(root_.get(), 0, f);
  }

  // What a round of forgetting has made of the shared nodes, so that they stay shared.
  class Round;

  // Without parts of which any(first, last), is one of these to be kept, does not hold; the same for all of the round.
  template <class Any>
  void Forget(const Any& any, Round* round) {
    if (!empty()) root_ = Kept(root_, 0, any, round);
  }

  // That it has, each counted where it stands: of what is constant one.
  std::size_t nodes() const { return empty() ? 0 : NodesIn(root_.get()); }

 private:
  static constexpr std::uint32_t kFan = 8;
  static constexpr int kMaxHeight = 9;
  static_assert(std::uint64_t{Leaf::kRoom} << (3 * kMaxHeight) >> 32 != 0, "there is a height for every number");

  struct Node {
    std::atomic<std::uint32_t> count{1};
    std::uint8_t height = 0;
    bool full = false;  // everything below is known: a constant, without a reference count
  };

  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* made) : node_(made) {}  // takes it over
    Ref(const Ref& other) : node_(other.node_) {
      if (node_ != nullptr && !node_->full) node_->count.fetch_add(1, std::memory_order_relaxed);
    }
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref() {
      if (node_ != nullptr) Drop(node_);
    }
    friend void swap(Ref& a, Ref& b) { std::swap(a.node_, b.node_); }
    Node* get() const { return node_; }
    bool IsOwn() const { return node_ != nullptr && node_->count.load(std::memory_order_acquire) == 1; }

   private:
    Node* node_ = nullptr;
  };

  struct LeafNode : Node {
    Leaf leaf;
  };
  struct Inner : Node {
    std::array<Ref, kFan> child;
    Inner() = default;
    // Its parts, shared or not.
    Inner(const Inner& other) : Node(), child(other.child) { this->height = other.height; }
  };

  static void Drop(Node* node) {
    if (node->full || node->count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    node->height == 0 ? delete static_cast<LeafNode*>(node) : delete static_cast<Inner*>(node);
  }
  static std::uint64_t RoomOf(int height) { return std::uint64_t{Leaf::kRoom} << (3 * height); }
  static Leaf& LeafIn(Node* node) { return static_cast<LeafNode*>(node)->leaf; }
  static std::array<Ref, kFan>& ChildrenOf(Node* node) { return static_cast<Inner*>(node)->child; }
  static Ref Full(int height);
  static Ref NewLeaf(const Leaf& leaf) {
    auto* const made = new LeafNode;
    made->leaf = leaf;
    return Ref(made);
  }
  static void Raise(Ref& node, Number number, std::uint32_t value);
  static void JoinIn(Ref& mine, const Ref& theirs);
  static void JoinLeaf(Ref& mine, const Ref& theirs);
  static void JoinInner(Ref& mine, const Ref& theirs);
  static bool CoversIn(Node* mine, Node* theirs);
  static std::size_t NodesIn(Node* node);
  static bool AllFull(Node* inner) {
    return std::all_of(ChildrenOf(inner).begin(), ChildrenOf(inner).end(),
                       [](const Ref& child) { return child.get() != nullptr && child.get()->full; });
  }
  void GrowTo(int height);

  template <class F>
  static void Visit(Node* node, Number first, const F& f) {
    if (node->full) {
      f(first, first + static_cast<Number>(RoomOf(node->height) - 1), Leaf::kFullValue);
    } else if (node->height > 0) {
      const auto each = static_cast<Number>(RoomOf(node->height - 1));
      for (std::uint32_t i = 0; i < kFan; ++i) {
        if (Node* child = ChildrenOf(node)[i].get(); child != nullptr) Visit(child, first + i * each, f);
      }
    } else {
      for (Number i = 0; i < Leaf::kRoom; ++i) {
        if (const std::uint32_t value = LeafIn(node).At(i); value != 0) f(first + i, first + i, value);
      }
    }
  }

  template <class Any>
  static Ref Kept(const Ref& node, Number first, const Any& any, Round* round) {
    if (node.get()->full || node.get()->height == 0 || node.IsOwn()) return KeptOfOne(node, first, any, round);
    if (const auto known = round->kept_.find(node.get()); known != round->kept_.end()) return known->second.after;
    Ref after = KeptOfOne(node, first, any, round);
    round->kept_.insert({node.get(), {node, after}});
    return after;
  }

  template <class Any>
  static Ref KeptOfOne(const Ref& node, Number first, const Any& any, Round* round) {
    if (!any(first, first + static_cast<Number>(RoomOf(node.get()->height) - 1))) return {};
    if (node.get()->full || node.get()->height == 0) return node;
    const auto each = static_cast<Number>(RoomOf(node.get()->height - 1));
    std::array<Ref, kFan> kept;
    bool changed = false, some = false;
    for (std::uint32_t i = 0; i < kFan; ++i) {
      const Ref& child = ChildrenOf(node.get())[i];
      if (child.get() != nullptr) kept[i] = Kept(child, first + i * each, any, round);
      changed |= kept[i].get() != child.get();
      some |= kept[i].get() != nullptr;
    }
    if (!some || !changed) return some ? node : Ref();
    auto* const made = new Inner;
    made->height = node.get()->height;
    made->child = std::move(kept);
    return Ref(made);
  }

  Ref root_;  // its height is the trie's
};

template <class Leaf>
class SharedTrie<Leaf>::Round {
 private:
  friend class SharedTrie;
  struct Kept {
    Ref before;  // so that no other node comes to stand where it stands
    Ref after;
  };
  absl::flat_hash_map<const Node*, Kept> kept_;
};

template <class Leaf>
typename SharedTrie<Leaf>::Ref SharedTrie<Leaf>::Full(int height) {
  struct Constants {
    std::array<Node, kMaxHeight + 1> of;
    Constants() {
      for (std::size_t h = 0; h < of.size(); ++h) of[h].height = static_cast<std::uint8_t>(h), of[h].full = true;
    }
  };
  static Constants constants;
  return Ref(&constants.of[static_cast<std::size_t>(height)]);
}

template <class Leaf>
std::size_t SharedTrie<Leaf>::NodesIn(Node* node) {
  std::size_t all = 1;
  if (node->full || node->height == 0) return all;
  for (const Ref& child : ChildrenOf(node)) {
    if (child.get() != nullptr) all += NodesIn(child.get());
  }
  return all;
}

template <class Leaf>
std::uint32_t SharedTrie<Leaf>::At(Number number) const {
  Node* node = root_.get();
  if (node == nullptr || number >= RoomOf(node->height)) return 0;
  while (node != nullptr && !node->full && node->height > 0) {
    const auto each = static_cast<Number>(RoomOf(node->height - 1));
    node = ChildrenOf(node)[number / each].get();
    number %= each;
  }
  if (node == nullptr) return 0;
  return node->full ? Leaf::kFullValue : LeafIn(node).At(number);
}

template <class Leaf>
bool SharedTrie<Leaf>::CoversIn(Node* mine, Node* theirs) {
  if (mine == theirs || theirs == nullptr) return true;
  if (mine == nullptr || theirs->full) return mine != nullptr && mine->full;
  if (mine->full) return true;
  if (mine->height == 0) return LeafIn(mine).Covers(LeafIn(theirs));
  for (std::uint32_t i = 0; i < kFan; ++i) {
    if (!CoversIn(ChildrenOf(mine)[i].get(), ChildrenOf(theirs)[i].get())) return false;
  }
  return true;
}

template <class Leaf>
bool SharedTrie<Leaf>::Covers(const SharedTrie& other) const {
  if (other.empty()) return true;
  if (empty()) return false;
  const int height = std::max(root_.get()->height, other.root_.get()->height);
  if (root_.get()->height == other.root_.get()->height) return CoversIn(root_.get(), other.root_.get());
  SharedTrie mine = *this, theirs = other;
  mine.GrowTo(height);
  theirs.GrowTo(height);
  return CoversIn(mine.root_.get(), theirs.root_.get());
}

template <class Leaf>
void SharedTrie<Leaf>::GrowTo(int height) {
  while (!empty() && root_.get()->height < height) {
    auto* const above = new Inner;
    above->height = static_cast<std::uint8_t>(root_.get()->height + 1);
    above->child[0] = std::move(root_);
    root_ = Ref(above);
  }
}

// An unshared node changes in place. What is below a shared node is gone on with through a copy of the
// reference, or of the node, so that it counts as shared, too.

template <class Leaf>
void SharedTrie<Leaf>::Raise(Ref& node, Number number, std::uint32_t value) {
  if (node.get()->full) return;
  const bool own = node.IsOwn();
  if (node.get()->height == 0) {
    if (!own) node = NewLeaf(LeafIn(node.get()));
    LeafIn(node.get()).Raise(number, value);
    if (LeafIn(node.get()).IsFull()) node = Full(0);
    return;
  }
  if (!own) node = Ref(new Inner(*static_cast<Inner*>(node.get())));
  const int below = node.get()->height - 1;
  const auto each = static_cast<Number>(RoomOf(below));
  Ref& child = ChildrenOf(node.get())[number / each];
  if (child.get() == nullptr) {
    child = below == 0 ? NewLeaf({}) : Ref(new Inner);
    child.get()->height = static_cast<std::uint8_t>(below);
  }
  Raise(child, number % each, value);
  if (child.get()->full && AllFull(node.get())) node = Full(below + 1);
}

template <class Leaf>
void SharedTrie<Leaf>::Raise(Number number, std::uint32_t value) {
  if (value == 0 || At(number) >= value) return;
  if (empty()) root_ = NewLeaf({});
  int height = root_.get()->height;
  while (number >= RoomOf(height)) ++height;
  GrowTo(height);
  Raise(root_, number, value);
}

template <class Leaf>
void SharedTrie<Leaf>::JoinLeaf(Ref& mine, const Ref& theirs) {
  Leaf& a = LeafIn(mine.get());
  const Leaf& b = LeafIn(theirs.get());
  if (b.Covers(a)) {
    mine = theirs;  // from here on they share it
    return;
  }
  if (a.Covers(b)) return;
  if (!mine.IsOwn()) mine = NewLeaf(a);
  LeafIn(mine.get()).Join(b);
  if (LeafIn(mine.get()).IsFull()) mine = Full(0);
}

template <class Leaf>
void SharedTrie<Leaf>::JoinInner(Ref& mine, const Ref& theirs) {
  bool own = mine.IsOwn(), is_theirs = true;
  for (std::uint32_t i = 0; i < kFan; ++i) {
    const Ref& news = ChildrenOf(theirs.get())[i];
    Ref& child = ChildrenOf(mine.get())[i];
    if (child.get() == news.get()) continue;
    if (own) {
      JoinIn(child, news);
      is_theirs &= child.get() == news.get();
      continue;
    }
    Ref joined = child;
    JoinIn(joined, news);
    is_theirs &= joined.get() == news.get();
    if (joined.get() == child.get()) continue;
    mine = Ref(new Inner(*static_cast<Inner*>(mine.get())));
    own = true;
    ChildrenOf(mine.get())[i] = std::move(joined);
  }
  if (is_theirs) {
    mine = theirs;
  } else if (own && AllFull(mine.get())) {
    mine = Full(mine.get()->height);
  }
}

template <class Leaf>
void SharedTrie<Leaf>::JoinIn(Ref& mine, const Ref& theirs) {
  if (mine.get() == theirs.get() || theirs.get() == nullptr) return;
  if (mine.get() == nullptr || theirs.get()->full) {
    mine = theirs;
  } else if (!mine.get()->full) {
    mine.get()->height == 0 ? JoinLeaf(mine, theirs) : JoinInner(mine, theirs);
  }
}

template <class Leaf>
void SharedTrie<Leaf>::Join(const SharedTrie& other) {
  if (other.empty() || IsSame(other)) return;
  if (empty()) {
    *this = other;
    return;
  }
  const int height = std::max(root_.get()->height, other.root_.get()->height);
  GrowTo(height);
  if (other.root_.get()->height == height) return JoinIn(root_, other.root_);
  SharedTrie theirs = other;
  theirs.GrowTo(height);
  JoinIn(root_, theirs.root_);
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_SHARED_TRIE_H_
